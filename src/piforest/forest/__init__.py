"""The PI-Forest: trees of nested Voronoi cells, which need distances only; or of hashes.

`PooledForest.grow` is Algorithm 3 of the paper; Algorithm 2 (PI-Tree) and Algorithm 4 (path
length) are compiled, `grow_trees` and `descend` in `piforest._kernels.trees`.
"""

from .flat import FlatForest
from .hashed import HashedForest, HashedTrees
from .pooled import PooledForest

__all__ = ["FlatForest", "HashedForest", "HashedTrees", "PooledForest"]
