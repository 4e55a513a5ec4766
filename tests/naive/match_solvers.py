"""A model from a minimal sample of matches: between images, point clouds, or segments."""

from __future__ import annotations

from math import sqrt

import numpy as np


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
