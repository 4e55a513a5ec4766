"""The PI-Forest: trees of nested Voronoi cells, which need distances only."""

from .flat import FlatForest
from .pooled import PooledForest

__all__ = ["FlatForest", "PooledForest"]
