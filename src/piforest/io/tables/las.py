"""LAS and LAZ scans, read and written by chunks; all attributes of points are kept."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ._decoder import Read, decoder
from ._extras import needed
from ._las_header import check_sizes
from ._safe_names import safe_names
from .table import Table, block_rows

_DECODE_LAZ = Path(__file__).with_name("_decode_laz.py")
_POINTS = ("x", "y", "z")
_WHOLE_POINTS = frozenset(("X", "Y", "Z"))
_COLOURS = ("red", "green", "blue")
# In bytes.
_LONGEST_NAME = 32
# The point formats without colours, and those that have them too.
_COLOURED = {0: 2, 1: 3, 4: 5, 6: 7, 9: 10}


@dataclass(frozen=True)
class LasOrigin:
    """The header of the file, and the raw points."""

    header: Any
    points: Any


def _package() -> Any:
    return needed("laspy", "LAS and LAZ files", "cloud")


def read_blocks(path: Path, rows: int | None) -> Iterator[Table]:
    """Compressed points are decoded in a child process: its decoder aborts on damaged files."""
    with _clear_errors(path), ExitStack() as stack:
        sizes = check_sizes(path)
        total, done = sizes.count, 0
        if not total:
            raise ValueError(f"{path} has no points.")
        step = block_rows(rows, sizes.record // 4, total)
        reader = stack.enter_context(_package().open(path))
        decoded = stack.enter_context(_decoded(path, reader.header)) if sizes.compressed else None
        while done < total:
            points = _points(reader, decoded, min(step, total - done))
            if not len(points):
                raise ValueError(f"{path} is cut short: it has {done} of {total} points.")
            origin = LasOrigin(reader.header, points)
            yield Table(_columns(points), str(path), origin, done + 1, total, _POINTS)
            done += len(points)


def _points(reader: Any, decoded: Read | None, rows: int) -> Any:
    """The next points of a file, fewer if it is truncated."""
    if decoded is None:
        return reader.read_points(rows)
    header, record = reader.header, _package().point.record
    content = decoded(rows * header.point_format.size)
    packed = record.PackedPointRecord.from_buffer(content, header.point_format)
    return record.ScaleAwarePointRecord(
        packed.array, packed.point_format, header.scales, header.offsets
    )


def _decoded(path: Path, header: Any) -> AbstractContextManager[Read]:
    items = header.vlrs.get("LasZipVlr")[0].record_data
    count, record = header.point_count, header.point_format.size
    place = (header.offset_to_point_data, count, record, items.hex())
    return decoder(_DECODE_LAZ, path, count * record, *place)


def _columns(points: Any) -> dict[str, NDArray[Any]]:
    columns = {name: np.array(points[name]) for name in _POINTS}
    for name in points.point_format.dimension_names:
        column = np.array(points[name])
        if name not in _WHOLE_POINTS and column.ndim == 1:  # vectors are kept in the raw points
            columns[name] = column
    return columns


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except GeneratorExit:
        raise
    except Exception as error:  # readers raise any error for damaged files
        if str(error).startswith(str(path)) or isinstance(error, ImportError):
            raise
        said = " ".join(str(error).split())
        raise ValueError(
            f"{path} cannot be read: it is damaged or no LAS file ({said})."
        ) from error


class writer:
    """The header and points of the scan that was read, with added columns as extra dimensions."""

    def __init__(self, file: BinaryIO, like: Table, suffix: str) -> None:
        laspy = _package()
        own = isinstance(like.origin, LasOrigin)
        self.header = copy.deepcopy(like.origin.header) if own else _new_header(laspy, like)
        if set(_COLOURS) <= set(like.names):
            self._add_colours(laspy)
        held = {*_POINTS, *self.header.point_format.dimension_names}
        # X, Y, Z are x, y, z as integers; a column of that name is a different one.
        added = [name for name in like.names if name not in held - _WHOLE_POINTS]
        self.words = safe_names(added, "utf-8", _LONGEST_NAME, held)
        self.header.add_extra_dims(
            [laspy.ExtraBytesParams(self.words[name], _dtype(like, name)) for name in added]
        )
        self.names = like.names
        try:
            self.out = laspy.open(
                file, mode="w", header=self.header, do_compress=suffix == ".laz", closefd=False
            )
        except (laspy.LaspyException, UnicodeError) as error:
            raise ValueError(f"{like.source} cannot be written as a LAS file: {error}.") from error

    def write(self, table: Table) -> None:
        laspy = _package()
        points = laspy.ScaleAwarePointRecord.zeros(len(table), header=self.header)
        original = table.origin.points if isinstance(table.origin, LasOrigin) else None
        if original is not None:
            for name in original.point_format.dimension_names:
                points[name] = original[name]
        for name in self.names:
            values = table.filled(name)
            if original is not None and name in _POINTS:
                continue  # X, Y, Z were copied, without rounding again
            if name in _COLOURS and table.columns[name].dtype == np.uint8:
                values = values.astype(np.uint16) * 257  # LAS has 16 bits a colour
            self._put(table, name, points, values)
        self.out.write_points(points)

    def _put(self, table: Table, name: str, points: Any, values: NDArray[Any]) -> None:
        """Set a dimension, whose type may hold fewer numbers than the column."""
        word, where = self.words.get(name, name), f"column {name!r}"
        try:
            with np.errstate(invalid="ignore"):
                points[word] = values
            kept = np.asarray(points[word])
            fits = np.isfinite(values) if name in _POINTS else _same(kept, values)
            if fits.all():
                return
            k = int(np.argmin(fits))
            where, why = f"row {table.first_row + k} of {where}", f"is {values[k]}"
        except OverflowError:
            why = "has numbers that are too large"
        raise ValueError(
            f"{table.source}: {where} {why}, which a LAS file cannot hold there; write a .csv file."
        )

    def close(self) -> None:
        self.out.close()

    def _add_colours(self, laspy: Any) -> None:
        kind = self.header.point_format.id
        if kind in _COLOURED:
            extra = list(self.header.point_format.extra_dimensions)
            coloured = laspy.PointFormat(_COLOURED[kind])
            for each in extra:
                coloured.add_extra_dimension(
                    laspy.ExtraBytesParams(each.name, each.type_str(), each.description)
                )
            version = max(str(self.header.version), "1.4" if coloured.id > 5 else "1.2")
            self.header.set_version_and_point_format(
                laspy.header.Version.from_str(version), coloured
            )


def _same(kept: NDArray[Any], values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray((kept == values) | ((kept != kept) & (values != values)))


def _new_header(laspy: Any, table: Table) -> Any:
    """For tables that are no scans: a step that is small relative to the first rows."""
    for name in _POINTS:
        if name not in table.columns:
            raise ValueError(f"a LAS file needs columns x, y and z; {table.source} has no {name}.")
    header = laspy.LasHeader(point_format=6, version="1.4")
    X = table.numbers(_POINTS)
    low, size = np.nanmin(X, axis=0), np.nanmax(X) - np.nanmin(X)
    # 32-bit coordinates: a thousand times this size on either side.
    step = 10.0 ** np.ceil(np.log10(max(size, 1e-6) * 1000 / 2**31))
    header.offsets, header.scales = np.floor(low), np.full(3, min(step, 0.001))
    return header


def _dtype(table: Table, name: str) -> str:
    column = table.columns[name]
    if column.dtype.kind == "b":
        return "uint8"
    if column.dtype.kind in "iuf":
        return column.dtype.name if column.dtype != np.float16 else "float32"
    if name in table.numeric():
        return "float64"
    raise ValueError(
        f"a LAS file holds numbers, and column {name!r} of {table.source} has others; write a "
        ".csv file."
    )
