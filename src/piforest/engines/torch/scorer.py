"""A fitted model on a device: blocks of rows to path lengths and scores."""

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
from ._memory import explain_out_of_memory, to_device
from .distances import (
    TABLE,
    binary,
    distance,
    products,
    vector_distances,
)
from .forest import DeviceForest, grow
from .preferences import ALIGNED, DevicePreferences, square_sums
from .residuals import compiled

# What a block of rows may take: preferences, products and look-ups.
_BLOCK_BYTES = {"cuda": 2**30, "cpu": 2**25}
_MOST_ROWS = 32_768
_POOL_ROWS = 4096
# Matrix products of bytes want more than 16 rows.
_LEAST_ROWS = 32
# Trees that one kernel sums: more take longer to compile.
_AT_ONCE = 20


class Grown(NamedTuple):
    """A forest that was grown on a device, on the host."""

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
        """(n,) anomaly scores; an array for an array, a tensor on its device for a tensor."""
        return self._map(X, self._scores, (), progress)

    def path_lengths(self, X: Any, progress: Progress) -> Any:
        """(n, t)"""
        return self._map(X, lambda lengths: lengths, (len(self.forest.roots),), progress)

    def take_pool(self, rows: Any, trees: FlatForest, stream: Stream, n_trees: int) -> Grown:
        """Grow a forest of the pool, whose rows are points or vectors."""
        raise NotImplementedError

    def take_fitted(self, pool: Any, trees: FlatForest) -> None:
        """Hold the pool and the trees of a fitted model."""
        raise NotImplementedError

    def _lengths_of(self, block: Any) -> Any:
        """(r, d) on the device to (r, t)."""
        raise NotImplementedError

    @property
    def _row_bytes(self) -> int:
        """What a row of a block takes at most."""
        raise NotImplementedError

    def _map(self, X: Any, function: Any, shape: tuple[int, ...], progress: Progress) -> Any:
        host = isinstance(X, np.ndarray)
        out = torch.empty((len(X), *shape), dtype=torch.float64, device="cpu" if host else X.device)
        start = 0
        # A block that does not fit into memory is tried again, half as large.
        while start < len(X):
            size = self._block_rows
            blocks = self._blocks(X[start:], size)
            try:
                for block, rows in progress.track_rows(blocks, len(X) - start, "rows"):
                    out[start : start + rows] = function(self._lengths_of(block))[:rows]
                    start += rows
            except torch.OutOfMemoryError:
                self._halve(size)
        return out.numpy() if host else out

    def _halve(self, size: int) -> None:
        if size <= _LEAST_ROWS:
            raise MemoryError(
                f"device {self.device} has no memory for {size} rows; use device='cpu', or fewer "
                "models or a smaller pool."
            )
        if self._rows is None:
            warn_user(
                f"device {self.device} has no memory for blocks of {size} rows; smaller ones are "
                "used, with the same result."
            )
        self._rows = max(_LEAST_ROWS, size // 2)
        torch.cuda.empty_cache()

    @property
    def _block_rows(self) -> int:
        if self._rows is not None:
            return self._rows
        row = self._row_bytes + 32 * len(self.forest.roots)
        rows = _BLOCK_BYTES[self.device.type] // row // _LEAST_ROWS * _LEAST_ROWS
        return max(_LEAST_ROWS, min(_MOST_ROWS, rows))

    def _blocks(self, X: Any, size: int) -> Iterator[tuple[Any, int]]:
        """Blocks of X on the device, filled up with the last row, and how many rows count."""
        for start in range(0, len(X), size):
            part = to_device(X[start : start + size], self.device)
            extra = -len(part) % _LEAST_ROWS
            yield torch.cat([part, part[-1:].expand(extra, -1)]), len(part)

    def _scores(self, lengths: Any) -> Any:
        """(r,) summed in the order of the trees, so that no row depends on its block."""
        trees = lengths.shape[1]
        filled = torch.nn.functional.pad(lengths, (0, -trees % _AT_ONCE))
        total = torch.zeros(len(lengths), dtype=torch.float64, device=lengths.device)
        for start in range(0, trees, _AT_ONCE):
            total = _added(total, filled[:, start : start + _AT_ONCE])
        return torch.exp2(-total / trees / self.forest.normaliser)


class PreferenceScorer(Scorer):
    """Preferences of a block, its products with the pool, look-ups."""

    def __init__(self, embedding: FittedEmbedding, metric: str, device: Any) -> None:
        self.metric, self.device = metric, device
        self.preferences = DevicePreferences(embedding, binary(metric), device)

    @explain_out_of_memory
    def take_pool(self, rows: Floats, trees: FlatForest, stream: Stream, n_trees: int) -> Grown:
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

    def take_fitted(self, pool: SparseRows, trees: FlatForest) -> None:
        self._set_pool(self.preferences.from_rows(pool))
        self.forest = DeviceForest(trees, self.pool_sums)

    def _set_pool(self, P: Any) -> None:
        """Padded with rows without any preference, which no tree refers to."""
        extra = -len(P) % ALIGNED if len(P) >= _LEAST_ROWS else _LEAST_ROWS - len(P)
        self.pool = torch.nn.functional.pad(P, (0, 0, 0, extra))
        self.pool_sums = square_sums(self.pool)

    def _lengths_of(self, block: Any) -> Any:
        P, sums = self.preferences.embed(block)
        return self.forest.path_lengths(products(P, self.pool), sums, self.metric)

    @property
    def _row_bytes(self) -> int:
        return self.preferences.row_bytes + 4 * len(self.pool)


class VectorScorer(Scorer):
    """Distances of dense rows to the pool, look-ups."""

    def __init__(self, metric: str, device: Any) -> None:
        self.metric, self.device = metric, device

    @explain_out_of_memory
    def take_pool(self, rows: Any, trees: FlatForest, stream: Stream, n_trees: int) -> Grown:
        self._set_pool(rows)
        D = torch.cat([vector_distances(self.metric, self.pool[part], self.pool)
                       for part in _parts(len(self.pool))])  # fmt: skip
        grown = grow(trees, D, stream, n_trees)
        self._set_trees(grown)
        scores = [self._scores(self._lengths_in(D[part])) for part in _parts(len(D))]
        return Grown(rows, grown, torch.cat(scores).cpu().numpy())

    def take_fitted(self, pool: Any, trees: FlatForest) -> None:
        self._set_pool(pool)
        self._set_trees(trees)

    def _set_pool(self, pool: Any) -> None:
        self.pool = to_device(pool, self.device)

    def _set_trees(self, trees: FlatForest) -> None:
        self.forest = DeviceForest(trees, self.pool.new_zeros(len(self.pool)))

    def _lengths_of(self, block: Any) -> Any:
        return self._lengths_in(vector_distances(self.metric, block, self.pool))

    def _lengths_in(self, D: Any) -> Any:
        # No row is empty.
        return self.forest.path_lengths(D, D.new_ones(len(D)), TABLE)

    @property
    def _row_bytes(self) -> int:
        return 24 * len(self.pool)


def _parts(n: int) -> Iterator[slice]:
    return (slice(start, start + _POOL_ROWS) for start in range(0, n, _POOL_ROWS))


def _add(total: Any, lengths: Any) -> Any:
    for tree in range(_AT_ONCE):
        total = total + lengths[:, tree]
    return total


_added = compiled(_add)
