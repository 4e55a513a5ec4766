"""How wide and how telling is each model; how large is sigma?

A band around a good model is more populated than its surroundings, most
strikingly so at the width of the noise. Over a grid of half-widths w, a model's
log-likelihood ratio compares the number of points in its band with the number
expected if the points of the widest band were spread evenly over it: an
a-contrario test that needs no threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from ._kernels import scales as kernels
from ._random import Stream, choose
from ._threads import in_threads
from ._validation import check_family_fits, check_integer, check_magnitude, warn_user
from .families import extent, resolve_family
from .models import ModelSet, OwnModels, draw_models, own_models, residual_blocks
from .protocols import Floats, Ints, ModelFamily
from .sampling import resolve_sampler

Table = NDArray[np.uint8]

# Half-widths in units of the extent of the data: 15, from wide to narrow, 7 octaves.
WIDTHS = 0.36 * 2.0 ** (-np.arange(15) / 2)
_BLOCK = 256
_TABLE_BYTES = 64 * 2**20
_BEST = 0.02  # the share of models that show the noise
_EXPECTED_AT_LEAST = 0.001
# So many bands are expected by chance to be as striking as one that counts.
_BY_CHANCE = 1e-3


def least_ratio(n_models: int) -> float:
    """The log ratio that chance reaches once in a thousand times, for all models and widths."""
    return float(np.log(n_models * len(WIDTHS) / _BY_CHANCE))


@dataclass(frozen=True)
class Bands:
    """What the data say about each model's band."""

    sigma: float
    """the noise of the structures; nan if no band is more populated than its surroundings"""
    width: Floats
    """(m,) the half-width at which the band is most striking"""
    ratio: Floats
    """(m,) the log-likelihood ratio there"""
    gain: Floats
    """(m,) the same for each point of the band: how telling the model is"""

    @property
    def least_ratio(self) -> float:
        """Above this, a band is not the work of chance."""
        return least_ratio(len(self.ratio))


class BandTable(NamedTuple):
    """Which band of every model every point lies in, and how many lie in each."""

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
    own: OwnModels,
    widths: Floats,
    *,
    n_jobs: int | None = None,
    keep: bool = False,
) -> tuple[Bands, BandTable | None]:
    """The bands of all models, from the rows of X. O(n m).

    A row has no say about the models that it was a sample of, told by its content. keep:
    return the table of bands too, if it is not too large.
    """
    keep = keep and fits_table(len(X), len(models))
    bins = np.empty((len(X), len(models)), np.uint8) if keep else None
    starts = range(0, len(X), _BLOCK)
    blocks = (
        (
            X[start : start + _BLOCK], models, widths, own,
            None if bins is None else bins[start : start + _BLOCK],
        )
        for start in starts
    )  # fmt: skip
    counts = new_counts(models)
    for part in in_threads(_block_counts, blocks, n_jobs, len(starts)):
        counts += part
    found = bands_of(counts, widths, models, models.family.codimension(X.shape[1]))
    return found, None if bins is None else BandTable(widths, bins, counts)


def fits_table(n: int, m: int) -> bool:
    """Is a table of the bands of n points and m models small enough to be kept?"""
    return n * m <= _TABLE_BYTES


def _block_counts(
    X: Floats, models: ModelSet, widths: Floats, own: OwnModels, table: Table | None
) -> Any:
    counts = new_counts(models)
    count_bins(band_table(X, models, widths, own, table), np.arange(len(X)), 1, counts)
    return counts


def count_bins(bins: Table, rows: Ints, sign: int, counts: Any) -> None:
    """counts (15, m) += sign for the band of each of the rows of bins (n, m)."""
    kernels.count_bins(bins, rows, sign, np.empty(counts.shape, np.uint8), counts)


def new_counts(models: ModelSet) -> Any:
    """(15, m) zeros: how many points lie in each band of each model."""
    return np.zeros((len(WIDTHS), len(models)), np.int32)


def within(counts: Any) -> Any:
    """(15, m) how many points lie within each width."""
    return np.ascontiguousarray(np.cumsum(counts[::-1], axis=0, dtype=np.int32)[::-1])


def band_table(
    X: Floats, models: ModelSet, widths: Floats, own: OwnModels, out: Table | None = None
) -> Table:
    """(n, m) the narrowest band of each model that each row lies in; NO_BAND for none, and for
    the models that the row was a sample of."""
    table = np.empty((len(X), len(models)), np.uint8) if out is None else out
    starts, ends = own.of(X)
    for rows, R in residual_blocks(X, [models]):
        kernels.band_bins(R, widths, starts[rows], ends[rows], own.columns, table[rows])
    return table


def bands_of(counts: Any, widths: Floats, models: ModelSet, codimension: int) -> Bands:
    """From how many points lie in each band of each model, (15, m)."""
    inside = within(counts)
    ratios = log_likelihood_ratios(inside, codimension)
    at, each = np.argmax(ratios, axis=0), np.arange(len(models))
    size, ratio = models.samples.shape[1], ratios[at, each]
    # The band's points are those counted and the sample itself.
    gain = ratio / np.maximum(size + 1, size + inside[at, each])
    few = max(1, round(_BEST * len(models)))
    best = np.sort(np.partition(ratios, -few, axis=1)[:, -few:], axis=1).mean(axis=1)
    sigma = float(widths[np.argmax(best)] / 2) if best.max() > 0 else np.nan
    return Bands(sigma, widths[at], ratio, gain)


def log_likelihood_ratios(inside: Ints, codimension: int) -> Floats:
    """(w, m): k ln(k / E) - (k - E) where the band holds more than expected, else 0.

    inside (w, m): k, the points of each band without the model's own sample; E is what an
    even spread of the widest band's points gives.
    """
    ratios = np.empty(inside.shape)
    shares, logs = (WIDTHS / WIDTHS[0]) ** codimension, np.empty((2, 1 + inside[0].max(initial=0)))
    kernels.log_ratios(inside, shares, _EXPECTED_AT_LEAST, *logs, ratios)
    return ratios


def kernel_scales(
    bands: Bands, scale: str, sigma: float | None, estimate: float | None = None
) -> Floats:
    """(m,) the kernel's sigma for each model; sigma where it is given, else the estimate (that
    of these bands, if there is no other).

    "fixed": sigma for all. "own": half the model's width. "adaptive": between the two,
    the geometric mean where sigma is given, else nine tenths of the way to the own.
    """
    estimate = bands.sigma if estimate is None else estimate
    fixed = estimate if sigma is None else sigma
    # A band that is nowhere striking has no width of its own.
    own = np.where(bands.ratio > 0, bands.width / 2, fixed)
    if scale == "fixed":
        return np.full(len(own), fixed)
    if scale == "own":
        return own
    # From ratios, so that scaling the data by a power of two scales the result exactly.
    if sigma is not None:
        return np.asarray(own * np.sqrt(sigma / own))
    return np.asarray(own * (fixed / 0.75 / own) ** 0.1)


def model_weights(bands: Bands, weighting: str) -> Floats:
    """(m,) how much a preference for each model counts: 1, or gain ** (3 / 4)."""
    return np.asarray(bands.gain**0.75 if weighting == "gain" else np.ones(len(bands.gain)))


def fallback_sigma(X: Floats, models: ModelSet) -> float:
    """What is taken where no structure shows: a middle width; with a warning."""
    sigma = float(extent(models.family, X) * WIDTHS[len(WIDTHS) // 2] / 2)
    warn_user(
        f"no structure of family {models.family.name!r} shows in {len(X)} points; sigma='auto' "
        f"fell back to {sigma:.3g}. Pass sigma, the noise of the structures in the units of X."
    )
    return sigma


def estimate_sigma(
    X: Any, family: Any = "line", *, n_models: int = 2000, random_state: Any = None
) -> float:
    """The noise of the structures of a family in X, in the units of X.

    The half-width at which the best 2 % of random models are most striking, halved.
    At most 1,000 points are looked at. Where nothing shows, it warns and gives a guess.
    A detector's own `sigma_` looks at more points and models, and may be one step of the
    grid of widths away, a factor of sqrt(2).

    >>> from piforest import estimate_sigma
    >>> from piforest.datasets import make_lines
    >>> X = make_lines(4, noise=0.01, anomaly_share=0.3, random_state=0).data
    >>> bool(0.005 < estimate_sigma(X, "line", random_state=0) < 0.02)
    True
    """
    resolved = resolve_family(family)
    check_integer("n_models", n_models, 1)
    X = check_array(X, dtype=np.float64, order="C", ensure_min_samples=2, input_name="X")
    check_magnitude(X)
    check_family_fits(resolved, X)
    stream = Stream.from_random_state(random_state)
    sampler = resolve_sampler("mixed")
    models, _ = draw_models(X, resolved, sampler, n_models, stream.child("models"))
    sigma = rough_sigma(X, models, stream.child("sigma"))
    return fallback_sigma(X, models) if np.isnan(sigma) else sigma


def rough_sigma(X: Floats, models: ModelSet, stream: Stream) -> float:
    """sigma from at most 1,000 points and 2,000 models; nan where no structure shows."""
    models = models.first(2000)
    some = X[choose(stream, len(X), 1000)]
    widths = widths_of(models.family, X)
    return measure_bands(some, models, own_models([models]), widths)[0].sigma
