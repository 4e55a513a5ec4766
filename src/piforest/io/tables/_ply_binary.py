"""The rows of an element in a binary PLY file, whose lists may differ in length."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._ply_header import Element

_SIZES = {"i1": 1, "u1": 1, "i2": 2, "u2": 2, "i4": 4, "u4": 4, "f4": 4, "f8": 8}
_COUNTS = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I"}


class Rows:
    """Where the rows of an element are in the bytes of a file.

    In most files the lists of all rows have one length, and so have the rows: they are then
    addressed together. Else they are walked through one by one.
    """

    def __init__(self, data: Any, start: int, element: Element, order: str) -> None:
        self.data, self.start, self.element, self.order = data, start, element, order
        if not element.properties:
            raise ValueError(f"its element {element.name!r} has no properties")
        self.offsets: NDArray[np.int64] | None = None
        """(rows, properties) where they differ from row to row"""
        self.end = start
        if not element.rows:
            return
        # A row takes a byte at least, so that a large number alone costs no time.
        if element.rows > len(data) - start:
            raise ValueError("it is cut short")
        self.first, end = self._walk(start, 1)
        self.step = end - start
        self.end = start + self.step * element.rows
        if not self._are_alike():
            self.offsets, self.end = self._walk(start, element.rows)

    def numbers(self) -> NDArray[Any]:
        """(rows,) records of the properties that are no lists."""
        scalars = [k for k, each in enumerate(self.element.properties) if each.count is None]
        names = [self.element.properties[k].name for k in scalars]
        formats = [self.order + self.element.properties[k].kind for k in scalars]
        if self.offsets is None:
            at = (self.first[0, scalars] - self.start).tolist()
            dtype = np.dtype(
                {"names": names, "formats": formats, "offsets": at, "itemsize": self.step}
            )
            return np.frombuffer(self.data, dtype, self.element.rows, self.start)
        rows = np.empty(self.element.rows, list(zip(names, formats)))
        view = np.frombuffer(self.data, np.uint8)
        for k, name in zip(scalars, names):
            at = self.offsets[:, k, None] + np.arange(rows.dtype[name].itemsize)
            rows[name] = view[at].view(rows.dtype[name])[:, 0]
        return rows

    def _are_alike(self) -> bool:
        """Do all rows have lists of the lengths of the first?"""
        if self.end > len(self.data):
            return False
        view = np.frombuffer(self.data, np.uint8)
        rows = view[self.start : self.end].reshape(self.element.rows, self.step)
        for at, each in zip((self.first[0] - self.start).tolist(), self.element.properties):
            if each.count is not None:
                counts = rows[:, at : at + _SIZES[each.count]]
                if not (counts == counts[0]).all():
                    return False
        return True

    def _walk(self, start: int, rows: int) -> tuple[NDArray[np.int64], int]:
        """(rows, properties) where each property begins, and where the last row ends."""
        plan = [
            (struct.Struct(self.order + _COUNTS[each.count]) if each.count else None,
             _SIZES[each.kind]) for each in self.element.properties
        ]  # fmt: skip
        offsets = np.empty((rows, len(plan)), np.int64)
        at, end = start, len(self.data)
        for row in offsets:
            for k, (count, size) in enumerate(plan):
                row[k] = at
                if count is None:
                    at += size
                    continue
                if at + count.size > end:
                    raise ValueError("it is cut short")
                (number,) = count.unpack_from(self.data, at)
                if number < 0:
                    raise ValueError("one of its lists has a negative length")
                at += count.size + number * size
            if at > end:
                raise ValueError("it is cut short")
        return offsets, at
