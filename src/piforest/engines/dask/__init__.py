"""Dask collections and clusters.

Imported only for a Dask collection or a cluster. Fitting collects the rows that it needs in one
pass over the partitions; scoring maps over the partitions. Every score equals the score of the
same row in memory, bit for bit.
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
