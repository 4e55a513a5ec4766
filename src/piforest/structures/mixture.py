"""Matches as a mixture of structures, with shares that vary over the images.

A density for each row follows: that of its structures, each with its own sigma, and that of
unrelated matches. The share of a structure at a row is that among the neighbours of the row. So two
planes that lie beside each other are told apart although one slightly wider band holds both, which
says nothing about the place of a row, while it costs hardly anything to say where each of them is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
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
# Distances of so many sigmas of the tail count as this: exp(-700) is still a number.
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
        self._fewest = family.sample_size(X.shape[1]) + 1
        self._places, self._n_near = cKDTree(X), min(_NEIGHBOURS, len(X) - 1)
        near = self.nearest(np.arange(len(X)), self._n_near + 1)[:, 1:]
        starts = np.arange(0, near.size + 1, self._n_near)
        self._near = csr_matrix((np.ones(near.size), near.ravel(), starts), (len(X), len(X)))
        """adds what the neighbours of each row have"""

    def nearest(self, rows: Ints, n_nearest: int) -> Ints:
        """(m, n_nearest) the rows that are nearest to some, in both images."""
        return np.asarray(self._places.query(self.X[rows], n_nearest)[1])

    def describe(self, params: Floats, sigmas: Floats, rounds: int) -> Mixed:
        """The mixture after some rounds of expectation and maximisation, from structures with these
        parameters (k, p) and sigmas (k,)."""
        R = self.residuals(params)
        shares = np.full((len(R), len(params) + 1), 1 / (len(params) + 1))
        for step in range(rounds):
            ratios, inner = self._densities(R, sigmas)
            P, _ = _posterior(ratios, shares)
            shares = self._shares(P)
            number = P[:, 1:].sum(axis=0)
            enough = number > self._fewest
            weights = _weights(inner, P)
            if step >= _SETTLING:
                params, R, moved = self._refitted(params, R, weights, enough)
                if moved:
                    weights = _weights(self._densities(R, sigmas)[1], P)
            sigmas = np.where(enough, self._sigmas(R, weights, number), sigmas)
        P, total = _posterior(self._densities(R, sigmas)[0], shares)
        density = np.log(total)
        evidence = float(density.sum() - self.prices(sigmas).sum())
        return Mixed(params, sigmas, shares, P, density, evidence)

    def log_ratios(self, R: Floats, sigmas: Floats) -> Floats:
        """(n, k) the logarithm of the density of rows with residuals R (n, k) on structures,
        compared with that of unrelated matches."""
        return np.log(self._densities(R, sigmas)[0])

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

    def _densities(self, R: Floats, sigmas: Floats) -> tuple[Floats, Floats]:
        """(n, k) the densities of rows with residuals R (n, k) on structures, compared with that of
        unrelated matches, and the shares that their cores have in them."""
        squares = np.minimum(R / (_TAIL_WIDTH * sigmas), _FAR)
        squares *= squares
        tail = np.exp(-0.5 * squares)
        # The core is this power of the tail, so that one exponential serves both.
        power = tail * tail
        power *= power
        power *= power
        core, rest = (1 - _TAIL) * power, _TAIL / _TAIL_WIDTH**self.codimension
        both = core + rest
        tail *= np.exp(self._peaks(sigmas))
        return both * tail, core / both

    def _shares(self, P: Floats) -> Floats:
        """(n, k + 1) the mean probabilities of the neighbours, and of all rows as some more."""
        shares = self._near @ P
        shares += _EVERYWHERE * P.mean(axis=0)
        shares /= _EVERYWHERE + self._n_near
        return np.asarray(shares)

    def _sigmas(self, R: Floats, W: Floats, number: Floats) -> Floats:
        """(k,) the noise of structures with so many rows (k,), which weigh W (n, k); as many
        components as there are parameters have none."""
        components = np.maximum(self.codimension * number - self.freedom, 1.0)
        sigmas = np.sqrt(np.sum(W * R**2, axis=0) / components)
        return np.asarray(np.maximum(sigmas, _EXACT * self.size))

    def _refitted(
        self, params: Floats, R: Floats, W: Floats, enough: Bools
    ) -> tuple[Floats, Floats, bool]:
        """The models (k, p) of least squares with weights (n, k), where these are better, the
        residuals (n, k), and whether any is better."""
        better, valid = self._solved(np.einsum("nk,nq->kq", W, self._products))
        better = np.where((valid & enough)[:, None], better, params)
        new = self.residuals(better)
        # The fit is algebraic, so that it may have larger residuals.
        improves = np.sum(W * new**2, axis=0) <= np.sum(W * R**2, axis=0)
        if not improves.any():
            return params, R, False
        return np.where(improves[:, None], better, params), np.where(improves, new, R), True

    def _solved(self, moments: Floats) -> tuple[Floats, Bools]:
        """The models (k, p) of sums of products (k, L * L), and a mask of those that are valid."""
        width = self._lifted.rows.shape[1]
        moments = np.ascontiguousarray(moments).reshape(-1, width, width)
        moments = np.where(np.isfinite(moments), moments, 0.0)
        with np.errstate(all="ignore"):
            params, valid = self._lifted.family.refit(moments, self._lifted.frame)
        return params, valid & np.isfinite(params).all(axis=1)


def _posterior(ratios: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """(n, k + 1) the probabilities that rows belong to no structure and to each one, from the
    `_densities` on these (n, k) and the shares at each row (n, k + 1); and the densities (n,)."""
    P = np.maximum(shares, 1e-12)
    P[:, 1:] *= ratios
    total = P.sum(axis=1)
    P /= total[:, None]
    return P, total


def _weights(inner: Floats, P: Floats) -> Floats:
    """(n, k) the weights of the rows for least squares: their probabilities P (n, k + 1), those in
    the tail as much less as their variance is larger."""
    return np.asarray(P[:, 1:] * (inner + (1 - inner) / _TAIL_WIDTH**2))
