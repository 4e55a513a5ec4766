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
from ._folder import Report, parquet_files, score_folder
from ._gather import gather, lengths_of, settled
from ._mapping import map_rows

__all__ = [
    "Report",
    "connect",
    "gather",
    "lengths_of",
    "map_rows",
    "parquet_files",
    "score_folder",
    "settled",
]

del dask
