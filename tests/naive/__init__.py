"""Slow, obvious twins of everything fast: the paper's pseudocode in plain Python and NumPy.

Where the paper is silent the conventions are those of the docs: empty rows,
ties, the height limit, c_b(n). Random decisions are words of the same streams.
"""

from __future__ import annotations

from functools import cache
from math import comb, sqrt

import numpy as np
from scipy.special import ndtri

from piforest._random import below, mix

# --- minimal samples and models


def draw_samples(key, n, size, n_samples):
    """Distinct numbers: the j-th draw picks among those that are left, in ascending order."""
    samples = []
    for i in range(n_samples):
        left = list(range(n))
        row_key = mix(key, i)
        samples.append([left.pop(int(below(mix(row_key, j), len(left)))) for j in range(size)])
    return np.array(samples)


def mixed_samples(stream, X, size, n_samples):
    """Every other sample local: a seed and size - 1 of its K nearest, K log-uniform."""
    samples = draw_samples(stream.key, len(X), size, n_samples)
    local = stream.child("local")
    for i in range(1, n_samples, 2):
        seed = int(below(mix(local.child("seed").key, i), len(X)))
        share = int(mix(local.child("scale").key, i)) // 2**11 * 2.0**-53
        K = int(np.floor(np.exp(np.log(size) + share * np.log(len(X) / size))))
        K = min(max(K, size - 1), len(X) - 1)
        others = [row for row in range(len(X)) if row != seed]
        nearest = sorted(sorted(others, key=lambda row: np.sum((X[row] - X[seed]) ** 2))[:K])
        key = mix(local.child("ranks").key, i)
        picked = [nearest.pop(int(below(mix(key, j), K - j))) for j in range(size - 1)]
        samples[i] = [seed, *picked]
    return samples


def unit(word):
    return int(word) // 2**11 * 2.0**-53


def local_samples(stream, X, size, n_samples, scale, share=1.0, trials=4096, listed=256):
    """A seed and others by weight: trials among all points, then a list of the nearest."""
    samples = draw_samples(stream.key, len(X), size, n_samples)
    local = stream.child("local")
    for i in range(n_samples):
        if np.ceil((i + 1) * share) == np.ceil(i * share):
            continue
        seed = int(below(mix(local.child("seed").key, i), len(X)))
        distance = [np.linalg.norm(x - X[seed]) for x in X]
        weight = [np.exp(-(d**2) / (2 * scale**2)) if d <= 3 * scale else 0 for d in distance]
        sample, key = [seed], mix(local.child("trials").key, i)
        for t in range(min(len(X), trials)):
            row = int(below(mix(key, 2 * t), len(X)))
            kept = unit(mix(key, 2 * t + 1)) < weight[row] and row not in sample
            if kept and len(sample) < size:
                sample.append(row)
        order = sorted(range(len(X)), key=lambda row: (distance[row], row))
        near = [row for row in order[: listed + 1] if row not in sample]
        key = mix(local.child("list").key, i)
        for j in range(len(sample), size):
            left = [row for row in near if row not in sample]
            sums = np.cumsum([weight[row] for row in left])
            above = np.flatnonzero(sums > unit(mix(key, j)) * sums[-1])
            sample.append(left[above[0]] if len(above) else left[0])
        samples[i] = sample
    return samples


def weighted_samples(stream, weights, size, n_samples):
    """A lot for each unit of weight, whole numbers; those of a point go when it is drawn."""
    samples = []
    for i in range(n_samples):
        lots = [row for row, weight in enumerate(weights) for _ in range(weight)]
        sample, key = [], mix(stream.key, i)
        for j in range(size):
            sample.append(lots[int(below(mix(key, j), len(lots)))])
            lots = [row for row in lots if row != sample[-1]]
        samples.append(sample)
    return np.array(samples)


def stratified_samples(stream, n, size, n_samples):
    """The first in the line that the sample has not; a new line where the last one ends."""
    samples, line, lines = [], [], 0
    for _ in range(n_samples):
        sample = []
        while len(sample) < size:
            if not line:
                key, line, lines = mix(stream.key, lines), list(range(n)), lines + 1
                for at in range(n):
                    other = at + int(below(mix(key, at), n - at))
                    line[at], line[other] = line[other], line[at]
            sample.append(next(row for row in line if row not in sample))
            line.remove(sample[-1])
        samples.append(sample)
    return np.array(samples)


def grouped_samples(stream, groups, size, n_samples, share=1.0):
    """A point of a large enough group, and any points of its group."""
    samples = draw_samples(stream.key, len(groups), size, n_samples)
    rows = {g: [i for i, own in enumerate(groups) if own == g] for g in sorted(set(groups))}
    points = [g for g in rows if len(rows[g]) >= size for _ in rows[g]]
    for i in range(n_samples):
        if np.ceil((i + 1) * share) > np.ceil(i * share):
            left = list(rows[points[int(below(mix(stream.child("group").key, i), len(points)))]])
            key = mix(stream.child("ranks").key, i)
            samples[i] = [left.pop(int(below(mix(key, j), len(left)))) for j in range(size)]
    return samples


def solve_line(sample):
    a, b = sample
    return np.concatenate([a, (b - a) / np.linalg.norm(b - a)])


def solve_circle(sample):
    """x^2 + y^2 + a x + b y + c = 0 through three points."""
    A = np.column_stack([sample, np.ones(3)])
    a, b, c = np.linalg.solve(A, -np.sum(sample**2, axis=1))
    return np.array([-a / 2, -b / 2, sqrt(a * a / 4 + b * b / 4 - c)])


def hartley(points):
    centre = points.mean(axis=0)
    scale = sqrt(2) / np.linalg.norm(points - centre, axis=1).mean()
    T = np.array([[scale, 0, -scale * centre[0]], [0, scale, -scale * centre[1]], [0, 0, 1]])
    return (points - centre) * scale, T


def centred(matrix):
    """Parameters of a matrix in image coordinates: both centres at the origin."""
    return np.concatenate([np.zeros(4), np.ravel(matrix)])


def solve_homography(sample):
    """Direct linear transform in Hartley's coordinates; the null vector by SVD."""
    (p, T1), (q, T2) = hartley(sample[:, :2]), hartley(sample[:, 2:])
    rows = []
    for (x, y), (u, v) in zip(p, q):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y, -u])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y, -v])
    H = np.linalg.svd(np.array(rows))[2][-1].reshape(3, 3)
    H = np.linalg.inv(T2) @ H @ T1
    return centred(H * np.sign((H @ [*sample[0, :2], 1])[2]))


def solve_fundamental(sample):
    """Eight points in Hartley's coordinates; null vector and rank 2 by SVD."""
    (p, T1), (q, T2) = hartley(sample[:, :2]), hartley(sample[:, 2:])
    A = np.array([np.outer([*b, 1], [*a, 1]).ravel() for a, b in zip(p, q)])
    U, S, Vt = np.linalg.svd(np.linalg.svd(A)[2][-1].reshape(3, 3))
    return centred(T2.T @ U @ np.diag([S[0], S[1], 0]) @ Vt @ T1)


def solve_ellipse(sample):
    """The null vector of the conic's equations by SVD, as a matrix in homogeneous coordinates."""
    p, T = hartley(sample)
    A = np.array([[x * x, x * y, y * y, x, y, 1] for x, y in p])
    a, b, c, d, e, f = np.linalg.svd(A)[2][-1]
    M = T.T @ np.array([[a, b / 2, d / 2], [b / 2, c, e / 2], [d / 2, e / 2, f]]) @ T
    centre = np.linalg.solve(M[:2, :2], -M[:2, 2])
    Q = M[:2, :2] / -([*centre, 1] @ M @ [*centre, 1])
    return np.array([*centre, Q[0, 0], Q[0, 1], Q[1, 1]])


def solve_polynomial(sample):
    """Vandermonde's equations in t = (x - mean) / width."""
    x, y = sample.T
    t = (x - x.mean()) / np.ptp(x)
    return np.array([x.mean(), 0, np.ptp(x), *np.linalg.solve(np.vander(t, increasing=True), y)])


def solve_parabola(sample):
    x0, y0, h, *c = solve_polynomial(sample)
    return np.array([x0, y0, 0, 1, h, *c])


def design(x, degree):
    """The constant, the features, their squares and products."""
    row = [1.0, *x]
    if degree == 2:
        row += [x[i] * x[j] for i in range(len(x)) for j in range(i, len(x))]
    return np.array(row)


def solve_regression(sample, degree):
    x, y = sample[:, :-1], sample[:, -1]
    centre, width = x.mean(axis=0), x.std(axis=0)
    A = np.array([design((row - centre) / width, degree) for row in x])
    return np.array([*centre, *width, 0, *np.linalg.lstsq(A, y, rcond=None)[0]])


def solve_hyperplane(sample):
    """The direction in which the points do not spread, by SVD."""
    return np.concatenate([sample[0], np.linalg.svd(sample - sample.mean(axis=0))[2][-1]])


def solve_sphere(sample):
    """|x|^2 + b . x + c = 0 through all points."""
    *b, c = np.linalg.solve(
        np.column_stack([sample, np.ones(len(sample))]), -np.sum(sample**2, axis=1)
    )
    centre = -np.array(b) / 2
    return np.array([*centre, sqrt(centre @ centre - c)])


def solve_subspace(sample):
    """The directions in which the points spread, by SVD."""
    Vt = np.linalg.svd(sample - sample.mean(axis=0))[2]
    return np.concatenate([sample[0], Vt[: len(sample) - 1].ravel()])


def turned(directions):
    """Two unit vectors (n, 3) each at right angles to directions (n, 3)."""
    one = np.cross(directions, np.where(np.abs(directions[:, :1]) < 0.6, [[1, 0, 0]], [[0, 1, 0]]))
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    return one, np.cross(directions, one)


def not_concyclic(sample, directions):
    """Seen along each direction: determinants that are 0 if four of the points are on a circle."""
    one, two = turned(directions)
    x, y = one @ sample.T, two @ sample.T
    lifted = np.stack([x, y, x * x + y * y, np.ones_like(x)], axis=2)
    return np.stack([np.linalg.det(lifted[:, [0, 1, 2, k]]) for k in (3, 4)], axis=1)


def solve_cylinder(sample):
    """Newton's method from directions all over the half sphere; the thinnest that it finds."""
    centre, size = sample.mean(axis=0), np.abs(sample - sample.mean(axis=0)).max()
    points, k = (sample - centre) / size, np.arange(250)
    z, angle = (k + 0.5) / 250, 2.399963 * k
    level = np.sqrt(1 - z * z)
    u = np.column_stack([level * np.cos(angle), level * np.sin(angle), z])
    for _ in range(25):
        value, (one, two) = not_concyclic(points, u), turned(u)
        slopes = [not_concyclic(points, u + 1e-7 * way) - value for way in (one, two)]
        J = np.stack(slopes, axis=2) / 1e-7 + 1e-12 * np.eye(2)
        step = -np.linalg.solve(J, value[:, :, None])[:, :, 0]
        step /= np.maximum(1, np.linalg.norm(step, axis=1, keepdims=True) / 0.3)
        u = u + step[:, :1] * one + step[:, 1:] * two
        u /= np.linalg.norm(u, axis=1, keepdims=True)
    found = []
    for direction, one, two in zip(u, *turned(u)):
        flat = points @ np.column_stack([one, two])
        a, b, c = np.linalg.lstsq(np.column_stack([flat, np.ones(5)]), -np.sum(flat**2, axis=1))[0]
        radius = sqrt(max(0, a * a / 4 + b * b / 4 - c))
        middle = np.array([-a / 2, -b / 2])
        if np.abs(np.linalg.norm(flat - middle, axis=1) - radius).max() < 1e-8:
            found.append([*(middle[0] * one + middle[1] * two), *direction, radius])
    theta = np.array(min(found, key=lambda cylinder: cylinder[6]))
    return np.concatenate([centre + size * theta[:3], theta[3:6], size * theta[6:]])


def solve_cylinder_with_normals(sample):
    """The shortest way between the two normals is the axis; feet by least squares."""
    (p, n), (q, k) = ((row[:3], row[3:] / np.linalg.norm(row[3:])) for row in sample)
    s, t = np.linalg.lstsq(np.column_stack([n, -k]), q - p)[0]
    axis = np.cross(n, k)
    return np.array([*(p + s * n), *(axis / np.linalg.norm(axis)), (abs(s) + abs(t)) / 2])


def solve_cone(sample):
    points, normals = sample[:, :3], sample[:, 3:]
    apex = np.linalg.solve(normals, np.sum(normals * points, axis=1))
    ways = (points - apex) / np.linalg.norm(points - apex, axis=1, keepdims=True)
    axis = np.linalg.solve(ways, np.ones(3))
    angle = np.arccos(1 / np.linalg.norm(axis))
    return np.array([*apex, *(axis / np.linalg.norm(axis)), np.cos(angle), np.sin(angle)])


def solve_affinity(sample):
    """x2 = A x1 + t by linear equations: c1 is the origin, c2 where it goes."""
    A = np.linalg.solve(np.column_stack([sample[:, :2], np.ones(3)]), sample[:, 2:])
    return np.concatenate([[0, 0], A[2], A[:2].T.ravel()])


def solve_similarity(sample):
    """a x - b y + tx, b x + a y + ty by linear equations."""
    rows = []
    for x, y in sample[:, :2]:
        rows += [[x, -y, 1, 0], [y, x, 0, 1]]
    a, b, tx, ty = np.linalg.solve(rows, sample[:, 2:].ravel())
    return np.array([0, 0, tx, ty, a, -b, b, a])


def solve_affine_fundamental(sample):
    centre = sample.mean(axis=0)
    return np.concatenate([centre, np.linalg.svd(sample - centre)[2][-1]])


def solve_translation(sample):
    half = sample.shape[1] // 2
    return sample[0, half:] - sample[0, :half]


def solve_rigid(sample):
    """Kabsch: the rotation by SVD."""
    c, C = sample[:, :3].mean(axis=0), sample[:, 3:].mean(axis=0)
    U, _, Vt = np.linalg.svd((sample[:, :3] - c).T @ (sample[:, 3:] - C))
    sign = np.linalg.det(Vt.T @ U.T)
    return np.concatenate([c, C, (Vt.T @ np.diag([1, 1, sign]) @ U.T).ravel()])


def solve_similarity3d(sample):
    theta = solve_rigid(sample)
    theta[6:] *= np.std(sample[:, 3:] - theta[3:6]) / np.std(sample[:, :3] - theta[:3])
    return theta


def solve_vanishing_point(sample):
    """Where two lines meet, by homogeneous coordinates about the mean."""
    centre = (sample[:, :2] + sample[:, 2:]).mean(axis=0) / 2
    lines = [np.cross([*(a - centre), 1], [*(b - centre), 1]) for a, b in sample.reshape(2, 2, 2)]
    point = np.cross(*lines)
    return np.concatenate([centre, point / np.linalg.norm(point)])


def solve_rotation(sample):
    """Kabsch on unit rays."""
    p, q = (np.column_stack([sample[:, 2 * v : 2 * v + 2], [1, 1]]) for v in range(2))
    p, q = (rays / np.linalg.norm(rays, axis=1, keepdims=True) for rays in (p, q))
    U, _, Vt = np.linalg.svd(p.T @ q)
    return (Vt.T @ np.diag([1, 1, np.linalg.det(Vt.T @ U.T)]) @ U.T).ravel()


def _essential_equations(E):
    return np.append((2 * E @ E.T @ E - np.trace(E @ E.T) * E).ravel(), np.linalg.det(E))


def _sees(E, p, q):
    """Do cameras with this E see the matches in front of both? All four poses are tried."""
    U, _, Vt = np.linalg.svd(E)
    W = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    for turn in (W, W.T):
        R = U @ turn @ Vt
        R = R * np.linalg.det(R)
        for t in (U[:, 2], -U[:, 2]):
            # depth2 q - depth1 R p = t, by least squares
            depths = [np.linalg.lstsq(np.column_stack([b, -R @ a]), t)[0] for a, b in zip(p, q)]
            if np.min(depths) > 0:
                return True
    return False


def solve_essential(sample):
    """All models: the cubic equations, fitted to their values, and the eigenvectors of the
    multiplication by x of what is left below the third degree."""
    p, q = (np.column_stack([sample[:, 2 * v : 2 * v + 2], np.ones(5)]) for v in range(2))
    basis = np.linalg.svd(np.array([np.outer(b, a).ravel() for a, b in zip(p, q)]))[2][5:]
    powers = [(i, j, k) for i in range(4) for j in range(4 - i) for k in range(4 - i - j)]
    powers.sort(key=lambda power: (-sum(power), power))
    places = np.random.default_rng(0).normal(size=(60, 3))
    monomials = np.array([[np.prod(place ** np.array(m)) for m in powers] for place in places])
    values = [
        _essential_equations(np.tensordot([*place, 1], basis, 1).reshape(3, 3)) for place in places
    ]
    C = np.linalg.lstsq(monomials, np.array(values))[0].T
    reduced = np.linalg.solve(C[:, :10], C[:, 10:])
    times_x = np.zeros((10, 10))
    for row, (i, j, k) in enumerate(powers[10:]):
        product = powers.index((i + 1, j, k))
        times_x[row] = -reduced[product] if product < 10 else np.eye(10)[product - 10]
    found = []
    for vector in np.linalg.eig(times_x)[1].T:
        place = [
            vector[powers[10:].index(m)] / vector[9] for m in ((1, 0, 0), (0, 1, 0), (0, 0, 1))
        ]
        E = np.tensordot([*np.real(place), 1], basis, 1).reshape(3, 3)
        if np.max(np.abs(np.imag(place))) < 1e-9 and _sees(E, p, q):
            found.append(E.ravel() / np.linalg.norm(E))
    return np.array(found)


SOLVE = {
    "essential": solve_essential,
    "rotation": solve_rotation,
    "affine_fundamental": solve_affine_fundamental,
    "affinity": solve_affinity,
    "rigid": solve_rigid,
    "similarity": solve_similarity,
    "similarity3d": solve_similarity3d,
    "translation": solve_translation,
    "translation3d": solve_translation,
    "vanishing_point": solve_vanishing_point,
    "line": solve_line,
    "circle": solve_circle,
    "ellipse": solve_ellipse,
    "parabola": solve_parabola,
    "polynomial": solve_polynomial,
    "linear_regression": lambda sample: solve_regression(sample, 1),
    "polynomial_regression": lambda sample: solve_regression(sample, 2),
    "cone": solve_cone,
    "cylinder": solve_cylinder,
    "homography": solve_homography,
    "fundamental": solve_fundamental,
    "hyperplane": solve_hyperplane,
    "plane": solve_hyperplane,
    "sphere": solve_sphere,
    "subspace": solve_subspace,
}

# --- residuals


def residual_line(x, theta):
    d = len(x)
    v, u = x - theta[:d], theta[d:]
    return np.linalg.norm(v - (v @ u) * u)


def residual_circle(x, theta):
    return abs(np.linalg.norm(x - theta[:2]) - theta[2])


def _transfer(H, p, q):
    mapped = H @ [*p, 1]
    return np.inf if mapped[2] <= 0 else np.linalg.norm(q - mapped[:2] / mapped[2])


def residual_homography(x, theta):
    x, H = x - theta[:4], theta[4:].reshape(3, 3)
    there, back = _transfer(H, x[:2], x[2:]), _transfer(np.linalg.inv(H), x[2:], x[:2])
    return sqrt((there**2 + back**2) / 2)


def residual_fundamental(x, theta):
    x, F = x - theta[:4], theta[4:].reshape(3, 3)
    p, q = np.array([*x[:2], 1]), np.array([*x[2:], 1])
    gradient = np.concatenate([(F @ p)[:2], (F.T @ q)[:2]])
    return abs(q @ F @ p) / np.linalg.norm(gradient)


def residual_ellipse(x, theta):
    """In the frame of the axes: s = |(u / a, v / b)|, and |s - 1| over the length of its slope."""
    values, vectors = np.linalg.eigh([[theta[2], theta[3]], [theta[3], theta[4]]])
    axes, along = 1 / np.sqrt(values), vectors.T @ (x - theta[:2])
    s = np.linalg.norm(along / axes)
    return axes.min() if s == 0 else abs(s - 1) / np.linalg.norm(along / axes**2 / s)


def residual_polynomial(x, theta):
    f = np.polynomial.Polynomial(theta[3:])
    t = (x[0] - theta[0]) / theta[2]
    return abs(x[1] - theta[1] - f(t)) / np.hypot(1, f.deriv()(t) / theta[2])


def residual_parabola(x, theta):
    """As a polynomial, in the frame whose y axis is that of the parabola."""
    ax, ay = theta[2:4]
    turned = np.array([[ay, -ax], [ax, ay]]) @ (x - theta[:2])
    return residual_polynomial(turned, [0, 0, *theta[4:]])


def residual_regression(x, theta, degree):
    f = len(x) - 1
    row = design((x[:-1] - theta[:f]) / theta[f : 2 * f], degree)
    return abs(x[-1] - theta[2 * f] - row @ theta[2 * f + 1 :])


def residual_hyperplane(x, theta):
    point, normal = np.split(theta, 2)
    return abs(normal @ (x - point))


def residual_sphere(x, theta):
    return abs(np.linalg.norm(x - theta[:-1]) - theta[-1])


def residual_subspace(x, theta):
    point, *directions = theta.reshape(-1, len(x))
    return np.linalg.norm(x - point - sum((u @ (x - point)) * u for u in directions))


def residual_cylinder(x, theta):
    v, u = x[:3] - theta[:3], theta[3:6]
    return abs(np.linalg.norm(v - (v @ u) * u) - theta[6])


def sine(a, b):
    return np.linalg.norm(np.cross(a, b)) / (np.linalg.norm(a) * np.linalg.norm(b))


def residual_cylinder_with_normals(x, theta, weight=0.1):
    v, u = x[:3] - theta[:3], theta[3:6]
    return np.hypot(residual_cylinder(x, theta), weight * theta[6] * sine(x[3:], v - (v @ u) * u))


def residual_cone(x, theta, weight=0.1):
    v, axis, (cos, sin) = x[:3] - theta[:3], theta[3:6], theta[6:]
    out = v - (v @ axis) * axis
    far = np.linalg.norm(out)
    along_surface = cos * axis + sin * out / far
    off = np.linalg.norm(v - max(0, v @ along_surface) * along_surface)
    return np.hypot(off, weight * far * sine(x[3:], cos * out / far - sin * axis))


def residual_affinity(x, theta):
    x, A = x - theta[:4], theta[4:].reshape(2, 2)
    there, back = x[2:] - A @ x[:2], x[:2] - np.linalg.solve(A, x[2:])
    return sqrt((there @ there + back @ back) / 2)


def residual_affine_fundamental(x, theta):
    return abs((x - theta[:4]) @ theta[4:])


def residual_translation(x, theta):
    half = len(x) // 2
    return np.linalg.norm(x[:half] + theta - x[half:])


def residual_rigid(x, theta):
    x, M = x - theta[:6], theta[6:].reshape(3, 3)
    there, back = x[3:] - M @ x[:3], x[:3] - np.linalg.solve(M, x[3:])
    return sqrt((there @ there + back @ back) / 2)


def residual_vanishing_point(x, theta):
    """The line through the middle and the point, then the distance of an end from it."""
    a, b = x[:2] - theta[:2], x[2:] - theta[:2]
    line = np.cross([*((a + b) / 2), 1], theta[2:])
    return abs(line @ [*a, 1]) / np.linalg.norm(line[:2])


RESIDUAL = {
    "essential": lambda x, theta: residual_fundamental(x, centred(theta)),
    "rotation": lambda x, theta: residual_homography(x, centred(theta)),
    "affine_fundamental": residual_affine_fundamental,
    "affinity": residual_affinity,
    "rigid": residual_rigid,
    "similarity": residual_affinity,
    "similarity3d": residual_rigid,
    "translation": residual_translation,
    "translation3d": residual_translation,
    "vanishing_point": residual_vanishing_point,
    "line": residual_line,
    "circle": residual_circle,
    "ellipse": residual_ellipse,
    "parabola": residual_parabola,
    "polynomial": residual_polynomial,
    "linear_regression": lambda x, theta: residual_regression(x, theta, 1),
    "polynomial_regression": lambda x, theta: residual_regression(x, theta, 2),
    "cone": residual_cone,
    "cylinder": residual_cylinder,
    "homography": residual_homography,
    "fundamental": residual_fundamental,
    "hyperplane": residual_hyperplane,
    "plane": residual_hyperplane,
    "sphere": residual_sphere,
    "subspace": residual_subspace,
}


def residuals(name, X, params):
    return np.array([[RESIDUAL[name](x, theta) for theta in params] for x in X])


# --- preferences, equation (1), in fixed point

PHI = {
    "gaussian": lambda r, sigma: np.exp(-(r**2) / (2 * sigma**2)),
    "paper": lambda r, sigma: np.exp(-(r**2) / sigma),
    "binary": lambda r, sigma: 1.0,
}


def preferences(R, sigma, kernel, weight=None):
    """(n, m) integers 0 .. 127; sigma and weight may be one for each model."""
    sigma = np.broadcast_to(sigma, R.shape[1])
    weight = np.ones(R.shape[1]) if weight is None else weight / weight.max()
    P = np.zeros(R.shape, np.int64)
    for i, j in np.ndindex(*R.shape):
        if R[i, j] <= 3 * sigma[j]:
            P[i, j] = int(np.floor(127 * weight[j] * PHI[kernel](R[i, j], sigma[j]) + 0.5))
    return P


def without_in_sample_preferences(P, X, samples):
    """No preference for a model of which an equal row was a sample."""
    P = P.copy()
    for i, j in np.ndindex(*P.shape):
        if any(np.array_equal(X[i], X[row]) for row in samples[j]):
            P[i, j] = 0
    return P


# --- how wide and how telling is each model


def bands(R, own, widths, k, codimension):
    """sigma, and for each model its most striking width, the ratio there, and the gain."""
    found, ratios = [], np.zeros((R.shape[1], len(widths)))
    for j in range(R.shape[1]):
        inside = [int(np.sum(~own[:, j] & (R[:, j] <= w))) for w in widths]
        for b, w in enumerate(widths):
            expected = inside[0] * (w / widths[0]) ** codimension + 0.001
            if inside[b] > expected:
                ratios[j, b] = inside[b] * np.log(inside[b] / expected) - (inside[b] - expected)
        best = int(np.argmax(ratios[j]))
        found.append(
            (widths[best], ratios[j, best], ratios[j, best] / max(k + 1, k + inside[best]))
        )
    top = max(1, round(0.02 * R.shape[1]))
    heights = [np.mean(np.sort(ratios[:, b])[-top:]) for b in range(len(widths))]
    return (widths[int(np.argmax(heights))] / 2, *np.array(found).T)


# --- structures


def greedy(R, own, widths, codimension, reach, least):
    """(model, width, log ratio), most striking first, each without the points of those before."""
    active = np.ones(len(R), bool)
    found = []
    while True:
        best = (least, None, None)
        for j in range(R.shape[1]):
            votes = active & ~own[:, j]
            for w in widths:
                inside = np.sum(votes & (R[:, j] <= w))
                wide = np.sum(votes & (R[:, j] <= widths[0]))
                expected = wide * (w / widths[0]) ** codimension + 0.001
                if inside > expected:
                    ratio = inside * np.log(inside / expected) - (inside - expected)
                    if ratio > best[0]:
                        best = (ratio, j, w)
        ratio, j, w = best
        if j is None:
            return found
        found.append((j, w, ratio))
        active &= R[:, j] > reach * w


# --- distances


def tanimoto(a, b):
    """Equation (4); 1 where a row is empty."""
    dot = a @ b
    union = a @ a + b @ b - dot
    return 1 - dot / union if union > 0 else 1.0


def jaccard(a, b):
    either = np.sum((a != 0) | (b != 0))
    return 1 - np.sum((a != 0) & (b != 0)) / either if either else 1.0


def ruzicka(a, b):
    union = np.sum(np.maximum(a, b))
    return 1 - np.sum(np.minimum(a, b)) / union if union > 0 else 1.0


def cosine(a, b):
    norms = np.linalg.norm(a) * np.linalg.norm(b)
    return 1 - a @ b / norms if norms > 0 else 1.0


DISTANCE = {
    "tanimoto": tanimoto,
    "jaccard": jaccard,
    "ruzicka": ruzicka,
    "cosine": cosine,
    "euclidean": lambda a, b: sqrt(np.sum((a - b) ** 2)),
    "manhattan": lambda a, b: np.sum(np.abs(a - b)),
    "chebyshev": lambda a, b: np.max(np.abs(a - b)),
    "hamming": lambda a, b: np.mean(a != b),
    "minkowski": lambda a, b: np.sum(np.abs(a - b) ** 3) ** (1 / 3),
}


def table(name, A, B):
    return np.array([[DISTANCE[name](a, b) for b in B] for a in A], dtype=float)


# --- the forest, Algorithms 2 to 4


def subsample(key, pool, psi):
    words = [(int(mix(mix(key, 0), row)), row) for row in range(pool)]
    return sorted(row for _, row in sorted(words)[:psi])


def pi_tree(D, P, e, limit, b, key, number=0):
    """Algorithm 2. A leaf is its size; a node is (seeds, children)."""
    if e >= limit or len(P) < b:
        return len(P)
    node_key = mix(mix(key, 1), number)
    seeds = [row for _, row in sorted((int(mix(node_key, row)), row) for row in P)[:b]]
    cells = [[] for _ in seeds]
    for row in P:
        cells[_growing_cell(D, row, seeds, node_key)].append(row)
    children = [
        pi_tree(D, cell, e + 1, limit, b, key, b * number + k + 1) for k, cell in enumerate(cells)
    ]
    return seeds, children


def _growing_cell(D, row, seeds, node_key):
    if row in seeds:
        return seeds.index(row)
    distances = [D[row, seed] for seed in seeds]
    nearest = [k for k, distance in enumerate(distances) if distance == min(distances)]
    return nearest[int(below(mix(mix(node_key, row), 0), len(nearest)))]


def pi_forest(D, stream, t, psi, b):
    """Algorithm 3."""
    limit = height_limit(psi, b)
    forest = []
    for tree in range(t):
        key = stream.child(tree).key
        forest.append(pi_tree(D, subsample(key, len(D), psi), 0, limit, b, key))
    return forest


def height_limit(psi, b):
    return next(limit for limit in range(100) if b**limit >= psi)


@cache
def c(n, b):
    """Expected depth of n points, all splits into b non-empty parts equally likely."""
    if n <= 1:
        return 0.0
    if b == 2:
        return 2 * sum(1 / i for i in range(1, n)) - 2 * (n - 1) / n
    if n < b:
        return 1.0
    return 1 + sum(
        b * (j / n) * comb(n - j - 1, b - 2) / comb(n - 1, b - 1) * c(j, b)
        for j in range(1, n - b + 2)
    )


def path_length(distances, tree, b, e=0, soft=False):
    """Algorithm 4, for a row of distances to the pool; a tie goes to the first seed."""
    if isinstance(tree, int):
        return e + c(tree, b)
    seeds, children = tree
    nearest = min(range(b), key=lambda k: (distances[seeds[k]], k))
    tau = distances[seeds[nearest]]
    edge = 2 - tau if soft and tau > 1e-6 else 1
    return path_length(distances, children[nearest], b, e + edge, soft)


def scores(D, empty, forest, psi, b, soft=False):
    """Section IV-C; a row that prefers nothing has path length 1 in every tree."""
    lengths = np.array(
        [
            [1.0 if none else path_length(row, tree, b, soft=soft) for tree in forest]
            for row, none in zip(D, empty)
        ]
    )
    return lengths, 2.0 ** (-lengths.mean(axis=1) / c(psi, b) / (2 if soft else 1))


# --- the extended isolation forest


def share(key, column, use):
    """A number in (0, 1) from 16 of the 64 bits of the word that four columns share."""
    return ((int(mix(key, 2 * (column // 4) + use)) >> 16 * (column % 4)) % 2**16 + 0.5) / 2**16


def extended_path_lengths(X, key, psi):
    """Path length of every row of X in one tree of random hyperplanes."""
    limit, lengths = height_limit(psi, 2), np.zeros(len(X))

    def node(own, members, depth, number):
        if depth >= limit or len(own) <= 1:
            lengths[members] = depth + c(len(own), 2)
            return
        node_key = mix(mix(key, 1), number)
        columns = range(X.shape[1])
        direction = np.array([round(1024 * ndtri(share(node_key, j, 0))) for j in columns])
        along = np.array([share(node_key, j, 1) for j in columns])
        low, high = X[own].min(axis=0), X[own].max(axis=0)
        offset = (low + along * (high - low)) @ direction
        for side, child in ((False, 1), (True, 2)):
            here = [
                [i for i in rows if (X[i] @ direction > offset) == side] for rows in (own, members)
            ]
            node(*here, depth + 1, 2 * number + child)

    node(subsample(key, len(X), psi), list(range(len(X))), 0, 0)
    return lengths
