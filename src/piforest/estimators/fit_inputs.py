"""Parameters of a fit that depend on what is passed to it: weights, families, column names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._random import Stream
from ..families import resolve_families
from ..fitted import TrainingRows
from ..fitting import EmbeddingParameters
from ..sampling import resolve_sampler

if TYPE_CHECKING:
    from ..proposals import Proposals


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
    families = resolve_families(proposals.family)
    if isinstance(parameters.n_models, int) and parameters.n_models < len(families):
        families = families[:1]
    return replace(parameters, families=families), proposals


def with_named_targets(parameters: EmbeddingParameters, names: Any) -> EmbeddingParameters:
    """The parameters with families whose target is the number of a column; names: of the columns,
    None if they have none."""
    known = [] if names is None else [str(name) for name in names]
    families = [
        (each.with_names(known) if hasattr(each, "with_names") else each, share)
        for each, share in parameters.families
    ]
    return replace(parameters, families=families)
