"""Regression: one column of a table as a linear or polynomial function of all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations_with_replacement
from math import comb, inf
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._kernels.jit import jit
from .._validation import check_integer
from ..protocols import Bools, Columns, Floats, RowLayout
from ._describe import Description, total
from ._family import Family, Scene
from ._refits import Frame

# The smallest pivot of the equations, for features scaled to [-1, 1] within the sample. Below it
# the sample is degenerate: a record occurs twice, or the features are collinear.
SINGULAR = 1e-7
# Coefficients below this share of the sizes that they come from are rounding errors.
_NOTHING = 1e-13
_OUTLINE_POINTS, _NET = 60, 7


class _Law(Family):
    """Base class of both families."""

    target: int | str
    unused: tuple[int, ...]
    degree: int
    scales_by_column = True
    # Not rotation: it would mix y with the features.
    symmetries = frozenset({"translation", "scale"})

    def __post_init__(self) -> None:
        check_integer("degree", self.degree, 1, "2 is the default.")
        if not isinstance(self.target, str):
            hint = "It is the number or the name of a column, -1 for the last."
            check_integer("target", self.target, -1, hint)
        if not isinstance(self.unused, (tuple, list)):
            raise ValueError(f"unused must be a tuple of numbers of columns, got {self.unused!r}.")
        for number in self.unused:
            check_integer("an item of unused", number, 0, "It is the number of a column.")
        # Model files have lists.
        object.__setattr__(self, "unused", tuple(self.unused))

    @property
    def _column(self) -> int:
        """The number of the target."""
        if isinstance(self.target, str):
            raise ValueError(
                f"target={self.target!r} is a name, and the columns of X have no names; pass a "
                "data frame to fit, or the number of the column."
            )
        return self.target

    def with_names(self, names: Sequence[str]) -> Self:
        """The family with the number of a target that is given by its name.

        names: of the columns.
        """
        if not isinstance(self.target, str) or not len(names):
            return self
        if self.target not in names:
            raise ValueError(
                f"target must be a column of X, got {self.target!r}; its columns: "
                f"{', '.join(names)}."
            )
        return replace(self, target=list(names).index(self.target))  # type: ignore[type-var]

    def without_constants(self, X: Floats) -> Self:
        """The family without the features that are constant in the rows of X: they have no
        effect. As it is if all features are constant."""
        features = self._features(X.shape[1])
        constant = [k for k in features if (X[:, k] == X[0, k]).all()]
        if not constant or len(constant) == len(features):
            return self
        return replace(self, unused=(*self.unused, *constant))  # type: ignore[type-var]

    def _features(self, d: int) -> list[int]:
        """The columns that predict the target."""
        return [k for k in range(d) if k != self._column % d and k not in self.unused]

    @property
    def layout(self) -> RowLayout:
        return RowLayout("table", target=-1 if isinstance(self.target, str) else self.target)

    def sample_size(self, d: int) -> int:
        return comb(len(self._features(d)) + self.degree, self.degree)

    def codimension(self, d: int) -> int:
        return min(1, d - 1)

    def reason_to_reject(self, X: Floats) -> str | None:
        return _reason_to_reject(X, self._column, self._features, self.degree)

    def extent(self, X: Floats) -> float:
        """A robust standard deviation of y, from its interquartile range as if y were uniform; the
        standard deviation itself if that range is 0."""
        y = X[:, self._column]
        low, high = np.quantile(y, [0.25, 0.75])
        return float((high - low) / np.sqrt(3)) if high > low else float(np.std(y))

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        x, y = samples[:, :, self._features(samples.shape[2])], samples[:, :, self._column]
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
        target = self._column % len(x)
        features = [x[k] for k in self._features(len(x))]
        f = len(features)
        t = [(at - x0) / h for at, x0, h in zip(features, theta, theta[f:])]
        c = theta[2 * f + 1 :]
        # Terms of higher degree, in the order of `_terms`: each is an earlier term times a feature
        # that is not before the last feature of that term.
        terms, done = list(enumerate(t)), 0
        while len(terms) < len(c) - 1:
            last, product = terms[done]
            terms += [(i, product * t[i]) for i in range(last, f)]
            done += 1
        law = c[0]
        for coefficient, (_, product) in zip(c[1:], terms):
            law = law + coefficient * product
        deviation = abs(x[target] - theta[2 * f] - law)
        # The residual is infinite if the prediction overflows.
        return xp.where(deviation >= 0, deviation, inf)

    def predicted(self, X: Floats, params: Floats) -> Floats:
        """(n,) the target of rows (n, d) that one model (p,) predicts from the other columns."""
        features = X[:, self._features(X.shape[1])]
        f = features.shape[1]
        t = (features - params[:f]) / params[f : 2 * f]
        terms = np.stack([t[:, term].prod(axis=1) for term in _terms(f, self.degree)], axis=1)
        return np.asarray(params[2 * f] + terms @ params[2 * f + 1 :])

    def parallel(self, params: Floats, distances: Floats, d: int) -> Floats:
        """(m, p) one model (p,) of d columns, moved by these distances (m,) in the target."""
        moved = np.tile(params, (len(distances), 1))
        moved[:, 2 * len(self._features(d))] += distances
        return moved

    def outline(self, params: Floats, low: Floats, high: Floats) -> list[Floats]:
        """The graph of a function of one feature, or a net on that of two; nothing for more."""
        target, features = self._column % len(low), self._features(len(low))
        if len(features) > 2:
            return []
        lines = []
        for along in features:
            for share in np.linspace(0, 1, _NET) if len(features) == 2 else [0.0]:
                line = np.tile(low + share * (high - low), (_OUTLINE_POINTS, 1))
                line[:, along] = np.linspace(low[along], high[along], _OUTLINE_POINTS)
                line[:, target] = self.predicted(line, params)
                lines += _runs_inside(line, target, low[target], high[target])
        return lines

    def chart(self, x: Columns, theta: Columns, xp: Any) -> tuple[Any, ...]:
        """The features, if there are at most two."""
        features = self._features(len(x))
        return tuple(x[k] for k in features) if len(features) < 3 else ()

    def unscaled_params(self, params: Floats, units: Floats) -> Floats:
        """The same function of columns that are not divided by units."""
        target = self._column % len(units)
        features = units[self._features(len(units))]
        rest = len(params) - 2 * len(features)
        return np.asarray(params * np.concatenate([features, features, [units[target]] * rest]))

    def describe(self, params: Floats, names: Sequence[str], digits: int = 4) -> Description:
        target = self._column % len(names)
        features = [names[k] for k in self._features(len(names))]
        f = len(features)
        c = params[2 * f + 1 :].copy()
        c[0] += params[2 * f]
        terms = _plain_terms(params[:f], params[f : 2 * f], c, self.degree)
        words = {"*".join(_powers(term, features)): value for term, value in terms.items()}
        text = f"{names[target]} = {total([(v, word) for word, v in words.items()], digits, 0)}"
        named = {word or "intercept": value for word, value in words.items()}
        return Description({"target": names[target], "coefficients": named}, text)

    def covered_part(self, params: Floats, X: Floats, names: Sequence[str]) -> dict[str, Any]:
        """The range of each feature."""
        if not len(X):
            return {}
        low, high = X.min(axis=0), X.max(axis=0)
        return {names[k]: [float(low[k]), float(high[k])] for k in self._features(len(names))}

    def lift(self, Z: Floats) -> Floats:
        t, y = Z[:, self._features(Z.shape[1])], Z[:, self._column]
        terms = [t[:, term].prod(axis=1) for term in _terms(t.shape[1], self.degree)]
        return np.column_stack([*terms, y])

    def refit(self, S: Floats, frame: Frame) -> tuple[Floats, Bools]:
        target = self._column % len(frame.centre)
        A, b = S[:, :-1, :-1], S[:, :-1, -1]
        finite = np.asarray(np.isfinite(A).all(axis=(1, 2)))[:, None, None]
        values = np.linalg.eigvalsh(np.where(finite, A, 0.0))
        valid = values[:, 0] > 1e-13 * values[:, -1]
        A = np.where(valid[:, None, None], A, np.eye(A.shape[1]))
        c = np.linalg.solve(A, b[:, :, None])[:, :, 0] * frame.scale[target]
        used = self._features(len(frame.centre))
        features = np.concatenate([frame.centre[used], frame.scale[used]])
        shared = np.tile(np.append(features, frame.centre[target]), (len(S), 1))
        return np.concatenate([shared, c], axis=1), valid


@dataclass(frozen=True)
class PolynomialRegression(_Law):
    """Polynomials of all features, with all products up to a total degree, for tables of d >= 2
    columns. `target` is the index of the column y that the others predict, -1 for the last, or its
    name in the data frame that is passed to `fit`.

    Parameters are centres x0 and widths h of the features, y0, and one coefficient for each term
    of `terms`: y = y0 + c0 + c1 t1 + c2 t2 + ... + c t1 t1 + c t1 t2 + ... with
    t = (x - x0) / h. The residual is |y - f(x)|, in the units of y; noise in a feature is
    multiplied by the slope. A sample has as many records as there are terms,
    comb(d - 1 + degree, degree): 6 for two features and degree 2, 66 for ten. Samples of this
    size are rarely free of anomalies. Columns in `unused` are no features: a fit adds those that
    are constant.
    """

    degree: int = 2
    target: int | str = -1
    unused: tuple[int, ...] = field(default=(), repr=False)

    name: ClassVar[str] = "polynomial_regression"

    @property
    def scene(self) -> Scene | None:
        """The maker's target is the last column."""
        kind = "quadratic functions" if self.degree == 2 else f"polynomials of degree {self.degree}"
        about = f"two {kind} of two features; target over the first"
        options = {"n_features": 2, "degree": self.degree, "sizes": 250, "noise": 0.01}
        made = Scene("make_regressions", 2, about, options, columns=(0, 2))
        return made if self.target in (-1, 2) else None

    def terms(self, d: int) -> list[tuple[int, ...]]:
        """The columns of X whose product each coefficient multiplies."""
        columns = self._features(d)
        return [tuple(columns[i] for i in term) for term in _terms(len(columns), self.degree)]


@dataclass(frozen=True)
class LinearRegression(_Law):
    """Linear functions with an intercept for tables of d >= 2 columns, from d records. `target` is
    the index of the column y that the others predict, -1 for the last, or its name in the data
    frame that is passed to `fit`.

    Parameters are centres x0 and widths h of the features, y0, and coefficients c:
    y = y0 + c0 + c1 t1 + c2 t2 + ... with t = (x - x0) / h. `coefficients` returns slopes and
    intercept. The residual is |y - f(x)|, in the units of y, not the distance to a plane: the
    units of the features do not matter, and noise in a feature is multiplied by its slope.
    Columns in `unused` are no features: a fit adds those that are constant.
    """

    target: int | str = -1
    unused: tuple[int, ...] = field(default=(), repr=False)

    name: ClassVar[str] = "linear_regression"
    degree = 1

    @property
    def scene(self) -> Scene | None:
        """The maker's target is the last column."""
        about = "three linear functions of three features; target over the first"
        made = Scene("make_regressions", 3, about, {"noise": 0.01}, columns=(0, 3))
        return made if self.target in (-1, 3) else None

    def coefficients(self, params: Floats) -> Floats:
        """Return (m, d): the slopes of the features, in the order of the columns, and the
        intercept."""
        f = (params.shape[1] - 2) // 3
        centres, widths, y0, c = np.split(params, [f, 2 * f, 2 * f + 1], axis=1)
        slopes = c[:, 1:] / widths
        return np.column_stack([slopes, y0[:, 0] + c[:, 0] - np.sum(slopes * centres, axis=1)])


def _runs_inside(line: Floats, target: int, low: float, high: float) -> list[Floats]:
    """The parts of a line (n, d) whose target is between low and high."""
    inside = (line[:, target] >= low) & (line[:, target] <= high)
    parts = np.split(np.arange(len(line)), np.flatnonzero(np.diff(inside)) + 1)
    return [line[part] for part in parts if inside[part[0]] and len(part) > 1]


def _reason_to_reject(
    X: Floats, target: int, features: Callable[[int], list[int]], degree: int
) -> str | None:
    d = X.shape[1]
    if target >= d:
        return f"target must be a column of X, got {target}; X has columns 0 to {d - 1}."
    if (X[:, target] == X[0, target]).all():
        return (
            f"the target, column {target % d} of X, is constant, so that there is no law to find."
        )
    for column in features(d):
        # With this few distinct values the powers of a feature are linearly dependent.
        values = len(np.unique(X[:, column]))
        if values <= degree:
            return (
                f"column {column} of X has {values} distinct value(s), which determine no law of "
                f"degree {degree} in it. Leave the column out or choose a lower degree."
            )
    return None


@cache
def _terms(f: int, degree: int) -> list[tuple[int, ...]]:
    """All products of at most `degree` of f features: the constant, the features, then the rest."""
    lengths = range(degree + 1)
    return [term for k in lengths for term in combinations_with_replacement(range(f), k)]


def _plain_terms(
    centres: Floats, widths: Floats, c: Floats, degree: int
) -> dict[tuple[int, ...], float]:
    """The coefficient of each product of features, from those of the scaled features
    t = (x - centre) / width; 0 for what is no more than their rounding errors."""
    terms = _terms(len(centres), degree)
    plain, sizes = dict.fromkeys(terms, 0.0), dict.fromkeys(terms, 0.0)
    c = np.where(np.abs(c) <= _NOTHING * np.abs(c).max(), 0.0, c)
    for term, coefficient in zip(terms, c.tolist()):
        product: dict[tuple[int, ...], float] = {(): coefficient}
        for i in term:
            slope, shift = 1 / float(widths[i]), -float(centres[i]) / float(widths[i])
            expanded: dict[tuple[int, ...], float] = {}
            for part, value in product.items():
                for key, factor in ((part, shift), (tuple(sorted((*part, i))), slope)):
                    expanded[key] = expanded.get(key, 0.0) + value * factor
            product = expanded
        for part, value in product.items():
            plain[part] += value
            sizes[part] += abs(value)
    return {
        part: value if abs(value) > _NOTHING * sizes[part] else 0.0 for part, value in plain.items()
    }


def _powers(term: tuple[int, ...], names: Sequence[str]) -> list[str]:
    """The factors of a product of features, such as x^2."""
    return [
        names[i] if term.count(i) == 1 else f"{names[i]}^{term.count(i)}" for i in sorted({*term})
    ]


@cache
def _recipe(f: int, degree: int) -> NDArray[np.int64]:
    """The terms of higher degree (terms, 2), each as an earlier term times a feature."""
    terms = _terms(f, degree)
    number = {term: i for i, term in enumerate(terms)}
    rows = [(number[t[:-1]], t[-1]) if len(t) > 1 else (0, 0) for t in terms]
    return np.array(rows, np.int64)


@jit
def _interpolate(t, y, recipe, c, valid):  # type: ignore[no-untyped-def]
    """Fill c (s, k) with the coefficients of the function through k records each, by elimination
    with complete pivoting; the smallest pivot decides whether a sample is valid. O(s k**3)."""
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
