"""Runs of anomalous rows of a series, its gaps and running means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .protocols import Bools, Floats, Ints

# A step of the time above this many median steps is a gap.
_GAP = 10.0
# Normal rows on each side that a run is compared with.
_AROUND = 50
# A channel whose median in a run is off by fewer spreads is not the reason.
_OFF = 1.0


@dataclass(frozen=True)
class Run:
    """Consecutive anomalous rows of a series.

    Attributes
    ----------
    start, end : float
        The times of the first and the last row.
    first, last : int
        Their numbers, from 0.
    n_rows : int
        The number of rows.
    peak : float
        The time of the row with the largest score.
    score : float
        Its score.
    channel : str or None
        The channel that is furthest off its normal level, in units of its spread; None if no
        channel is off by its spread, so that it is their relation that differs.
    shift : float
        By how much its median is off the median of the normal rows: 50 on either side, or the
        reference. 0 if there is no channel.
    reason : str
        The same in words.
    """

    start: float
    end: float
    first: int
    last: int
    n_rows: int
    peak: float
    score: float
    channel: str | None
    shift: float
    reason: str


def gaps_of(times: Floats) -> Ints:
    """The rows before which there is a gap: a step above ten median steps."""
    steps = np.diff(times)
    moving = steps[steps > 0]
    if not len(moving):
        return np.empty(0, np.int64)
    return np.flatnonzero(steps > _GAP * np.median(moving)) + 1


def running_mean(values: Floats, width: int, gaps: Ints) -> Floats:
    """The mean of the rows around each row, `width` of them, fewer at the ends and at gaps."""
    if width == 1:
        return values
    before, after = (width - 1) // 2, width // 2
    found = np.empty(len(values))
    for part in np.split(np.arange(len(values)), gaps):
        sums = np.concatenate([[0.0], np.cumsum(values[part])])
        at = np.arange(len(part))
        low, high = np.maximum(at - before, 0), np.minimum(at + after + 1, len(part))
        found[part] = (sums[high] - sums[low]) / (high - low)
    # Rounded: equal means from different sums are equal.
    return np.round(found, 12)


def find_runs(
    times: Floats,
    channels: Floats,
    names: list[str],
    scores: Floats,
    flagged: Bools,
    gaps: Ints,
    reference: int | None,
) -> list[Run]:
    """The runs of flagged rows, in order. They end at gaps."""
    rows = np.flatnonzero(flagged)
    if not len(rows):
        return []
    ends = (np.diff(rows) > 1) | np.isin(rows[1:], gaps)
    normal = np.flatnonzero(~flagged)
    found = []
    for part in np.split(rows, np.flatnonzero(ends) + 1):
        first, last = int(part[0]), int(part[-1])
        peak = int(part[np.argmax(scores[part])])
        around = _around(normal, first, last) if reference is None else np.arange(reference)
        channel, shift, reason = _reason(channels[part], channels[around], names)
        when = (float(times[first]), float(times[last]), first, last, len(part))
        top = (float(times[peak]), float(scores[peak]))
        found.append(Run(*when, *top, channel, shift, reason))
    return found


def _around(normal: Ints, first: int, last: int) -> Ints:
    at, after = np.searchsorted(normal, [first, last])
    return np.concatenate([normal[max(0, at - _AROUND) : at], normal[after : after + _AROUND]])


def _reason(inside: Floats, normal: Floats, names: list[str]) -> tuple[str | None, float, str]:
    """The channel that is furthest off, by how much, and a sentence."""
    relation = "the channels do not go together as elsewhere"
    if not len(normal):
        return None, 0.0, relation
    shift = np.median(inside, axis=0) - np.median(normal, axis=0)
    spread = np.maximum(normal.std(axis=0), np.finfo(float).tiny)
    sizes = np.minimum(np.abs(shift) / spread, 1e6)
    k = int(np.argmax(sizes))
    if sizes[k] < _OFF:
        return None, 0.0, relation
    way = "higher" if shift[k] > 0 else "lower"
    times = f"{sizes[k]:.2g}" if sizes[k] < 1e6 else "over a million"
    reason = f"{names[k]} {way} by {abs(shift[k]):.4g}, {times} times its spread"
    return names[k], float(shift[k]), reason
