"""Draw rows without structure for each kind of row layout."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._random import Stream
from ..protocols import Floats, RowLayout

# Percentiles of each column that bound the box; a single outlier must not inflate it.
_BOX = (1, 99)
# Points of two images that are nearer to each other than this share of the image do not move: two
# frames of a static camera differ by up to a few pixels of a thousand.
_STILL = 0.005
# Percentiles for the spread and the middle of a column.
_SPREAD = (10, 50, 90)


def null_by_layout(layout: RowLayout, X: Floats, n: int, stream: Stream) -> Floats:
    """See `piforest.families.null_rows`."""
    d, rng = X.shape[1], stream.generator()
    if layout.kind == "matches":
        return _shuffle_groups(X, layout.views, n, rng)
    if layout.kind == "table" and layout.target is not None:
        target = layout.target % d
        features = [c for c in range(d) if c != target]
        return _shuffle_groups(X, [features, [target]], n, rng)
    if layout.kind == "segments":
        return _rotate_segments(X[rng.permutation(len(X))[np.arange(n) % len(X)]], rng)
    low, high = np.percentile(X, _BOX, axis=0)
    rows = rng.uniform(low, high, (n, d))
    if layout.kind == "oriented points":
        rows[:, 3:] = rng.normal(size=(n, 3))
        rows[:, 3:] /= np.sqrt(np.sum(rows[:, 3:] ** 2, axis=1, keepdims=True))
    return np.asarray(rows)


def marginal_by_layout(
    layout: RowLayout, X: Floats, n: int, stream: Stream, *, isotropic: bool
) -> Floats:
    """See `piforest.families.marginal_rows`."""
    if layout.kind not in ("points", "oriented points"):
        return null_by_layout(layout, X, n, stream)
    d = X.shape[1]
    if layout.kind == "oriented points":
        groups = [[0], [1], [2], list(range(3, d))]
    else:
        groups = [[column] for column in range(d)]
    rows = _shuffle_groups(X, groups, n, stream.generator())
    if isotropic:
        points = [group[0] for group in groups if len(group) == 1]
        low, middle, high = np.percentile(X[:, points], _SPREAD, axis=0)
        spread = high - low
        factors = np.where(spread > 0, spread.max() / np.where(spread > 0, spread, 1), 1.0)
        rows[:, points] = middle + (rows[:, points] - middle) * factors
    return rows


def displaced_rows(X: Floats, n: int, stream: Stream) -> Floats:
    """(n, 4) null rows for matches and segments alike: the second point in any direction from the
    first. Where the two hardly differ, that would be the same row again, and what does not move
    could not stand out; these rows take the second point of another row."""
    rng = stream.generator()
    rows = X[rng.permutation(len(X))[np.arange(n) % len(X)]]
    still = np.hypot(*(rows[:, 2:] - rows[:, :2]).T) <= still_within(X)
    moved = _rotate_segments(rows, rng)
    moved[still] = rows[still]
    moved[still, 2:] = X[rng.integers(0, len(X), int(still.sum())), 2:]
    return moved


def still_within(X: Floats) -> float:
    """The distance within which points of two images count as those of a thing that stays."""
    low, high = np.percentile(X, _BOX, axis=0)
    return _STILL * float(np.max(high - low))


def _shuffle_groups(
    X: Floats, groups: Sequence[Sequence[int]], n: int, rng: np.random.Generator
) -> Floats:
    """Take each group of columns from a different row.

    The rows are arranged in a random circle. Each group is shifted along it by a random number of
    steps, drawn anew whenever all rows have been used.
    """
    order, at = rng.permutation(len(X)), np.arange(n)
    step = rng.integers(1, max(2, len(X)), -(-n // len(X)))[at // len(X)]
    rows = X[order[at % len(X)]]
    for number, columns in enumerate(groups):
        rows[:, columns] = X[order[(at + number * step) % len(X)]][:, columns]
    return rows


def _rotate_segments(segments: Floats, rng: np.random.Generator) -> Floats:
    """Rotate each of the segments (n, 4) about its midpoint by a random angle."""
    start, end = segments[:, :2], segments[:, 2:]
    middle, (x, y) = (start + end) / 2, ((end - start) / 2).T
    angle = rng.uniform(0, 2 * np.pi, len(segments))
    c, s = np.cos(angle), np.sin(angle)
    half = np.column_stack([c * x - s * y, s * x + c * y])
    return np.hstack([middle - half, middle + half])
