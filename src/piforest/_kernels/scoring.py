"""From sparse rows to path lengths, one row at a time."""

from __future__ import annotations

from .jit import jit
from .sparse import dense_products, products
from .trees import descend_two


@jit
def descend_rows(
    indptr, indices, data, row_sums, slot, dense, column_max, starts, stops, rows, values,
    pool_sums, roots, nodes, ends, soft, at, value, short, shared, distances, node, active, length,
    out,
):  # fmt: skip
    """out (n, t): the path lengths of fixed-point rows in trees of two branches.

    As `dense_products` and `products` of all rows, and `descend_two` of what they share with the
    pool; but shared (1, pool) is one row, which stays in the cache. A table of all rows goes
    through the memory that all threads share. Workspace: as of these functions.
    """
    for i in range(out.shape[0]):
        for j in range(shared.shape[1]):
            shared[0, j] = 0
        entries, of_row = indptr[i : i + 2], slice(i, i + 1)
        dense_products(
            entries, indices, data, slot, dense, column_max, -1, at, value, short, shared
        )
        products(entries, indices, data, -1, starts, stops, rows, values, shared)
        descend_two(
            shared, row_sums[of_row], pool_sums, roots, nodes, ends, soft, distances, node, active,
            length, out[of_row],
        )  # fmt: skip
