"""Runs of anomalous rows of a series, its gaps and running means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._numbers import readable
from ..protocols import Bools, Floats, Ints

# A step of the time above this many median steps is a gap.
_GAP = 10.0
# Normal rows on each side that a run is compared with.
_AROUND = 50
# A channel whose median in a run is off by fewer spreads is not the reason.
_OFF = 1.0
_MOST = 1e6
# A regression of a channel on the others needs this many normal rows for each channel.
_ROWS_PER_CHANNEL, _RIDGE = 5, 1e-12


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
        The channel that is furthest off, in units of its spread: off its level, or off what the
        other channels tell by linear regression in the normal rows. These are 50 on either side,
        or the reference. None if no channel is off by its spread.
    shift : float
        By how much the channel is off, the median of the run; 0 if there is no channel.
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
    if not len(normal):
        return None, 0.0, "no row is normal, so that there is nothing to compare with"
    shift = np.median(inside, axis=0) - np.median(normal, axis=0)
    spread = np.maximum(normal.std(axis=0), np.finfo(float).tiny)
    than = "its level"
    enough = len(normal) >= _ROWS_PER_CHANNEL * normal.shape[1]
    if normal.shape[1] > 1 and enough and (np.ptp(normal, axis=0) > 0).all():
        off, noise = _against_others(inside, normal, spread)
        if np.max(np.abs(off) / noise) > np.max(np.abs(shift) / spread):
            shift, spread, than = off, noise, "the other channels tell"
    sizes = np.minimum(np.abs(shift) / spread, _MOST)
    k = int(np.argmax(sizes))
    if sizes[k] < _OFF:
        return None, 0.0, "the channels do not go together as elsewhere"
    way = "higher" if shift[k] > 0 else "lower"
    times = f"{readable(sizes[k], 2)}" if sizes[k] < _MOST else "over a million"
    reason = (
        f"{names[k]} {way} by {readable(abs(shift[k]), 4)} than {than}, {times} times its spread"
    )
    return names[k], float(shift[k]), reason


def _against_others(inside: Floats, normal: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """(c,) the median by which each channel is off its regression on the others, and the spread of
    that in the normal rows. With P the inverse of the covariance, it is (P x)_k / P_kk with the
    variance 1 / P_kk; a fault of one channel alone is the largest in that channel, in spreads."""
    middle = normal.mean(axis=0)
    Z = (normal - middle) / spread
    # Channels that are functions of each other have a noise of a millionth.
    precision = np.linalg.inv(Z.T @ Z / len(Z) + _RIDGE * np.eye(Z.shape[1]))
    parts = np.diag(precision)
    off = np.median((inside - middle) / spread @ precision, axis=0) / parts
    return np.asarray(off * spread), np.asarray(spread / np.sqrt(parts))
