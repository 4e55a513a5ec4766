"""The band of each model: its width, its evidence, and from these the noise sigma.

The band around a good model is denser than its surroundings, in particular at the width of the
noise. For each half-width of a ladder, a log-likelihood ratio compares the number of points in the
band with an expected number: an a-contrario test that needs no threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from .._kernels import bands as compiled
from .._numbers import readable
from .._random import Stream, choose
from .._threads import at_most, in_threads
from .._validation import check_family_fits, check_integer, check_magnitude, warn_user
from ..families import extent, resolve_family
from ..models.drawing import ModelSet, draw_models
from ..models.membership import SampleMembership, sample_membership
from ..models.residuals import residual_blocks
from ..protocols import Floats, Ints, ModelFamily
from ..sampling import resolve_sampler
from ..typing import RandomStateLike
from .ladder import WIDTHS, Ladder, ladder_of, narrow_grid
from .resolution import DitherEffect, find_resolution

__all__ = ["Bands", "estimate_sigma"]

Table = NDArray[np.uint8]

# Rows of a thread: as many as make this many residuals, within limits. Each call takes a tenth of a
# millisecond of the interpreter, which all threads share.
_BLOCK_ENTRIES, _BLOCK_ROWS = 2**18, (256, 2048)
# A thread computes at least as many: fewer take less time than to wait for one another.
_THREAD_ENTRIES = 2**20
_TABLE_BYTES = 64 * 2**20
_BEST_SHARE = 0.02  # the share of the models that sigma is estimated from
# A given sigma that differs from the data by more than this factor is suspicious.
_SUSPICIOUS_FACTOR = 5.0
# The expected number of false discoveries among all models and widths.
_FALSE_DISCOVERIES = 1e-3


def least_ratio(n_models: int, n_widths: int = len(WIDTHS)) -> float:
    """The log-likelihood ratio that random data exceed for any model and width with probability
    1/1000."""
    return float(np.log(n_models * n_widths / _FALSE_DISCOVERIES))


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


class BandCounted(NamedTuple):
    """What is counted for some models, each for itself."""

    counts: Any
    """(w, m) the number of rows in each band"""
    null_inside: Any
    """(w, m) the number of null rows within each half-width; None without null rows"""


class BandTable(NamedTuple):
    """The narrowest band of each model that contains each point, and the number of points."""

    ladder: Ladder
    bins: Table
    """(n, m)"""
    counts: Any
    """(w, m)"""
    null_inside: Any = None
    """(w, m) the number of null rows within each half-width, if the ladder has null rows"""


def measure_bands(
    X: Floats,
    models: ModelSet,
    membership: SampleMembership,
    ladder: Ladder,
    *,
    n_jobs: int | None = None,
    keep: bool = False,
    first: BandCounted | None = None,
) -> tuple[Bands, BandTable | None]:
    """Measure the bands of all models on the rows of X. O(n m).

    A row does not count for the models whose samples contain it. keep: also return the table of
    bands, unless it is too large. first: what was counted for the first models; no table then.
    """
    if first is not None:
        n_first = first.counts.shape[1]
        if n_first < len(models):
            rest = models.take(np.arange(n_first, len(models)))
            first = _joined(first, count_bands(X, rest, ladder, n_jobs))
        counts, null_inside = first
        return bands_of(counts, null_inside, ladder, models, X), None
    keep = keep and fits_table(len(X), len(models))
    bins = np.empty((len(X), len(models)), np.uint8) if keep else None
    counts = _count_bands(X, models, membership, ladder.widths, n_jobs, bins)
    null_inside = null_within(models, membership, ladder, n_jobs)
    bands = bands_of(counts, null_inside, ladder, models, X)
    return bands, None if bins is None else BandTable(ladder, bins, counts, null_inside)


def count_bands(
    X: Floats, models: ModelSet, ladder: Ladder, n_jobs: int | None = None
) -> BandCounted:
    """What `measure_bands` counts."""
    membership = sample_membership([models])
    counts = _count_bands(X, models, membership, ladder.widths, n_jobs, None)
    return BandCounted(counts, null_within(models, membership, ladder, n_jobs))


def _joined(first: BandCounted, rest: BandCounted) -> BandCounted:
    counts = np.concatenate([first.counts, rest.counts], axis=1)
    if first.null_inside is None:
        return BandCounted(counts, None)
    return BandCounted(counts, np.concatenate([first.null_inside, rest.null_inside], axis=1))


def full_band_table(
    X: Floats,
    models: ModelSet,
    membership: SampleMembership,
    ladder: Ladder,
    n_jobs: int | None = None,
) -> BandTable:
    """The table of bands of all rows of X, whatever its size."""
    bins = np.empty((len(X), len(models)), np.uint8)
    counts = _count_bands(X, models, membership, ladder.widths, n_jobs, bins)
    return BandTable(ladder, bins, counts, null_within(models, membership, ladder, n_jobs))


def null_within(
    models: ModelSet, membership: SampleMembership, ladder: Ladder, n_jobs: int | None = None
) -> Any:
    """(w, m) the number of null rows within each half-width; None without null rows."""
    if ladder.null is None:
        return None
    return within(_count_bands(ladder.null, models, membership, ladder.widths, n_jobs, None))


def _count_bands(
    X: Floats,
    models: ModelSet,
    membership: SampleMembership,
    widths: Floats,
    n_jobs: int | None,
    bins: Table | None,
) -> Any:
    """(w, m) the number of rows in each band; fills bins (n, m) if given."""
    fewest, most = _BLOCK_ROWS
    size = max(fewest, min(most, _BLOCK_ENTRIES // len(models)))
    parts = [slice(start, start + size) for start in range(0, len(X), size)]
    blocks = (
        (X[rows], models, widths, membership, None if bins is None else bins[rows])
        for rows in parts
    )
    counts = np.zeros((len(widths), len(models)), np.int32)
    threads = at_most(1 + len(X) * len(models) // _THREAD_ENTRIES, n_jobs)
    for part in in_threads(_block_counts, blocks, threads, len(parts)):
        counts += part
    return counts


def fits_table(n: int, m: int) -> bool:
    """Whether the table of bands of n points and m models is small enough to keep."""
    return n * m <= _TABLE_BYTES


def _block_counts(
    X: Floats, models: ModelSet, widths: Floats, membership: SampleMembership, table: Table | None
) -> Any:
    counts = np.zeros((len(widths), len(models)), np.int32)
    count_bins(band_bins(X, models, widths, membership, table), np.arange(len(X)), 1, counts)
    return counts


def count_bins(bins: Table, rows: Ints, sign: int, counts: Any) -> None:
    """counts (w, m) += sign for the band of each of the rows of bins (n, m)."""
    compiled.count_bins(bins, rows, sign, np.empty(counts.shape, np.uint8), counts)


def within(counts: Any) -> Any:
    """(w, m) the number of points within each half-width."""
    inside = np.empty(counts.shape, np.int32)
    compiled.within(counts, inside)
    return inside


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
    widest = np.full(len(models), widths[0])
    for rows, R in residual_blocks(X, [models], widest):
        fill_bins(R, widths, starts[rows], ends[rows], membership.columns, table[rows])
    return table


def fill_bins(
    R: Floats, widths: Floats, starts: Ints, ends: Ints, skipped: Ints, bins: Table
) -> None:
    """bins (n, m): the band of each residual; NO_BAND for the models skipped[starts[i] : ends[i]]
    in row i."""
    squares = np.empty(compiled.TOGETHER, np.float32)
    exponents = np.empty(compiled.TOGETHER, np.uint8)
    compiled.band_bins(
        R, widths, starts, ends, skipped, squares, squares.view(np.uint32), exponents, bins
    )


def bands_of(counts: Any, null_inside: Any, ladder: Ladder, models: ModelSet, X: Floats) -> Bands:
    """Bands from the counts (w, m) of the rows of X."""
    inside, family = within(counts), models.family
    lowest = ladder.lowest(family, models.params)
    codimension = family.codimension(X.shape[1])
    ratios = ladder.ratios(inside, codimension, len(X), null_inside, lowest)
    best, model = np.argmax(ratios, axis=0), np.arange(len(models))
    size, ratio = models.samples.shape[1], ratios[best, model]
    # The points of a band are those counted and the sample itself.
    gain = ratio / np.maximum(size + 1, size + inside[best, model])
    n_best = max(1, round(_BEST_SHARE * len(models)))
    means = np.sort(np.partition(ratios, -n_best, axis=1)[:, -n_best:], axis=1).mean(axis=1)
    sigma = float(ladder.widths[np.argmax(means)] / 2) if means.max() > 0 else np.nan
    return Bands(sigma, ladder.widths[best], ratio, gain)


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


def strongly_disagrees(given: float, half_width: Floats, ratio: Floats) -> float | None:
    """The sigma of the band with the most evidence, if it contradicts a given sigma; else None.

    half_width, ratio (m,): of the models. It does if the two differ by more than a factor of five,
    and if no band that agrees with the given sigma has half as much significant evidence.
    """
    best = int(np.argmax(ratio))
    factors = np.maximum(half_width / (2 * given), 2 * given / half_width)
    support = float(ratio[factors <= _SUSPICIOUS_FACTOR].max(initial=0.0))
    strong = ratio[best] > 2 * support + least_ratio(len(ratio))
    return float(half_width[best] / 2) if strong else None


def model_weights(bands: Bands, weighting: str) -> Floats:
    """(m,) the weight of each model: 1, or gain ** (3 / 4)."""
    return np.asarray(bands.gain**0.75 if weighting == "gain" else np.ones(len(bands.gain)))


def fallback_sigma(X: Floats, models: ModelSet) -> float:
    """Half the median width of the grid, with a warning, for data without any structure."""
    sigma = float(extent(models.family, X) * WIDTHS[len(WIDTHS) // 2] / 2)
    warn_user(
        f"no structure of family {models.family.name!r} was found in {len(X)} points; sigma='auto' "
        f"fell back to {readable(sigma)}. Pass sigma, the noise of the structures in the units of "
        "X."
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
    resolution = find_resolution(resolved, points, stream.child("dither"))
    rows = resolution.dithered(points, np.arange(len(points)))
    models, _ = draw_models(rows, resolved, sampler, n_models, stream.child("models"))
    effect = resolution.effect(resolved, points, rows)
    sigma = rough_sigma(rows, models, stream.child("sigma"), effect)
    return fallback_sigma(rows, models) if np.isnan(sigma) else sigma


def rough_sigma(
    X: Floats, models: ModelSet, stream: Stream, effect: DitherEffect | None = None
) -> float:
    """sigma from at most 1,000 points and 2,000 models; NaN if no structure is found."""
    models = models.first(2000)
    some = X[choose(stream, len(X), 1000)]
    grid = narrow_grid(models.family, X)
    ladder = ladder_of(models.family, some, grid, stream.child("null"), effect)
    return measure_bands(some, models, sample_membership([models]), ladder)[0].sigma
