"""Weighted moments of the points in the band of each model."""

from __future__ import annotations

from .jit import jit


@jit
def add_moments(R, limit, starts, ends, skipped, first, Z, S):
    """S[j] (L, L) += w z z' over the rows z (L,) of Z within the limit of model j, lower triangle.

    The weight is Tukey's biweight, (1 - (r / limit)^2)^2. The models are those from number `first`
    on; in row i, the models skipped[starts[i] : ends[i]] are left out. Rows are added in order, so
    that the sums do not depend on anything else. O(rows m + entries L^2).
    """
    for i in range(R.shape[0]):
        row, z = R[i], Z[i]
        for e in range(starts[i], ends[i]):
            j = skipped[e] - first
            if j >= 0 and j < row.shape[0]:
                row[j] = 2.0 * limit[j] + 1.0
        for j in range(row.shape[0]):
            if row[j] < limit[j]:
                t = row[j] / limit[j]
                w = (1.0 - t * t) * (1.0 - t * t)
                for a in range(z.shape[0]):
                    wa = w * z[a]
                    for b in range(a + 1):
                        S[j, a, b] += wa * z[b]
