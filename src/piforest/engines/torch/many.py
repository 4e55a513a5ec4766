"""Many small forests on a device, such as those of windows: scores of rows in batches of forests.

A forest with few rows does not occupy a GPU. So the arrays of all forests are padded to equal
shapes, and a batch is computed for several forests at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
import torch

from ..._rows import UNIT
from ...families._formula import prepared_params
from ...families.scaled import has_formula
from ...fitted import FittedEmbedding, FittedForest
from ...forest import PooledForest
from ...models.bounds import Bounds, unbounded
from ...models.drawing import ModelSet
from ...models.membership import joined_memberships
from ...protocols import Floats, Ints
from ._memory import explain_out_of_memory, to_device
from .distances import binary
from .forest import descend
from .preferences import DeviceMembership, fixed_point_step, square_sums
from .residuals import fused, fused_bounded
from .scorer import block_bytes, in_order

# Rows of one forest in a batch.
_PIECE = 4096
# Residuals and the numbers that they are computed from, of a row and a model.
_MODEL_BYTES = 64
_TREE_BYTES = 64


def can_batch(forests: Sequence[FittedForest]) -> bool:
    """Whether forests have the same families, with formulas, and trees of the same shape."""
    return all(map(_is_embedded, forests)) and len(set(map(_shape, forests))) == 1


def _is_embedded(fitted: FittedForest) -> bool:
    embedding = fitted.embedding
    return (
        isinstance(fitted.forest, PooledForest)
        and embedding is not None
        and all(has_formula(part.family) for part in embedding.models)
    )


def _shape(fitted: FittedForest) -> tuple[Any, ...]:
    embedding, trees = _embedding(fitted), _pooled(fitted).trees
    return (
        tuple(part.family for part in embedding.models), embedding.kernel,
        embedding.membership is None, fitted.forest.metric.name, len(trees.roots),
        trees.branching, trees.soft,
    )  # fmt: skip


def _embedding(fitted: FittedForest) -> FittedEmbedding:
    return cast(FittedEmbedding, fitted.embedding)


def _pooled(fitted: FittedForest) -> PooledForest:
    return cast(PooledForest, fitted.forest)


class ManyForests:
    """Forests of which `can_batch` is true, on a device."""

    def __init__(self, forests: Sequence[FittedForest], device: Any) -> None:
        self.device, first = device, _pooled(forests[0])
        self.metric, self.branching = first.metric.name, first.trees.branching
        self.soft = first.trees.soft
        embeddings = [_embedding(each) for each in forests]
        families = range(len(embeddings[0].models))
        widths = [max(len(each.models[k]) for each in embeddings) for k in families]
        self.width = sum(widths)
        self.parts = [
            _Part([each.models[k] for each in embeddings], widths[k], embeddings, device)
            for k in families
        ]
        starts = np.cumsum(widths) - widths
        columns = [
            np.concatenate([s + np.arange(len(m)) for s, m in zip(starts, each.models)])
            for each in embeddings
        ]
        self.membership = _membership(embeddings, columns, self.width, device)
        self.pool = _pools(forests, columns, self.width, device)
        self.trees = _Trees(forests, self.pool)

    def scores(self, held: Sequence[tuple[int, Floats]]) -> list[Floats]:
        """For each pair (k, rows), the scores of the rows in forest k."""
        out = [np.empty(len(rows)) for _, rows in held]
        pieces = [
            (at, start, min(start + _PIECE, len(rows)))
            for at, (_, rows) in enumerate(held)
            for start in range(0, len(rows), _PIECE)
        ]
        # Pieces of similar lengths share a batch, which is as long as its longest.
        pieces.sort(key=lambda piece: piece[1] - piece[2])
        for batch in self._batches(pieces):
            numbers = [held[at][0] for at, _, _ in batch]
            rows = [held[at][1][start:stop] for at, start, stop in batch]
            found = self._scores(np.array(numbers), rows).cpu().numpy()
            for (at, start, stop), values in zip(batch, found):
                out[at][start:stop] = values[: stop - start]
        return out

    def _batches(self, pieces: list[tuple[int, int, int]]) -> Iterator[list[tuple[int, int, int]]]:
        pool = self.pool.shape[1]
        row = _MODEL_BYTES * self.width + 8 * pool + _TREE_BYTES * self.trees.roots.shape[1]
        first = 0
        while first < len(pieces):
            longest = pieces[first][2] - pieces[first][1]
            size = longest * row + 8 * pool * self.width
            last = first + max(1, block_bytes(self.device) // size)
            yield pieces[first:last]
            first = last

    @explain_out_of_memory
    def _scores(self, numbers: Ints, rows: list[Floats]) -> Any:
        """(g, r) the scores of the rows in the forests with these numbers (g,), padded."""
        longest = max(map(len, rows))
        # The number of the forest is one more column, which tells equal rows apart.
        padded = np.zeros((len(rows), longest, rows[0].shape[1] + 1))
        for k, part in enumerate(rows):
            padded[k, : len(part), :-1] = part
        padded[:, :, -1] = numbers[:, None]
        X, at = to_device(padded, self.device), torch.as_tensor(numbers, device=self.device)
        points = X[..., :-1].contiguous()
        P = torch.cat([part.preferences(points, at) for part in self.parts], dim=2)
        flat = P.reshape(-1, self.width)
        if self.membership is not None:
            self.membership.fill(flat, X.reshape(-1, X.shape[-1]), 0)
        if binary(self.metric):
            flat = (flat > 0).to(torch.int8)
        # Sums of integers below 2 ** 53 are exact in any order.
        P = flat.reshape(len(rows), longest, self.width).to(torch.float64)
        shared = torch.bmm(P, self.pool[at].to(torch.float64).transpose(1, 2))
        shape = self.metric, self.branching, self.soft, self.trees.height
        shared = shared.reshape(len(flat), -1)
        lengths = descend(*shape, shared, square_sums(flat), self.trees.of(at))
        mean = in_order(lengths) / lengths.shape[1]
        return torch.exp2(-mean.reshape(len(rows), -1) / self.trees.normaliser[at][:, None])


class _Part:
    """The models of one family in all forests, padded to equal numbers."""

    def __init__(
        self,
        models: list[ModelSet],
        width: int,
        embeddings: Sequence[FittedEmbedding],
        device: Any,
    ) -> None:
        self.family: Any = models[0].family
        kernel: Any = embeddings[0].kernel
        self.step = fixed_point_step(kernel)

        def tensor(values: list[Any], padding: Any = None) -> Any:
            """(..., forests, 1, width) from (m, ...) of each forest."""
            stacked = np.stack([_padded(each, width, padding) for each in values])
            return torch.as_tensor(
                np.ascontiguousarray(np.moveaxis(stacked[:, None], (0, 1, 2), (-3, -2, -1))),
                device=device,
            )

        self.theta = tensor([prepared_params(self.family, each.params) for each in models])
        # Padding is never within its limit.
        self.columns = [
            tensor([each.scale for each in models], 1.0),
            tensor([kernel.cutoff * each.scale for each in models], -1.0),
            tensor([_units(each, all_) for each, all_ in zip(models, embeddings)], 0.0),
        ]
        self.bounds: Any = None
        if any(each.bounds is not None for each in models):
            bounds = [cast(Bounds, each.bounds or unbounded(each)) for each in models]
            cells = np.stack([_padded(each.cells, width) for each in bounds])[:, None]
            self.bounds = [
                tensor([each.low for each in bounds]),
                tensor([each.size for each in bounds]),
                torch.as_tensor(cells, device=device),
            ]

    def preferences(self, X: Any, at: Any) -> Any:
        """(g, r, d) rows to (g, r, width) of int8 in the forests with the numbers `at` (g,)."""
        theta, columns = self.theta[:, at], [each[at] for each in self.columns]
        if self.bounds is None:
            return fused(self.family, self.step)(X, theta, *columns)
        low, size, cells = self.bounds
        bounds = low[:, at], size[:, at], cells[at]
        return fused_bounded(self.family, self.step)(X, theta, *bounds, *columns)


def _units(models: ModelSet, embedding: FittedEmbedding) -> Floats:
    heaviest = max(part.weight.max() for part in embedding.models)
    return np.asarray(UNIT * models.weight / heaviest)


def _padded(values: Any, width: int, padding: Any = None) -> Any:
    """(m, ...) to (width, ...), with the last value or with `padding`."""
    last = values[-1:] if padding is None else np.full_like(values[:1], padding)
    return np.concatenate([values, np.repeat(last, width - len(values), axis=0)])


def _membership(
    embeddings: Sequence[FittedEmbedding], columns: list[Ints], width: int, device: Any
) -> DeviceMembership | None:
    known = [each.membership for each in embeddings if each.membership is not None]
    if not known:
        return None
    return DeviceMembership(joined_memberships(known, columns), np.arange(width), device)


def _pools(forests: Sequence[FittedForest], columns: list[Ints], width: int, device: Any) -> Any:
    """(forests, pool, width) preferences of the pools, padded with empty rows."""
    pools = [_pooled(each).pool for each in forests]
    P = np.zeros((len(pools), max(map(len, pools)), width), np.int8)
    for table, pool, at in zip(P, pools, columns):
        table[np.repeat(np.arange(len(pool)), pool.counts), at[pool.indices]] = pool.data
    return torch.as_tensor(P, device=device)


class _Trees:
    """The nodes of all forests as one list."""

    def __init__(self, forests: Sequence[FittedForest], pool: Any) -> None:
        trees = [_pooled(each).trees for each in forests]
        starts = np.cumsum([0, *(len(each.seed) for each in trees)])
        forest = np.repeat(np.arange(len(trees)), np.diff(starts))

        def tensor(array: Any, dtype: Any = torch.int64) -> Any:
            return torch.as_tensor(array, device=pool.device).to(dtype)

        roots = [start + each.roots[:-1] for start, each in zip(starts, trees)]
        children = np.concatenate([each.children for each in trees])
        seed = np.concatenate([each.seed for each in trees]).clip(0)
        ends = np.concatenate([each.depths[each.size] for each in trees])
        sums = square_sums(pool.reshape(-1, pool.shape[2])).reshape(pool.shape[:2])
        self.roots = tensor(np.stack(roots))
        self.seed = tensor(seed)
        # Children, seeds, sums and depths of all nodes.
        self.nodes = (
            tensor(np.where(children >= 0, children + starts[forest], -1)), self.seed,
            sums[tensor(forest), self.seed], tensor(ends, torch.float64),
        )  # fmt: skip
        self.height = max(each.height_limit for each in trees)
        self.normaliser = tensor(np.array([each.normaliser for each in trees]), torch.float64)

    def of(self, at: Any) -> tuple[Any, ...]:
        """The tables of the forests with the numbers `at`."""
        return self.roots[at], *self.nodes
