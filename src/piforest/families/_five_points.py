"""Solve for the cylinders through five points, of which there are at most six.

The first point is the origin; a_i are the vectors to the others. A cylinder through the origin,
with axis direction u (|u| = 1) and its axis through c (c . u = 0), contains a_i if

    2 a_i . c = q_i(u),    q_i(u) = |a_i|^2 |u|^2 - (a_i . u)^2.

Three of these equations give c = B q(u) / 2, where B is the inverse of the matrix with rows a_i.
The fourth is a conic in u, and c . u = 0 is a cubic: they intersect in six directions. The conic
is transformed to its principal axes and parametrised by an angle. The cubic is then a
trigonometric polynomial of degree 3, whose roots are bracketed on a grid and refined.
"""

from __future__ import annotations

import numpy as np

from .._kernels.jit import jit
from ..protocols import Floats
from ._oriented import cross

# Relative to the longest vector. Below it a tetrahedron is flat, a conic vanishes or a circle is
# a line, and the sample is degenerate.
FLAT = 1e-6
# A cylinder that misses one of its points by more than this is a rounding error.
MISS = 1e-7
# One root within a grid step changes the sign, two change the sign of the derivative. Three roots
# within a step are missed, which costs less than one cylinder in a hundred.
_STEPS = 24


def _waves(angles: Floats) -> Floats:
    """(., 7): 1, cos, sin, cos 2, sin 2, cos 3, sin 3."""
    waves = [np.ones_like(angles)]
    for k in (1, 2, 3):
        waves += [np.cos(k * angles), np.sin(k * angles)]
    return np.stack(waves, axis=1)


_SEVEN = _waves(2 * np.pi * np.arange(7) / 7)
# Values at seven equal steps to coefficients.
_TO_COEFFICIENTS = np.ascontiguousarray(_SEVEN.T * np.array([1, 2, 2, 2, 2, 2, 2])[:, None] / 7)
_GRID = _waves(2 * np.pi * np.arange(_STEPS + 1) / _STEPS)


@jit
def cylinders(samples, params, valid):  # type: ignore[no-untyped-def]
    """Fill params (s, 6, 7), a point, a direction and a radius in ascending order of the radius,
    and valid (s, 6) from samples (s, 5, 3). O(s)."""
    A, B, M, V = np.empty((4, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    values, wave, slope = np.empty(7), np.empty(7), np.empty(7)
    roots, u = np.empty(6), np.empty(3)
    for i in range(samples.shape[0]):
        size = _differences(samples[i], A)
        if size == 0.0 or not _base(A, B):
            continue
        if not _conic(A, B, M):
            continue
        _eigen(M, V)
        if not _axes(M, V):
            continue
        for k in range(7):
            _direction(V, _SEVEN[k, 1], _SEVEN[k, 2], u)
            values[k] = _cubic(A, B, u)
        for k in range(7):
            wave[k] = 0.0
            for a in range(7):
                wave[k] += _TO_COEFFICIENTS[k, a] * values[a]
        slope[0] = 0.0
        for k in range(1, 4):
            slope[2 * k - 1] = k * wave[2 * k]
            slope[2 * k] = -k * wave[2 * k - 1]
        found = 0
        for k in range(_roots(wave, slope, roots)):
            _direction(V, np.cos(roots[k]), np.sin(roots[k]), u)
            if _cylinder(A, u, params[i, found]):
                _rescale(samples[i], size, params[i, found])
                valid[i, found] = True
                _insert_sorted(params[i], found)
                found += 1


@jit
def _differences(points, A):  # type: ignore[no-untyped-def]
    """Fill A (4, 3): vectors from the first point to the others, relative to the longest, whose
    length is returned."""
    longest = 0.0
    for a in range(4):
        square = 0.0
        for c in range(3):
            A[a, c] = points[a + 1, c] - points[0, c]
            square += A[a, c] * A[a, c]
        longest = square if square > longest else longest
    longest = np.sqrt(longest)
    if longest > 0.0:
        for a in range(4):
            for c in range(3):
                A[a, c] /= longest
    return longest


@jit
def _base(A, B):  # type: ignore[no-untyped-def]
    """Order the vectors so that the first three have the largest volume; B is their inverse."""
    most, last = 0.0, -1
    for a in range(4):
        r, s, t = (a + 1) % 4, (a + 2) % 4, (a + 3) % 4
        x, y, z = cross(A[s, 0], A[s, 1], A[s, 2], A[t, 0], A[t, 1], A[t, 2])
        volume = abs(A[r, 0] * x + A[r, 1] * y + A[r, 2] * z)
        if volume > most:
            most, last = volume, a
    if not most > FLAT:
        return False
    for c in range(3):
        A[last, c], A[3, c] = A[3, c], A[last, c]
    for r in range(3):
        s, t = (r + 1) % 3, (r + 2) % 3
        x, y, z = cross(A[s, 0], A[s, 1], A[s, 2], A[t, 0], A[t, 1], A[t, 2])
        volume = A[r, 0] * x + A[r, 1] * y + A[r, 2] * z
        B[0, r] = x / volume
        B[1, r] = y / volume
        B[2, r] = z / volume
    return True


@jit
def _square(A, a):  # type: ignore[no-untyped-def]
    return A[a, 0] * A[a, 0] + A[a, 1] * A[a, 1] + A[a, 2] * A[a, 2]


@jit
def _conic(A, B, M):  # type: ignore[no-untyped-def]
    """Fill M: u' M u = q_4(u) - a_4 . B q(u). Returns False if it vanishes."""
    trace = _square(A, 3)
    for r in range(3):
        for c in range(3):
            M[r, c] = -A[3, r] * A[3, c]
    for a in range(3):
        weight = A[3, 0] * B[0, a] + A[3, 1] * B[1, a] + A[3, 2] * B[2, a]
        trace -= weight * _square(A, a)
        for r in range(3):
            for c in range(3):
                M[r, c] += weight * A[a, r] * A[a, c]
    largest = 0.0
    for r in range(3):
        M[r, r] += trace
        for c in range(3):
            largest = abs(M[r, c]) if abs(M[r, c]) > largest else largest
    return largest > FLAT


@jit
def _eigen(M, V):  # type: ignore[no-untyped-def]
    """Jacobi eigenvalue algorithm: M (3, 3) becomes diagonal, V has the eigenvectors as columns."""
    for r in range(3):
        for c in range(3):
            V[r, c] = 1.0 if r == c else 0.0
    for _ in range(6):
        off = abs(M[0, 1]) + abs(M[0, 2]) + abs(M[1, 2])
        if off <= 1e-17 * (abs(M[0, 0]) + abs(M[1, 1]) + abs(M[2, 2])):
            return
        for p in range(2):
            for r in range(p + 1, 3):
                if M[p, r] == 0.0:
                    continue
                tau = (M[r, r] - M[p, p]) / (2 * M[p, r])
                t = 1 / (abs(tau) + np.sqrt(1 + tau * tau))
                t = -t if tau < 0 else t
                cos = 1 / np.sqrt(1 + t * t)
                sin = t * cos
                for k in range(3):
                    one, two = M[k, p], M[k, r]
                    M[k, p], M[k, r] = cos * one - sin * two, sin * one + cos * two
                for k in range(3):
                    one, two = M[p, k], M[r, k]
                    M[p, k], M[r, k] = cos * one - sin * two, sin * one + cos * two
                for k in range(3):
                    one, two = V[k, p], V[k, r]
                    V[k, p], V[k, r] = cos * one - sin * two, sin * one + cos * two


@jit
def _axes(M, V):  # type: ignore[no-untyped-def]
    """Scale the columns of V so that V (cos, sin, 1) parametrises the conic; the eigenvalue whose
    sign differs from the other two is last. False if all signs agree: no real point."""
    positive = 0
    for k in range(3):
        positive += 1 if M[k, k] > 0.0 else 0
    if positive == 0 or positive == 3:
        return False
    odd = 0
    for k in range(3):
        if (M[k, k] > 0.0) == (positive == 1):
            odd = k
    last, longest = abs(M[odd, odd]), 1.0
    for k in range(3):
        # If an eigenvalue is 0, the conic is a pair of lines; treat it as a long ellipse.
        ratio = abs(M[k, k]) if abs(M[k, k]) > 1e-16 * last else 1e-16 * last
        scale = 1.0 if k == odd else np.sqrt(last / ratio)
        longest = scale if scale > longest else longest
        for c in range(3):
            V[c, k] *= scale
    for c in range(3):
        V[c, odd], V[c, 2] = V[c, 2], V[c, odd]
        for k in range(3):
            V[c, k] /= longest
    return last > 0.0


@jit
def _direction(V, cos, sin, u):  # type: ignore[no-untyped-def]
    for c in range(3):
        u[c] = V[c, 0] * cos + V[c, 1] * sin + V[c, 2]


@jit
def _cubic(A, B, u):  # type: ignore[no-untyped-def]
    """u . B q(u)."""
    square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2]
    value = 0.0
    for a in range(3):
        along = A[a, 0] * u[0] + A[a, 1] * u[1] + A[a, 2] * u[2]
        part = B[0, a] * u[0] + B[1, a] * u[1] + B[2, a] * u[2]
        value += part * (_square(A, a) * square - along * along)
    return value


@jit
def _at(wave, angle):  # type: ignore[no-untyped-def]
    c, s = np.cos(angle), np.sin(angle)
    c2, s2 = c * c - s * s, 2 * c * s
    c3, s3 = c2 * c - s2 * s, s2 * c + c2 * s
    near = wave[1] * c + wave[2] * s + wave[3] * c2 + wave[4] * s2
    return wave[0] + near + wave[5] * c3 + wave[6] * s3


@jit
def _root(wave, slope, low, high, at_low):  # type: ignore[no-untyped-def]
    """The root between two angles of different sign: Newton's method with bisection."""
    angle = (low + high) / 2
    for _ in range(60):
        value = _at(wave, angle)
        if (value > 0.0) == (at_low > 0.0):
            low = angle
        else:
            high = angle
        steep = _at(slope, angle)
        step = value / steep if steep != 0.0 else np.inf
        last = angle
        angle = angle - step
        if not (angle > low and angle < high):
            angle = (low + high) / 2
        if abs(angle - last) <= 1e-15:
            break
    return angle


@jit
def _on_grid(wave, k):  # type: ignore[no-untyped-def]
    value = 0.0
    for a in range(7):
        value += wave[a] * _GRID[k, a]
    return value


@jit
def _roots(wave, slope, roots):  # type: ignore[no-untyped-def]
    """Fill roots with those of a trigonometric polynomial of degree 3; returns their number."""
    count = 0
    curve = np.empty(7)
    curve[0] = 0.0
    for k in range(1, 4):
        curve[2 * k - 1] = k * slope[2 * k]
        curve[2 * k] = -k * slope[2 * k - 1]
    left, rise_left = _on_grid(wave, 0), _on_grid(slope, 0)
    for k in range(_STEPS):
        right, rise_right = _on_grid(wave, k + 1), _on_grid(slope, k + 1)
        low, high = 2 * np.pi * k / _STEPS, 2 * np.pi * (k + 1) / _STEPS
        if (left > 0.0) != (right > 0.0):
            if count < 6:
                roots[count] = _root(wave, slope, low, high, left)
                count += 1
        elif left * rise_left < 0.0 and right * rise_right > 0.0:
            turn = _root(slope, curve, low, high, rise_left)
            value = _at(wave, turn)
            if (value > 0.0) != (left > 0.0) and count < 5:
                roots[count] = _root(wave, slope, low, turn, left)
                roots[count + 1] = _root(wave, slope, turn, high, value)
                count += 2
        left, rise_left = right, rise_right
    return count


@jit
def _cylinder(A, u, theta):  # type: ignore[no-untyped-def]
    """Fill theta (7,), in units of the sample, for a direction; False if a point is missed.

    The cross-section is the circle through the origin and the two projected points that span the
    largest area with it.
    """
    length = np.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    P, along = np.empty((4, 3)), np.empty(4)
    if not length > 0.0:
        return False
    for c in range(3):
        u[c] /= length
    widest = 0.0
    for a in range(4):
        along[a] = A[a, 0] * u[0] + A[a, 1] * u[1] + A[a, 2] * u[2]
        for c in range(3):
            P[a, c] = A[a, c] - along[a] * u[c]
        widest = _square(P, a) if _square(P, a) > widest else widest
    most, one, two = 0.0, 0, 1
    for a in range(3):
        for b in range(a + 1, 4):
            x, y, z = cross(P[a, 0], P[a, 1], P[a, 2], P[b, 0], P[b, 1], P[b, 2])
            area = x * u[0] + y * u[1] + z * u[2]
            if abs(area) > abs(most):
                most, one, two = area, a, b
    if not abs(most) > FLAT * widest or not widest > FLAT * FLAT:
        return False
    # c solves 2 P_one . c = |P_one|^2 and the same for two, by vectors rotated by 90 degrees.
    f, g = _square(P, one) / (2 * most), _square(P, two) / (2 * most)
    ox, oy, oz = cross(P[two, 0], P[two, 1], P[two, 2], u[0], u[1], u[2])
    tx, ty, tz = cross(u[0], u[1], u[2], P[one, 0], P[one, 1], P[one, 2])
    x, y, z = f * ox + g * tx, f * oy + g * ty, f * oz + g * tz
    radius = np.sqrt(x * x + y * y + z * z)
    for a in range(4):
        dx, dy, dz = P[a, 0] - x, P[a, 1] - y, P[a, 2] - z
        if not abs(np.sqrt(dx * dx + dy * dy + dz * dz) - radius) <= MISS:
            return False
    # The point of the axis nearest to the centre of the sample.
    middle = (along[0] + along[1] + along[2] + along[3]) / 5
    theta[0] = x + middle * u[0]
    theta[1] = y + middle * u[1]
    theta[2] = z + middle * u[2]
    theta[3], theta[4], theta[5], theta[6] = u[0], u[1], u[2], radius
    return True


@jit
def _rescale(points, size, theta):  # type: ignore[no-untyped-def]
    """Convert theta to the units of the data, in place."""
    for c in range(3):
        theta[c] = theta[c] * size + points[0, c]
    theta[6] *= size


@jit
def _insert_sorted(params, at):  # type: ignore[no-untyped-def]
    """Insert row `at` into the rows before it, which are sorted by radius."""
    while at > 0 and params[at, 6] < params[at - 1, 6]:
        for c in range(7):
            params[at, c], params[at - 1, c] = params[at - 1, c], params[at, c]
        at -= 1
