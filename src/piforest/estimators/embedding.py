"""Points to preferences, as a transformer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from .._device import is_tensor, on_host, resolve_device, sparse_tensor
from .._progress import Progress
from .._random import Stream, subset
from .._rows import SparseRows, stack, stacked_csr
from .._threads import allowing, in_threads
from .._validation import (
    NoModels,
    check_choice,
    check_family_fits,
    check_flag,
    check_integer,
    check_magnitude,
    check_positive,
    forget_fit,
    on_cpu_only,
    warn_user,
)
from ..bands import (
    Bands,
    BandTable,
    fallback_sigma,
    kernel_scales,
    measure_bands,
    model_weights,
    rough_sigma,
    widths_of,
)
from ..families import resolve_families
from ..models import ModelSet, OwnModels, draw_models, own_models
from ..preferences import Preferences, knows_kernel, list_kernels, resolve_kernel
from ..protocols import Floats, Ints, Kernel, ModelFamily
from ..sampling import resolve_sampler

# Rows that a thread embeds at once: more cost less, but a thread must not wait for the last.
_BLOCK = 256, 1024
_DEVICE_BLOCK = 4096
SCALES = ["adaptive", "fixed", "own"]
WEIGHTINGS = ["gain", "none"]
# A given sigma that differs from what the data say by more than this is told.
_FAR_OFF = 5.0


class PreferenceEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Describe each point by which of many random models it lies near.

    Models of a family are fitted to random minimal samples. A point is mapped to
    its preferences for all of them: the weight of a model where it lies on it, falling
    to 0 at 3 sigma. Points of one structure have similar preferences, points of none have
    hardly any. The result is sparse and works in a `Pipeline` before any other
    estimator. (An isolation forest on preferences may rank upside down: points of
    a structure have many non-zero entries, anomalies hardly any.)

    Parameters
    ----------
    family : str, ModelFamily or list, default="line"
        What a structure is; see `piforest.families.list_families`. A list of families, or of
        (family, share) pairs, where structures are of several kinds.
    sigma : float or "auto", default="auto"
        The noise of the structures, in the units of X. "auto" estimates it.
    n_models : int or "auto", default="auto"
        Models to keep, degenerate ones not counted. "auto" is 10 n, but from 5,000 to
        10,000.
    kernel : {"gaussian", "paper", "binary"} or callable, default="gaussian"
        exp(-r^2 / (2 sigma^2)); the paper's formula as printed; 1; or any function
        (r, sigma) that does not increase in r.
    sampler : {"mixed", "uniform", "local", "weighted", "stratified", "grouped"} or Sampler, \
            default="mixed"
        Which points make a minimal sample. "mixed": every other one at random and the
        others neighbours, at all scales; "uniform": all at random; "local": neighbours at
        one scale, and as many at random; "weighted": in proportion to the `quality` that
        `fit` is given; "stratified": at random, all points equally often; "grouped":
        within one of the `groups` that `fit` is given.
    scale : {"adaptive", "own", "fixed"}, default="adaptive"
        The kernel's sigma for each model. "own": half the width at which its band is
        most striking against its surroundings; "fixed": `sigma`; "adaptive": between
        the two.
    weighting : {"gain", "none"}, default="gain"
        How much a preference for a model counts: how telling the model's band is, in
        nats for each of its points, to the power 3/4; or all the same.
    own_votes : bool, default=False
        May a point prefer the models that it was itself a sample of? It lies on them
        whatever it is. Without these votes, training points and new points are
        comparable.
    device : {"cpu", "cuda", "auto"} or str, default="cpu"
        What computes: "cuda" or "cuda:1" a GPU, through PyTorch; "auto" a GPU where there is
        one; "torch" the same code on the CPU. Tensors may go in, and come out on their own
        device, whatever computes.
    n_jobs : int or None, default=None
        Threads. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        One seed gives one answer.
    verbose : int, default=0
        1 prints the stages and their times to standard error.

    Attributes
    ----------
    models_ : list of ModelSet
        Parameters, minimal samples, scale and weight of the models, one set for each family.
    sigma_ : float
        The noise of the structures.
    sigma_source_ : str
        Where it comes from: "given", "estimated", or "guessed" where no structure shows.
    bands_ : list of Bands or None
        Width and gain of each model's band, for each family, where they were measured.
    n_models_ : int
    n_degenerate_ : int
        Minimal samples that were dropped because they determine no model of the
        family, or for homographies none in front of both cameras.

    Examples
    --------
    >>> import numpy as np
    >>> from piforest import PreferenceEmbedding
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> P = PreferenceEmbedding("line", sigma=0.05, n_models=500, random_state=0).fit_transform(X)
    >>> P.shape, str(P.dtype)
    ((100, 500), 'float32')

    References
    ----------
    F. Leveni, L. Magri, G. Boracchi, C. Alippi, "PIF: Anomaly detection via
    preference embedding", ICPR 2020, section IV-A.
    """

    models_: list[ModelSet]
    sigma_: float
    sigma_source_: str
    bands_: list[Bands] | None
    kernel_: Kernel
    _own: OwnModels | None

    def __init__(
        self,
        family: Any = "line",
        *,
        sigma: Any = "auto",
        n_models: Any = "auto",
        kernel: Any = "gaussian",
        sampler: Any = "mixed",
        scale: str = "adaptive",
        weighting: str = "gain",
        own_votes: bool = False,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.family = family
        self.sigma = sigma
        self.n_models = n_models
        self.kernel = kernel
        self.sampler = sampler
        self.scale = scale
        self.weighting = weighting
        self.own_votes = own_votes
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, quality: Any = None, groups: Any = None) -> Self:
        """Draw the models. y is ignored; quality and groups (n,) go to the sampler."""
        self._fit(X, quality, groups, None, keep=False)
        return self

    def _fit(
        self, X: Any, quality: Any, groups: Any, rows: Ints | None, keep: bool
    ) -> list[BandTable | None]:
        """Fit, and return the tables of bands of the families, None where they were not made or
        are not to be kept. `rows` are those that stand for all: that models are drawn from, and
        bands are measured on."""
        forget_fit(self)
        families = resolve_families(self.family)
        sampler = resolve_sampler(self.sampler)
        self.kernel_ = resolve_kernel(self.kernel)
        self._check_params(len(families))
        device = self._resolve_device()
        stream = Stream.from_random_state(self.random_state)
        X = validate_data(self, on_host(X), dtype=np.float64, order="C", ensure_min_samples=2)
        check_magnitude(X)
        for family, _ in families:
            check_family_fits(family, X)
        n_models = auto_models(len(X)) if self.n_models == "auto" else self.n_models
        columns = {
            "quality": _column("quality", quality, len(X), np.float64),
            "groups": _column("groups", groups, len(X), None),
        }
        rows = subset(stream, len(X)) if rows is None else rows
        if len(rows) < len(X):
            keep, X = False, X[rows]
            columns = {name: None if part is None else part[rows] for name, part in columns.items()}
        drawn, self.n_degenerate_ = [], 0
        for at, (family, size) in enumerate(_apportioned(families, n_models)):
            # The first of several families draws what it would alone.
            path = ("models",) if at == 0 else ("models", at)
            with Progress(self.verbose).stage(f"{size} models of family {family.name!r}"):
                try:
                    with allowing(self.n_jobs):
                        models, degenerate = draw_models(
                            X, family, sampler, size, stream.child(*path), **columns
                        )
                except NoModels as error:
                    if len(families) == 1:
                        raise
                    raise NoModels(f"{error} Or leave {family.name!r} out of the list.") from None
            drawn.append(replace(models, samples=rows[models.samples]))
            self.n_degenerate_ += degenerate
        own = own_models(drawn)
        self.models_, tables = self._scaled(X, drawn, own, stream.child("sigma"), keep, device)
        self._own = None if self.own_votes else own
        self.n_models_ = sum(len(models) for models in drawn)
        self._n_features_out = self.n_models_
        return tables

    def transform(self, X: Any) -> scipy.sparse.csr_array:
        """Preferences, a sparse array of float32, shape (n, m), values in [0, 1]; for a tensor, a
        sparse tensor in the same layout on its device."""
        check_is_fitted(self, "models_")
        device = self._resolve_device()
        rows = validate_data(self, on_host(X), dtype=np.float64, order="C", reset=False)
        parts = self._embed_blocks(rows) if device is None else self._embed_on(rows, device)
        P = stacked_csr(parts, len(rows))
        return sparse_tensor(P, X) if is_tensor(X) else P

    def _resolve_device(self) -> Any:
        """The torch device that computes; None for the CPU."""
        known = knows_kernel(self.kernel)
        device = resolve_device(self.device, able=known)
        if device is not None and not known:
            raise on_cpu_only("kernel", self.kernel, list_kernels())
        return device

    def _embed_on(self, X: Floats, device: Any) -> Iterator[SparseRows]:
        """Blocks of preferences, computed on a device other than the CPU."""
        from ..engines.torch.preferences import DevicePreferences

        models = DevicePreferences(self.models_, self.kernel_, self._own, False, device)
        starts = range(0, len(X), _DEVICE_BLOCK)
        return (models.rows_of(X[start : start + _DEVICE_BLOCK]) for start in starts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _check_params(self, n_families: int) -> None:
        check_choice("scale", self.scale, SCALES)
        check_choice("weighting", self.weighting, WEIGHTINGS)
        check_flag("own_votes", self.own_votes)
        if not (isinstance(self.sigma, str) and self.sigma == "auto"):
            check_positive("sigma", self.sigma, "sigma='auto' estimates the noise from the data.")
        if not (isinstance(self.n_models, str) and self.n_models == "auto"):
            hint = "n_models='auto' takes 5,000 to 10,000."
            check_integer("n_models", self.n_models, n_families, hint)

    def _scaled(
        self,
        X: Floats,
        drawn: list[ModelSet],
        own: OwnModels,
        stream: Stream,
        keep: bool,
        device: Any,
    ) -> tuple[list[ModelSet], list[BandTable | None]]:
        """The models with their scale and weight; sets sigma_ and bands_."""
        given = None if self.sigma == "auto" else float(self.sigma)
        self.sigma_source_ = "estimated" if given is None else "given"
        self.bands_ = None
        if self.scale == "fixed" and self.weighting == "none":
            with Progress(self.verbose).stage("sigma"):
                self.sigma_ = self._from_few(X, drawn, stream) if given is None else given
            return self._fixed(drawn), [None] * len(drawn)
        owns = [own] if len(drawn) == 1 else [own_models([models]) for models in drawn]
        with Progress(self.verbose).stage("width and weight of each model"):
            measured = [
                self._measured(X, models, its_own, widths_of(models.family, X), keep, device)
                for models, its_own in zip(drawn, owns)
            ]
        self.bands_, tables = [bands for bands, _ in measured], [table for _, table in measured]
        # The family whose bands are most striking knows the noise best.
        best = max(range(len(drawn)), key=lambda at: self._bands[at].ratio.max())
        if not self._bands[best].gain.any():
            self.sigma_ = self._guessed(X, drawn[0]) if given is None else given
            return self._fixed(drawn), tables
        self.sigma_ = self._bands[best].sigma if given is None else given
        if given is not None:
            self._compare(given, self._bands[best], drawn[best])
        scaled = [
            replace(
                models,
                scale=kernel_scales(bands, self.scale, given, self.sigma_),
                weight=model_weights(bands, self.weighting),
            )
            for models, bands in zip(drawn, self._bands)
        ]
        return scaled, tables

    def _measured(
        self,
        X: Floats,
        models: ModelSet,
        own: OwnModels,
        widths: Floats,
        keep: bool,
        device: Any,
    ) -> tuple[Bands, BandTable | None]:
        if device is None:
            return measure_bands(X, models, own, widths, n_jobs=self.n_jobs, keep=keep)
        from ..engines.torch import bands

        return bands.measure_bands(X, models, own, widths, device, keep=keep)

    @property
    def _bands(self) -> list[Bands]:
        return self.bands_ or []

    def _fixed(self, drawn: list[ModelSet]) -> list[ModelSet]:
        return [replace(models, scale=np.full(len(models), self.sigma_)) for models in drawn]

    def _compare(self, given: float, bands: Bands, models: ModelSet) -> None:
        off = not 1 / _FAR_OFF <= given / bands.sigma <= _FAR_OFF
        if off and bands.ratio.max() > bands.least_ratio:
            warn_user(
                f"sigma={given:.3g} was given, but the structures of family "
                f"{models.family.name!r} in X look as if it were {bands.sigma:.3g}; "
                "sigma='auto' takes that."
            )

    def _from_few(self, X: Floats, drawn: list[ModelSet], stream: Stream) -> float:
        sigmas = [rough_sigma(X, models, stream) for models in drawn]
        known = [sigma for sigma in sigmas if not np.isnan(sigma)]
        return min(known) if known else self._guessed(X, drawn[0])

    def _guessed(self, X: Floats, models: ModelSet) -> float:
        self.sigma_source_ = "guessed"
        return fallback_sigma(X, models)

    def _preferences(self) -> Preferences:
        """What embeds validated rows, in fixed point."""
        return Preferences(self.models_, self.kernel_, self._own)

    def _embed_all(self, X: Floats) -> SparseRows:
        return stack(self._embed_blocks(X), len(X))

    def _embed_blocks(self, X: Floats) -> Iterator[SparseRows]:
        """In blocks and threads; each row depends on itself alone."""
        least, most = _BLOCK
        size = max(least, min(most, len(X) // 16))
        starts = range(0, len(X), size)
        tracked = Progress(self.verbose).track(starts, len(starts), "preferences")
        blocks = ((X[start : start + size],) for start in tracked)
        return in_threads(self._preferences().rows_of, blocks, self.n_jobs, len(starts))


def auto_models(n: int, fewest: int = 5000) -> int:
    """How many models n points are described by, where nothing else is asked for."""
    return min(max(10 * n, fewest), 10_000)


def _apportioned(
    families: list[tuple[ModelFamily, float]], n_models: int
) -> list[tuple[ModelFamily, int]]:
    """How many models each family gets: one, and its share of the others, together n_models."""
    exact = np.array([share for _, share in families]) * (n_models - len(families))
    sizes = 1 + np.floor(exact).astype(int)
    # What is left goes to those that were cut most.
    sizes[np.argsort(np.floor(exact) - exact, kind="stable")[: n_models - sizes.sum()]] += 1
    return [(family, int(size)) for (family, _), size in zip(families, sizes)]


def _column(name: str, values: Any, n: int, dtype: Any) -> Any:
    """A column of fit's optional inputs, as long as X."""
    if values is None:
        return None
    try:
        column = check_array(values, ensure_2d=False, dtype=dtype, input_name=name)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} cannot be used: {error}") from error
    if column.shape != (n,):
        raise ValueError(
            f"{name} must have one value for each of the {n} rows of X, got shape {column.shape}."
        )
    return column
