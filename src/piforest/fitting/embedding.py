"""Fit an embedding: draw minimal samples, solve them, measure the bands of the models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from .._numbers import readable
from .._random import Stream, choose
from .._threads import at_most, beside, one_blas_thread, thread_limit
from .._validation import (
    NoModels,
    check_family_fits,
    check_magnitude,
    warn_user,
)
from ..bands.evidence import (
    BandCounted,
    Bands,
    BandTable,
    count_bands,
    fallback_sigma,
    kernel_scales,
    least_ratio,
    model_weights,
    rough_sigma,
    strongly_disagrees,
)
from ..bands.ladder import Ladder, is_noisy
from ..bands.measuring import Measuring
from ..bands.resolution import DitherEffect, Resolution, find_resolution
from ..engines import Backend
from ..fitted import FittedEmbedding, TrainingRows
from ..models.drawing import ModelSet, distinct_rows, draw_models
from ..models.membership import sample_membership
from ..models.residuals import is_built_in
from ..protocols import Floats, Ints, ModelFamily
from .concentrating import with_concentrated
from .explaining import ROWS, add_unexplained, drop_explained
from .laws import law_models
from .parameters import EmbeddingParameters
from .refinement import refine
from .widths import steady_grid

# The rows that all drawn models are measured on: thousands of models, of which hundreds are kept.
# Structures with too few points among these are not significant among those of the pool either.
_DRAWN_ROWS = 4096
# The stages of a fit take a few to eighty milliseconds. With more threads than this, they wait for
# the interpreter and for one another: on 16 cores, a fit takes a quarter longer with all of them.
_MOST_THREADS = 4

Tables = list[BandTable | None]


@one_blas_thread()
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
    n_jobs = at_most(_MOST_THREADS, parameters.n_jobs)
    with thread_limit(n_jobs):
        measured = [_Rows.of(X, numbers, family, parameters, stream) for family in parameters.only]
    drawn, n_degenerate = _draw_models(measured, parameters, len(rows), stream, columns)
    with thread_limit(n_jobs):
        scaled = _Scaling(measured, drawn, parameters, backend, stream.child("sigma")).run(keep)
    # Rows to score are not dithered, so those of the samples are not either.
    models = [
        replace(each, points=X[distinct_rows(each.samples)], samples=positions[each.samples])
        for each in scaled.models
    ]
    if not any(each.weight.any() for each in models):  # no model has any evidence: all count alike
        models = [replace(each, weight=np.ones(len(each))) for each in models]
    embedding = FittedEmbedding(
        tuple(rows.numbered(each) for each in models),
        parameters.kernel,
        None if parameters.in_sample_preferences else sample_membership(models),
        scaled.sigma,
        scaled.source,  # type: ignore[arg-type]
        n_degenerate,
        None if scaled.bands is None else tuple(scaled.bands),
        None if scaled.bands is None else tuple(scaled.measuring),
    )
    return embedding, scaled.tables


@dataclass(frozen=True)
class _Rows:
    """The rows that the models of one family are drawn from and measured on."""

    X: Floats
    dithered: Floats
    """X itself if no column is rounded"""
    resolution: Resolution

    @classmethod
    def of(
        cls,
        X: Floats,
        numbers: Ints,
        family: ModelFamily,
        parameters: EmbeddingParameters,
        stream: Stream,
    ) -> _Rows:
        if parameters.measures_bands:
            resolution = find_resolution(family, X, stream.child("dither"))
        else:
            resolution = Resolution(np.zeros(X.shape[1]), stream.key)
        return cls(X, resolution.dithered(X, numbers), resolution)

    def effect(self, family: ModelFamily) -> DitherEffect | None:
        """How rounding and dither change the residuals of the family."""
        return self.resolution.effect(family, self.X, self.dithered)

    def measuring(self, models: ModelSet, n_jobs: int | None) -> Measuring:
        """How the bands of the models are measured."""
        grid = steady_grid(self.dithered, models, self.resolution, n_jobs, self.X)
        return Measuring(self.resolution, grid)


def _draw_models(
    measured: list[_Rows],
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
                with thread_limit(at_most(_MOST_THREADS, parameters.n_jobs)):
                    models, degenerate = draw_models(
                        measured[i].dithered, family, parameters.sampler, size,
                        stream.child(*path), **columns,
                    )  # fmt: skip
            except NoModels as error:
                if len(families) == 1:
                    raise
                raise NoModels(f"{error} Or leave {family.name!r} out of the list.") from None
            if parameters.steps.concentrate:
                models = with_concentrated(
                    models, measured[i].dithered, measured[i].effect(family),
                    stream.child("concentrated", i), parameters.steps.select,
                )  # fmt: skip
        drawn.append(models)
        n_degenerate += degenerate
    return drawn, n_degenerate


class _Scaling:
    """Sets the scale and the weight of the models, from sigma and their bands."""

    def __init__(
        self,
        rows: list[_Rows],
        drawn: list[ModelSet],
        parameters: EmbeddingParameters,
        backend: Backend,
        stream: Stream,
    ) -> None:
        self.rows, self.drawn, self.parameters = rows, drawn, parameters
        self.backend, self.stream = backend, stream
        self.models = drawn
        self.sigma, self.source = np.nan, "estimated" if parameters.sigma is None else "given"
        self.bands: list[Bands] | None = None
        self.measuring: list[Measuring] = []
        self.ladders: list[Ladder] = []
        self.tables: Tables = [None] * len(drawn)

    def run(self, keep: bool) -> _Scaling:
        """Set models, sigma, source, bands, measuring and tables."""
        parameters = self.parameters
        if not parameters.measures_bands:
            with parameters.progress.stage("sigma"):
                self._set_one_scale(self._rough_sigma)
            return self
        self._choose_ladders()
        explains = parameters.steps.select and len(self.rows[0].X) > ROWS
        if explains:
            # The search for further models hardly gains from threads: those that are drawn are
            # measured meanwhile.
            with beside(partial(self._count, self.drawn)) as counted:
                self.drawn = self.models = add_unexplained(self.drawn, *self._measures, self.stream)
                bands = self._measure(False, _DRAWN_ROWS, counted)
        else:
            bands = self._measure(keep and not parameters.steps, _DRAWN_ROWS)
        # The family whose bands have the most evidence gives the best estimate of the noise.
        best = max(range(len(bands)), key=lambda i: bands[i].ratio.max())
        if not bands[best].gain.any():
            self._set_one_scale(self._guess_sigma)
            return self
        given = parameters.sigma
        self.sigma = bands[best].sigma if given is None else given
        if given is not None:
            _warn_if_suspicious(given, bands[best], self.drawn[best])
        self.models = [self._scaled(models, each) for models, each in zip(self.drawn, bands)]
        laws = self._laws(best)
        if laws is not None:
            self.models = laws
            self._remeasure(
                keep, [part.scale for part in laws], [np.ones(len(part)) for part in laws]
            )
        elif parameters.steps and self._is_certain(best):
            self._refine(keep, explains)
        return self

    def _laws(self, family: int) -> list[ModelSet] | None:
        """Copies of the laws of a family with much noise, bounded; None if it is another case."""
        steps, grid = self.parameters.steps, self.measuring[family].grid
        whole = steps.refit and steps.select and self.parameters.scale == "adaptive"
        if len(self.models) > 1 or not whole or not is_noisy(grid):
            return None
        assert self.bands is not None
        found = law_models(
            self.models[0], self.bands[0].ratio, self.rows[0].dithered, self.ladders[0],
            self.stream.child("laws"), self.parameters.n_jobs,
        )  # fmt: skip
        return None if found is None else [found]

    def _is_certain(self, family: int) -> bool:
        """Whether the evidence for structures suffices to refine the models. Without a structure,
        all models together rank the points best, and so they do for few points in a wide band."""
        assert self.bands is not None
        limit = least_ratio(sum(len(each) for each in self.drawn))
        wide = self.measuring[family].grid.n_wide > 0
        return bool(self.bands[family].ratio.max() > (2 * limit if wide else limit))

    def _scaled(self, models: ModelSet, bands: Bands) -> ModelSet:
        """Models with the scales and weights of their bands."""
        parameters = self.parameters
        return replace(
            models,
            scale=kernel_scales(bands, parameters.scale, parameters.sigma, self.sigma),
            weight=model_weights(bands, parameters.weighting),
        )

    def _refine(self, keep: bool, explains: bool) -> None:
        """Refit, select and bound the models; measure them again."""
        assert self.bands is not None
        with self.parameters.progress.stage("refit, selection and bounds of the models"):
            refined, factors = refine(
                list(self.models), self.bands, self.rows[0].dithered, self.parameters.steps,
                self._measured, self.stream.child("refinement"), self.parameters.scale != "fixed",
            )  # fmt: skip
        if explains:
            refined, factors = drop_explained(refined, factors, *self._measures, self.stream)
        self.models = refined
        self._remeasure(keep, [part.scale for part in refined], factors)

    def _remeasure(self, keep: bool, scales: list[Floats], factors: list[Floats]) -> None:
        """Measure refined models again, for their weights; their scales are these."""
        bands = self._measure(keep)
        scaled = [self._scaled(models, each) for models, each in zip(self.models, bands)]
        self.models = [
            replace(part, scale=scale, weight=part.weight * factor)
            for part, scale, factor in zip(scaled, scales, factors)
        ]

    @property
    def _measures(self) -> tuple[list[Floats], list[Ladder]]:
        """The rows that each family is measured on, and its ladder."""
        return [rows.dithered for rows in self.rows], self.ladders

    def _measured(self, family: int, X: Floats, models: ModelSet) -> tuple[ModelSet, Bands]:
        """The models of a family with the scales and weights of their bands on X."""
        membership, ladder = sample_membership([models]), self.ladders[family]
        bands, _ = self.backend.measure_bands(X, models, membership, ladder, False)
        return self._scaled(models, bands), bands

    def _choose_ladders(self) -> None:
        for rows, models in zip(self.rows, self.drawn):
            measuring = rows.measuring(models, self.parameters.n_jobs)
            self.measuring.append(measuring)
            self.ladders.append(measuring.ladder(models.family, rows.X, rows.dithered))

    def _some(self, n_rows: int | None) -> Ints:
        n = len(self.rows[0].X)
        return choose(self.stream.child("rows"), n, min(n, n_rows or n))

    def _count(self, drawn: list[ModelSet]) -> list[BandCounted | None]:
        """What is counted for the drawn models of each family, in one thread: it fills the gaps
        that the search for further models leaves."""
        some = self._some(_DRAWN_ROWS)
        return [
            # The last bits of a custom family may depend on the other models.
            count_bands(rows.dithered[some], models, ladder) if is_built_in(models.family) else None
            for rows, models, ladder in zip(self.rows, drawn, self.ladders)
        ]

    def _measure(
        self,
        keep: bool,
        n_rows: int | None = None,
        counted: Callable[[], list[BandCounted | None]] | None = None,
    ) -> list[Bands]:
        """Measure the bands of all models on the rows, or on `n_rows` random ones; counted: returns
        what was counted for the first models of each family."""
        self.bands, self.tables = [], []
        some = self._some(n_rows)
        keep = keep and len(some) == len(self.rows[0].X)
        with self.parameters.progress.stage("width and weight of each model"):
            known = [None] * len(self.rows) if counted is None else counted()
            for rows, models, ladder, first in zip(self.rows, self.models, self.ladders, known):
                bands, table = self.backend.measure_bands(
                    rows.dithered[some], models, sample_membership([models]), ladder, keep, first
                )
                self.bands.append(bands)
                self.tables.append(table)
        return self.bands

    def _set_one_scale(self, estimate: Any) -> None:
        """Use the same sigma for all models."""
        given = self.parameters.sigma
        self.sigma = estimate() if given is None else given
        self.models = [
            replace(models, scale=np.full(len(models), self.sigma)) for models in self.drawn
        ]

    def _rough_sigma(self) -> float:
        sigmas = [
            rough_sigma(rows.dithered, models, self.stream)
            for rows, models in zip(self.rows, self.drawn)
        ]
        known = [sigma for sigma in sigmas if not np.isnan(sigma)]
        return min(known) if known else self._guess_sigma()

    def _guess_sigma(self) -> float:
        self.source = "guessed"
        return fallback_sigma(self.rows[0].X, self.drawn[0])


def _warn_if_suspicious(given: float, bands: Bands, models: ModelSet) -> None:
    sigma = strongly_disagrees(given, bands.half_width, bands.ratio)
    if sigma is not None:
        warn_user(
            f"sigma={readable(given)} was given, but the structures of family "
            f"{models.family.name!r} in X look as if it were {readable(sigma)}; sigma='auto' uses "
            "that."
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
