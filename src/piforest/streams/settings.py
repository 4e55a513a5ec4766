"""The parameters of a stream, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._validation import check_contamination, check_integer, check_positive
from ..families import resolve_family
from ..sampling import resolve_sampler
from .reservoir import ReservoirSettings

_LEAST_WINDOW = 50


@dataclass(frozen=True)
class StreamSettings:
    """The parameters of a stream, checked."""

    reservoir: ReservoirSettings
    window: int
    n_trees: int
    max_samples: int
    contamination: float | None
    """None: automatic"""

    @classmethod
    def from_estimator(cls, estimator: Any) -> StreamSettings:
        """Check the public parameters of an estimator."""
        return cls(
            _reservoir(estimator),
            check_integer("window", estimator.window, _LEAST_WINDOW, "2048 is the default."),
            check_integer("n_estimators", estimator.n_estimators, 1),
            check_integer("max_samples", estimator.max_samples, 2),
            check_contamination(estimator.contamination),
        )


def _reservoir(estimator: Any) -> ReservoirSettings:
    family, sigma = estimator.family, estimator.sigma
    if isinstance(family, (list, tuple)):
        raise ValueError(
            f"family must be one family for a stream, got {family!r}. Run one detector for each "
            "family, or fit PreferenceIsolationForest to windows."
        )
    n_models = check_integer("n_models", estimator.n_models, 10)
    if not (isinstance(sigma, str) and sigma == "auto"):
        check_positive("sigma", sigma, "sigma='auto' estimates the noise from the data.")
    sampler = resolve_sampler(estimator.sampler)
    if sampler.name in ("weighted", "grouped"):
        raise ValueError(
            f"sampler {sampler.name!r} needs a value for each row, which a stream has not; use "
            "'mixed', 'uniform', 'local' or 'stratified'."
        )
    resolved = resolve_family(family)
    if hasattr(resolved, "with_names"):
        names = getattr(estimator, "feature_names_in_", [])
        resolved = resolved.with_names([str(each) for each in names])
    return ReservoirSettings(
        resolved, sampler, n_models, None if isinstance(sigma, str) else float(sigma)
    )
