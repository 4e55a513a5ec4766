"""How much shorter structures make the description of the rows.

The null model says that rows come from a density p0. A structure with residual r and noise sigma
says that they come from p0(x) phi(r / sigma) / E0, where phi is a Gaussian kernel and E0 its mean
over null rows. This is a density for every family, whatever its codimension: rows cost their
position on the structure, as under the null model, and their noise. The rows of a scene come from a
mixture of the null model and of structures, and the log-likelihood ratio of this mixture, less a
price for the parameters, is the evidence of a family in nats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._kernels.mixtures import add_kernels, shares_of_all, shares_of_one
from ..families._samples import freedom
from ..protocols import Floats, Ints, ModelFamily

# A kernel whose mean over null rows rests on fewer of them than this is extrapolated from a wider
# kernel: the relative error of the mean is below a tenth.
_ENOUGH = 100.0
_ROUNDS = 25
# Squared distances in sigmas beyond this count as this: exp(-350) is still a number.
_FAR = 700.0
# Null rows beyond this many sigmas do not change the mean of a kernel: exp(-32) is 1e-14.
_BEYOND = 8.0
# The parameters of a structure beside those of its model: its noise and its share of the rows.
_EXTRA_PARAMETERS = 2


def price(family: ModelFamily, n: int, d: int) -> float:
    """The price of one structure in nats, half the logarithm of n for each parameter (BIC)."""
    return 0.5 * (freedom(family, d) + _EXTRA_PARAMETERS) * float(np.log(n))


@dataclass(frozen=True)
class Described:
    """A structure that describes some of the rows."""

    family: ModelFamily
    params: Floats
    """(p,)"""
    sigma: float
    ratios: Floats
    """(n,) the density of the rows on the structure, relative to the null model"""
    evidence: float
    """the log-likelihood ratio of this structure alone, without its price"""
    cost: float
    """the price of its parameters"""


class Scales(NamedTuple):
    """The sigmas that a structure may have."""

    sigmas: Floats
    """(w,) ascending"""
    means: Floats
    """(w,) the means of the kernels over the residuals of null rows"""

    def near(self, sigma: float) -> Scales:
        """The sigmas that differ from this one by less than two thirds of an octave."""
        close = np.abs(np.log2(self.sigmas / sigma)) < 2 / 3
        return Scales(self.sigmas[close], self.means[close])


def scales_of(
    family: ModelFamily,
    params: Floats,
    null: Floats,
    sigmas: Floats,
    codimension: int | None = None,
) -> Scales:
    """The sigmas (w,), ascending, for a model (p,).

    codimension: of the structure among the null rows; that of the family by default.
    """
    c = family.codimension(null.shape[1]) if codimension is None else codimension
    r0 = _finite(family.residuals(null, params[None])[:, 0])
    return Scales(sigmas, _null_means(r0, sigmas, c))


def describe(family: ModelFamily, params: Floats, rows: Floats, scales: Scales) -> Described:
    """The structure of one model (p,), with the best of the sigmas."""
    n, d = rows.shape
    sigmas = scales.sigmas
    r = _finite(family.residuals(rows, params[None])[:, 0])
    ratios = kernel(r[:, None], sigmas) / scales.means
    evidence = _each_alone(ratios, 0.2, _ROUNDS)
    best = int(np.argmax(evidence))
    return Described(
        family,
        params,
        float(sigmas[best]),
        ratios[:, best],
        float(evidence[best]),
        price(family, n, d),
    )


def kernel(r: Floats, sigma: Any) -> Floats:
    """exp(-r^2 / 2 sigma^2), never 0."""
    return np.asarray(np.exp(-0.5 * np.minimum((r / sigma) ** 2, _FAR)))


def _finite(r: Any) -> Floats:
    return np.where(np.isfinite(r), r, 1e150)


def _null_means(r0: Floats, sigmas: Floats, codimension: int) -> Floats:
    """(w,) the mean of the kernel over residuals of null rows, by a power law where these are
    few."""
    means = np.zeros(len(sigmas))
    add_kernels(r0, sigmas, means, _BEYOND)
    means /= len(r0)
    known = means * len(r0) >= _ENOUGH
    first = int(np.argmax(known)) if known.any() else len(sigmas) - 1
    base = max(float(means[first]), 1e-3 / len(r0))
    means[:first] = base * (sigmas[:first] / sigmas[first]) ** codimension
    means[first] = base
    return means


def mixture(ratios: Floats, rounds: int = _ROUNDS) -> tuple[float, Floats]:
    """The log-likelihood ratio of the mixture of the null model and structures, ratios (n, s), and
    the shares (s + 1,), the null model first."""
    ratios = np.ascontiguousarray(ratios)
    shares = np.full(ratios.shape[1] + 1, 1 / (ratios.shape[1] + 1))
    shares_of_all(ratios, shares, np.empty_like(shares), rounds)
    return float(np.sum(np.log(shares[0] + ratios @ shares[1:]))), shares


def _each_alone(ratios: Floats, share: float, rounds: int) -> Floats:
    """(w,) the log-likelihood ratios of the mixtures of the null model and one column of ratios
    (n, w) each; share: the first guess of its share."""
    ratios = np.ascontiguousarray(ratios)
    shares = np.full(ratios.shape[1], share)
    shares_of_one(ratios, shares, np.empty_like(shares), rounds)
    return np.asarray(np.sum(np.log(1 - shares + shares * ratios), axis=0))


@dataclass(frozen=True)
class Description:
    """The structures that describe the rows best, and their shares of the rows."""

    structures: tuple[Described, ...] = ()
    shares: tuple[float, ...] = ()
    evidence: float = 0.0
    """the log-likelihood ratio less the prices"""

    @property
    def explained(self) -> float:
        """The share of the rows that belong to structures."""
        return sum(self.shares)

    @property
    def log_ratio(self) -> float:
        """The log-likelihood ratio, without the prices."""
        return self.evidence + sum(each.cost for each in self.structures)

    @property
    def sigma(self) -> float:
        """The mean noise, weighted by the shares."""
        return float(np.average([each.sigma for each in self.structures], weights=self.shares))

    def rows(self) -> Ints:
        """(n,) the structure of each row with the largest density, -1 for the null model."""
        found = np.column_stack(
            [share * s.ratios for s, share in zip(self.structures, self.shares)]
        )
        best = np.argmax(found, axis=1)
        likely = found[np.arange(len(best)), best] > 1 - self.explained
        return np.where(likely, best, -1)


def best_description(found: Sequence[Described]) -> Description:
    """Choose structures: add the one that shortens the description most, then drop those that do
    not pay for their parameters."""
    if not found:
        return Description()
    ratios = np.column_stack([each.ratios for each in found])
    costs = np.array([each.cost for each in found])
    chosen: list[int] = []
    while len(chosen) < len(found):
        gains = _added(ratios, ratios[:, chosen]) - costs
        gains[chosen] = -np.inf
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        chosen.append(best)
    while chosen:
        value = _value(ratios, costs, chosen)
        values = [_value(ratios, costs, [j for j in chosen if j != k]) for k in chosen]
        best = int(np.argmax(values))
        if values[best] < value:
            break
        del chosen[best]
    if not chosen:
        return Description()
    total, shares = mixture(ratios[:, chosen])
    return Description(
        tuple(found[k] for k in chosen),
        tuple(float(share) for share in shares[1:]),
        total - float(costs[chosen].sum()),
    )


def added(found: Sequence[Described], others: Sequence[Described]) -> Floats:
    """(s,) the log-likelihood ratio that each structure adds to that of others."""
    n = len(found[0].ratios)
    return _added(*(np.array([each.ratios for each in some]).reshape(-1, n).T
                    for some in (found, others)))  # fmt: skip


def _added(ratios: Floats, others: Floats) -> Floats:
    """(s,) what each column of ratios (n, s) adds to the mixture of the others (n, k)."""
    _, shares = mixture(others)
    density = shares[0] + others @ shares[1:]
    return _each_alone(ratios / density[:, None], 0.15, 8)


def _value(ratios: Floats, costs: Floats, chosen: list[int]) -> float:
    if not chosen:
        return 0.0
    return mixture(ratios[:, chosen])[0] - float(costs[chosen].sum())
