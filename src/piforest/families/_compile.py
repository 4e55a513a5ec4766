"""Compile a `formula` with numba.

The formula is traced: it is called once, with symbols in place of columns, and each operation on a
symbol is recorded. The recorded operations become the body of one loop over rows and models. No
operation is removed, reordered or fused with another, so the compiled code returns the same bits
as NumPy.

A formula over many columns would take seconds to compile, and one loop would read too many arrays
at once. `piforest._kernels.tape` interprets the operations of such a formula one by one.
"""

from __future__ import annotations

import hashlib
import numbers
import threading
from collections.abc import Callable
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from .._kernels.jit import jit
from ..protocols import Floats
from ._tape import run, tape_of

# Above these limits compilation takes more than half a second, and one loop over all columns of
# parameters is slower than one loop for each operation. Compiled are lines in up to 21 columns,
# hyperplanes in up to 32 and spheres in up to 49.
_OPERATIONS, _COLUMNS = 150, 64
_LOCK = threading.Lock()


class Operation(NamedTuple):
    """A function of earlier values, or an input: "x", "theta" or "number"."""

    name: str
    places: tuple[int, ...] = ()
    value: float = 0.0
    """the column of "x" or "theta", or the value of "number" """


class Symbol:
    """A value of a formula, given by its position in the list of operations."""

    __array_ufunc__ = None  # NumPy scalars then defer to the operators of this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, operations: list[Operation], operation: Operation) -> None:
        self.operations, self.place = operations, len(operations)
        operations.append(operation)

    def record(self, name: str, *values: Any) -> Symbol:
        """Record an operation on values, one of which is this symbol; return its result."""
        places = tuple(self.position_of(value) for value in values)
        return Symbol(self.operations, Operation(name, places))

    def position_of(self, value: Any) -> int:
        if isinstance(value, Symbol):
            return value.place
        if not isinstance(value, numbers.Real):
            raise TypeError(f"a formula takes numbers, got {value!r}")
        return Symbol(self.operations, Operation("number", (), float(value))).place

    def __radd__(self, other: Any) -> Symbol:
        # Python's sum starts from the integer 0; adding it would be a useless operation.
        return self if type(other) is int and other == 0 else self.record("+", other, self)

    def __neg__(self) -> Symbol:
        return self.record("*", self, -1.0)

    def __abs__(self) -> Symbol:
        return self.record("abs", self)

    def __lt__(self, other: Any) -> Symbol:
        return self.record(">", other, self)

    def __le__(self, other: Any) -> Symbol:
        return self.record(">=", other, self)

    def __ne__(self, other: object) -> Symbol:  # type: ignore[override]
        return ~self.record("==", self, other)

    def __and__(self, other: Any) -> Symbol:
        return self.record("where", self, other, self)

    def __or__(self, other: Any) -> Symbol:
        return self.record("where", self, self, other)

    def __invert__(self) -> Symbol:
        return self.record("==", self, 0.0)

    def __bool__(self) -> bool:
        raise TypeError("a formula decides by `where`")


def _forward(name: str) -> Any:
    return lambda self, other: self.record(name, self, other)


def _reflected(name: str) -> Any:
    return lambda self, other: self.record(name, other, self)


for _name, _member in zip(("+", "-", "*", "/", ">", ">=", "=="),
                          ("add", "sub", "mul", "truediv", "gt", "ge", "eq")):  # fmt: skip
    setattr(Symbol, f"__{_member}__", _forward(_name))
    if _name in "-*/":
        setattr(Symbol, f"__r{_member}__", _reflected(_name))


# The functions of the namespace `xp` that can be traced.
_NAMESPACE = SimpleNamespace(
    sqrt=lambda value: value.record("sqrt", value),
    where=lambda condition, yes, no: condition.record("where", condition, yes, no),
)


def operations_of(formula: Callable[..., Any], d: int, p: int) -> list[Operation] | None:
    """Trace a formula of d columns and p parameters; the last operation returns the residual.

    Returns None if the formula uses anything but arithmetic, comparisons, `abs`, `sqrt` and
    `where`.
    """
    done: list[Operation] = []
    x = [Symbol(done, Operation("x", (), k)) for k in range(d)]
    theta = [Symbol(done, Operation("theta", (), k)) for k in range(p)]
    try:
        result = formula(x, theta, _NAMESPACE).place
    except Exception:  # if the formula is wrong, its evaluation by NumPy raises the error
        return None
    needed = {result}
    for place in range(result, -1, -1):
        if place in needed:
            needed.update(done[place].places)
    kept = {place: number for number, place in enumerate(sorted(needed))}
    return [done[at]._replace(places=tuple(kept[k] for k in done[at].places)) for at in kept]


def compiled(formula: Callable[..., Any], d: int, p: int) -> Callable[..., None] | None:
    """Return a function (X (n, d), theta (p, m), out (n, m)), or None if it cannot be compiled."""
    operations = operations_of(formula, d, p)
    if operations is None:
        return None
    if p > _COLUMNS or sum(bool(each.places) for each in operations) > _OPERATIONS:
        return partial(run, tape_of(operations, d, p))
    source, constants = source_of(operations)
    kernel = _kernel(source)
    return lambda X, theta, out: kernel(X, theta, constants, out)


_TEXTS = {
    "x": "X[i, {column}]", "theta": "theta[{column}, j]", "abs": "abs({0})", "sqrt": "sqrt({0})",
    "where": "{1} if {0} else {2}",
}  # fmt: skip


def source_of(operations: list[Operation]) -> tuple[str, Floats]:
    """Return the loop as Python code, and its constants.

    Constants are arguments of the loop, so that another value of an option, such as a weight,
    does not compile it again.
    """
    names: list[str] = []
    of_row: list[bool] = []
    lines: dict[bool, list[str]] = {True: [], False: []}
    constants: list[float] = []
    for place, (name, places, value) in enumerate(operations):
        names.append(f"v{place}")
        of_row.append(name != "theta" and all(of_row[k] for k in places))
        text = _TEXTS.get(name, f"{{0}} {name} {{1}}")
        if name == "number":
            if value.is_integer() or np.isinf(value):
                names[-1] = repr(value)
                continue
            text = f"constants[{len(constants)}]"
            constants.append(value)
        text = text.format(*(names[k] for k in places), column=int(value))
        lines[of_row[-1]].append(f"{names[-1]} = {text}")
    code = [
        "(X, theta, constants, out):",
        "    for i in range(X.shape[0]):",
        *(f"        {line}" for line in lines[True]),
        "        for j in range(out.shape[1]):",
        *(f"            {line}" for line in lines[False]),
        f"            out[i, j] = {names[-1]}",
    ]
    return "\n".join(code), np.array(constants, np.float64)


def _kernel(source: str) -> Any:
    with _LOCK:  # threads that need the same loop compile it once
        return _compile_source(source)


@cache
def _compile_source(source: str) -> Any:
    """Compile the source on first use.

    The source is in no file. numba caches it on disk as a function of this file; its name contains
    a hash of the source, so that each formula has its own entry.
    """
    name = f"residuals_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    namespace: dict[str, Any] = {"__name__": __name__, "sqrt": np.sqrt, "inf": np.inf}
    exec(compile(f"def {name}{source}", __file__, "exec"), namespace)
    return jit(namespace[name])
