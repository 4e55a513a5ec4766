"""Where a structure ends: how far from it a point may lie and still belong to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._random import Stream
from ..bands.ladder import N_NULL, WIDTHS
from ..bands.noise import in_sigmas, robust_sigma
from ..families import extent, has_own_null, null_rows
from ..protocols import Bools, Floats, Ints, ModelFamily
from .description import EXACT
from .greedy import Structure
from .heaps import heaps_among
from .unevenness import uneven_noise

# A structure ends between 2 and 4.5 of its sigmas, farther if its codimension is above 2.
_FIRST, _LAST, _MOST_HALF_WIDTHS = 2.0, 4.5, 3.0
# Rows beyond this many half-widths, about ten sigmas, are no noise: `assign` ends at three.
_NO_NOISE = 5.0
# The end of a structure that is too wide for a background beside it.
_WIDE = 4.0
# Outward, each shell is wider by this factor, a third of an octave.
_SHELL = 2.0 ** (1 / 3)
# A shell belongs to the structure if it is denser than the background by this factor.
_DENSER = 2.0


def own_null_rows(family: ModelFamily, X: Floats, stream: Stream) -> Floats | None:
    """The rows that the points X beside a structure are compared with, if the family has its own
    null rows; None if these points themselves are the background."""
    return null_rows(family, X, N_NULL, stream) if has_own_null(family) else None


class Boundaries:
    """The structures of the points X that are no heaps, and where each of them ends.

    null: see `own_null_rows`.
    """

    def __init__(
        self, X: Floats, structures: Sequence[Structure], null: Floats | None = None
    ) -> None:
        R = _residuals(X, structures)
        heaps = heaps_among(X, R, structures)
        self.structures = [each for each, heap in zip(structures, heaps) if not heap]
        R = R[:, ~heaps]
        self.half_widths = np.array([each.half_width for each in self.structures])
        nearest = np.argmin(R / self.half_widths, axis=1) if self.structures else np.empty(0)
        self.uneven = [
            uneven_noise(X[nearest == k], each) for k, each in enumerate(self.structures)
        ]
        """(s,) the noise of the structures along their predictions, None where it is even"""
        room = _widest(self.structures, X)
        if null is None:
            self.ends = np.array([
                _end(R[nearest == k, k], each, X.shape[1], room[k])
                for k, each in enumerate(self.structures)
            ])  # fmt: skip
        else:
            self.ends = _ends_among(
                R, _residuals(null, self.structures), self.structures, X.shape[1]
            )
        """(s,) the distance at which the points of each structure end"""
        self.wide = self.ends >= _WIDE / _FIRST * room / 4
        """(s,) which are too wide for a background beside them"""

    def beyond(self, X: Floats) -> Bools:
        """(n,) which rows lie beyond the end of every structure."""
        return np.asarray(np.all(self._relative(X) > self.ends, axis=1))

    def far(self, X: Floats) -> Bools:
        """(n,) which rows lie beyond the end of every structure, or three half-widths from it."""
        limits = np.minimum(self.ends, _MOST_HALF_WIDTHS * self.half_widths)
        return np.asarray(np.all(self._relative(X) > limits, axis=1))

    def far_beyond(self, X: Floats) -> Bools:
        """(n,) which rows lie beyond the end of every structure, and five half-widths from it; none
        without structures."""
        limits = np.maximum(self.ends, _NO_NOISE * self.half_widths)
        return np.asarray(np.all(self._relative(X) > limits, axis=1) & bool(self.structures))

    def _relative(self, X: Floats) -> Floats:
        """(n, s) the residuals; where the noise of a structure is larger, smaller by as much."""
        R = _residuals(X, self.structures)
        for k, uneven in enumerate(self.uneven):
            if uneven is not None:
                R[:, k] /= uneven.at(X)
        return R


def _residuals(X: Floats, structures: Sequence[Structure]) -> Floats:
    """(n, s)"""
    return np.column_stack([np.empty((len(X), 0)), *(each.residuals(X) for each in structures)])


def _widest(structures: Sequence[Structure], X: Floats) -> Floats:
    """(s,) the half-width of the widest band with a background; measured once for each family."""
    families = {id(each.family): each.family for each in structures}
    sizes = {key: float(WIDTHS[0] * extent(family, X)) for key, family in families.items()}
    return np.array([sizes[id(each.family)] for each in structures])


def _end(r: Floats, structure: Structure, d: int, widest: float) -> float:
    """Where the density of the residuals r of d columns falls to that of the background.

    r: of the points that are nearer to this structure than to others. The background is the lower
    density of the two outermost octaves of the widest band.
    """
    c = structure.family.codimension(d)
    sigma = robust_sigma(r, structure.half_width, c)
    if sigma <= EXACT * structure.half_width:
        sigma = structure.half_width / 2
    ordered = np.sort(r)

    def density(low: float, high: float) -> float:
        low_rank, high_rank = np.searchsorted(ordered, [low, high], side="right")
        return float((high_rank - low_rank) / ((high / widest) ** c - (low / widest) ** c))

    first, last, wide = (in_sigmas(each, c) * sigma for each in (_FIRST, _LAST, _WIDE))
    if first >= widest / 4:
        return wide
    background = min(density(widest / 4, widest / 2), density(widest / 2, widest))
    end = first
    while end < last:
        following = min(end * _SHELL, last)
        shell = density(end, following)
        if shell == 0 or shell < _DENSER * background:
            break
        end = following
    return end


def _ends_among(R: Floats, N: Floats, structures: Sequence[Structure], d: int) -> Floats:
    """(s,) where the points of d columns with the residuals R (n, s) are no longer denser than null
    rows with the residuals N.

    Residuals of segments are bounded, so that there is no background far away, and those of
    segments that were cut off or bent have heavy tails, which have no end in sigmas. Half of the
    null rows are farther from all structures than the others; the points among them are random, and
    their number tells how many of the nearer ones are.
    """
    if not structures:
        return np.empty(0)
    widths = np.array([each.half_width for each in structures])
    (near, at), (null_near, null_at) = (_nearest(each / widths) for each in (R, N))
    middle = float(np.median(null_near))
    rate = float(np.sum(near > middle)) / max(1, int(np.sum(null_near > middle)))
    ends = np.empty(len(structures))
    for k, each in enumerate(structures):
        r, null = R[at == k, k], np.sort(N[null_at == k, k])
        c = each.family.codimension(d)
        ends[k] = in_sigmas(_FIRST, c) * robust_sigma(r, each.half_width, c)
        while ends[k] < middle * each.half_width:
            following = ends[k] * _SHELL
            shell = np.sum((r > ends[k]) & (r <= following))
            low, high = np.searchsorted(null, [ends[k], following], side="right")
            if shell == 0 or shell < _DENSER * rate * (high - low):
                break
            ends[k] = following
    return ends


def _nearest(relative: Floats) -> tuple[Floats, Ints]:
    """The distances (n,) from the nearest structures, and which these are."""
    at = np.argmin(relative, axis=1)
    return relative[np.arange(len(at)), at], at
