"""Dask collections and clusters.

Imported only for a Dask collection or a cluster. Fitting gathers the rows that it needs in one
pass over the partitions; scoring maps over the partitions. Every score is the same, to the last
bit, as in memory.
"""

from __future__ import annotations

try:
    import dask
except ImportError as error:
    raise ImportError(
        "clusters need Dask, which is not installed: pip install 'piforest[dask]'."
    ) from error

from .cluster import connect
from .engine import DaskEngine
from .packed import PackedModel, score

__all__ = ["DaskEngine", "PackedModel", "connect", "score"]

del dask
