"""A fitted model on a device: path lengths and scores of blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from ..._progress import Progress
from ..._random import Stream
from ..._rows import SparseRows
from ..._validation import warn_user
from ...fitted import FittedEmbedding
from ...forest import FlatForest
from ...protocols import Floats
from ._memory import explain_out_of_memory, to_device, uploads
from .distances import PRECOMPUTED, binary, distance, products, vector_distances
from .forest import DeviceForest, grow
from .preferences import ALIGNED, DevicePreferences, square_sums
from .residuals import has_triton

# The memory of a block of rows: preferences, products and path lengths. A GPU takes at most a
# quarter of what is free: with few models a block is done sooner than the host can start the next.
_BLOCK_BYTES = {"cuda": 2**32, "cpu": 2**25}
_FREE_SHARE = 4
_MAX_ROWS = 131_072
_POOL_ROWS = 4096
# Matrix products of bytes need more than 16 rows.
_MIN_ROWS = 32


class Grown(NamedTuple):
    """A forest that was grown on a device, copied to the host."""

    pool: Any
    """the rows of the pool in the layout of the metric"""
    trees: FlatForest
    scores: Floats
    """of the pool"""


class Scorer:
    """Scores of blocks of rows on a device; a subclass computes their distances."""

    device: Any
    forest: DeviceForest
    _rows: int | None = None

    def scores(self, X: Any, progress: Progress) -> Any:
        """(n,) anomaly scores; for a tensor, a tensor on the same device."""
        return self._map(X, self._scores, (), progress)

    def path_lengths(self, X: Any, progress: Progress) -> Any:
        """(n, t) path lengths."""
        return self._map(X, lambda lengths: lengths, (len(self.forest.roots),), progress)

    def grow_pool(self, rows: Any, trees: FlatForest, stream: Stream, n_trees: int) -> Grown:
        """Grow a forest of a pool, whose rows are points or vectors."""
        raise NotImplementedError

    def load_fitted(self, pool: Any, trees: FlatForest) -> None:
        """Copy the pool and the trees of a fitted model to the device."""
        raise NotImplementedError

    def _lengths_of(self, block: Any) -> Any:
        """(r, d) rows on the device to (r, t) path lengths."""
        raise NotImplementedError

    @property
    def _row_bytes(self) -> int:
        """The maximum memory of a row of a block."""
        raise NotImplementedError

    def _map(self, X: Any, function: Any, shape: tuple[int, ...], progress: Progress) -> Any:
        host = isinstance(X, np.ndarray)
        # Scores stay on the device until all are known: the host need not wait for each block.
        place = X.device if not host else "cpu" if shape else self.device
        out = torch.empty((len(X), *shape), dtype=torch.float64, device=place)
        start = 0
        # A block that does not fit into memory is tried again with half the size.
        while start < len(X):
            size = self._block_rows
            blocks = self._blocks(X[start:], size)
            try:
                for block, rows in progress.track_rows(blocks, len(X) - start, "rows"):
                    out[start : start + rows] = function(self._lengths_of(block))[:rows]
                    start += rows
            except torch.OutOfMemoryError:
                self._halve_blocks(size)
        return out.cpu().numpy() if host else out

    def _halve_blocks(self, size: int) -> None:
        if size <= _MIN_ROWS:
            raise MemoryError(
                f"device {self.device} has no memory for {size} rows; use device='cpu', or fewer "
                "models or a smaller pool."
            )
        if self._rows is None:
            warn_user(
                f"device {self.device} has no memory for blocks of {size} rows; smaller ones are "
                "used, with the same result."
            )
        self._rows = max(_MIN_ROWS, size // 2)
        torch.cuda.empty_cache()

    @property
    def _block_rows(self) -> int:
        if self._rows is not None:
            return self._rows
        row = self._row_bytes + 32 * len(self.forest.roots)
        rows = block_bytes(self.device) // row // _MIN_ROWS * _MIN_ROWS
        return max(_MIN_ROWS, min(_MAX_ROWS, rows))

    def _blocks(self, X: Any, size: int) -> Iterator[tuple[Any, int]]:
        """Blocks of X on the device, padded with the last row, and their rows without padding."""
        for part in uploads(X, size, self.device):
            extra = -len(part) % _MIN_ROWS
            yield torch.cat([part, part[-1:].expand(extra, -1)]), len(part)

    def _scores(self, lengths: Any) -> Any:
        """(r,) scores; lengths are summed in the order of the trees, so that no row depends on its
        block."""
        trees = lengths.shape[1]
        return torch.exp2(-in_order(lengths) / trees / self.forest.normaliser)


class PreferenceScorer(Scorer):
    """Scores from the preferences of a block and its products with the pool."""

    def __init__(self, embedding: FittedEmbedding, metric: str, device: Any) -> None:
        self.metric, self.device = metric, device
        self.preferences = DevicePreferences(embedding, binary(metric), device)

    @explain_out_of_memory
    def grow_pool(self, rows: Floats, trees: FlatForest, stream: Stream, n_trees: int) -> Grown:
        parts = [self.preferences.embed(block)[0] for block, _ in self._blocks(rows, _POOL_ROWS)]
        P = torch.cat(parts)[: len(rows)]
        self._set_pool(P)
        shared = products(self.pool, self.pool)[: len(P), : len(P)]
        sums = self.pool_sums[: len(P)]
        D = distance(self.metric, shared, sums[:, None], sums)
        grown = grow(trees, D, stream, n_trees)
        del D
        self.forest = DeviceForest(grown, self.pool_sums)
        scores = [
            self._scores(self.forest.path_lengths(shared[part], sums[part], self.metric))
            for part in _parts(len(P))
        ]
        return Grown(self.preferences.to_rows(P), grown, torch.cat(scores).cpu().numpy())

    def load_fitted(self, pool: SparseRows, trees: FlatForest) -> None:
        self._set_pool(self.preferences.from_rows(pool))
        self.forest = DeviceForest(trees, self.pool_sums)

    def _set_pool(self, P: Any) -> None:
        """Set the pool, padded with empty rows, which no tree refers to."""
        extra = -len(P) % ALIGNED if len(P) >= _MIN_ROWS else _MIN_ROWS - len(P)
        self.pool = torch.nn.functional.pad(P, (0, 0, 0, extra))
        self.pool_sums = square_sums(self.pool)

    def _lengths_of(self, block: Any) -> Any:
        P, sums = self.preferences.embed(block)
        return self.forest.path_lengths(products(P, self.pool), sums, self.metric)

    @property
    def _row_bytes(self) -> int:
        return self.preferences.row_bytes + 4 * len(self.pool)


class VectorScorer(Scorer):
    """Scores from the distances of dense rows to the pool."""

    def __init__(self, metric: str, device: Any) -> None:
        self.metric, self.device = metric, device

    @explain_out_of_memory
    def grow_pool(self, rows: Any, trees: FlatForest, stream: Stream, n_trees: int) -> Grown:
        self._set_pool(rows)
        D = torch.cat([vector_distances(self.metric, self.pool[part], self.pool)
                       for part in _parts(len(self.pool))])  # fmt: skip
        grown = grow(trees, D, stream, n_trees)
        self._set_trees(grown)
        scores = [self._scores(self._lengths_from(D[part])) for part in _parts(len(D))]
        return Grown(rows, grown, torch.cat(scores).cpu().numpy())

    def load_fitted(self, pool: Any, trees: FlatForest) -> None:
        self._set_pool(pool)
        self._set_trees(trees)

    def _set_pool(self, pool: Any) -> None:
        self.pool = to_device(pool, self.device)

    def _set_trees(self, trees: FlatForest) -> None:
        self.forest = DeviceForest(trees, self.pool.new_zeros(len(self.pool)))

    def _lengths_of(self, block: Any) -> Any:
        return self._lengths_from(vector_distances(self.metric, block, self.pool))

    def _lengths_from(self, D: Any) -> Any:
        # No row is empty.
        return self.forest.path_lengths(D, D.new_ones(len(D)), PRECOMPUTED)

    @property
    def _row_bytes(self) -> int:
        return 24 * len(self.pool)


def block_bytes(device: Any) -> int:
    most = _BLOCK_BYTES[device.type]
    if device.type != "cuda":
        return most
    free, _ = torch.cuda.mem_get_info(device)
    return int(min(most, free // _FREE_SHARE))


def _parts(n: int) -> Iterator[slice]:
    return (slice(start, start + _POOL_ROWS) for start in range(0, n, _POOL_ROWS))


def in_order(lengths: Any) -> Any:
    """(r,) the sums of the rows (r, t), in the order of the columns."""
    if lengths.is_cuda and has_triton():
        from .kernels import add_in_order

        return add_in_order(lengths)
    total = torch.zeros(len(lengths), dtype=torch.float64, device=lengths.device)
    for column in lengths.T:
        total = total + column
    return total
