"""Matches as a mixture of structures, with shares that vary over the images.

A density for each row follows: that of its structures, each with its own sigma, and that of
unrelated matches. The share of a structure at a row is that among the neighbours of the row. So two
planes that lie beside each other are told apart although one slightly wider band holds both, which
says nothing about the place of a row, while it costs hardly anything to say where each of them is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ..bands.noise import median_length
from ..families._samples import freedom
from ..models.refit import Lifted
from ..protocols import Bools, Floats, Ints, ModelFamily

# Neighbours that say how frequent the structures are at a row, and the weight of all rows beside
# them, in rows.
_NEIGHBOURS, _EVERYWHERE = 10, 2.0
# Errors of matches have tails: this share of the rows of a structure has errors so many times as
# large. Without tails, the farther rows of a structure are one more structure.
_TAIL, _TAIL_WIDTH = 0.05, 3.0
# Distances in sigmas beyond this count as this: exp(-700) is still a number.
_FAR = 37.0
# The first rounds settle which rows belong to which structure.
_SETTLING = 2
# Sigmas are not below this share of the size of the images: the structure of few rows may be exact.
_EXACT = 1e-6
# The share of the digits of its parameters that a structure costs. Those of one scene have some in
# common: planes of two views share the motion of the camera.
_OWN = 0.75


class Mixed(NamedTuple):
    """Structures that describe rows together."""

    params: Floats
    """(k, p)"""
    sigmas: Floats
    """(k,)"""
    shares: Floats
    """(n, k + 1) the shares at each row of unrelated matches, and of each structure"""
    posterior: Floats
    """(n, k + 1) the probabilities that a row belongs to none, and to each structure"""
    density: Floats
    """(n,) the logarithm of the density, compared with that of unrelated matches"""
    evidence: float
    """the sum of these, less the price of the structures"""

    def losses(self) -> Floats:
        """(k,) what the density of all rows loses without each structure, if nothing moves."""
        others = np.maximum(1 - self.posterior[:, 1:], 1e-12)
        return np.asarray(np.log(np.maximum(1 - self.shares[:, 1:], 1e-12) / others).sum(axis=0))


class Mixture:
    """The rows X (n, d) of matches, to be described by structures of a family."""

    def __init__(self, family: ModelFamily, X: Floats) -> None:
        self.family, self.X = family, X
        self.codimension = family.codimension(X.shape[1])
        self.freedom = freedom(family, X.shape[1])
        self.size = float(np.prod(np.ptp(X, axis=0)) ** (1 / X.shape[1]))
        """of the images: unrelated matches lie anywhere in them"""
        self._lifted = Lifted.of(family, X)
        rows = self._lifted.rows
        self._products = (rows[:, :, None] * rows[:, None, :]).reshape(len(X), -1)
        self._places = cKDTree(X)
        self._neighbours = self.nearest(np.arange(len(X)), min(_NEIGHBOURS, len(X) - 1) + 1)[:, 1:]

    def nearest(self, rows: Ints, n_nearest: int) -> Ints:
        """(m, n_nearest) the rows that are nearest to some, in both images."""
        return np.asarray(self._places.query(self.X[rows], n_nearest)[1])

    def describe(self, params: Floats, sigmas: Floats, rounds: int) -> Mixed:
        """The mixture after some rounds of expectation and maximisation, from structures with these
        parameters (k, p) and sigmas (k,)."""
        R = self.residuals(params)
        shares = np.full((len(R), len(params) + 1), 1 / (len(params) + 1))
        for step in range(rounds):
            P, _ = self._posterior(R, sigmas, shares)
            near = P[self._neighbours].sum(axis=1)
            shares = (_EVERYWHERE * P.mean(axis=0) + near) / (
                _EVERYWHERE + self._neighbours.shape[1]
            )
            enough = P[:, 1:].sum(axis=0) > self.family.sample_size(self.X.shape[1]) + 1
            if step >= _SETTLING:
                weights = self._weights(R, sigmas, P[:, 1:])
                params, R = self._refitted(params, R, weights, enough)
            weights = self._weights(R, sigmas, P[:, 1:])
            sigmas = np.where(enough, self._sigmas(R, weights, P[:, 1:]), sigmas)
        P, density = self._posterior(R, sigmas, shares)
        evidence = float(density.sum() - self.prices(sigmas).sum())
        return Mixed(params, sigmas, shares, P, density, evidence)

    def log_ratios(self, R: Floats, sigmas: Floats) -> Floats:
        """(n, k) the logarithm of the density of rows with residuals R (n, k) on structures,
        compared with that of unrelated matches."""
        return np.logaddexp(*self._parts(R, sigmas))

    def prices(self, sigmas: Floats) -> Floats:
        """(k,) the prices of structures with these sigmas, in nats: the digits of the parameters,
        whose number depends on the noise and, with half the logarithm, on that of the rows."""
        digits = np.maximum(self._peaks(sigmas) / self.codimension, 0.0)
        by_rows = 0.5 * (self.freedom + 2) * np.log(len(self.X))
        return np.asarray(_OWN * self.freedom * digits + by_rows)

    def local_models(self, rows: Ints, n_nearest: int, rounds: int = 3) -> tuple[Floats, Floats]:
        """The models (m, p) and sigmas (m,) of robust least squares of the nearest rows to each of
        some; without those that are degenerate."""
        nearest = self.nearest(rows, n_nearest)
        weights, products = np.ones(nearest.shape), self._products[nearest]
        kept, params, sigmas = np.ones(len(rows), np.bool_), np.empty(0), np.empty(0)
        for _ in range(rounds):
            params, valid = self._solved(np.einsum("mk,mkq->mq", weights, products))
            kept &= valid & (np.sum(weights > 0, axis=1) > self.family.sample_size(4))
            params = np.where(kept[:, None], params, params[np.argmax(kept)])
            r = np.take_along_axis(self.residuals(params), nearest.T, axis=0).T
            sigmas = np.median(r, axis=1) / median_length(self.codimension)
            sigmas = np.maximum(sigmas, _EXACT * self.size)
            weights = np.maximum(1 - (r / (4 * sigmas[:, None])) ** 2, 0.0) ** 2
        return params[kept], sigmas[kept]

    def residuals(self, params: Floats) -> Floats:
        """(n, k) the distances of the rows to structures."""
        R = np.asarray(self.family.residuals(self.X, params), np.float64)
        return np.minimum(R, _FAR * self.size)

    def _peaks(self, sigmas: Floats) -> Floats:
        """(k,) the logarithms of the largest densities on structures."""
        return np.asarray(self.codimension * np.log(self.size / (np.sqrt(2 * np.pi) * sigmas)))

    def _parts(self, R: Floats, sigmas: Floats) -> tuple[Floats, Floats]:
        """(n, k) the logarithms of the densities of the core and of the tail."""
        core, tail = (
            np.log(share) + self._peaks(width * sigmas)
            - 0.5 * np.minimum(R / (width * sigmas), _FAR) ** 2
            for share, width in ((1 - _TAIL, 1.0), (_TAIL, _TAIL_WIDTH))
        )  # fmt: skip
        return core, tail

    def _weights(self, R: Floats, sigmas: Floats, P: Floats) -> Floats:
        """(n, k) the weights of the rows for least squares: their probabilities P, those in the
        tail as much less as their variance is larger."""
        core, tail = self._parts(R, sigmas)
        inner = 1 / (1 + np.exp(np.minimum(tail - core, 500.0)))
        return np.asarray(P * (inner + (1 - inner) / _TAIL_WIDTH**2))

    def _posterior(self, R: Floats, sigmas: Floats, shares: Floats) -> tuple[Floats, Floats]:
        logs = np.log(np.maximum(shares, 1e-12))
        logs[:, 1:] += self.log_ratios(R, sigmas)
        largest = logs.max(axis=1, keepdims=True)
        P = np.exp(logs - largest)
        total = P.sum(axis=1, keepdims=True)
        return P / total, (largest + np.log(total))[:, 0]

    def _sigmas(self, R: Floats, W: Floats, P: Floats) -> Floats:
        """(k,) the noise of structures that rows belong to with the probabilities P (n, k) and
        weigh W (n, k); as many components as there are parameters have none."""
        components = np.maximum(self.codimension * P.sum(axis=0) - self.freedom, 1.0)
        sigmas = np.sqrt(np.sum(W * R**2, axis=0) / components)
        return np.asarray(np.maximum(sigmas, _EXACT * self.size))

    def _refitted(
        self, params: Floats, R: Floats, W: Floats, enough: Bools
    ) -> tuple[Floats, Floats]:
        """The models (k, p) of least squares with weights (n, k), where these are better, and the
        residuals (n, k)."""
        better, valid = self._solved(np.einsum("nk,nq->kq", W, self._products))
        better = np.where((valid & enough)[:, None], better, params)
        new = self.residuals(better)
        # The fit is algebraic, so that it may have larger residuals.
        improves = np.sum(W * new**2, axis=0) <= np.sum(W * R**2, axis=0)
        return np.where(improves[:, None], better, params), np.where(improves, new, R)

    def _solved(self, moments: Floats) -> tuple[Floats, Bools]:
        """The models (k, p) of sums of products (k, L * L), and a mask of those that are valid."""
        width = self._lifted.rows.shape[1]
        moments = np.ascontiguousarray(moments).reshape(-1, width, width)
        moments = np.where(np.isfinite(moments), moments, 0.0)
        with np.errstate(all="ignore"):
            params, valid = self._lifted.family.refit(moments, self._lifted.frame)
        return params, valid & np.isfinite(params).all(axis=1)
