"""Matches between two images: from tables, and from COLMAP's databases."""

from __future__ import annotations

import itertools
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from .table import Table

MATCH = ("x1", "y1", "x2", "y2")
# COLMAP numbers a pair of images by this: smaller id * _PAIRS + larger id.
_PAIRS = 2147483647
_LISTED = 5
# SQLite's machine steps: so many between two looks at the count, and so many free.
_STEPS, _FREE_STEPS = 10_000, 10_000_000


def named_matches(table: Table) -> Table:
    """The table with the columns x1, y1, x2, y2, which without names are the first four."""
    if set(MATCH) <= set(table.names):
        return replace(table, points=MATCH)
    if table.names[:4] == [f"x{k}" for k in range(4)]:
        names = [*MATCH, *table.names[4:]]
        return replace(table, columns=dict(zip(names, table.columns.values())), points=MATCH)
    raise ValueError(
        f"{table.source} must have the columns x1, y1, x2, y2; its columns: "
        f"{', '.join(table.names)}."
    )


def read_colmap(path: str | PathLike[str], pair: tuple[str, str] | None = None) -> Table:
    """The matches of one pair of images in a COLMAP database.

    Columns x1, y1, x2, y2 in pixels as COLMAP has them (the middle of the first pixel is at
    0.5), index1 and index2 of the keypoints, and verified, which COLMAP's own check kept.
    """
    path = Path(path)
    with _opened(path) as database:
        images = _images(database)
        first, second = _chosen(path, database, images, pair)
        low, high = sorted((images[first], images[second]))
        number = low * _PAIRS + high
        pairs = _array(database, "matches", "pair_id", number, np.uint32)
        kept = _array(database, "two_view_geometries", "pair_id", number, np.uint32)
        if not len(pairs):
            pairs = kept
        if not len(pairs):
            raise ValueError(f"{path} holds no matches between {first!r} and {second!r}.")
        if images[first] > images[second]:
            pairs, kept = pairs[:, ::-1], kept[:, ::-1]
        points = [
            _array(database, "keypoints", "image_id", images[name], np.float32)
            for name in (first, second)
        ]
    return _table(path, pairs.astype(np.int64), kept.astype(np.int64), points)


def _images(database: Any) -> dict[str, int]:
    """The numbers of the images, by name."""
    found = database.execute("SELECT name, image_id FROM images").fetchall()
    for name, number in found:
        if not (isinstance(name, str) and _is_number(number, _PAIRS)):
            said = f"{name!r:.40} {number!r:.40}"
            raise sqlite3.DatabaseError(f"its table images has an image {said}")
    return dict(found)


def _is_number(value: Any, most: int) -> bool:
    """SQLite stores any type in any column, whatever the table says."""
    return isinstance(value, int) and 0 <= value < most


def _table(path: Path, pairs: Any, kept: Any, points: list[NDArray[Any]]) -> Table:
    columns: dict[str, NDArray[Any]] = {}
    for side in range(2):
        if pairs[:, side].max() >= len(points[side]):
            raise ValueError(f"{path} is damaged: its matches name keypoints that are not there.")
        xy = points[side][pairs[:, side], :2].astype(np.float64)
        columns[f"x{side + 1}"], columns[f"y{side + 1}"] = xy[:, 0], xy[:, 1]
    known = set(map(tuple, kept.tolist()))
    columns["index1"], columns["index2"] = pairs[:, 0], pairs[:, 1]
    columns["verified"] = np.array([tuple(each) in known for each in pairs.tolist()])
    return Table(columns, str(path), points=MATCH)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A database that is only read, and cannot make this process read more than it holds."""
    try:
        place = f"file:{quote(os.fsencode(path.resolve()))}?mode=ro"
        with closing(sqlite3.connect(place, uri=True)) as database:
            size = path.stat().st_size
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, size)
            steps = itertools.count(_STEPS, _STEPS)
            # A view may run for ever; what scans a table takes a few steps for each row.
            database.set_progress_handler(lambda: next(steps) > size + _FREE_STEPS, _STEPS)
            database.execute("PRAGMA trusted_schema = OFF")
            yield database
    except (sqlite3.Error, OverflowError, UnicodeError) as error:
        raise ValueError(
            f"{path} cannot be read: it is damaged or no COLMAP database ({error})."
        ) from error


def _chosen(path: Path, database: Any, images: dict[str, int], pair: Any) -> tuple[str, str]:
    """The names of the pair, which may be left out where there is one."""
    if pair is not None:
        first, second = pair
        for name in (first, second):
            if name not in images:
                raise ValueError(f"{path} has no image {name!r}; its images: {_some(images)}.")
        if first == second:
            raise ValueError(f"pair must be two images, got {first!r} twice.")
        return first, second
    numbers = database.execute("SELECT pair_id FROM matches WHERE rows > 0").fetchall()
    numbers = numbers or database.execute(
        "SELECT pair_id FROM two_view_geometries WHERE rows > 0"
    ).fetchall()  # fmt: skip
    if not all(_is_number(each, _PAIRS**2) for (each,) in numbers):
        raise sqlite3.DatabaseError("its pairs of images have no numbers")
    names = {number: name for name, number in images.items()}
    pairs = [(names.get(each // _PAIRS, "?"), names.get(each % _PAIRS, "?")) for (each,) in numbers]
    if len(pairs) != 1 or "?" in pairs[0]:
        listed = _some([f"{a} and {b}" for a, b in pairs])
        raise ValueError(
            f"{path} holds {len(pairs)} pairs of images, say which (--pair): {listed}."
        )
    return pairs[0]


def _some(names: Any) -> str:
    listed = ", ".join(list(names)[:_LISTED])
    return (listed or "none") + (", ..." if len(names) > _LISTED else "")


def _array(database: Any, table: str, key: str, number: int, dtype: Any) -> NDArray[Any]:
    """(rows, cols) one array of the database; (0, 2) where it has none."""
    found = database.execute(f"SELECT rows, cols, data FROM {table} WHERE {key} = ?", (number,))
    rows, cols, data = found.fetchone() or (0, 2, b"")
    if rows == 0 or data is None:
        return np.empty((0, 2), dtype)
    sound = (
        isinstance(data, bytes)
        and _is_number(rows, 2**40)
        and _is_number(cols, 2**20)
        and (cols == 2 or (cols > 2 and table == "keypoints"))
        and len(data) == rows * cols * np.dtype(dtype).itemsize
    )
    if not sound:
        raise sqlite3.DatabaseError(f"an array in its table {table} has not the size it says")
    return np.frombuffer(data, dtype).reshape(rows, cols)
