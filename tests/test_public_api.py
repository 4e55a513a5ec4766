"""What is public: every name has a path, a docstring and types."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

import piforest

# Parameters and results that may be anything, and why.
MAY_BE_ANY = {
    "xp": "the namespace of a formula, or symbols that trace it",
    "changes": "options of the maker of a scene",
    "fit_params": "what a subclass's fit takes",
    "options": "what the class behind a name takes",
    "fit_resample": "X_kept, or a pair with y_kept, of the types that came in",
    "HasShape.shape": "the lengths of a Dask collection may be unknown",
    "rows": "rows in the layout of the metric",
    "pool": "rows in the layout of the metric",
    "subset": "rows in the layout of the metric, or points",
    "index": "what the metric makes of the pool",
    "rows_of": "rows in any layout",
    "rows_to_score": "rows in any layout",
    "formula": "arrays of any namespace",
    "pairwise": "rows in the layout of the metric",
}


def members():
    for name in piforest.__all__:
        value = getattr(piforest, name)
        if isinstance(value, ModuleType):
            yield from ((f"{name}.{each}", getattr(value, each)) for each in value.__all__)
        else:
            yield name, value


def functions():
    """Public functions, and the public methods of public classes, once each."""
    seen = set()
    for name, value in members():
        callables = [(name, value)]
        if inspect.isclass(value):
            callables = [
                (f"{name}.{each}", getattr(member, "__func__", member))
                for each, member in inspect.getmembers(value)
                if not each.startswith("_") or each == "__init__"
            ]
        for path, function in callables:
            ours = getattr(function, "__module__", "") or ""
            public = inspect.isfunction(function) and ours.startswith("piforest")
            if public and id(function) not in seen:
                seen.add(id(function))
                yield path, function


FUNCTIONS = dict(functions())


def test_every_module_lists_its_public_names():
    values = [getattr(piforest, name) for name in piforest.__all__]
    modules = [value for value in values if isinstance(value, ModuleType)]
    assert len(modules) > 15
    for module in modules:
        assert module.__all__, module.__name__
        assert all(hasattr(module, name) for name in module.__all__)


def test_what_detectors_return_can_be_imported():
    paths = {name for name, _ in members()}
    assert {
        "structures.Structure", "explain.Explanation", "explain.Nearby", "models.ModelSet",
        "bands.Bands", "forest.PooledForest", "fitted.FittedForest", "findings.Findings",
        "protocols.Stream",
    } <= paths  # fmt: skip


@pytest.mark.parametrize("path", FUNCTIONS)
def test_a_public_signature_has_types_that_help(path):
    if any(path == each or path.endswith(f".{each}") for each in MAY_BE_ANY):
        return
    function = FUNCTIONS[path]
    for name, parameter in inspect.signature(function).parameters.items():
        if name in ("self", "cls") or name in MAY_BE_ANY:
            continue
        message = f"{path}({name}: {parameter.annotation})"
        assert parameter.annotation is not inspect.Parameter.empty, message
        assert parameter.annotation != "Any", message
