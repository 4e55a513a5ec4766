"""The parameters of an embedding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._progress import Progress
from .._validation import check_choice, check_flag, check_integer, check_positive
from ..families import resolve_families
from ..preferences import resolve_kernel
from ..protocols import Kernel, ModelFamily, Sampler
from ..sampling import resolve_sampler
from .refinement import Steps

SCALES = ["adaptive", "fixed", "per_model"]
WEIGHTINGS = ["gain", "none"]


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
    steps: Steps
    n_jobs: int | None
    progress: Progress

    @classmethod
    def from_estimator(cls, estimator: Any) -> EmbeddingParameters:
        """Check the public parameters of an estimator; family="auto" gives no families yet."""
        auto = isinstance(estimator.family, str) and estimator.family == "auto"
        families = [] if auto else resolve_families(estimator.family)
        sampler, kernel = resolve_sampler(estimator.sampler), resolve_kernel(estimator.kernel)
        check_choice("scale", estimator.scale, SCALES)
        check_choice("weighting", estimator.weighting, WEIGHTINGS)
        for name in ("in_sample_preferences", "concentrate", "refit", "select", "bound"):
            check_flag(name, getattr(estimator, name))
        sigma, n_models = estimator.sigma, estimator.n_models
        if not (isinstance(sigma, str) and sigma == "auto"):
            check_positive("sigma", sigma, "sigma='auto' estimates the noise from the data.")
        if not (isinstance(n_models, str) and n_models in ("auto", "paper")):
            hint = "n_models='auto' takes 5,000 to 10,000."
            check_integer("n_models", n_models, max(1, len(families)), hint)
        return cls(
            families,
            None if isinstance(sigma, str) else float(sigma),
            n_models,
            kernel,
            sampler,
            estimator.scale,
            estimator.weighting,
            estimator.in_sample_preferences,
            Steps(estimator.concentrate, estimator.refit, estimator.select, estimator.bound),
            estimator.n_jobs,
            Progress(estimator.verbose),
        )

    @property
    def only(self) -> list[ModelFamily]:
        """The families without their shares."""
        return [family for family, _ in self.families]

    @property
    def measures_bands(self) -> bool:
        """Whether the scales, the weights or the choice of the models depend on their bands."""
        return bool(self.steps) or not (self.scale == "fixed" and self.weighting == "none")

    def model_count(self, n: int) -> int:
        """The number of models for n points."""
        if isinstance(self.n_models, str):
            # With few points, "auto" draws more models than the paper to distinguish them.
            return min(max(10 * n, 5000 if self.n_models == "auto" else 1), 10_000)
        return self.n_models
