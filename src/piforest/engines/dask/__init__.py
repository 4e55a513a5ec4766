"""Data and clusters larger than one machine: Dask collections, and folders of Parquet files.

Imported only where a Dask collection comes in or a cluster is asked for. Fitting gathers the
rows that it looks at, in one pass over the partitions; scoring maps over partitions. Every
score is the same, to the last bit, as in memory.
"""

from __future__ import annotations

try:
    import dask
except ImportError as error:
    raise ImportError(
        "clusters need Dask, which is not installed: pip install 'piforest[dask]'."
    ) from error

from ._cluster import connect
from ._gather import gather, lengths_of, settled
from ._mapping import map_rows

__all__ = [
    "connect",
    "gather",
    "lengths_of",
    "map_rows",
    "settled",
]

del dask
