"""Which models have evidence apart from narrower structures, one model and one band at a time."""

from __future__ import annotations

import numpy as np


def unexplained(R, own, widths, codimension, found, least):
    """R (n, m): residuals; found: (residuals (n,), half-width) of the structures."""

    def ratios(j, rows):
        inside = [np.sum(rows & ~own[:, j] & (R[:, j] <= w)) for w in widths]
        expected = [inside[0] * (w / widths[0]) ** codimension + 0.001 for w in widths]
        return [k * np.log(k / e) - k + e if k > e else 0.0 for k, e in zip(inside, expected)]

    needed = []
    for j in range(R.shape[1]):
        everything = ratios(j, np.ones(len(R), bool))
        width = widths[int(np.argmax(everything))]
        rest = np.ones(len(R), bool)
        for r, half_width in found:
            if half_width <= width / 2 * (1 + 1e-9):
                rest &= r > 2 * half_width
        alone = max(ratios(j, rest))
        needed.append(rest.all() or alone > least or max(everything) <= least)
    return np.array(needed)
