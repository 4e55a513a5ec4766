"""What the view opens on: the columns that show the structures best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..protocols import Floats
from ..structures.laws import predicted_target
from .content import Content

# Rows that the sensitivity of a column is measured on.
_ROWS = 500


class Law(NamedTuple):
    """The target of a table, and its prediction by the nearest structure."""

    target: int
    """its index in X"""
    predicted: Floats
    """(n,) for the shown rows"""


def law_of(content: Content) -> Law | None:
    """Actual and predicted values, if every structure predicts one column from at least two."""
    if content.X.shape[1] < 3:
        return None
    found = predicted_target(content.structures, content.X[content.shown])
    return None if found is None else Law(*found)


def telling_columns(content: Content) -> list[int]:
    """The columns of X in the order in which they matter for the strongest structure.

    A column matters if a change by its interquartile range moves rows far off the structure. The
    first columns come first where there is no structure.
    """
    X, d = content.X, content.X.shape[1]
    if d < 4 or not content.structures:
        return list(range(d))
    strongest = content.structures[0]
    r = strongest.residuals(X)
    rows = X[np.argsort(r, kind="stable")[: min(_ROWS, max(1, strongest.support))]]
    spread = np.subtract(*np.percentile(X, [75, 25], axis=0))
    moved = np.empty(d)
    for k in range(d):
        shifted = rows.copy()
        shifted[:, k] += spread[k] if spread[k] > 0 else np.ptp(X[:, k])
        distances = strongest.residuals(shifted)
        finite = distances[np.isfinite(distances)]
        moved[k] = np.median(finite) if len(finite) else 0.0
    return [int(k) for k in np.argsort(-moved, kind="stable")]
