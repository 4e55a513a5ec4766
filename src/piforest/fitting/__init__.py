"""The steps of a fit: models of the points, then a forest of the pool."""

from .embedding import fit_embedding
from .forest import ForestParameters, empty_trees, fit_forest
from .parameters import EmbeddingParameters

__all__ = [
    "EmbeddingParameters",
    "ForestParameters",
    "empty_trees",
    "fit_embedding",
    "fit_forest",
]
