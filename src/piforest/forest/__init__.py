"""The PI-Forest: trees of nested Voronoi cells that read a table of distances."""

from .flat import FlatForest
from .pooled import PooledForest

__all__ = ["FlatForest", "PooledForest"]
