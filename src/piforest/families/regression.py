"""Laws of a table: one column as a linear or polynomial function of all others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import comb, inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._kernels.jit import jit
from .._validation import check_integer
from ..protocols import Bools, Columns, Floats, RowLayout
from ._family import Family, Scene

# A pivot of the equations, in features that run over [-1, 1] within the sample, below which the
# records do not determine the law: one stands twice, or the features depend on one another.
SINGULAR = 1e-7


class _Law(Family):
    """What both families share."""

    target: int
    degree: int
    # A turn would mix y with the features.
    symmetries = frozenset({"translation", "scale"})

    def __post_init__(self) -> None:
        check_integer("degree", self.degree, 1, "2 is the default.")
        check_integer("target", self.target, -1, "It is the number of a column, -1 for the last.")

    @property
    def layout(self) -> RowLayout:
        return RowLayout("table", target=self.target)

    def sample_size(self, d: int) -> int:
        return comb(d - 1 + self.degree, self.degree)

    def codimension(self, d: int) -> int:
        return min(1, d - 1)

    def complaint(self, X: Floats) -> str | None:
        return _complaint(X, self.target, self.degree)

    def extent(self, X: Floats) -> float:
        """The standard deviation if y were uniform, from its middle half; else its own."""
        y = X[:, self.target]
        low, high = np.quantile(y, [0.25, 0.75])
        return float((high - low) / np.sqrt(3)) if high > low else float(np.std(y))

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        x, y = np.delete(samples, self.target, axis=2), samples[:, :, self.target]
        x0, y0 = x.mean(axis=1), y.mean(axis=1)
        x = x - x0[:, None]
        h = np.abs(x).max(axis=1)
        valid = (h > 0).all(axis=1)
        h = np.where(h > 0, h, 1)
        c = np.zeros((len(samples), samples.shape[1]))
        t = np.ascontiguousarray(x / h[:, None])
        _interpolate(t, y - y0[:, None], _recipe(x.shape[2], self.degree), c, valid)
        return np.concatenate([x0, h, y0[:, None], c], axis=1)[:, None, :], valid[:, None]

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        target = self.target % len(x)
        features = [*x[:target], *x[target + 1 :]]
        f = len(features)
        t = [(at - x0) / h for at, x0, h in zip(features, theta, theta[f:])]
        c = theta[2 * f + 1 :]
        # The terms beyond the features, each an earlier one times a feature from its last one on:
        # the order of `_terms`.
        terms, done = list(enumerate(t)), 0
        while len(terms) < len(c) - 1:
            last, product = terms[done]
            terms += [(i, product * t[i]) for i in range(last, f)]
            done += 1
        law = c[0]
        for coefficient, (_, product) in zip(c[1:], terms):
            law = law + coefficient * product
        deviation = abs(x[target] - theta[2 * f] - law)
        # Where the law overflows it is far away.
        return xp.where(deviation >= 0, deviation, inf)


@dataclass(frozen=True)
class PolynomialRegression(_Law):
    """Polynomials of all features, with all products up to a total degree, for tables of d >= 2
    columns. `target` is the number of the column y that the others explain; -1 is the last.

    Parameters: centres x0 and widths h of the features, y0, and one coefficient for each term
    of `terms`: y = y0 + c0 + c1 t1 + c2 t2 + ... + c t1 t1 + c t1 t2 + ... with
    t = (x - x0) / h. The residual is |y - f(x)|, in the units of y: noise in the features
    counts as much as the law is steep. A sample has as many records as there are terms,
    comb(d - 1 + degree, degree): 6 for two features and degree 2, 66 for ten. Samples so large
    are hardly ever free of anomalies.
    """

    degree: int = 2
    target: int = -1

    name: ClassVar[str] = "polynomial_regression"

    @property
    def scene(self) -> Scene | None:
        """The maker's target is the last column."""
        laws = "quadratic laws" if self.degree == 2 else f"laws of degree {self.degree}"
        about = f"two {laws} of two features; target over the first"
        options = {"n_features": 2, "degree": self.degree, "sizes": 250, "noise": 0.01}
        made = Scene("make_regressions", 2, about, options, columns=(0, 2))
        return made if self.target in (-1, 2) else None

    def terms(self, d: int) -> list[tuple[int, ...]]:
        """The features, by their columns of X, that each coefficient multiplies."""
        columns = np.delete(np.arange(d), self.target).tolist()
        return [tuple(columns[i] for i in term) for term in _terms(d - 1, self.degree)]


@dataclass(frozen=True)
class LinearRegression(_Law):
    """Linear laws with an intercept for tables of d >= 2 columns, from d records. `target` is
    the number of the column y that the others explain; -1 is the last.

    Parameters: centres x0 and widths h of the features, y0, and coefficients c:
    y = y0 + c0 + c1 t1 + c2 t2 + ... with t = (x - x0) / h; `coefficients` gives slopes and
    intercept. The residual is |y - f(x)|, in the units of y, not the distance to a plane: units
    of the features do not matter, and noise in them counts as much as the law is steep.
    """

    target: int = -1

    name: ClassVar[str] = "linear_regression"
    degree = 1

    @property
    def scene(self) -> Scene | None:
        """The maker's target is the last column."""
        about = "three linear laws of three features; target over the first"
        made = Scene("make_regressions", 3, about, {"noise": 0.01}, columns=(0, 3))
        return made if self.target in (-1, 3) else None

    def coefficients(self, params: Floats) -> Floats:
        """(m, d): the slope of each feature, in the order of the columns, and the intercept."""
        f = (params.shape[1] - 2) // 3
        centres, widths, y0, c = np.split(params, [f, 2 * f, 2 * f + 1], axis=1)
        slopes = c[:, 1:] / widths
        return np.column_stack([slopes, y0[:, 0] + c[:, 0] - np.sum(slopes * centres, axis=1)])


def _complaint(X: Floats, target: int, degree: int) -> str | None:
    d = X.shape[1]
    if target >= d:
        return f"target must be a column of X, got {target}; X has columns 0 to {d - 1}."
    if (X[:, target] == X[0, target]).all():
        return f"the target, column {target} of X, is constant, so that there is no law to find."
    for column in np.delete(np.arange(d), target).tolist():
        # On so few values the powers of a feature depend on one another.
        values = len(np.unique(X[:, column]))
        if values <= degree:
            return (
                f"column {column} of X has {values} distinct value(s), which determine no law of "
                f"degree {degree} in it. Leave the column out or choose a lower degree."
            )
    return None


@cache
def _terms(f: int, degree: int) -> list[tuple[int, ...]]:
    """All products of at most `degree` of f features, the constant first, then each feature."""
    lengths = range(degree + 1)
    return [term for k in lengths for term in combinations_with_replacement(range(f), k)]


@cache
def _recipe(f: int, degree: int) -> NDArray[np.int64]:
    """(terms, 2): each term beyond the features as an earlier term times a feature."""
    terms = _terms(f, degree)
    number = {term: i for i, term in enumerate(terms)}
    rows = [(number[t[:-1]], t[-1]) if len(t) > 1 else (0, 0) for t in terms]
    return np.array(rows, np.int64)


@jit
def _interpolate(t, y, recipe, c, valid):  # type: ignore[no-untyped-def]
    """Coefficients c (s, k) of the law through k records each, by elimination with complete
    pivoting, so that the smallest pivot tells how well they determine it. O(s k**3)."""
    k, f = t.shape[1], t.shape[2]
    A, order = np.empty((k, k + 1)), np.empty(k, np.int64)
    for i in range(t.shape[0]):
        if not valid[i]:
            continue
        for r in range(k):
            A[r, 0], A[r, k] = 1.0, y[i, r]
            for j in range(1, k):
                A[r, j] = t[i, r, j - 1] if j <= f else A[r, recipe[j, 0]] * t[i, r, recipe[j, 1]]
        for j in range(k):
            order[j] = j
        for step in range(k):
            big, row, col = -1.0, step, step
            for r in range(step, k):
                for j in range(step, k):
                    if abs(A[r, j]) > big:
                        big, row, col = abs(A[r, j]), r, j
            if not big > SINGULAR:
                valid[i] = False
                break
            for j in range(k + 1):
                A[step, j], A[row, j] = A[row, j], A[step, j]
            for r in range(k):
                A[r, step], A[r, col] = A[r, col], A[r, step]
            order[step], order[col] = order[col], order[step]
            for r in range(step + 1, k):
                factor = A[r, step] / A[step, step]
                for j in range(step, k + 1):
                    A[r, j] -= factor * A[step, j]
        if valid[i]:
            for step in range(k - 1, -1, -1):
                value = A[step, k]
                for j in range(step + 1, k):
                    value -= A[step, j] * c[i, order[j]]
                c[i, order[step]] = value / A[step, step]
