"""Fit a forest to the pool of the training rows."""

from __future__ import annotations

from dataclasses import dataclass

from .._random import Stream
from .._validation import check_forest_shape, warn_user
from ..engines import Backend, ForestPlan
from ..fitted import FittedEmbedding, FittedForest, TrainingRows
from ..forest import FlatForest, HashedTrees
from ..protocols import Metric


@dataclass(frozen=True)
class ForestParameters:
    """The parameters of a forest, checked."""

    metric: Metric
    n_trees: int
    max_samples: int
    branching: int
    pool_size: int
    soft: bool = False
    hashed: bool = False
    """whether nodes hash rows, in place of distances to seeds"""

    def __post_init__(self) -> None:
        check_forest_shape(self.n_trees, self.max_samples, self.branching, self.pool_size)


def empty_trees(parameters: ForestParameters, pool: int) -> FlatForest | HashedTrees:
    """A forest with the shape of the trees but without any tree; warn if no tree can split."""
    size = min(parameters.max_samples, pool)
    if size < parameters.branching:
        warn_user(
            f"branching ({parameters.branching}) is above the {size} points of a tree: no tree can "
            "split, and all scores are equal."
        )
    if parameters.hashed:
        return HashedTrees(size, parameters.branching)
    return FlatForest(size, parameters.branching, soft=parameters.soft)


def fit_forest(
    rows: TrainingRows,
    parameters: ForestParameters,
    backend: Backend,
    stream: Stream,
    embedding: FittedEmbedding | None = None,
) -> FittedForest:
    """Grow a forest of the pool of the training rows.

    rows: points with an embedding, else rows in the layout of the metric.
    """
    numbers, subset = rows.pool(stream, parameters.pool_size), rows.subset(stream)
    pool_X = rows.take(numbers)
    trees = empty_trees(parameters, len(numbers))
    # A precomputed row holds distances to all training rows, so the pool is column numbers.
    pool = numbers if parameters.metric.name == "precomputed" else None
    plan = ForestPlan(
        parameters.metric, pool_X, embedding, trees, parameters.n_trees, stream.child("trees"), pool
    )
    forest, scores = backend.grow(plan)
    points = None if embedding is None else pool_X
    return FittedForest(
        forest=forest,
        embedding=embedding,
        key=stream.key,
        n_training=len(rows),
        pool_numbers=numbers,
        pool_scores=scores,
        pool_points=points,
        # A copy, so that X may change.
        subset=points if len(numbers) == len(rows) else rows.take(subset),
    )
