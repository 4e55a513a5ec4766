"""A fitted model on a device: blocks of rows to path lengths and scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from .._progress import Progress
from .._random import Stream
from .._rows import SparseRows
from .._validation import warn_user
from ..forest import FlatForest
from ..protocols import Floats, Kernel
from .distances import METRICS, binary, distance, products
from .forest import DeviceForest, grow
from .preferences import ALIGNED, DevicePreferences, square_sums
from .residuals import compiled

# What a block of rows may take: preferences, products and look-ups.
_BLOCK_BYTES = {"cuda": 2**30, "cpu": 2**25}
_MOST_ROWS = 32_768
# Matrix products of bytes want more than 16 rows.
_LEAST_ROWS = 32
# Trees that one kernel sums: more take longer to compile.
_AT_ONCE = 20


class DeviceScorer:
    """Preferences of a block, its products with the pool, look-ups."""

    def __init__(self, models: Any, kernel: Kernel, own: Any, metric: str, device: Any) -> None:
        if metric not in METRICS:
            raise ValueError(
                f"metric {metric!r} is computed on the CPU only; use device='cpu', or one of the "
                f"metrics {', '.join(METRICS)}."
            )
        self.metric, self.device = metric, device
        self.preferences = DevicePreferences(models, kernel, own, binary(metric), device)
        self._rows: int | None = None

    def take_pool(
        self, points: Floats, forest: FlatForest, stream: Stream, n_trees: int
    ) -> tuple[SparseRows, FlatForest, Floats]:
        """Embed the pool and grow a forest of it: its rows, the forest, and the pool's scores."""
        parts = [self.preferences.embed(block)[0] for block in self._blocks(points, len(points))]
        P = torch.cat(parts)[: len(points)]
        self._set_pool(P)
        shared = products(self.pool, self.pool)[: len(P), : len(P)]
        sums = self.pool_sums[: len(P)]
        D = distance(self.metric, shared, sums[:, None], sums)
        grown = grow(forest, D, stream, n_trees)
        del D
        self._set_forest(grown)
        scores = torch.cat(
            [
                self._scores(
                    self._lengths(shared[start : start + 4096], sums[start : start + 4096])
                )
                for start in range(0, len(P), 4096)
            ]
        )
        return self.preferences.to_rows(P), grown, scores.cpu().numpy()

    def take_fitted(self, pool: SparseRows, forest: FlatForest) -> DeviceScorer:
        """The pool and the forest of a fitted model."""
        self._set_pool(self.preferences.from_rows(pool))
        self._set_forest(forest)
        return self

    def _set_pool(self, P: Any) -> None:
        """Filled up with rows that prefer nothing, which no tree knows."""
        extra = -len(P) % ALIGNED if len(P) >= _LEAST_ROWS else _LEAST_ROWS - len(P)
        self.pool = torch.nn.functional.pad(P, (0, 0, 0, extra))
        self.pool_sums = square_sums(self.pool)

    def _set_forest(self, forest: FlatForest) -> None:
        self.forest = DeviceForest(forest, self.pool_sums)

    def scores(self, X: Any, progress: Progress) -> Any:
        """(n,) anomaly scores; an array for an array, a tensor on its device for a tensor."""
        return self._map(X, lambda lengths: self._scores(lengths), (), progress)

    def path_lengths(self, X: Any, progress: Progress) -> Any:
        """(n, t)"""
        return self._map(X, lambda lengths: lengths, (len(self.forest.roots),), progress)

    def embed(self, X: Any) -> Iterator[tuple[Any, int]]:
        """Preferences of one block after another, and how many of its rows count."""
        for block, rows in self._sized_blocks(X, self._block_rows):
            yield self.preferences.embed(block)[0], rows

    def _map(self, X: Any, function: Any, shape: tuple[int, ...], progress: Progress) -> Any:
        host = isinstance(X, np.ndarray)
        out = torch.empty((len(X), *shape), dtype=torch.float64, device="cpu" if host else X.device)
        start = 0
        # A block that does not fit into memory is tried again, half as large.
        while start < len(X):
            size = self._block_rows
            try:
                for block, rows in progress.track_rows(
                    self._sized_blocks(X[start:], size), len(X) - start, "rows"
                ):
                    P, sums = self.preferences.embed(block)
                    shared = products(P, self.pool)
                    out[start : start + rows] = function(self._lengths(shared, sums))[:rows]
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
        row = self.preferences.width + 4 * len(self.pool) + 32 * len(self.forest.roots)
        rows = _BLOCK_BYTES[self.device.type] // row // _LEAST_ROWS * _LEAST_ROWS
        return max(_LEAST_ROWS, min(_MOST_ROWS, rows))

    def _blocks(self, X: Any, size: int) -> Iterator[Any]:
        return (block for block, _ in self._sized_blocks(X, size))

    def _sized_blocks(self, X: Any, size: int) -> Iterator[tuple[Any, int]]:
        """Blocks of X on the device, filled up with the last row, and how many rows count."""
        for start in range(0, len(X), size):
            part = torch.as_tensor(X[start : start + size]).to(self.device, torch.float64)
            extra = -len(part) % _LEAST_ROWS
            yield torch.cat([part, part[-1:].expand(extra, -1)]), len(part)

    def _lengths(self, shared: Any, sums: Any) -> Any:
        return self.forest.path_lengths(shared, sums, self.metric)

    def _scores(self, lengths: Any) -> Any:
        """(r,) summed in the order of the trees, so that no row depends on its block."""
        trees = lengths.shape[1]
        filled = torch.nn.functional.pad(lengths, (0, -trees % _AT_ONCE))
        total = torch.zeros(len(lengths), dtype=torch.float64, device=lengths.device)
        for start in range(0, trees, _AT_ONCE):
            total = _added(total, filled[:, start : start + _AT_ONCE])
        return torch.exp2(-total / trees / self.forest.normaliser)


def _add(total: Any, lengths: Any) -> Any:
    for tree in range(_AT_ONCE):
        total = total + lengths[:, tree]
    return total


_added = compiled(_add)
