"""Check the docstrings of everything public against numpydoc.

Public is what `piforest.__all__` and the `__all__` of the modules in it name, with the public
methods and properties of classes. Run by `make lint`; prints one line for each problem.
"""

from __future__ import annotations

import inspect
import pydoc
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from numpydoc.validate import validate
from sklearn.base import BaseEstimator

import piforest

# Functions and estimators: no docstring; parameters that are missing, unknown or in another
# order; no Returns or Yields; no example.
FULL = {"GL08", "PR01", "PR02", "PR03", "RT01", "YD01", "EX01"}
# Values that are returned, protocols and errors: no docstring. Their fields are documented where
# they are declared.
PLAIN = {"GL08"}


def public() -> Iterator[tuple[str, Any]]:
    """Names and objects, each once."""
    seen: set[int] = set()
    for name in piforest.__all__:
        value = getattr(piforest, name)
        members = [(name, value)]
        if isinstance(value, ModuleType):
            members = [(f"{name}.{each}", getattr(value, each)) for each in value.__all__]
        for path, member in members:
            documented = inspect.isclass(member) or inspect.isfunction(member)
            if documented and id(member) not in seen:
                seen.add(id(member))
                yield f"piforest.{path}", member


def problems() -> Iterator[str]:
    """Lines to print."""
    for path, value in public():
        place = f"{value.__module__}.{value.__qualname__}"
        called = inspect.isfunction(value) or issubclass(value, BaseEstimator)
        codes = FULL if called else PLAIN
        yield from _found(path, place, codes)
        for name in _methods(value) if inspect.isclass(value) else []:
            yield from _found(f"{path}.{name}", f"{place}.{name}", codes - {"EX01"})


def _methods(kind: type) -> list[str]:
    """Those that a class of this package defines."""
    names = []
    for name, member in inspect.getmembers(kind):
        function = inspect.unwrap(getattr(member, "fget", member) or member)
        function = getattr(function, "__func__", function)
        module = getattr(function, "__module__", "") or ""
        if not name.startswith("_") and inspect.isfunction(function):
            names += [name] if module.startswith("piforest") else []
    return names


def _found(path: str, place: str, codes: set[str]) -> Iterator[str]:
    found = validate(place)["errors"]
    for code, text in found:
        # A generator has Yields in place of Returns.
        yields = code == "RT01" and "Yields\n" in (pydoc.locate(place).__doc__ or "")
        if code in codes and not yields:
            yield f"{path}: {code} {text}"


if __name__ == "__main__":
    lines = list(problems())
    print("\n".join(lines) or "docstrings: all public names are documented")
    sys.exit(bool(lines))
