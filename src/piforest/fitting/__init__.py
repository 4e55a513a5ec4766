"""The steps of a fit: models of the points, then a forest of the pool."""

from .embedding import EmbeddingParameters, fit_embedding
from .forest import ForestParameters, empty_trees, fit_forest

__all__ = [
    "EmbeddingParameters",
    "ForestParameters",
    "empty_trees",
    "fit_embedding",
    "fit_forest",
]
