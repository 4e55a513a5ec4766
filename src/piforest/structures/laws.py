"""Structures with much noise: least squares in place of the band with the most evidence.

Where bands are compared with null rows, those with the most evidence are too narrow, 1.2 sigmas in
place of 2, and laws of tables too steep: null rows are farther from a steep law. Weighted least
squares with a robust sigma have neither fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import rankdata

from .._random import Stream
from ..bands.ladder import WIDTHS, is_noisy
from ..bands.noise import robust_sigma
from ..families import extent, layout_of
from ..models.refit import ROWS_EACH, Lifted, can_refit, weighted_model
from ..protocols import Bools, Floats, Ints, ModelFamily
from .greedy import (
    BandCounts,
    Candidate,
    Structure,
    evidence_rows,
    greedy,
    relative_distances,
    significance_limit,
)
from .heaps import heaps_among

# Steps of weighted least squares, and the reach of their biweights in sigmas, with which they lose
# 5 % of the efficiency for Gaussian noise.
_STEPS, _REACH = 20, 4.685
_SETTLED = 1e-4
# The half-width of a structure in its sigmas.
_HALF_WIDTH = 2.0
# A law of all rows stands out if unrelated columns would show it with this probability, and if it
# explains this share of the variance: a weaker trend may be certain, but it says little about rows.
_CHANCE, _EXPLAINED = 1e-3, 0.25
# Of ranks, the share that says that most rows are related: where a law holds a fifth of them and
# the others are anywhere, it explains a twenty-fifth.
_RELATED = 0.1
# Fewer rows for each point of a minimal sample say less about the noise than about the law.
FEW_ROWS = 2
# Minimal samples to start from, and the factor by which the sigma from the best must be smaller.
_STARTS, _MUCH_NARROWER = 100, 1.5
_ROWS_EACH = 10
# The ends, in sigmas, of the shells about a law whose counts describe it. Rows beyond the last are
# not described.
_SHELLS = np.array([0.5, 1.0, 2.0, 4.0])
# Robust sigmas of n residuals about a model of p rows are too small, on average by 1 + 5 / (n - p)
# (Rousseeuw and Leroy, 1987).
_FEW = 5.0


def is_wide(bands: BandCounts) -> bool:
    """Whether the half-widths were chosen for much noise: a wide band had more evidence than all
    narrow ones, so that narrow bands within it are chance."""
    return is_noisy(bands.ladder.grid)


def law_structures(families: Sequence[BandCounts], reach: float) -> list[Structure]:
    """Structures of all points without members: by greedy selection, and least squares where there
    is much noise."""
    counted = evidence_rows(families, np.ones(len(families[0].X), np.bool_))
    found = noisy_laws(families, greedy(families, counted, reach), counted)
    return [each.structure() for each in found]


def noisy_laws(
    families: Sequence[BandCounts], found: Sequence[Candidate], counted: Bools
) -> list[Candidate]:
    """The candidates, `settled`. In a table with much noise, those that describe the counted rows
    best: without heaps and those that are not worth their price, or the law of all rows in their
    place."""
    laws, bands = settled(found, counted), families[0]
    if len(families) > 1 or not is_wide(bands) or target_of(bands.family) is None:
        return laws
    whole = whole_law(families, counted)
    if not laws:
        return whole
    X, limit, null = bands.X[counted], significance_limit(families), bands.ladder.null
    assert null is not None
    kept = without_heaps(laws, X)
    laws = laws if len(kept) == len(laws) else settled(kept, counted)

    def value(each: Sequence[Candidate]) -> float:
        """How well the laws describe the rows, minus the price of each."""
        found = [(law.params, law.half_width / _HALF_WIDTH) for law in each]
        return description_gain(bands.family, found, X, null) - limit * len(found)

    while len(laws) > 1:
        fewer = max((laws[:k] + laws[k + 1 :] for k in range(len(laws))), key=value)
        fewer = settled(fewer, counted)
        if value(fewer) < value(laws):
            break
        laws = fewer
    return whole if whole and value(whole) >= value(laws) else laws


def without_heaps(found: Sequence[Candidate], X: Floats) -> list[Candidate]:
    """The candidates that are no heaps of the rows X, all of them if none would be left."""
    structures = [each.structure() for each in found]
    R = np.column_stack([np.empty((len(X), 0)), *(each.residuals(X) for each in structures)])
    left = [each for each, heap in zip(found, heaps_among(X, R, structures)) if not heap]
    return left or list(found)


def description_gain(
    family: ModelFamily, laws: Sequence[tuple[Floats, float]], X: Floats, null: Floats
) -> float:
    """How much better laws, each with its sigma, describe the rows X than null rows do: the sum of
    ln(p / q) over X, where p is the share of X in the shell of a row about its nearest law, and q
    that of the null rows; 0 without laws.

    The shares may be any, so that the noise may have any distribution up to four sigmas. Rows
    beyond all laws are in one cell: laws that hold some of the rows do not describe the others.
    """
    if not laws:
        return 0.0
    cells, null_cells = _cells(family, laws, X), _cells(family, laws, null)
    size = len(_SHELLS) * len(laws) + 1
    counts = np.bincount(cells, minlength=size)
    # Half a row in each cell: a cell without null rows is not impossible.
    q = (np.bincount(null_cells, minlength=size) + 0.5) / (len(null) + 0.5 * size)
    p = np.where(counts > 0, counts / max(len(X), 1), q)
    return float(np.sum(counts * np.log(p / q)))


def _cells(family: ModelFamily, laws: Sequence[tuple[Floats, float]], X: Floats) -> Ints:
    """(n,) the shell of each row about the law that is nearest in sigmas."""
    distances = np.column_stack([family.residuals(X, p[None])[:, 0] / s for p, s in laws])
    nearest = np.argmin(distances, axis=1)
    shell = np.searchsorted(_SHELLS, distances[np.arange(len(X)), nearest])
    beyond = len(_SHELLS) * len(laws)
    return np.where(shell < len(_SHELLS), nearest * len(_SHELLS) + shell, beyond)


def settled(found: Sequence[Candidate], counted: Bools) -> list[Candidate]:
    """Each candidate with much noise as the least-squares model of the counted rows that are nearer
    to it than to others, and two sigmas wide; others as they are."""
    if not any(is_wide(each.bands) for each in found):
        return list(found)
    distances = relative_distances(found[0].bands.X, [each.structure() for each in found])
    nearest = np.where(counted, np.argmin(distances, axis=1), -1)
    return [_settled(each, np.flatnonzero(nearest == k)) for k, each in enumerate(found)]


def _settled(candidate: Candidate, rows: Ints) -> Candidate:
    bands = candidate.bands
    if not is_wide(bands) or len(rows) <= bands.models.samples.shape[1]:
        return candidate
    X, codimension = bands.X[rows], bands.codimension
    params, sigma = least_squares(
        bands.family, candidate.params, X, candidate.half_width / 2, codimension
    )
    effect = bands.ladder.effect
    # Not narrower than the step of rounded rows.
    least = 0.0 if effect is None else float(effect.floors(bands.family, params[None])[0])
    return candidate._replace(params=params, half_width=max(_HALF_WIDTH * sigma, least))


def least_squares(
    family: Any, params: Floats, X: Floats, sigma: float, codimension: int
) -> tuple[Floats, float]:
    """The parameters (p,) and the sigma of the least-squares model of the rows of X, with biweights
    of a robust sigma, from a first model and sigma. They stay if the family has no such fit."""
    lifted, size = Lifted.if_linear(family, X), family.sample_size(X.shape[1])
    if lifted is None:
        return params, sigma
    few = 1 + _FEW / max(len(X) - size, 1)
    for _ in range(_STEPS):
        r = family.residuals(X, params[None])[:, 0]
        before, sigma = sigma, few * robust_sigma(r, _HALF_WIDTH * sigma, codimension)
        if not sigma > 0:
            return params, before
        weights = np.maximum(1 - (r / (_REACH * sigma)) ** 2, 0.0) ** 2
        if np.sum(weights > 0) <= size:
            break
        better = weighted_model(lifted, weights)
        if better is None:
            break
        params = better
        if abs(sigma - before) <= _SETTLED * before:
            break
    return params, sigma


def whole_law(families: Sequence[BandCounts], counted: Bools) -> list[Candidate]:
    """The law of all counted rows of a table with much noise, if it stands out; else nothing.

    It is one model, not the best of thousands, so that fewer rows and weaker laws suffice.
    """
    bands, rows = families[0], np.flatnonzero(counted)
    if len(families) > 1 or not is_wide(bands) or target_of(bands.family) is None:
        return []
    law = law_of_all(bands.family, bands.X[rows])
    if law is None:
        return []
    return [Candidate(bands, law[0], _HALF_WIDTH * law[1], float(-np.log(_CHANCE)))]


def law_of_all(family: Any, X: Floats) -> tuple[Floats, float] | None:
    """The parameters (p,) and the sigma of the law of all rows of X, if it stands out: the columns
    are related, and it explains enough of the target."""
    target, size = target_of(family), family.sample_size(X.shape[1])
    if target is None or not can_refit(family):
        return None
    if len(X) < FEW_ROWS * size or not related_columns(family, X):
        return None
    y = X[:, target]
    deviations = np.abs(y - np.median(y))
    spread = robust_sigma(deviations, float(deviations.max()), 1)
    law = (_robust_law if len(X) >= ROWS_EACH * size else _plain_law)(family, X, spread)
    if law is None or law[1] ** 2 > (1 - _EXPLAINED) * spread**2:
        return None
    # Values that follow a law exactly have no noise, which nothing can be measured in.
    return law[0], max(law[1], float(extent(family, X) * WIDTHS[-1]) / _HALF_WIDTH)


def related_columns(family: ModelFamily, X: Floats) -> bool:
    """Whether the target of a table depends on the other columns, by the F test of a regression
    between ranks, which single rows far away cannot decide."""
    (n, d), target = X.shape, target_of(family)
    return target is not None and n > d and _rank_test(X, target % d)[0] <= _CHANCE


def depends_much(family: ModelFamily, X: Floats) -> bool:
    """Whether the ranks of the other columns of a table explain a tenth of the variance of those of
    the target, and not by chance."""
    target = target_of(family)
    return (
        target is not None and related_columns(family, X) and _rank_test(X, target)[1] >= _RELATED
    )


def target_of(family: ModelFamily) -> int | None:
    """The target column of a table; None for other families."""
    layout = layout_of(family)
    return layout.target if layout.kind == "table" else None


def predicted_target(structures: Sequence[Structure], X: Floats) -> tuple[int, Floats] | None:
    """The target column of a table, and its value (n,) at the rows of X as the structure nearest to
    each predicts it; None without structures, or if they do not all predict one column."""
    targets = {target_of(each.family) for each in structures}
    known = all(hasattr(each.family, "predicted") for each in structures)
    if len(targets) != 1 or None in targets or not known:
        return None
    nearest = np.argmin(relative_distances(X, list(structures)), axis=1)
    predicted = np.empty(len(X))
    for k, each in enumerate(structures):
        family: Any = each.family
        predicted[nearest == k] = family.predicted(X[nearest == k], each.params)
    return (targets.pop() or 0) % X.shape[1], predicted


def _robust_law(family: Any, X: Floats, spread: float) -> tuple[Floats, float] | None:
    """Least squares, from all rows and from the minimal sample with the least median of residuals,
    which must be much better: of few rows, some sample is near half by chance."""
    size = family.sample_size(X.shape[1])
    keys = Stream(0).child("whole law").generator().random((_STARTS, len(X)))
    starts, valid = family.solve(X[np.argsort(keys, axis=1)[:, :size]])
    everything = _least_squares_of_all(family, X)
    if everything is None or not spread > 0:
        return None
    laws = [least_squares(family, everything, X, spread, 1)]
    starts = starts[valid]
    if len(starts) and len(X) >= _ROWS_EACH * size:
        medians = np.median(family.residuals(X, starts), axis=0)
        best = int(np.argmin(medians))
        laws.append(least_squares(family, starts[best], X, 2 * float(medians[best]), 1))
    return min(laws, key=lambda law: law[1] * (1.0 if law is laws[0] else _MUCH_NARROWER))


def _plain_law(family: Any, X: Floats, spread: float) -> tuple[Floats, float] | None:
    """Least squares with the noise that is left: of few rows, robust fits hold some exactly."""
    params, size = _least_squares_of_all(family, X), family.sample_size(X.shape[1])
    if params is None:
        return None
    r = family.residuals(X, params[None])[:, 0]
    return params, float(np.sqrt(np.sum(r**2) / (len(X) - size)))


def _least_squares_of_all(family: Any, X: Floats) -> Floats | None:
    return weighted_model(Lifted.of(family, X), np.ones(len(X)))


def _rank_test(X: Floats, target: int) -> tuple[float, float]:
    """The p-value of the F test of a regression of the ranks of a column on those of the others,
    and the share of their variance that it explains."""
    n, d = X.shape
    ranks = rankdata(X, axis=0)
    ranks -= ranks.mean(axis=0)
    y, features = ranks[:, target], np.delete(ranks, target, axis=1)
    fitted = features @ np.linalg.lstsq(features, y, rcond=None)[0]
    total, rest = float(y @ y), float(np.sum((y - fitted) ** 2))
    if not total > 0:
        return 1.0, 0.0
    if rest <= 1e-12 * total:
        return 0.0, 1.0
    F = (total - rest) / (d - 1) / (rest / (n - d))
    return float(f_distribution.sf(F, d - 1, n - d)), 1 - rest / total
