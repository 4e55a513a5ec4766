"""Make a family from two plain functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._validation import check_flag, check_integer, check_shape
from ..protocols import Bools, Floats
from ._samples import has_repeats

# The exceptions by which a fit reports a degenerate sample.
_DEGENERATE = (np.linalg.LinAlgError, ZeroDivisionError, FloatingPointError)

Count = int | Callable[[int], int]


def from_functions(
    fit: Callable[[Floats], Any],
    residuals: Callable[[Floats, Floats], Any],
    *,
    sample_size: Count,
    n_features: int | None = None,
    name: str = "custom",
    codimension: Count = 1,
    exact: bool = True,
    batched: bool | None = None,
) -> FunctionFamily:
    """Make a family from a function that fits a model and one that computes distances to it.

    Parameters
    ----------
    fit : function
        Takes points (k, d) and returns the parameters of a model, (p,) or one number. It reports a
        degenerate sample by returning None or a parameter that is not finite, or by raising
        `LinAlgError`, `ZeroDivisionError` or `FloatingPointError`; any other exception is an
        error. It is never called with a sample that contains a point twice.
    residuals : function
        Takes points (n, d) and parameters (p,) and returns distances (n,), at least 0, in the
        units of X.
    sample_size : int or function
        The number of points k in a minimal sample, or a function of d.
    n_features : int or None, default=None
        The number of columns that the functions require. If None, any number.
    name : str, default="custom"
        The name in messages.
    codimension : int or function, default=1
        Columns minus the dimension of a structure, or a function of d.
    exact : bool, default=True
        Whether a model goes through its own sample. False if fit averages.
    batched : bool or None, default=None
        If True, both functions are vectorised, which is faster: fit maps (s, k, d) to (s, p),
        residuals maps (n, d) and (m, p) to (n, m). If False, they are called in a loop. If None,
        each function is tried on a few inputs; it is called in a loop if both calls work and the
        results differ.

    Returns
    -------
    FunctionFamily
        An object for the parameter `family`.

    Examples
    --------
    Parabolas y = a x^2 + b x + c through three points, measured along y:

    >>> import numpy as np
    >>> from piforest.checks import check_family
    >>> from piforest.families import from_functions
    >>> def fit(points):
    ...     x, y = points.T
    ...     return np.linalg.solve(np.vander(x, 3), y)
    >>> def residuals(X, params):
    ...     return np.abs(X[:, 1] - np.polyval(params, X[:, 0]))
    >>> parabola = from_functions(fit, residuals, sample_size=3, n_features=2, name="parabola")
    >>> check_family(parabola)
    ["rows are stable: a row's residuals do not depend on its block"]
    """
    for role, function in (("fit", fit), ("residuals", residuals)):
        if isinstance(function, type) or not callable(function):
            raise ValueError(f"{role} must be a function, got {function!r}.")
    for role, count in (("sample_size", sample_size), ("codimension", codimension)):
        if not callable(count):
            check_integer(role, count, 1, "A function of the number of columns will do too.")
    if n_features is not None:
        check_integer("n_features", n_features, 1)
    if not isinstance(name, str):
        raise ValueError(f"name must be a string, got {name!r}.")
    if batched is not None:
        check_flag("batched", batched)
    check_flag("exact", exact)
    return FunctionFamily(
        fit, residuals, sample_size, n_features, name, codimension, exact, batched
    )


@dataclass(frozen=True)
class FunctionFamily:
    """The result of `from_functions`. Families of the same functions are equal."""

    fit: Callable[[Floats], Any]
    measure: Callable[[Floats, Floats], Any]
    points: Count
    n_features: int | None
    name: str
    across: Count
    exact: bool
    batched: bool | None
    max_models: ClassVar[int] = 1
    symmetries: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        return f"from_functions({_name_of(self.fit)}, {_name_of(self.measure)}, name={self.name!r})"

    @property
    def slow_calls(self) -> bool:
        return self.batched is not True

    def sample_size(self, d: int) -> int:
        return self.points(d) if callable(self.points) else self.points

    def codimension(self, d: int) -> int:
        return self.across(d) if callable(self.across) else self.across

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        distinct = np.flatnonzero(~has_repeats(samples))
        rows = self._fitted(samples[distinct]) if len(distinct) else []
        known = [row for row in rows if row is not None]
        p = len(known[0]) if known else 1
        if any(len(row) != p for row in known):
            lengths = sorted({len(row) for row in known})
            raise ValueError(
                f"{self._label('fit')} must always return the same number of parameters, got "
                f"{lengths}."
            )
        params, valid = np.zeros((len(samples), p)), np.zeros(len(samples), np.bool_)
        for i, row in zip(distinct, rows):
            if row is not None and np.isfinite(row).all():
                params[i], valid[i] = row, True
        return params[:, None], valid[:, None]

    def residuals(self, X: Floats, params: Floats) -> Floats:
        params = np.ascontiguousarray(params)
        batched = self.batched
        if batched is None:
            batched = len(X) > 0 and len(params) > 0 and self._measures_many(X, params)
        if batched:
            R = self._call("residuals", self.measure, X, params)
            return np.asarray(check_shape(self._label("residuals"), R, (len(X), len(params))))
        R = np.empty((len(X), len(params)))
        for j, theta in enumerate(params):
            column = self._call("residuals", self.measure, X, theta)
            R[:, j] = check_shape(self._label("residuals"), column, (len(X),))
        return R

    def _fitted(self, samples: Floats) -> list[Any]:
        """The parameters of each sample, or None if it is degenerate."""
        batched = self._fits_many(samples) if self.batched is None else self.batched
        if not batched:
            return [self._parameters(sample) for sample in samples]
        try:
            return list(self._many(samples))
        except _DEGENERATE:
            # NumPy rejects the whole batch for one bad sample, so try them one by one.
            return [row for sample in samples for row in self._one_of_many(sample)]

    def _many(self, samples: Floats) -> Floats:
        params = self._call("fit", self.fit, samples)
        return np.asarray(check_shape(self._label("fit"), params, (len(samples), None)), np.float64)

    def _one_of_many(self, sample: Floats) -> Iterator[Any]:
        try:
            yield self._many(sample[None])[0]
        except _DEGENERATE:
            yield None

    def _parameters(self, sample: Floats) -> Floats | None:
        try:
            params = self._call("fit", self.fit, sample)
        except _DEGENERATE:
            return None
        if params is None:
            return None
        shape = np.shape(params)
        if len(shape) > 1 or np.asarray(params).dtype.kind not in "biuf":
            raise ValueError(
                f"{self._label('fit')} must give parameters (p,), real numbers, or None, got "
                f"{params!r}."
            )
        return np.atleast_1d(np.asarray(params, np.float64))

    def _call(self, role: str, function: Callable[..., Any], *arguments: Floats) -> Any:
        """Call the user's function; an error message names it."""
        try:
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                return function(*(array.copy() for array in arguments))
        except Exception as error:
            if role == "fit" and isinstance(error, _DEGENERATE):
                raise
            shapes = " and ".join(str(array.shape) for array in arguments)
            raise RuntimeError(
                f"{self._label(role)} failed on {shapes}: {type(error).__name__}: {error}. "
                "A fit may return None where its points determine no model."
            ) from error

    def _label(self, role: str) -> str:
        function = self.fit if role == "fit" else self.measure
        called = getattr(function, "__name__", repr(function))
        return f"{role} function {called!r} of family {self.name!r}"

    def _fits_many(self, samples: Floats) -> bool:
        """Whether fit accepts many samples at once.

        The trial has more samples than a sample has points or columns, so that no axis is mistaken
        for another. If fit also accepts a single sample, but with another result, it is called
        with single samples.
        """
        b = max(samples.shape[1:]) + 1
        few = samples[np.arange(b) % len(samples)]
        many = _try_call(self.fit, few)
        if many is None or many.ndim != 2 or len(many) != b:
            return False
        one = _try_call(self.fit, few[0])
        return one is None or one.ndim != 1 or _agree(one, many[0])

    def _measures_many(self, X: Floats, params: Floats) -> bool:
        """Whether residuals accepts many models at once. See `_fits_many`."""
        p = params.shape[1]
        rows, few = X[np.arange(p + 2) % len(X)], params[np.arange(p + 1) % len(params)]
        many = _try_call(self.measure, rows, few)
        if many is None or many.shape != (p + 2, p + 1):
            return False
        one = _try_call(self.measure, rows, few[0])
        return one is None or one.shape != (p + 2,) or _agree(one, many[:, 0])


def _try_call(function: Callable[..., Any], *arguments: Floats) -> Any:
    """The result as an array of real numbers; None for any other result or an exception."""
    try:
        with np.errstate(all="ignore"):
            answer = np.asarray(function(*(array.copy() for array in arguments)))
    except Exception:
        return None
    return answer if answer.dtype.kind in "biuf" else None


def _agree(one: Any, other: Any) -> bool:
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-6, equal_nan=True)


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", repr(function))
