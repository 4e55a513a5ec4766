"""Which of several structures are heaps of points with a model through them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..families import layout_of
from ..models.heaps import fills_little, is_heap
from ..protocols import Bools, Floats
from .greedy import Structure

# Points beyond this many half-widths of a structure were left when the next one was selected.
_LEFT = 2.0
# A heap is short, and wider than the other structures by this factor unless its points lie on all
# sides. The law of a table is a rule for all rows, so that one for few feature values is none.
_WIDER = 2.5


def heaps_among(X: Floats, R: Floats, structures: Sequence[Structure]) -> Bools:
    """(s,) which structures are heaps of the points X, with the residuals R (n, s).

    Structures are in the order of their selection: each was found among the points that are beyond
    two half-widths of those before it.
    """
    found = np.zeros(len(structures), np.bool_)
    if len(structures) < 2:
        return found
    widths = np.array([each.half_width for each in structures])
    for k, each in enumerate(structures):
        left = np.all(R[:, :k] > _LEFT * widths[:k], axis=1)
        own = np.where(left, R[:, k], np.inf)
        isotropic = is_heap(each.family, X, own[:, None], widths[[k]])[0]
        short = fills_little(each.family, X, own, widths[k])
        if layout_of(each.family).kind == "table":
            found[k] = isotropic or short
        else:
            # In a band as narrow as the noise, points of a long structure lie on all sides, too.
            wide = widths[k] >= _WIDER * np.median(np.delete(widths, k))
            found[k] = short and (isotropic or wide)
    return found
