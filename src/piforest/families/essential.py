"""Essential matrices between two calibrated images, from five matches.

Five matches determine E up to x, y, z: E = x E1 + y E2 + z E3 + E4. Two equal singular values and
rank 2 are ten cubic equations in x, y, z. Elimination gives a 3 x 3 matrix of polynomials in z
that maps (x, y, 1) to zero, so z is a root of its determinant, a polynomial of degree ten
(D. Nister, An efficient solution to the five-point relative pose problem, 2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._kernels.jit import jit
from ..protocols import Bools, Columns, Floats
from ._calibrated import Calibrated, rays
from ._family import Scene
from ._oriented import cross
from .fundamental import _null_vectors, sampson

# The smallest pivot of the cubic equations, which have unit norm; below it the sample is
# degenerate.
SINGULAR = 1e-10
# The largest error of the cubic equations for a matrix of unit norm; inaccurate roots exceed it.
OFF = 1e-6


def _tables() -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """The positions of products of monomials in x, y, z, 1, in Nister's order: of two linear ones
    among the 10 quadratic ones, of a quadratic and a linear one among the 20 cubic ones."""
    words = "xxx yyy xxy xyy xxz xx yyz yy xyz xy xzz xz x yzz yz y zzz zz z"
    cubic = [word.ljust(3, "1") for word in words.split()] + ["111"]
    quadratic = ["xx", "yy", "zz", "11", "xy", "xz", "x1", "yz", "y1", "z1"]

    def at(word: str, known: list[str]) -> int:
        return known.index("".join(sorted(word, key="xyz1".index)))

    of_two = np.array([[at(a + b, quadratic) for b in "xyz1"] for a in "xyz1"])
    of_three = np.array([[at(q + a, cubic) for a in "xyz1"] for q in quadratic])
    return of_two, of_three


_OF_TWO, _OF_THREE = _tables()


@dataclass(frozen=True)
class Essential(Calibrated):
    """Epipolar geometries of calibrated cameras. Rows are (x1, y1, x2, y2) in normalised
    coordinates, (pixel - centre) / focal length; parameters are the rows of E, x2' E x1 = 0, of
    unit norm. `matrices` returns E.

    Five matches give up to ten matrices; those that place a match behind a camera are dropped.
    The residual is the Sampson distance in normalised coordinates, the first-order distance of
    the match to the nearest one that satisfies E.
    """

    name: ClassVar[str] = "essential"
    n_points = 5
    matrix_name, matrix_equation = "E", "x2' E x1 = 0"
    scene = Scene("make_essential_pair", 2, "calibrated matches of two motions")
    max_models = 10

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        params = np.zeros((len(samples), 10, 9))
        valid = np.zeros((len(samples), 10), np.bool_)
        _five_points(rays(samples), _OF_TWO, _OF_THREE, params, valid)
        return params, valid

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        return sampson(x, theta, xp)


@jit
def _basis(rays, A, order, null, N):  # type: ignore[no-untyped-def]
    """Fill N (4, 9), an orthonormal basis of the matrices that fit five matches, in general
    position even for special motions such as sideways ones. Returns False if matches repeat."""
    for j in range(5):
        for r in range(3):
            for c in range(3):
                A[j, 3 * r + c] = rays[1, j, r] * rays[0, j, c]
    if not _null_vectors(A, order, null):
        return False
    for f in range(4):
        # Two passes make the vectors orthogonal to machine precision.
        for _ in range(2):
            for g in range(f):
                dot = 0.0
                for c in range(9):
                    dot += null[f, c] * null[g, c]
                for c in range(9):
                    null[f, c] -= dot * null[g, c]
            norm = 0.0
            for c in range(9):
                norm += null[f, c] * null[f, c]
            norm = np.sqrt(norm)
            for c in range(9):
                null[f, c] /= norm
    # A reflection mixes all four: I - 2 v v' / v' v with v = (1, 2, 3, 5), v' v = 39.
    for c in range(9):
        along = (null[0, c] + 2 * null[1, c] + 3 * null[2, c] + 5 * null[3, c]) * 2 / 39
        N[0, c] = null[0, c] - along
        N[1, c] = null[1, c] - 2 * along
        N[2, c] = null[2, c] - 3 * along
        N[3, c] = null[3, c] - 5 * along
    return True


@jit
def _add_quadratic(N, i, j, factor, of_two, out):  # type: ignore[no-untyped-def]
    """Add factor times the product of the entries i and j of E to out (10,)."""
    for a in range(4):
        for b in range(4):
            out[of_two[a, b]] += factor * N[a, i] * N[b, j]


@jit
def _add_cubic(Q, N, j, of_three, out):  # type: ignore[no-untyped-def]
    """Add the quadratic Q times the entry j of E to out (20,)."""
    for q in range(10):
        for a in range(4):
            out[of_three[q, a]] += Q[q] * N[a, j]


@jit
def _equations(N, of_two, of_three, Q, C):  # type: ignore[no-untyped-def]
    """Fill C (10, 20): (E E' - trace(E E') / 2) E = 0 and det E = 0, each of unit norm."""
    for r in range(10):
        for k in range(20):
            C[r, k] = 0.0
    for r in range(3):
        for k in range(3):
            for q in range(10):
                Q[k, q] = 0.0
            for c in range(3):
                _add_quadratic(N, 3 * r + c, 3 * k + c, 1.0, of_two, Q[k])
        for k in range(9):
            _add_quadratic(N, k, k, -0.5, of_two, Q[r])
        for c in range(3):
            for k in range(3):
                _add_cubic(Q[k], N, 3 * k + c, of_three, C[3 * r + c])
    for c in range(3):
        for q in range(10):
            Q[0, q] = 0.0
        _add_quadratic(N, 3 + (c + 1) % 3, 6 + (c + 2) % 3, 1.0, of_two, Q[0])
        _add_quadratic(N, 3 + (c + 2) % 3, 6 + (c + 1) % 3, -1.0, of_two, Q[0])
        _add_cubic(Q[0], N, c, of_three, C[9])
    for r in range(10):
        norm = 0.0
        for k in range(20):
            norm += C[r, k] * C[r, k]
        norm = np.sqrt(norm)
        for k in range(20):
            C[r, k] /= norm


@jit
def _eliminate(C):  # type: ignore[no-untyped-def]
    """Reduce C (10, 20) to (I, rest): Gauss-Jordan elimination with partial pivoting."""
    for step in range(10):
        at = step
        for r in range(step + 1, 10):
            if abs(C[r, step]) > abs(C[at, step]):
                at = r
        if not abs(C[at, step]) > SINGULAR:
            return False
        for k in range(step, 20):
            C[step, k], C[at, k] = C[at, k], C[step, k]
        pivot = C[step, step]
        for k in range(step, 20):
            C[step, k] /= pivot
        for r in range(10):
            if r != step and C[r, step] != 0.0:
                factor = C[r, step]
                for k in range(step, 20):
                    C[r, k] -= factor * C[step, k]
    return True


@jit
def _polynomials(C, B):  # type: ignore[no-untyped-def]
    """Fill B (3, 3, 5), coefficients in ascending powers of z: the rows of C for x^2 z, y^2 z and
    x y z minus z times those for x^2, y^2 and x y are linear in x and y."""
    for r in range(3):
        up, down = 4 + 2 * r, 5 + 2 * r
        for column in range(3):
            start, degree = 10 + 3 * column, 3 if column == 2 else 2
            for power in range(5):
                B[r, column, power] = 0.0
            for power in range(degree + 1):
                B[r, column, power] += C[up, start + degree - power]
                B[r, column, power + 1] -= C[down, start + degree - power]


@jit
def _determinant(B, p):  # type: ignore[no-untyped-def]
    """Fill p (11,) with the determinant of B, coefficients in ascending powers of z."""
    for power in range(11):
        p[power] = 0.0
    for c in range(3):
        for sign in (1, -1):
            d = (c + (1 if sign == 1 else 2)) % 3
            e = 3 - c - d
            for i in range(5):
                for j in range(5):
                    product = sign * B[0, c, i] * B[1, d, j]
                    if product != 0.0:
                        for k in range(5):
                            if i + j + k <= 10:
                                p[i + j + k] += product * B[2, e, k]


@jit
def _value(p, degree, x):  # type: ignore[no-untyped-def]
    value = p[degree]
    for k in range(degree - 1, -1, -1):
        value = value * x + p[k]
    return value


@jit
def _root_between(p, slope, degree, low, high, at_low):  # type: ignore[no-untyped-def]
    """The root of a polynomial that is monotone from low to high: Newton's method with
    bisection."""
    x = 0.5 * (low + high)
    for _ in range(60):
        value = _value(p, degree, x)
        if (value > 0) == (at_low > 0):
            low = x
        else:
            high = x
        steep = _value(slope, degree - 1, x)
        following = x - value / steep if steep != 0.0 else low
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - x) <= 1e-15:
            return following
        x = following
    return x


@jit
def _roots(p, D, nodes, roots):  # type: ignore[no-untyped-def]
    """Fill roots with those of a polynomial p of degree 10 in [-1, 1]; returns their number. The
    roots of each derivative separate those of the one before. D (11, 11) and nodes (12,) are
    workspace."""
    for k in range(11):
        D[10, k] = p[k]
    for degree in range(9, 0, -1):
        for k in range(degree + 1):
            D[degree, k] = (k + 1) * D[degree + 1, k + 1]
    count = 0
    for degree in range(1, 11):
        nodes[0] = -1.0
        for k in range(count):
            nodes[k + 1] = roots[k]
        nodes[count + 1] = 1.0
        intervals, count = count + 1, 0
        at_low = _value(D[degree], degree, -1.0)
        for k in range(intervals):
            at_high = _value(D[degree], degree, nodes[k + 1])
            if (at_low > 0) != (at_high > 0):
                slope = D[degree - 1] if degree > 1 else D[degree]
                roots[count] = (
                    -D[1, 0] / D[1, 1]
                    if degree == 1
                    else _root_between(D[degree], slope, degree, nodes[k], nodes[k + 1], at_low)
                )
                count += 1
            at_low = at_high
    return count


@jit
def _matrix(B, N, z, E):  # type: ignore[no-untyped-def]
    """Fill E (9,), of unit norm, for a root z: B(z) maps (x, y, 1) to zero."""
    best, x, y = 0.0, 0.0, 0.0
    for r in range(3):
        s = (r + 1) % 3
        a0, a1, a2 = _value(B[r, 0], 3, z), _value(B[r, 1], 3, z), _value(B[r, 2], 4, z)
        b0, b1, b2 = _value(B[s, 0], 3, z), _value(B[s, 1], 3, z), _value(B[s, 2], 4, z)
        w = a0 * b1 - a1 * b0
        if abs(w) > best:
            best = abs(w)
            x, y = (a1 * b2 - a2 * b1) / w, (a2 * b0 - a0 * b2) / w
    norm = 0.0
    for c in range(9):
        E[c] = x * N[0, c] + y * N[1, c] + z * N[2, c] + N[3, c]
        norm += E[c] * E[c]
    norm = np.sqrt(norm)
    for c in range(9):
        E[c] /= norm
    return best > 0.0


@jit
def _off(E):  # type: ignore[no-untyped-def]
    """The largest entry of (E E' - 1 / 2) E for E of unit norm."""
    worst = 0.0
    for r in range(3):
        for c in range(3):
            total = -0.5 * E[3 * r + c]
            for k in range(0, 9, 3):
                dot = E[3 * r] * E[k] + E[3 * r + 1] * E[k + 1] + E[3 * r + 2] * E[k + 2]
                total += dot * E[k + c]
            worst = abs(total) if abs(total) > worst or total != total else worst
    return worst


@jit
def _in_front(E, rays):  # type: ignore[no-untyped-def]
    """Whether all five matches lie in front of both cameras for one of the poses of E. t is the
    null vector of E'; the two rotations are those of cofactors(E) -+ [t] E."""
    t0 = t1 = t2 = best = 0.0
    for c in range(3):
        d = (c + 1) % 3
        x, y, z = cross(E[c], E[3 + c], E[6 + c], E[d], E[3 + d], E[6 + d])
        length = x * x + y * y + z * z
        if length > best:
            best, t0, t1, t2 = length, x, y, z
    # E of unit norm has singular values 1 / sqrt(2): t gets the same norm.
    scale = 1.0 / np.sqrt(2 * best)
    t0, t1, t2 = t0 * scale, t1 * scale, t2 * scale
    x0, x1, x2 = cross(E[3], E[4], E[5], E[6], E[7], E[8])
    y0, y1, y2 = cross(E[6], E[7], E[8], E[0], E[1], E[2])
    z0, z1, z2 = cross(E[0], E[1], E[2], E[3], E[4], E[5])
    for sign in (1.0, -1.0):
        before = behind = 0
        for j in range(5):
            p0, p1, p2 = rays[0, j, 0], rays[0, j, 1], rays[0, j, 2]
            q0, q1, q2 = rays[1, j, 0], rays[1, j, 1], rays[1, j, 2]
            e0 = E[0] * p0 + E[1] * p1 + E[2] * p2
            e1 = E[3] * p0 + E[4] * p1 + E[5] * p2
            e2 = E[6] * p0 + E[7] * p1 + E[8] * p2
            # The rotated ray R p, up to a positive factor: [t] E p plus the part along t.
            n0, n1, n2 = cross(t0, t1, t2, e0, e1, e2)
            r0 = x0 * p0 + x1 * p1 + x2 * p2 - sign * n0
            r1 = y0 * p0 + y1 * p1 + y2 * p2 - sign * n1
            r2 = z0 * p0 + z1 * p1 + z2 * p2 - sign * n2
            # depth2 q = depth1 R p + t
            a0, a1, a2 = cross(q0, q1, q2, r0, r1, r2)
            b0, b1, b2 = cross(q0, q1, q2, t0, t1, t2)
            c0, c1, c2 = cross(r0, r1, r2, t0, t1, t2)
            first = -(a0 * b0 + a1 * b1 + a2 * b2)
            second = -(a0 * c0 + a1 * c1 + a2 * c2)
            before += first > 0 and second > 0
            behind += first < 0 and second < 0
        if before == 5 or behind == 5:
            return True
    return False


@jit
def _five_points(rays, of_two, of_three, params, valid):  # type: ignore[no-untyped-def]
    """Fill params with up to ten matrices for each sample, valid ones first. O(s)."""
    A, order, null, N = np.empty((5, 9)), np.empty(9, np.int64), np.empty((4, 9)), np.empty((4, 9))
    Q, C, B = np.empty((3, 10)), np.empty((10, 20)), np.empty((3, 3, 5))
    p, reverse, D, nodes = np.empty(11), np.empty(11), np.empty((11, 11)), np.empty(12)
    roots, E = np.empty(10), np.empty(9)
    for i in range(rays.shape[0]):
        if not _basis(rays[i], A, order, null, N):
            continue
        _equations(N, of_two, of_three, Q, C)
        if not _eliminate(C):
            continue
        _polynomials(C, B)
        _determinant(B, p)
        for k in range(11):
            reverse[k] = p[10 - k]
        found = 0
        for turned in (False, True):
            # Roots outside [-1, 1] are the inverses of the roots of the reversed polynomial.
            count = _roots(reverse if turned else p, D, nodes, roots)
            for k in range(count):
                z = roots[k]
                if turned:
                    if abs(z) == 1.0 or z == 0.0:
                        continue
                    z = 1.0 / z
                if found < 10 and _matrix(B, N, z, E) and _off(E) <= OFF:
                    if _in_front(E, rays[i]):
                        for c in range(9):
                            params[i, found, c] = E[c]
                        valid[i, found] = True
                        found += 1
