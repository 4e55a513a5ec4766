"""Keep the models that points name, and one of each group of nearly equal models.

Most random models say the same as others, or nothing. Each point names the few models that it
prefers most, and only named models are kept. Of models with nearly equal preferences one is kept;
a column that stands for c equal ones has the weight sqrt(c), which leaves all Tanimoto distances as
they were.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ._kernels.selection import merge_models, name_models
from ._threads import in_threads, n_threads
from .membership import SampleMembership
from .models import ModelSet
from .preferences import Gaussian, Preferences
from .protocols import Floats, Ints
from .residuals import residual_blocks

# Tanimoto similarity of preferences above which two models are the same.
_SAME = 0.9
# Preferences for the comparison, in steps: sums of products are exact in single precision.
_STEPS = 15
# Rows that models are compared on: fewer for many models, since all pairs are multiplied.
_COMPARED_ROWS, _MIN_COMPARED, _PRODUCTS = 2048, 512, 2**32
# Rows of a thread.
_BLOCK = 256


def name_counts(
    models: Sequence[ModelSet], X: Floats, membership: SampleMembership, n_named: int
) -> Ints:
    """(m,) how many rows of X have each model among the `n_named` that they prefer most."""
    scale = np.concatenate([part.scale for part in models])
    with np.errstate(divide="ignore"):
        log_weight = np.log(np.concatenate([part.weight for part in models]))
    limit = np.where(np.isfinite(log_weight), Gaussian.cutoff * scale, -1.0)

    def count(block: Floats) -> Ints:
        counts = np.zeros(len(scale), np.int64)
        workspace = np.empty(len(scale)), np.empty(n_named, np.int64), np.empty(n_named)
        starts, ends = membership.of(block)
        for rows, R in residual_blocks(block, models, limit):
            name_models(
                R, limit, scale, log_weight, starts[rows], ends[rows], membership.columns,
                *workspace, counts,
            )  # fmt: skip
        return counts

    blocks = [(X[start : start + _BLOCK],) for start in range(0, len(X), _BLOCK)]
    counts = np.zeros(len(scale), np.int64)
    for part in in_threads(count, blocks, n_threads(), len(blocks)):
        counts += part
    return counts


def representatives(models: Sequence[ModelSet], X: Floats, counts: Ints) -> Ints:
    """(m,) the model that stands for each model; many counts and points come first."""
    n_rows = min(max(_PRODUCTS // len(counts) ** 2, _MIN_COMPARED), _COMPARED_ROWS)
    rows = X[:: -(-len(X) // n_rows)]
    equal = [part.with_weights(np.ones(len(part))) for part in models]
    P = Preferences(equal, Gaussian()).rows_of(rows).to_csr().toarray()
    P = np.rint(P * _STEPS).astype(np.float32)
    products = np.asarray(P.T @ P)  # exact: integers below 2^24
    importance = counts * np.diag(products)
    order = np.argsort(-importance, kind="stable")
    representative = np.empty(len(counts), np.int64)
    merge_models(products, order, _SAME, representative)
    return representative


def merged_weights(weight: Floats, counts: Ints, representative: Ints) -> Floats:
    """(m,) for each representative, the root of the sum of counts and squared weights of the
    models that it stands for; 0 for the others."""
    squares = np.zeros(len(weight))
    np.add.at(squares, representative, counts * weight**2)
    return np.sqrt(squares)
