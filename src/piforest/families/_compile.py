"""A `formula` as compiled code.

The formula is called once, with symbols in place of columns. What it does with them is a list of
operations on single numbers, in the order of the formula, which becomes the body of one loop over
rows and models. No operation is left out, moved or merged with another, so that the compiled code
gives the bits that NumPy gives.

A formula over many columns would take seconds to compile, and one loop would read too many arrays
at once. Its operations are carried out one after the other, by `piforest._kernels.tape`.
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

# So many operations compile in half a second, and a loop over more columns of parameters is
# slower than one loop an operation: up to lines in 21 columns, hyperplanes in 32, spheres in 49.
_OPERATIONS, _COLUMNS = 150, 64
_LOCK = threading.Lock()


class Operation(NamedTuple):
    """A function of earlier values; "x", "theta" and "number" are no functions but given."""

    name: str
    places: tuple[int, ...] = ()
    value: float = 0.0
    """which column, or which number"""


class Symbol:
    """A value of a formula: where it stands in the list of operations."""

    __array_ufunc__ = None  # a NumPy number leaves the operation to the symbol
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, operations: list[Operation], operation: Operation) -> None:
        self.operations, self.place = operations, len(operations)
        operations.append(operation)

    def then(self, name: str, *values: Any) -> Symbol:
        """The value of an operation on values, of which this symbol is one."""
        places = tuple(self.place_of(value) for value in values)
        return Symbol(self.operations, Operation(name, places))

    def place_of(self, value: Any) -> int:
        if isinstance(value, Symbol):
            return value.place
        if not isinstance(value, numbers.Real):
            raise TypeError(f"a formula takes numbers, got {value!r}")
        return Symbol(self.operations, Operation("number", (), float(value))).place

    def __radd__(self, other: Any) -> Symbol:
        # Python's sum starts from the integer 0, which no column has to be added to.
        return self if type(other) is int and other == 0 else self.then("+", other, self)

    def __neg__(self) -> Symbol:
        return self.then("*", self, -1.0)

    def __abs__(self) -> Symbol:
        return self.then("abs", self)

    def __lt__(self, other: Any) -> Symbol:
        return self.then(">", other, self)

    def __le__(self, other: Any) -> Symbol:
        return self.then(">=", other, self)

    def __ne__(self, other: object) -> Symbol:  # type: ignore[override]
        return ~self.then("==", self, other)

    def __and__(self, other: Any) -> Symbol:
        return self.then("where", self, other, self)

    def __or__(self, other: Any) -> Symbol:
        return self.then("where", self, self, other)

    def __invert__(self) -> Symbol:
        return self.then("==", self, 0.0)

    def __bool__(self) -> bool:
        raise TypeError("a formula decides by `where`")


def _forward(name: str) -> Any:
    return lambda self, other: self.then(name, self, other)


def _reflected(name: str) -> Any:
    return lambda self, other: self.then(name, other, self)


for _name, _member in zip(("+", "-", "*", "/", ">", ">=", "=="),
                          ("add", "sub", "mul", "truediv", "gt", "ge", "eq")):  # fmt: skip
    setattr(Symbol, f"__{_member}__", _forward(_name))
    if _name in "-*/":
        setattr(Symbol, f"__r{_member}__", _reflected(_name))


# What formulas take from numpy and torch.
_NAMESPACE = SimpleNamespace(
    sqrt=lambda value: value.then("sqrt", value),
    where=lambda condition, yes, no: condition.then("where", condition, yes, no),
)


def operations_of(formula: Callable[..., Any], d: int, p: int) -> list[Operation] | None:
    """What a formula of d columns and p parameters does; the last operation gives the residual.
    None if it does something else than arithmetic, comparisons, `abs`, `sqrt` and `where`."""
    done: list[Operation] = []
    x = [Symbol(done, Operation("x", (), k)) for k in range(d)]
    theta = [Symbol(done, Operation("theta", (), k)) for k in range(p)]
    try:
        result = formula(x, theta, _NAMESPACE).place
    except Exception:  # if it is a mistake, NumPy will name it
        return None
    needed = {result}
    for place in range(result, -1, -1):
        if place in needed:
            needed.update(done[place].places)
    kept = {place: number for number, place in enumerate(sorted(needed))}
    return [done[at]._replace(places=tuple(kept[k] for k in done[at].places)) for at in kept]


def compiled(formula: Callable[..., Any], d: int, p: int) -> Callable[..., None] | None:
    """A function (X (n, d), theta (p, m), out (n, m)); None for what cannot be compiled."""
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
    """A loop as Python code, and its constants: numbers such as a weight, of which each would
    else be compiled anew."""
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
    with _LOCK:  # threads that need it at the same time compile it once
        return _made(source)


@cache
def _made(source: str) -> Any:
    """Compiled on first use. The code stands in no file, so it is cached as a function of this
    one, under a name that its text determines: another formula is another function."""
    name = f"residuals_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    namespace: dict[str, Any] = {"__name__": __name__, "sqrt": np.sqrt, "inf": np.inf}
    exec(compile(f"def {name}{source}", __file__, "exec"), namespace)
    return jit(namespace[name])
