"""Put a mutant into modules that are imported already."""

from __future__ import annotations

import importlib
import sys
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

from .mutations import Mutant


class NotApplied(Exception):
    """A mutant that this tool cannot apply, which says nothing about the tests."""


def apply(mutant: Mutant, source: Path) -> None:
    """Replace the code of a function, or the constants of a module.

    Compiled functions that use it, directly or not, are compiled again, and not cached.
    """
    name = ".".join(mutant.path.relative_to(source).with_suffix("").parts)
    module = importlib.import_module(name)
    code = compile(mutant.tree(), str(mutant.path), "exec", dont_inherit=True)
    if "," in mutant.place or _is_constant(module, mutant.place):
        _set_constants(module, mutant.place.split(","), code)
        return
    try:
        changed = _function(module, mutant.place)
        changed.__code__ = _code(code, mutant.place)
    except (LookupError, StopIteration, ValueError) as error:
        raise NotApplied(mutant.name) from error
    _compile_again(changed)


def _is_constant(module: ModuleType, place: str) -> bool:
    return "." not in place and not hasattr(_unwrapped(vars(module)[place]), "__code__")


def _set_constants(module: ModuleType, names: list[str], code: CodeType) -> None:
    """Also where other modules imported them."""
    fresh = ModuleType(module.__name__)
    fresh.__file__, fresh.__package__ = module.__file__, module.__package__
    # Dataclasses look their module up by its name.
    sys.modules[module.__name__] = fresh
    try:
        exec(code, vars(fresh))
    finally:
        sys.modules[module.__name__] = module
    for name in names:
        old, new = vars(module)[name], vars(fresh)[name]
        for other in _modules():
            if vars(other).get(name) is old:
                setattr(other, name, new)
    for dispatcher in _dispatchers():
        if set(names) & set(dispatcher.py_func.__code__.co_names):
            _compile_again(dispatcher.py_func)


def _function(module: ModuleType, place: str) -> FunctionType:
    value: Any = module
    for part in place.split("."):
        value = vars(value)[part]
    return _unwrapped(value)


def _unwrapped(value: Any) -> Any:
    """The function in a property, a method, a cache or a compiled function."""
    if isinstance(value, property):
        value = value.fget
    elif isinstance(value, cached_property):
        value = value.func
    elif isinstance(value, Dispatcher):
        value = value.py_func
    value = getattr(value, "__func__", value)
    while hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    return value


def _code(code: CodeType, place: str) -> CodeType:
    for part in place.split("."):
        inner = [each for each in code.co_consts if isinstance(each, CodeType)]
        code = next(each for each in inner if each.co_name == part)
    return code


def _modules() -> list[ModuleType]:
    return [module for name, module in sys.modules.items() if name.split(".")[0] == "piforest"]


def _dispatchers() -> list[Dispatcher]:
    found = {
        id(value): value
        for module in _modules()
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
    }
    return list(found.values())


def _compile_again(changed: FunctionType) -> None:
    """Those whose code names a changed one, until no more are found."""
    dispatchers = _dispatchers()
    affected = {id(each) for each in dispatchers if each.py_func is changed}
    while True:
        more = {
            id(each)
            for each in dispatchers
            if id(each) not in affected and affected & _uses(each.py_func)
        }
        if not more:
            break
        affected |= more
    for each in dispatchers:
        if id(each) in affected:
            if each.overloads:
                raise NotApplied(f"{each} is compiled already")
            each._cache = NullCache()


def _uses(function: FunctionType) -> set[int]:
    names, scope = function.__code__.co_names, function.__globals__
    return {id(scope[name]) for name in names if name in scope}
