"""Preference Isolation Forest as the paper prints it: Algorithms 1 to 4, from points to scores.

Nothing here is drawn at random: what the paper leaves to chance is asked of `chance`, where a
point is its row in X and a node the path to it, (tree, child, grandchild, ...):
minimal_samples(n, size, missing), subsample(tree, n, psi), seeds(node, points, b) and
tie(node, point, nearest). Where the paper is silent, the line is marked as a convention;
docs/conventions.md has the reasons.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

# A minimal sample has `size` points; solve(sample) is theta, or None if it determines no model;
# deviation(x, theta) is the paper's delta = F(x, theta), as a distance.
Family = namedtuple("Family", "size solve deviation")
ExNode = namedtuple("ExNode", "size")
InNode = namedtuple("InNode", "child_nodes split_points")


def line_through(sample):
    """theta with theta_1 x + theta_2 y + theta_3 = 0, where (theta_1, theta_2) has length 1."""
    (px, py), (qx, qy) = sample
    normal = np.array([py - qy, qx - px])
    if not normal.any():
        return None
    normal /= np.linalg.norm(normal)
    return np.append(normal, -normal @ sample[0])


def circle_through(sample):
    """Centre and radius: 2 (q - p) . (centre - p) = |q - p|^2 for each other point q."""
    sides = sample[1:] - sample[0]
    longest = max(np.sum(sides**2, axis=1).max(), np.sum((sides[0] - sides[1]) ** 2))
    if abs(np.linalg.det(sides)) <= 1e-6 * longest:  # convention: as good as collinear
        return None
    centre = np.linalg.solve(2 * sides, np.sum(sides**2, axis=1))
    return np.append(sample[0] + centre, np.linalg.norm(centre))


LINE = Family(2, line_through, lambda x, theta: abs(theta[:2] @ x + theta[2]))
CIRCLE = Family(3, circle_through, lambda x, theta: abs(np.linalg.norm(x - theta[:2]) - theta[2]))


def pif(X, family, sigma, phi, m, t, psi, b, chance):
    """Algorithm 1: the anomaly score of every row of X."""
    theta = sample_models(X, family, m, chance)
    P = preference_embedding(X, theta, family, sigma, phi)
    F = pi_forest(P, t, psi, b, chance)
    h = [[path_length(p, T, 0) for T in F] for p in P]
    return [2 ** (-np.mean(h[i]) / c(psi)) for i in range(len(P))]


def sample_models(X, family, m, chance):
    """Line 1 of Algorithm 1; convention: a degenerate sample is replaced by another."""
    theta = []
    while len(theta) < m:
        samples = chance.minimal_samples(len(X), family.size, m - len(theta))
        theta += [model for model in (family.solve(X[s]) for s in samples) if model is not None]
    return theta[:m]


def preference_embedding(X, theta, family, sigma, phi):
    """Equation (1); convention: in fixed point, as the package stores it, in units of 1/127."""
    delta = np.array([[family.deviation(x, model) for model in theta] for x in X])
    return np.where(delta <= 3 * sigma, np.floor(127 * phi(delta, sigma) + 0.5), 0)


def tanimoto(p, q):
    """Equation (4); convention: 1 between two rows that prefer nothing."""
    union = p @ p + q @ q - p @ q
    return 1 - p @ q / union if union > 0 else 1.0


def pi_tree(P, points, e, limit, b, node, chance):
    """Algorithm 2, for the rows `points` of P."""
    if e >= limit or len(points) < b:
        return ExNode(size=len(points))
    seeds = chance.seeds(node, points, b)
    cells = voronoi_partition(P, points, seeds, node, chance)
    children = [pi_tree(P, cells[i], e + 1, limit, b, (*node, i), chance) for i in range(b)]
    return InNode(child_nodes=children, split_points=[P[s] for s in seeds])


def voronoi_partition(P, points, seeds, node, chance):
    """Line 5 of Algorithm 2; convention: a seed falls into its own cell."""
    cells = [[] for _ in seeds]
    for i in points:
        distance = [-1 if i == s else tanimoto(P[i], P[s]) for s in seeds]
        nearest = [k for k in range(len(seeds)) if distance[k] == min(distance)]
        cells[nearest[0] if len(nearest) == 1 else chance.tie(node, i, nearest)].append(i)
    return cells


def pi_forest(P, t, psi, b, chance):
    """Algorithm 3; convention: the height limit log_b(psi) is rounded up."""
    limit = next(limit for limit in range(psi) if b**limit >= psi)
    subsamples = [chance.subsample(i, len(P), psi) for i in range(t)]
    return [pi_tree(P, subsamples[i], 0, limit, b, (i,), chance) for i in range(t)]


def path_length(p, T, e):
    """Algorithm 4; conventions: 1 for a row that prefers nothing; a tie goes to the first seed."""
    if not p.any():
        return 1
    if isinstance(T, ExNode):
        return e + c(T.size)
    distance = [tanimoto(p, s) for s in T.split_points]
    return path_length(p, T.child_nodes[np.argmin(distance)], e + 1)


def c(n):
    """The adjustment for a leaf of n points, b = 2, with exact harmonic numbers."""
    return 0 if n <= 1 else 2 * sum(1 / i for i in range(1, n)) - 2 * (n - 1) / n
