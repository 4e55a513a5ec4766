"""Fit an embedding: draw minimal samples, solve them, measure the bands of the models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from .._progress import Progress
from .._random import Stream
from .._threads import thread_limit
from .._validation import (
    NoModels,
    check_choice,
    check_family_fits,
    check_flag,
    check_integer,
    check_magnitude,
    check_positive,
    warn_user,
)
from ..bands import Bands, BandTable, fallback_sigma, kernel_scales, model_weights, rough_sigma
from ..engines import Backend
from ..families import resolve_families
from ..fitted import FittedEmbedding, TrainingRows
from ..membership import SampleMembership, sample_membership
from ..models import ModelSet, draw_models
from ..preferences import resolve_kernel
from ..protocols import Floats, Ints, Kernel, ModelFamily, Sampler
from ..sampling import resolve_sampler

SCALES = ["adaptive", "fixed", "per_model"]
WEIGHTINGS = ["gain", "none"]
# A given sigma that differs from the estimate by more than this factor causes a warning.
_SUSPICIOUS_FACTOR = 5.0


@dataclass(frozen=True)
class EmbeddingParameters:
    """The parameters of an embedding, checked and resolved."""

    families: list[tuple[ModelFamily, float]]
    """with their shares of the models"""
    sigma: float | None
    """None: estimate it"""
    n_models: int | str
    """or "auto" or "paper" """
    kernel: Kernel
    sampler: Sampler
    scale: str
    weighting: str
    in_sample_preferences: bool
    n_jobs: int | None
    progress: Progress

    @classmethod
    def from_estimator(cls, estimator: Any) -> EmbeddingParameters:
        """Check the public parameters of an estimator."""
        families = resolve_families(estimator.family)
        sampler, kernel = resolve_sampler(estimator.sampler), resolve_kernel(estimator.kernel)
        check_choice("scale", estimator.scale, SCALES)
        check_choice("weighting", estimator.weighting, WEIGHTINGS)
        check_flag("in_sample_preferences", estimator.in_sample_preferences)
        sigma, n_models = estimator.sigma, estimator.n_models
        if not (isinstance(sigma, str) and sigma == "auto"):
            check_positive("sigma", sigma, "sigma='auto' estimates the noise from the data.")
        if not (isinstance(n_models, str) and n_models in ("auto", "paper")):
            hint = "n_models='auto' takes 5,000 to 10,000."
            check_integer("n_models", n_models, len(families), hint)
        return cls(
            families,
            None if isinstance(sigma, str) else float(sigma),
            n_models,
            kernel,
            sampler,
            estimator.scale,
            estimator.weighting,
            estimator.in_sample_preferences,
            estimator.n_jobs,
            Progress(estimator.verbose),
        )

    def model_count(self, n: int) -> int:
        """The number of models for n points."""
        if isinstance(self.n_models, str):
            # With few points, "auto" draws more models than the paper to distinguish them.
            return min(max(10 * n, 5000 if self.n_models == "auto" else 1), 10_000)
        return self.n_models


Tables = list[BandTable | None]


def fit_embedding(
    rows: TrainingRows,
    parameters: EmbeddingParameters,
    backend: Backend,
    stream: Stream,
    numbers: Ints,
    keep: bool = False,
) -> tuple[FittedEmbedding, Tables]:
    """Fit the models of validated rows. Also return the tables of their bands, None if they are not
    measured or not kept.

    numbers: the subset of rows that models are drawn from and bands are measured on.
    """
    X, positions = rows.X, rows.positions(numbers)
    check_magnitude(X)
    for family, _ in parameters.families:
        check_family_fits(family, X)
    columns = {
        "quality": _check_column("quality", rows.quality, len(X), np.float64),
        "groups": _check_column("groups", rows.groups, len(X), None),
    }
    if len(positions) < len(X):
        keep, X = False, X[positions]
        columns = {
            name: None if part is None else part[positions] for name, part in columns.items()
        }
    drawn, n_degenerate = _draw_models(X, parameters, len(rows), stream, columns)
    drawn = [replace(models, samples=positions[models.samples]) for models in drawn]
    membership = sample_membership(drawn)
    scaled = _Scaling(X, drawn, parameters, backend, stream.child("sigma")).run(membership, keep)
    embedding = FittedEmbedding(
        tuple(rows.numbered(models) for models in scaled.models),
        parameters.kernel,
        None if parameters.in_sample_preferences else membership,
        scaled.sigma,
        scaled.source,  # type: ignore[arg-type]
        n_degenerate,
        None if scaled.bands is None else tuple(scaled.bands),
    )
    return embedding, scaled.tables


def _draw_models(
    X: Floats,
    parameters: EmbeddingParameters,
    n: int,
    stream: Stream,
    columns: dict[str, NDArray[Any] | None],
) -> tuple[list[ModelSet], int]:
    """Draw the models of each family; also return the number of degenerate samples."""
    families, drawn, n_degenerate = parameters.families, [], 0
    for i, (family, size) in enumerate(_models_per_family(families, parameters.model_count(n))):
        # The first of several families draws the same models as it would alone.
        path = ("models",) if i == 0 else ("models", i)
        with parameters.progress.stage(f"{size} models of family {family.name!r}"):
            try:
                with thread_limit(parameters.n_jobs):
                    models, degenerate = draw_models(
                        X, family, parameters.sampler, size, stream.child(*path), **columns
                    )
            except NoModels as error:
                if len(families) == 1:
                    raise
                raise NoModels(f"{error} Or leave {family.name!r} out of the list.") from None
        drawn.append(models)
        n_degenerate += degenerate
    return drawn, n_degenerate


class _Scaling:
    """Sets the scale and the weight of the models, from sigma and their bands."""

    def __init__(
        self,
        X: Floats,
        drawn: list[ModelSet],
        parameters: EmbeddingParameters,
        backend: Backend,
        stream: Stream,
    ) -> None:
        self.X, self.drawn, self.parameters = X, drawn, parameters
        self.backend, self.stream = backend, stream
        self.models = drawn
        self.sigma, self.source = np.nan, "estimated" if parameters.sigma is None else "given"
        self.bands: list[Bands] | None = None
        self.tables: Tables = [None] * len(drawn)

    def run(self, membership: SampleMembership, keep: bool) -> _Scaling:
        """Set models, sigma, source, bands and tables."""
        parameters = self.parameters
        if parameters.scale == "fixed" and parameters.weighting == "none":
            with parameters.progress.stage("sigma"):
                self._set_one_scale(self._rough_sigma)
            return self
        bands = self._measure(membership, keep)
        # The family whose bands have the most evidence gives the best estimate of the noise.
        best = max(range(len(bands)), key=lambda i: bands[i].ratio.max())
        if not bands[best].gain.any():
            self._set_one_scale(self._guess_sigma)
            return self
        given = parameters.sigma
        self.sigma = bands[best].sigma if given is None else given
        if given is not None:
            _warn_if_suspicious(given, bands[best], self.drawn[best])
        self.models = [
            replace(
                models,
                scale=kernel_scales(each, parameters.scale, given, self.sigma),
                weight=model_weights(each, parameters.weighting),
            )
            for models, each in zip(self.drawn, bands)
        ]
        return self

    def _measure(self, membership: SampleMembership, keep: bool) -> list[Bands]:
        single = len(self.drawn) == 1
        members = [membership] if single else [sample_membership([each]) for each in self.drawn]
        with self.parameters.progress.stage("width and weight of each model"):
            measured = [
                self.backend.measure_bands(self.X, models, samples, keep)
                for models, samples in zip(self.drawn, members)
            ]
        self.bands, self.tables = [each for each, _ in measured], [table for _, table in measured]
        return self.bands

    def _set_one_scale(self, estimate: Any) -> None:
        """Use the same sigma for all models."""
        given = self.parameters.sigma
        self.sigma = estimate() if given is None else given
        self.models = [
            replace(models, scale=np.full(len(models), self.sigma)) for models in self.drawn
        ]

    def _rough_sigma(self) -> float:
        sigmas = [rough_sigma(self.X, models, self.stream) for models in self.drawn]
        known = [sigma for sigma in sigmas if not np.isnan(sigma)]
        return min(known) if known else self._guess_sigma()

    def _guess_sigma(self) -> float:
        self.source = "guessed"
        return fallback_sigma(self.X, self.drawn[0])


def _warn_if_suspicious(given: float, bands: Bands, models: ModelSet) -> None:
    agrees = 1 / _SUSPICIOUS_FACTOR <= given / bands.sigma <= _SUSPICIOUS_FACTOR
    if not agrees and bands.ratio.max() > bands.least_ratio:
        warn_user(
            f"sigma={given:.3g} was given, but the structures of family {models.family.name!r} in "
            f"X look as if it were {bands.sigma:.3g}; sigma='auto' uses that."
        )


def _models_per_family(
    families: list[tuple[ModelFamily, float]], n_models: int
) -> list[tuple[ModelFamily, int]]:
    """The number of models of each family: one plus its share of the others, n_models in total."""
    exact = np.array([share for _, share in families]) * (n_models - len(families))
    sizes = 1 + np.floor(exact).astype(int)
    # The remainder goes to the families with the largest fractional parts.
    sizes[np.argsort(np.floor(exact) - exact, kind="stable")[: n_models - sizes.sum()]] += 1
    return [(family, int(size)) for (family, _), size in zip(families, sizes)]


def _check_column(name: str, values: Any, n: int, dtype: Any) -> Any:
    """Check an optional argument of fit with one value for each row."""
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
