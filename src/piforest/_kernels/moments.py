"""Weighted moments of the points in the band of each model."""

from __future__ import annotations

import numpy as np

from .jit import jit


@jit
def add_moments(R, limit, starts, ends, skipped, first, Z, near, words, columns, S):
    """S[j] (L, L) += w z z' over the rows z (L,) of Z within the limit of model j, lower triangle.

    The weight is Tukey's biweight, (1 - (r / limit)^2)^2. The models are those from number `first`
    on; in row i, the models skipped[starts[i] : ends[i]] are left out. Rows are added in order, so
    that the sums do not depend on anything else. O(rows m + entries L^2), the rows m by vectors and
    without branches. Workspace: near, zeroed bytes, m padded to a multiple of eight; words, its
    memory viewed as 64-bit integers; columns (m + 8,).
    """
    m = R.shape[1]
    for i in range(R.shape[0]):
        row, z = R[i], Z[i]
        for j in range(m):
            near[j] = row[j] < limit[j]
        for e in range(starts[i], ends[i]):
            j = skipped[e] - first
            if j >= 0 and j < m:
                near[j] = 0
        n = np.uint64(0)
        for w in range(words.shape[0]):
            if words[w] != 0:
                for k in range(8 * w, 8 * w + 8):
                    columns[n] = k
                    n += np.uint64(near[np.uint64(k)])
        for e in range(n):
            j = columns[e]
            t = row[j] / limit[j]
            weight = (1.0 - t * t) * (1.0 - t * t)
            for a in range(z.shape[0]):
                wa = weight * z[a]
                for b in range(a + 1):
                    S[j, a, b] += wa * z[b]
