"""Keep the models that points name, and one of each group of nearly equal models.

Most random models say the same as others, or nothing. Each point names the few models that it
prefers most, and only named models are kept. Of models with nearly equal preferences one is kept;
a column that stands for c equal ones has the weight sqrt(c), which leaves all Tanimoto distances as
they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ._kernels.selection import add_products, merge_models, name_models
from ._rows import UNIT, SparseRows
from ._threads import in_parts, in_threads, n_threads
from .models.drawing import ModelSet
from .models.membership import SampleMembership
from .models.residuals import is_built_in, residual_blocks
from .preferences import Gaussian, Preferences
from .protocols import Floats, Ints

# Tanimoto similarity of preferences above which two models are the same.
_SAME = 0.9
# Preferences for the comparison, in steps: sums of products are exact in single precision.
_STEPS = 15
# Rows that models are compared on: fewer for many models, since all pairs are multiplied.
_COMPARED_ROWS, _MIN_COMPARED, _PRODUCTS = 2048, 512, 2**32
# Products of sparse rows are slower than those of a dense matrix by this factor.
_DENSE = 24
# Rows of a thread that multiplies them, at least.
_ROWS_EACH = 256
# Columns of a thread in a product of dense matrices, at least: with fewer, BLAS is slower for each.
_COLUMNS_EACH = 128
# Models that are compared with all others before those that they stand for are left out.
_MERGED_EACH = 128
# Rows of a thread, and models that they are compared with at once.
_BLOCK, _CHUNK = 256, 1024


def name_counts(
    models: Sequence[ModelSet], X: Floats, membership: SampleMembership, n_named: int
) -> Ints:
    """(m,) how many rows of X have each model among the `n_named` that they prefer most."""
    ordered = _by_weight(models)
    numbers = np.concatenate([chunk.models for chunk in ordered])
    position = np.empty_like(numbers)  # not itself: NumPy before 2.3 would overwrite the index
    position[numbers] = np.arange(len(numbers))

    def count(block: Floats) -> Ints:
        best, values = np.zeros((len(block), n_named), np.int64), np.empty((len(block), n_named))
        values.fill(-np.inf)
        starts, ends = membership.of(block)
        for chunk in ordered:
            # No preference exceeds the weight, so that rows with larger ones need not look.
            near = values[:, -1] <= chunk.log_weight[0]
            rows = np.flatnonzero(near | (not chunk.divisible))
            limit, value = chunk.limit, np.empty(len(chunk.limit))
            for some, R in residual_blocks(block[rows], [chunk.part], limit):
                name_models(
                    R, rows[some], chunk.models, limit, chunk.part.scale, chunk.log_weight, starts,
                    ends, membership.columns, position, chunk.first, value, best, values,
                )  # fmt: skip
        return np.bincount(best[values > -np.inf], minlength=len(position))

    blocks = [(X[start : start + _BLOCK],) for start in range(0, len(X), _BLOCK)]
    counts = np.zeros(len(position), np.int64)
    for part in in_threads(count, blocks, n_threads(), len(blocks)):
        counts += part
    return counts


class _Chunk(NamedTuple):
    """Models of one family; their numbers among the models of all families."""

    part: ModelSet
    models: Ints
    first: int
    """the number of models in the chunks before"""
    limit: Floats
    log_weight: Floats
    divisible: bool
    """whether residuals do not depend on the rows and models that they are computed with"""


def _by_weight(models: Sequence[ModelSet]) -> list[_Chunk]:
    """All models in chunks, those of most weight first."""
    chunks: list[_Chunk] = []
    number = first = 0
    for part in models:
        divisible = is_built_in(part.family)
        with np.errstate(divide="ignore"):
            log_weight = np.log(part.weight)
        limit = np.where(np.isfinite(log_weight), Gaussian.cutoff * part.scale, -1.0)
        order = np.argsort(-log_weight, kind="stable") if divisible else np.arange(len(part))
        for some in np.split(order, range(_CHUNK, len(order), _CHUNK) if divisible else []):
            bounds = None if part.bounds is None else part.bounds[some]
            few = replace(
                part, params=np.asfortranarray(part.params[some]), scale=part.scale[some],
                bounds=bounds,
            )  # fmt: skip
            chunks.append(
                _Chunk(few, number + some, first, limit[some], log_weight[some], divisible)
            )
            first += len(some)
        number += len(part)
    return chunks


def representatives(models: Sequence[ModelSet], X: Floats, counts: Ints) -> Ints:
    """(m,) the model that stands for each model; many counts and points come first."""
    m = len(counts)
    n_rows = min(max(_PRODUCTS // m**2, _MIN_COMPARED), _COMPARED_ROWS)
    some = X[:: -(-len(X) // n_rows)]
    equal = [part.with_weights(np.ones(len(part))) for part in models]
    rows = Preferences(equal, Gaussian()).rows_of(some)
    steps = np.rint(rows.data / UNIT * _STEPS).astype(np.float32)
    squares = np.bincount(rows.indices, steps**2, m).astype(np.float32)
    order = np.argsort(-(counts * squares), kind="stable")
    if _DENSE * np.sum(rows.counts**2) < len(rows) * m * m:
        products, representative = _sparse_products(rows, steps), np.empty(m, np.int64)
        merge_models(products, squares, order, _SAME, representative)
        return representative
    P = csr_array((steps, rows.indices.astype(np.int32), rows.indptr), (len(rows), m)).toarray()
    return _merged(np.ascontiguousarray(P.T), squares, order)


def _merged(P: NDArray[np.float32], squares: NDArray[np.float32], order: Ints) -> Ints:
    """(m,) the model that stands for each, from their preferences P (m, n) in steps. Models are
    multiplied with those alone that nothing stands for yet."""
    representative, left = np.empty(len(order), np.int64), order
    while len(left):
        first, others = P[left[:_MERGED_EACH]], P[left]
        # Exact: sums are integers below 2^24.
        products = np.empty((len(first), len(left)), np.float32)

        def multiply(
            part: slice, first: Any = first, others: Any = others, products: Any = products
        ) -> None:
            np.matmul(first, others[part].T, out=products[:, part])

        in_parts(multiply, len(left), len(left), _COLUMNS_EACH)
        found = np.empty(len(left), np.int64)
        merge_models(products, squares[left], np.arange(len(first)), _SAME, found)
        merged = found >= 0
        representative[left[merged]] = left[found[merged]]
        left = left[~merged]
    return representative


def _sparse_products(rows: SparseRows, steps: NDArray[np.float32]) -> NDArray[np.float32]:
    products = np.zeros((rows.n_columns, rows.n_columns), np.float32)

    def add(part: slice) -> None:
        own = products if part.stop - part.start >= len(rows) else np.zeros_like(products)
        add_products(rows.indptr[part.start : part.stop + 1], rows.indices, steps, own)
        if own is not products:
            with lock:
                np.add(products, own, out=products)

    lock = Lock()
    in_parts(add, len(rows), len(rows), _ROWS_EACH)
    return products


def merged_weights(weight: Floats, counts: Ints, representative: Ints) -> Floats:
    """(m,) for each representative, the root of the sum of counts and squared weights of the
    models that it stands for; 0 for the others."""
    squares = np.zeros(len(weight))
    np.add.at(squares, representative, counts * weight**2)
    return np.sqrt(squares)
