"""Which windows: the columns that they are cut from, and their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .._random import Stream
from .._validation import is_real
from ..engines.protocol import RowSource
from ..protocols import Floats, Ints
from .fit import Cut, WindowParameters
from .tiling import Tiling

Columns = Sequence[int | str] | int | str | None

# "auto" halves the window at most three times, and at most three times more if structures are not
# straight yet, while the windows of a size have on average this many rows for each point of a
# minimal sample. With fewer, the noise is underestimated. Where structures are not straight,
# windows that are a little too small are better than windows that are bent.
_SIZES, _MAX_SIZES, _ROWS_PER_SAMPLE_POINT, _ROWS_IF_BENT = 4, 7, 64, 48
# Windows of all sizes together that have enough rows for a detector. Each takes about 0.05 CPU
# seconds and 0.5 MB.
MAX_WINDOWS = 2048
_MAX_COORDINATES = 4
DEFAULT_COORDINATES = 3
"""of the first columns"""


def check_overlap(value: object) -> float:
    if not (isinstance(value, (int, float, np.number)) and 0 <= float(value) <= 0.75):
        raise ValueError(
            f"overlap must be from 0 to 0.75, the share of its side that a window has in common "
            f"with the next, got {value!r}. 0.5 is the default."
        )
    return float(value)


def check_sides(window: object) -> list[float] | None:
    """The sides of windows, from large to small; None for "auto"."""
    if isinstance(window, str) and window == "auto":
        return None
    sides: Any = [window] if is_real(window) else window
    valid = isinstance(sides, (Sequence, np.ndarray)) and not isinstance(sides, str) and len(sides)
    if not valid or not all(is_real(each) and 0 < each < np.inf for each in sides):
        raise ValueError(
            "window must be 'auto', the side of the windows in the units of the coordinates, or a "
            f"list of several sides; got {window!r}."
        )
    return sorted({float(each) for each in sides}, reverse=True)


def columns_of(parameter: str, value: Columns, d: int, names: Sequence[str] | None) -> Ints:
    """The numbers of columns given by number or by name; all if None."""
    if value is None:
        return np.arange(d)
    known = [] if names is None else [str(name) for name in names]
    given = [value] if isinstance(value, (str, int, np.integer)) else list(value)
    numbers = []
    for each in given:
        if isinstance(each, str) and each in known:
            numbers.append(known.index(each))
        elif isinstance(each, (int, np.integer)) and not isinstance(each, bool) and -d <= each < d:
            numbers.append(int(each) % d)
        else:
            names_or_numbers = f"names ({', '.join(known)}) or numbers" if known else "numbers"
            raise ValueError(
                f"{parameter} must be {names_or_numbers} of the {d} columns of X, got {each!r}."
            )
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError(f"{parameter} must be different columns, at least one; got {value!r}.")
    return np.array(numbers)


def cut_windows(
    source: RowSource,
    coordinates: Ints,
    sides: list[float] | None,
    overlap: float,
    parameters: WindowParameters,
    n_features: int,
    stream: Stream,
) -> list[Cut]:
    """The windows of all sizes. `sides`: None to choose them from the number of rows; the smallest
    ones are then optional."""
    if len(coordinates) > _MAX_COORDINATES:
        raise ValueError(
            f"windows over {len(coordinates)} columns are too many, at most {_MAX_COORDINATES}; "
            "pass coordinates, the columns of the position or the time."
        )
    ends = np.array(list(source.map(partial(_ends, coordinates))))
    cut = _Cutting(source, coordinates, ends[:, 0].min(axis=0), ends[:, 1].max(axis=0), overlap)
    if sides is not None:
        return _given_windows(cut, sides, parameters.least_rows(n_features), stream)
    return _chosen_windows(cut, parameters, n_features, stream)


@dataclass(frozen=True)
class _Cutting:
    """Cuts windows over the box of the coordinates of all rows."""

    source: RowSource
    coordinates: Ints
    low: Floats
    high: Floats
    overlap: float

    @property
    def longest(self) -> float:
        return float(np.max(self.high - self.low))

    def __call__(self, side: float, stream: Stream) -> Cut:
        tiling = Tiling.over(self.low, self.high, side, self.overlap)
        return Cut.of(tiling, self.source, self.coordinates, stream)


def _ends(coordinates: Ints, X: Floats, first: int) -> Floats:
    """(2, k) the least and the greatest position of a block of rows."""
    positions = X[:, coordinates]
    return np.stack([positions.min(axis=0), positions.max(axis=0)])


def _chosen_windows(
    cut_to: _Cutting, parameters: WindowParameters, n_features: int, stream: Stream
) -> list[Cut]:
    """Windows of the range of the data, of a half of it and so on, while they have enough rows."""
    longest, least = cut_to.longest, parameters.least_rows(n_features)
    sample_size = parameters.sample_size(n_features)
    cuts: list[Cut] = []
    left = MAX_WINDOWS
    for size in range(_MAX_SIZES if longest > 0 else 1):
        side = (longest or 1.0) * 2.0**-size
        cut, n_windows = _with_less_overlap(cut_to, side, left, least, stream.child("cut", size))
        # The windows of a size together hold each row several times; so weigh by rows.
        n_rows = cut.found.n_rows
        typical = float(np.sum(n_rows**2) / np.sum(n_rows))
        each = _ROWS_PER_SAMPLE_POINT if size < _SIZES else _ROWS_IF_BENT
        if cuts and (typical < each * sample_size or n_windows > left):
            break
        cuts.append(replace(cut, optional=size >= _SIZES))
        left -= n_windows
    return cuts


def _with_less_overlap(
    cut_to: _Cutting, side: float, most: int, least: int, stream: Stream
) -> tuple[Cut, int]:
    """The windows of a side, and how many have the least number of rows; with less overlap if these
    are too many, in three dimensions down to an eighth as many."""
    for overlap in (cut_to.overlap, cut_to.overlap / 2, 0.0):
        cut = replace(cut_to, overlap=overlap)(side, stream)
        n_windows = len(cut.with_rows(least))
        if n_windows <= most:
            break
    return cut, n_windows


def _given_windows(cut_to: _Cutting, sides: list[float], least: int, stream: Stream) -> list[Cut]:
    """Windows of the given sides, and one that holds all rows, for rows that no other holds."""
    cuts = [cut_to(side, stream.child("cut", k)) for k, side in enumerate(sides, start=1)]
    _check_given(cuts, least)
    if len(cuts[0].found.windows) == 1:
        return cuts
    whole = cut_to(cut_to.longest, stream.child("cut", 0))
    return [replace(whole, fallback=True), *cuts]


def _check_given(cuts: list[Cut], least: int) -> None:
    total = sum(len(cut.found.windows) for cut in cuts)
    if total > MAX_WINDOWS:
        raise ValueError(
            f"window={[cut.tiling.side for cut in cuts]} makes {total} windows, at most "
            f"{MAX_WINDOWS} are possible; use larger windows or less overlap."
        )
    fullest = max(int(cut.found.n_rows.max()) for cut in cuts)
    if fullest < least:
        raise ValueError(
            f"window={[cut.tiling.side for cut in cuts]}: no window has the {least} rows that a "
            f"detector needs, the fullest has {fullest}. Use larger windows, or window='auto'."
        )
