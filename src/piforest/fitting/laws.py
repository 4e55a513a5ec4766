"""The models of tables with much noise: copies of each law, in place of the models that were drawn.

Models of minimal samples of noisy rows scatter so much that rows near the law and rows far off it
prefer nearly as many of them. One law alone ranks no rows either: rows on it are at an end of the
preferences, as rows far off it are, and a forest isolates both ends. Copies that are moved a little
put the rows on the law into the middle.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from .._random import Stream, choose
from ..bands.evidence import full_band_table
from ..bands.ladder import Ladder
from ..models.drawing import ModelSet
from ..models.membership import sample_membership
from ..protocols import Floats
from ..structures.greedy import REACH, BandCounts, evidence_rows, greedy
from ..structures.laws import noisy_laws

_ROWS, _MODELS = 4096, 1000
# Copies of a law, and their spread in sigmas; the scale of their preferences is one sigma. Chosen
# on Gaussian residuals with 5 % anomalies from 2.5 to 6 sigmas: .999 of AUC, and a rank correlation
# with the residuals of .78 to .88 for 50 to 2,000 rows; one model has .3, a spread of 1 has .65.
_COPIES, _SPREAD = 16, 0.5


def law_models(
    models: ModelSet, ratio: Floats, X: Floats, ladder: Ladder, stream: Stream, n_jobs: int | None
) -> ModelSet | None:
    """Copies of the laws of the rows of X, with their scales; None if there is no law, or if the
    family has no parallel models. ratio (m,): the evidence of the models. ladder: with bands that
    are compared with null rows."""
    family: Any = models.family
    if not hasattr(family, "parallel"):
        return None
    some = X[choose(stream.child("rows"), len(X), _ROWS)]
    # Those with the most evidence are of one law, if there are several.
    best = np.argsort(-ratio, kind="stable")[:_MODELS]
    few = models.take(np.union1d(best, np.arange(min(_MODELS, len(models)))))
    table = full_band_table(some, few, sample_membership([few]), ladder, n_jobs)
    bands = [BandCounts(some, few, table)]
    counted = evidence_rows(bands, np.ones(len(some), np.bool_))
    laws = noisy_laws(bands, greedy(bands, counted, REACH), counted)
    if not laws or _COPIES * len(laws) > len(models):
        return None
    distances = _SPREAD * ndtri((np.arange(_COPIES) + 0.5) / _COPIES)
    sigmas = np.repeat([each.half_width / 2 for each in laws], _COPIES)
    params = [
        family.parallel(each.params, distances * each.half_width / 2, X.shape[1]) for each in laws
    ]
    copies = models.first(len(sigmas))
    return replace(
        copies,
        params=np.asfortranarray(np.concatenate(params)),
        scale=sigmas,
        # No single row moves a law.
        excludes_sample=np.zeros(len(sigmas), np.bool_),
    )
