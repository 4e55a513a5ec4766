"""How large is sigma?

A band around a good model is more populated than its surroundings, most
strikingly so at the width of the noise.
"""

from __future__ import annotations

import numpy as np

from ._kernels.scales import histogram
from ._random import Stream, choose
from ._validation import warn_user
from .families import extent
from .models import ModelSet, residual_blocks
from .protocols import Floats, Ints

_WIDTHS = 0.36 * 2.0 ** (-np.arange(15) / 2)  # of the extent of the data
_POINTS, _MODELS = 1000, 2000
_BEST = 0.02  # the share of models that show the noise


def estimate_sigma(X: Floats, models: ModelSet, stream: Stream) -> float:
    """The noise of the structures, from models that were drawn at random.

    For each band width w on a grid, a model's log-likelihood ratio compares the
    number of points in its band with the number expected if the points of the
    widest band were spread evenly over it. The width at which the best 2 % of
    the models are most striking on average is w*, and sigma is w* / 2. At most
    1,000 points and 2,000 models are looked at.
    """
    family = models.family
    size = extent(family, X)
    rows = choose(stream, len(X), _POINTS)
    models = models.first(_MODELS)
    widths = size * _WIDTHS
    counts = np.zeros((len(models), len(widths)), np.int64)
    for _, R in residual_blocks(X[rows], [models]):
        histogram(R, widths, counts)
    own = np.isin(models.samples, rows).sum(axis=1)
    ratios = log_likelihood_ratios(counts, own, family.codimension(X.shape[1]))
    best = np.sort(ratios, axis=0)[-max(1, round(_BEST * len(models))) :].mean(axis=0)
    if not best.max() > 0:
        sigma = float(widths[len(widths) // 2] / 2)
        warn_user(
            f"sigma='auto' found no structure in {len(X)} points and fell back to "
            f"{sigma:.3g}; pass sigma, the noise of the structures in the units of X."
        )
        return sigma
    return float(widths[np.argmax(best)] / 2)


def log_likelihood_ratios(counts: Ints, own: Ints, codimension: int) -> Floats:
    """(m, w): k ln(k / E) - (k - E) where the band holds more than expected, else 0.

    k is the count within each width without the model's own sample, E what an
    even spread of the widest band's points gives.
    """
    within = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1]
    k = np.maximum(within - own[:, None], 0).astype(np.float64)
    expected = k[:, :1] * (_WIDTHS / _WIDTHS[0]) ** codimension + 0.001
    gain = k * np.log(np.maximum(k, 1e-300) / expected) - (k - expected)
    return np.where(k > expected, gain, 0.0)
