"""The distance of one point to one model, family by family."""

from __future__ import annotations

from math import sqrt

import numpy as np

from .match_solvers import centred
from .solvers import design


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
