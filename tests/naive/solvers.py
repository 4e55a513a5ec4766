"""A model from a minimal sample, family by family."""

from __future__ import annotations

from math import sqrt

import numpy as np

from .match_solvers import (
    hartley,
    solve_affine_fundamental,
    solve_affinity,
    solve_essential,
    solve_fundamental,
    solve_homography,
    solve_rigid,
    solve_rotation,
    solve_similarity,
    solve_similarity3d,
    solve_translation,
    solve_vanishing_point,
)


def solve_line(sample):
    a, b = sample
    return np.concatenate([a, (b - a) / np.linalg.norm(b - a)])


def solve_circle(sample):
    """x^2 + y^2 + a x + b y + c = 0 through three points."""
    A = np.column_stack([sample, np.ones(3)])
    a, b, c = np.linalg.solve(A, -np.sum(sample**2, axis=1))
    return np.array([-a / 2, -b / 2, sqrt(a * a / 4 + b * b / 4 - c)])


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
