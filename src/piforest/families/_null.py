"""How rows without structure look, by what their columns are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._random import Stream
from ..protocols import Floats, RowLayout

# Per cent of each column: a far point must not blow up the box.
_BOX = (1, 99)


def null_by_layout(layout: RowLayout, X: Floats, n: int, stream: Stream) -> Floats:
    """See `piforest.families.null_rows`."""
    d, rng = X.shape[1], stream.generator()
    if layout.kind == "matches":
        return _paired_anew(X, layout.views, n, rng)
    if layout.kind == "table" and layout.target is not None:
        target = layout.target % d
        features = [c for c in range(d) if c != target]
        return _paired_anew(X, [features, [target]], n, rng)
    if layout.kind == "segments":
        return _turned(X[rng.permutation(len(X))[np.arange(n) % len(X)]], rng)
    low, high = np.percentile(X, _BOX, axis=0)
    rows = rng.uniform(low, high, (n, d))
    if layout.kind == "oriented points":
        rows[:, 3:] = rng.normal(size=(n, 3))
        rows[:, 3:] /= np.sqrt(np.sum(rows[:, 3:] ** 2, axis=1, keepdims=True))
    return np.asarray(rows)


def _paired_anew(
    X: Floats, groups: Sequence[Sequence[int]], n: int, rng: np.random.Generator
) -> Floats:
    """Each group of columns from another row than the group before it: so many steps ahead in a
    random circle of all rows, another number of steps each time around."""
    order, at = rng.permutation(len(X)), np.arange(n)
    step = rng.integers(1, max(2, len(X)), -(-n // len(X)))[at // len(X)]
    rows = X[order[at % len(X)]]
    for number, columns in enumerate(groups):
        rows[:, columns] = X[order[(at + number * step) % len(X)]][:, columns]
    return rows


def _turned(segments: Floats, rng: np.random.Generator) -> Floats:
    """Segments (n, 4) about their midpoints by angles of their own."""
    start, end = segments[:, :2], segments[:, 2:]
    middle, (x, y) = (start + end) / 2, ((end - start) / 2).T
    angle = rng.uniform(0, 2 * np.pi, len(segments))
    c, s = np.cos(angle), np.sin(angle)
    half = np.column_stack([c * x - s * y, s * x + c * y])
    return np.hstack([middle - half, middle + half])
