"""The expected depth and the maximum depth of a tree."""

from __future__ import annotations

import numpy as np

from ..protocols import Floats


def height_limit(max_samples: int, branching: int) -> int:
    """ceil(log_b psi), in integers, because math.log(125, 5) is above 3.

    >>> height_limit(256, 2), height_limit(125, 5)
    (8, 3)
    """
    limit, leaves = 0, 1
    while leaves < max_samples:
        limit, leaves = limit + 1, leaves * branching
    return limit


def expected_depth(max_samples: int, branching: int) -> Floats:
    """c_b(0 .. psi): the mean depth of a leaf for n points, all splits equally likely.

    For b = 2 this is the paper's c(n) = 2 H(n - 1) - 2 (n - 1) / n, with exact
    harmonic numbers. For b > 2, c_b(j) = 1 for 2 <= j < b, and for n >= b
    c_b(n) = 1 + sum_j b (j / n) C(n - j - 1, b - 2) / C(n - 1, b - 1) c_b(j):
    all splits of n into b non-empty parts are equally likely.

    >>> expected_depth(4, 2).round(3).tolist()
    [0.0, 0.0, 1.0, 1.667, 2.167]
    """
    n = np.arange(max_samples + 1, dtype=np.float64)
    if branching == 2:
        depth = np.zeros(max_samples + 1)
        depth[2:] = 2 * np.cumsum(1 / n[1:-1]) - 2 * (n[2:] - 1) / n[2:]
        return depth
    depth = np.where(n >= 2, 1.0, 0.0)
    for size in range(branching, max_samples + 1):
        j = np.arange(1, size - branching + 2)
        # C(n - j - 1, b - 2) / C(n - 1, b - 1), by recursion over j.
        ratios = (size - j[:-1] - branching + 1) / (size - j[:-1] - 1)
        share = (branching - 1) / (size - 1) * np.concatenate([[1.0], np.cumprod(ratios)])
        depth[size] = 1 + np.sum(branching * (j / size) * share * depth[j])
    return depth
