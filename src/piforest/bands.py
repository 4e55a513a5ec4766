"""The band of each model: its width, its evidence, and from these the noise sigma.

The band around a good model is denser than its surroundings, in particular at the width of the
noise. For each half-width w of a grid, the log-likelihood ratio compares the number of points in
the band with the number expected if the points of the widest band were distributed evenly: an
a-contrario test that needs no threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from ._kernels import bands as compiled
from ._random import Stream, choose
from ._threads import in_threads
from ._validation import check_family_fits, check_integer, check_magnitude, warn_user
from .families import extent, resolve_family
from .membership import SampleMembership, sample_membership
from .models import ModelSet, draw_models
from .protocols import Floats, Ints, ModelFamily
from .residuals import residual_blocks
from .sampling import resolve_sampler
from .typing import RandomStateLike

__all__ = ["Bands", "estimate_sigma"]

Table = NDArray[np.uint8]

# 15 half-widths in units of the extent of the data, from wide to narrow, over 7 octaves.
WIDTHS = 0.36 * 2.0 ** (-np.arange(15) / 2)
_BLOCK = 256
_TABLE_BYTES = 64 * 2**20
_BEST_SHARE = 0.02  # the share of the models that sigma is estimated from
_MIN_EXPECTED = 0.001
# The expected number of false discoveries among all models and widths.
_FALSE_DISCOVERIES = 1e-3


def least_ratio(n_models: int) -> float:
    """The log-likelihood ratio that random data exceed for any model and width with probability
    1/1000."""
    return float(np.log(n_models * len(WIDTHS) / _FALSE_DISCOVERIES))


@dataclass(frozen=True)
class Bands:
    """The band of each model, as measured on the data."""

    sigma: float
    """the noise of the structures; NaN if no band is denser than its surroundings"""
    half_width: Floats
    """(m,) the half-width of largest log-likelihood ratio"""
    ratio: Floats
    """(m,) the log-likelihood ratio there"""
    gain: Floats
    """(m,) the ratio per point of the band"""

    @property
    def least_ratio(self) -> float:
        """Bands with larger ratios are significant."""
        return least_ratio(len(self.ratio))


class BandTable(NamedTuple):
    """The narrowest band of each model that contains each point, and the number of points."""

    widths: Floats
    """(15,)"""
    bins: Table
    """(n, m)"""
    counts: Any
    """(15, m)"""


def widths_of(family: ModelFamily, X: Floats) -> Floats:
    """(15,) the grid of half-widths for data like X, in the units of the residuals."""
    return np.asarray(extent(family, X) * WIDTHS)


def measure_bands(
    X: Floats,
    models: ModelSet,
    membership: SampleMembership,
    widths: Floats,
    *,
    n_jobs: int | None = None,
    keep: bool = False,
) -> tuple[Bands, BandTable | None]:
    """Measure the bands of all models on the rows of X. O(n m).

    A row does not count for the models whose samples contain it. keep: also return the table of
    bands, unless it is too large.
    """
    keep = keep and fits_table(len(X), len(models))
    bins = np.empty((len(X), len(models)), np.uint8) if keep else None
    counts = _count_bands(X, models, membership, widths, n_jobs, bins)
    bands = bands_of(counts, widths, models, models.family.codimension(X.shape[1]))
    return bands, None if bins is None else BandTable(widths, bins, counts)


def full_band_table(
    X: Floats, models: ModelSet, membership: SampleMembership, n_jobs: int | None = None
) -> BandTable:
    """The table of bands of all rows of X, whatever its size."""
    widths, bins = widths_of(models.family, X), np.empty((len(X), len(models)), np.uint8)
    return BandTable(widths, bins, _count_bands(X, models, membership, widths, n_jobs, bins))


def _count_bands(
    X: Floats,
    models: ModelSet,
    membership: SampleMembership,
    widths: Floats,
    n_jobs: int | None,
    bins: Table | None,
) -> Any:
    """(15, m) the number of rows in each band; fills bins (n, m) if given."""
    starts = range(0, len(X), _BLOCK)
    blocks = (
        (
            X[start : start + _BLOCK], models, widths, membership,
            None if bins is None else bins[start : start + _BLOCK],
        )
        for start in starts
    )  # fmt: skip
    counts = new_counts(models)
    for part in in_threads(_block_counts, blocks, n_jobs, len(starts)):
        counts += part
    return counts


def fits_table(n: int, m: int) -> bool:
    """Whether the table of bands of n points and m models is small enough to keep."""
    return n * m <= _TABLE_BYTES


def _block_counts(
    X: Floats, models: ModelSet, widths: Floats, membership: SampleMembership, table: Table | None
) -> Any:
    counts = new_counts(models)
    count_bins(band_bins(X, models, widths, membership, table), np.arange(len(X)), 1, counts)
    return counts


def count_bins(bins: Table, rows: Ints, sign: int, counts: Any) -> None:
    """counts (15, m) += sign for the band of each of the rows of bins (n, m)."""
    compiled.count_bins(bins, rows, sign, np.empty(counts.shape, np.uint8), counts)


def new_counts(models: ModelSet) -> Any:
    """(15, m) zeros, for the number of points in each band of each model."""
    return np.zeros((len(WIDTHS), len(models)), np.int32)


def within(counts: Any) -> Any:
    """(15, m) the number of points within each half-width."""
    return np.ascontiguousarray(np.cumsum(counts[::-1], axis=0, dtype=np.int32)[::-1])


def band_bins(
    X: Floats,
    models: ModelSet,
    widths: Floats,
    membership: SampleMembership,
    out: Table | None = None,
) -> Table:
    """(n, m) the narrowest band of each model that contains each row; NO_BAND for none, and for the
    models whose samples contain the row."""
    table = np.empty((len(X), len(models)), np.uint8) if out is None else out
    starts, ends = membership.of(X)
    for rows, R in residual_blocks(X, [models]):
        compiled.band_bins(R, widths, starts[rows], ends[rows], membership.columns, table[rows])
    return table


def bands_of(counts: Any, widths: Floats, models: ModelSet, codimension: int) -> Bands:
    """Bands from the counts (15, m)."""
    inside = within(counts)
    ratios = log_likelihood_ratios(inside, codimension)
    best, model = np.argmax(ratios, axis=0), np.arange(len(models))
    size, ratio = models.samples.shape[1], ratios[best, model]
    # The points of a band are those counted and the sample itself.
    gain = ratio / np.maximum(size + 1, size + inside[best, model])
    n_best = max(1, round(_BEST_SHARE * len(models)))
    means = np.sort(np.partition(ratios, -n_best, axis=1)[:, -n_best:], axis=1).mean(axis=1)
    sigma = float(widths[np.argmax(means)] / 2) if means.max() > 0 else np.nan
    return Bands(sigma, widths[best], ratio, gain)


def log_likelihood_ratios(inside: Ints, codimension: int) -> Floats:
    """(w, m): k ln(k / E) - (k - E) if the band contains more points than expected, else 0.

    inside (w, m): k, the number of points in each band, without the sample of the model. E is the
    expected number if the points of the widest band were distributed evenly.
    """
    ratios = np.empty(inside.shape)
    shares, logs = (WIDTHS / WIDTHS[0]) ** codimension, np.empty((2, 1 + inside[0].max(initial=0)))
    compiled.log_ratios(inside, shares, _MIN_EXPECTED, *logs, ratios)
    return ratios


def kernel_scales(
    bands: Bands, scale: str, sigma: float | None, estimate: float | None = None
) -> Floats:
    """(m,) the sigma of the kernel for each model.

    "fixed": `sigma` if it is given, else the estimate (by default of these bands), for all models.
    "per_model": half the half-width of the model. "adaptive": in between, the geometric mean of
    the two if sigma is given, else nine tenths of the way to the value of the model.
    """
    estimate = bands.sigma if estimate is None else estimate
    fixed = estimate if sigma is None else sigma
    # A band without evidence has no width.
    per_model = np.where(bands.ratio > 0, bands.half_width / 2, fixed)
    if scale == "fixed":
        return np.full(len(per_model), fixed)
    if scale == "per_model":
        return per_model
    # From ratios, so that scaling the data by a power of two scales the result exactly.
    if sigma is not None:
        return np.asarray(per_model * np.sqrt(sigma / per_model))
    return np.asarray(per_model * (fixed / 0.75 / per_model) ** 0.1)


def model_weights(bands: Bands, weighting: str) -> Floats:
    """(m,) the weight of each model: 1, or gain ** (3 / 4)."""
    return np.asarray(bands.gain**0.75 if weighting == "gain" else np.ones(len(bands.gain)))


def fallback_sigma(X: Floats, models: ModelSet) -> float:
    """Half the median width of the grid, with a warning, for data without any structure."""
    sigma = float(extent(models.family, X) * WIDTHS[len(WIDTHS) // 2] / 2)
    warn_user(
        f"no structure of family {models.family.name!r} was found in {len(X)} points; sigma='auto' "
        f"fell back to {sigma:.3g}. Pass sigma, the noise of the structures in the units of X."
    )
    return sigma


def estimate_sigma(
    X: ArrayLike,
    family: str | ModelFamily = "line",
    *,
    n_models: int = 2000,
    random_state: RandomStateLike = None,
) -> float:
    """Estimate the noise of the structures of a family.

    It is half the half-width at which the bands of the best 2 % of random models have the most
    evidence. At most 1,000 points are used. The `sigma_` of a detector uses more points and
    models and may differ by one step of the grid of widths, a factor of sqrt(2).

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.
    family : str or ModelFamily, default="line"
        What a structure is; see `piforest.families.list_families`.
    n_models : int, default=2000
        Random models to draw.
    random_state : int, RandomState, Generator or None, default=None
        The same seed gives the same result.

    Returns
    -------
    float
        The standard deviation of the points about their structures, in the units of X. If no
        structure is found, a warning is issued and the value is a guess.

    Examples
    --------
    >>> from piforest import estimate_sigma
    >>> from piforest.datasets import make_lines
    >>> X = make_lines(4, noise=0.01, anomaly_share=0.3, random_state=0).data
    >>> bool(0.005 < estimate_sigma(X, "line", random_state=0) < 0.02)
    True
    """
    resolved = resolve_family(family)
    check_integer("n_models", n_models, 1)
    points = check_array(X, dtype=np.float64, order="C", ensure_min_samples=2, input_name="X")
    check_magnitude(points)
    check_family_fits(resolved, points)
    stream = Stream.from_random_state(random_state)
    sampler = resolve_sampler("mixed")
    models, _ = draw_models(points, resolved, sampler, n_models, stream.child("models"))
    sigma = rough_sigma(points, models, stream.child("sigma"))
    return fallback_sigma(points, models) if np.isnan(sigma) else sigma


def rough_sigma(X: Floats, models: ModelSet, stream: Stream) -> float:
    """sigma from at most 1,000 points and 2,000 models; NaN if no structure is found."""
    models = models.first(2000)
    some = X[choose(stream, len(X), 1000)]
    widths = widths_of(models.family, X)
    return measure_bands(some, models, sample_membership([models]), widths)[0].sigma
