"""A finding about bands that are narrower than the noise of their structure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import chi2

from .._numbers import readable
from ..protocols import Bools, Floats
from ..structures.greedy import Structure
from .finding import Finding

# A band of two sigmas has, of Gaussian noise, 0.05 times as many points in the ring from one to two
# half-widths as inside, of Laplacian noise 0.13; a band of one sigma has 0.4.
_BESIDE = 0.25
# Noise that is larger than the reported one by less is no matter.
_LARGER = 1.2
# The excess of the ring, in standard deviations of a count.
_SURE = 4.0
# The ring is compared with the emptiest of those beyond it, up to these half-widths.
_RINGS = (2, 3, 4, 6, 8)
_FEW = 30
_SHARES = np.linspace(0.1, 2.5, 241)


def about_narrow_bands(X: Floats, structures: Sequence[Structure]) -> Iterator[Finding]:
    """Structures with many more points just beyond their band than farther away."""
    R = [each.residuals(X) for each in structures]
    near = [r <= 2 * each.half_width for r, each in zip(R, structures)]
    total = np.sum(near, axis=0)
    for k, each in enumerate(structures):
        others = total - near[k] > 0
        sigma = _noise(R[k], each.half_width, each.family.codimension(X.shape[1]), others)
        if sigma is not None and sigma > _LARGER * each.sigma:
            name = each.family.name.replace("_", " ")
            yield Finding(
                "narrow_band",
                f"The band of structure {k}, a {name}, seems narrower than its noise: points go on "
                f"beside it, as if sigma were {readable(sigma, 2)} or more, not "
                f"{readable(each.sigma, 2)}, so that points of the structure may be flagged.",
                f"Try sigma={readable(sigma, 2)} or more, or look at a plot of the distances.",
            )


def _noise(r: Floats, h: float, codimension: int, others: Bools) -> float | None:
    """The sigma by which Gaussian noise has as many points beside the band as there are; None if
    there are few. others: rows that belong to other structures."""
    rows = r[~others & np.isfinite(r)]
    ends = np.array([0.0, 1.0, *_RINGS]) * h
    counts = np.histogram(rows, ends)[0].astype(float)
    volumes = np.diff(ends**codimension) / h**codimension
    background = float(np.min(counts[2:] / volumes[2:]))
    inside, beside = counts[:2] - background * volumes[:2]
    if inside < _FEW or beside < _BESIDE * inside or beside < _SURE * np.sqrt(counts[1]):
        return None
    within, twice = (chi2.cdf((times * _SHARES) ** 2, codimension) for times in (1, 2))
    ratios = (twice - within) / within
    return h / float(_SHARES[int(np.argmin(np.abs(ratios - beside / inside)))])
