"""Forests that are drawn again from the trees of one: how much a label depends on them."""

from __future__ import annotations

import numpy as np

from .._random import Stream, below, mix
from ..protocols import Floats

_DRAWS = 200


def scores_again(lengths: Floats, normaliser: float, stream: Stream) -> Floats:
    """(draws, n) the scores of rows in forests whose trees are drawn from those of a forest, with
    replacement.

    lengths (n, t): the path lengths. Each row is computed alone, so that it does not depend on
    others.
    """
    t = lengths.shape[1]
    drawn = below(mix(stream.key, np.arange(_DRAWS * t)), t).reshape(_DRAWS, t)
    counts = np.stack([np.bincount(each, minlength=t) for each in drawn]).astype(float)
    found = np.empty((_DRAWS, len(lengths)))
    for k, row in enumerate(lengths):
        found[:, k] = 2.0 ** (-(counts @ row) / t / normaliser)
    return found


def flagged_again(
    lengths: Floats, normaliser: float, threshold: float | Floats, stream: Stream
) -> Floats:
    """(n,) how often a row would be flagged if the forest were drawn again, with its own threshold
    (draws,), or always the same."""
    above = threshold < scores_again(lengths, normaliser, stream).T
    return np.asarray(np.mean(above, axis=1))
