"""Parameters of a fit: those of the forest, and those that depend on the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._columns import COUNTERS
from .._random import Stream
from .._tensors import to_numpy
from .._validation import check_choice, warn_user
from ..engines import is_dask
from ..families import resolve_families
from ..families.scaled import ScaledFamily, units_of, without_constants
from ..fitted import TrainingRows
from ..fitting import EmbeddingParameters, ForestParameters
from ..metrics import METRICS, resolve_metric
from ..protocols import Floats, Metric, ModelFamily
from ..sampling import resolve_sampler
from ..units import are_coordinates

if TYPE_CHECKING:
    from ..proposals import Proposals

# Classes have fewer different values than this as a rule, the targets of regressions more.
_MOST_CLASSES = 20
_PATHS = ["depth", "soft"]
_FORESTS = ["voronoi", "ruzhash"]
# The metric that forest="ruzhash" stands for, and the default of metric.
_HASHED_METRICS = ("ruzicka", "tanimoto")


def forest_parameters(
    detector: Any, metric: Metric, *, soft: bool = False, hashed: bool = False
) -> ForestParameters:
    """The checked parameters of the forest of a detector."""
    return ForestParameters(
        metric,
        detector.n_estimators,
        detector.max_samples,
        detector.branching,
        detector.pool_size,
        soft=soft,
        hashed=hashed,
    )


def preference_forest(detector: Any) -> ForestParameters:
    """The checked parameters of a forest of preferences."""
    check_choice("path", detector.path, _PATHS)
    hashed = check_choice("forest", detector.forest, _FORESTS) == "ruzhash"
    metric = preference_metric(detector)
    return forest_parameters(detector, metric, soft=detector.path == "soft", hashed=hashed)


def preference_metric(detector: Any) -> Metric:
    """The metric of a forest of preferences."""
    metric = resolve_metric(detector.metric)
    if detector.forest == "ruzhash":
        if METRICS.name_of(metric) not in _HASHED_METRICS:
            raise ValueError(
                f"forest='ruzhash' stands for metric='ruzicka', got metric={metric.name!r}: "
                "leave metric out, or use forest='voronoi'."
            )
        return resolve_metric("ruzicka")
    if metric.name == "precomputed":
        raise ValueError(
            "metric='precomputed' does not apply to preferences; use "
            "VoronoiForest(metric='precomputed') on the distances."
        )
    return metric


def with_weights(
    parameters: EmbeddingParameters, quality: Any, sample_weight: Any
) -> tuple[EmbeddingParameters, Any]:
    """The parameters and the quality of a fit: with weights, those of the sampler "weighted"."""
    if sample_weight is None:
        return parameters, quality
    if quality is not None:
        raise ValueError("quality and sample_weight are the same; pass one of them.")
    weights = np.asarray(sample_weight)
    if weights.size and not weights.any():
        raise ValueError("sample_weight is zero for all rows; at least one needs a weight.")
    return replace(parameters, sampler=resolve_sampler("weighted")), weights


def with_proposed_families(
    parameters: EmbeddingParameters, rows: TrainingRows, names: Any, stream: Stream
) -> tuple[EmbeddingParameters, Proposals | None]:
    """The parameters with the families that the rows suggest, if none was given; and why."""
    if parameters.families:
        return parameters, None
    from ..proposals.propose import propose

    listed = None if names is None else [str(name) for name in names]
    with parameters.progress.stage("comparison of families"):
        proposals = propose(rows.X, listed, stream.child("proposals"))
    if proposals.class_target is not None:
        warn_user(proposals.reason)
    families = resolve_families(proposals.family)
    if isinstance(parameters.n_models, int) and parameters.n_models < len(families):
        families = families[:1]
    return replace(parameters, families=families), proposals


def warn_of_ignored_target(y: Any, families: Sequence[ModelFamily], *, auto: bool = False) -> None:
    """Warn if y is given like the target of a regression, which is a column of X. Classes and
    labels, which tools of scikit-learn pass, are no reason to warn.

    auto: whether the family is chosen from the rows.
    """
    if y is None or not (auto or any(hasattr(each, "target") for each in families)):
        return
    if is_dask(y):  # not computed for a warning
        return
    values = np.asarray(to_numpy(y), dtype=None if hasattr(y, "__array__") else object)
    try:
        values = np.ravel(values).astype(np.float64)
    except (TypeError, ValueError):
        return
    if len(np.unique(values)) > _MOST_CLASSES:
        warn_user(
            "y is ignored: the target of a regression is a column of X, the last one by default. "
            "Append y to X as its last column, or name another column, as in "
            "piforest.families.get_family('linear_regression', target='price'); pass no y."
        )


def with_named_targets(parameters: EmbeddingParameters, names: Any) -> EmbeddingParameters:
    """The parameters with families whose target is the number of a column; names: of the columns,
    None if they have none."""
    known = [] if names is None else [str(name) for name in names]
    families = [
        (each.with_names(known) if hasattr(each, "with_names") else each, share)
        for each, share in parameters.families
    ]
    return replace(parameters, families=families)


def without_constant_features(
    parameters: EmbeddingParameters, given: EmbeddingParameters, X: Floats, names: Any
) -> EmbeddingParameters:
    """The parameters with families without features that are constant in X, with a warning.

    given: before a comparison of families, which leaves these out, too; names: of the columns.
    """
    families = [(without_constants(each, X), share) for each, share in parameters.families]
    asked = {k for each in given.only for k in getattr(each, "unused", ())}
    unused = {k for each, _ in families for k in getattr(each, "unused", ())} - asked
    if unused:
        listed = ", ".join(str(k) if names is None else repr(str(names[k])) for k in sorted(unused))
        what, out = f"column {listed} of X is constant and has", "it"
        if len(unused) > 1:
            what, out = f"columns {listed} of X are constant and have", "them"
        warn_user(f"{what} no effect: the regression leaves {out} out.")
    return replace(parameters, families=families)


def warn_of_counters(X: Floats, names: Sequence[str] | None) -> None:
    """Warn of columns of a data frame that count its rows, which are used like others. Coordinates
    and one of two columns, such as a time, may count."""
    if names is None or are_coordinates([str(name) for name in names]):
        return
    found = [str(name) for name, column in zip(names, X.T) if _is_counter(str(name), column, X)]
    if found:
        number = "numbers" if len(found) == 1 else "number"
        warn_user(
            f"{' and '.join(map(repr, found))} {number} the rows, as an index does: drop such a "
            "column, or read the file with index_col=0, unless it is a time."
        )


def _is_counter(name: str, values: Floats, X: Floats) -> bool:
    if name.lower() in COUNTERS:
        whole = bool((values == np.rint(values)).all())
        return whole and len(np.unique(values)) == len(values)
    doubtful = X.shape[1] > 2 or name.startswith("Unnamed: ")
    counts = values[0] in (0, 1) and np.array_equal(values - values[0], np.arange(len(values)))
    return doubtful and bool(counts)


def asks_for_scaling(
    scale_columns: Any, parameters: EmbeddingParameters, proposals: Proposals | None
) -> bool:
    """Whether the columns are to be scaled: as asked for, or as the families were compared."""
    if not isinstance(scale_columns, str):
        return bool(scale_columns)
    return parameters.sigma is None and proposals is not None and proposals[0].scale_columns


def may_scale_columns(scale_columns: Any, parameters: EmbeddingParameters) -> bool:
    """Whether the columns may be scaled although this is not asked for: a given sigma is in the
    units of the data."""
    families = parameters.only
    free = all(getattr(family, "scales_by_column", False) for family in families)
    return isinstance(scale_columns, str) and parameters.sigma is None and free


def with_scaled_columns(parameters: EmbeddingParameters, X: Floats) -> EmbeddingParameters:
    """The parameters with families that measure the columns of rows like X in units of their
    spread; as they are if all columns have the same unit."""
    units = units_of(parameters.only, X)
    if all(unit == 1 for unit in units):
        return parameters
    families: list[tuple[ModelFamily, float]] = [
        (ScaledFamily(each, units), share) for each, share in parameters.families
    ]
    return replace(parameters, families=families)
