"""The lines of Python that repeat the fit of a detector."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields, is_dataclass
from typing import Any

# They change what is printed or how long it takes, not the result.
_NO_RESULT = ("verbose", "n_jobs")
# What `fit` gets of each row beside its coordinates, by the sampler.
_OF_ROWS = {"grouped": "groups", "weighted": "quality"}


def code_of(detector: Any, threshold: float) -> str:
    """Imports, the detector with the parameters that are not the default ones, and its fit to X."""
    arguments, named = [], set()
    usual = inspect.signature(type(detector).__init__).parameters
    given = detector.get_params(deep=False)
    for name, value in sorted(given.items(), key=lambda each: each[0] != "family"):
        if name in _NO_RESULT or _same(value, usual[name].default):
            continue
        text, uses = _value(value)
        named |= uses
        if name == "family" and _is_own(value):
            text = "family=family"
        arguments.append(text if name == "family" else f"{name}={text}")
    kind = type(detector).__name__
    more = _OF_ROWS.get(str(getattr(detector, "sampler", None)), "")
    fit = f"detector.fit(X{f', {more}={more}' if more else ''})"
    if detector.threshold_source_ == "given":
        fit += f".set_threshold({threshold!r})"
    # Functions of the user have no text that makes them again.
    own = "family" if arguments and arguments[0].startswith("family=") else ""
    needed = ", ".join(each for each in ("X", more, own) if each)
    return "\n".join([
        f"from {_home(detector)} import {kind}",
        *(f"from piforest.families import {name}" for name in sorted(named)),
        "",
        f"# Given: {needed}",
        f"detector = {kind}({', '.join(arguments)})",
        fit,
    ])  # fmt: skip


def _home(detector: Any) -> str:
    """The module that people import the class from."""
    import piforest

    kind = type(detector)
    return "piforest" if getattr(piforest, kind.__name__, None) is kind else kind.__module__


def _same(value: Any, usual: Any) -> bool:
    return type(value) is type(usual) and bool(value == usual)


def _value(value: Any) -> tuple[str, set[str]]:
    """A parameter as code, and the names of `piforest.families` that it uses."""
    if isinstance(value, (list, tuple)) and any(is_dataclass(each) for each in value):
        parts = [_value(each) for each in value]
        return f"[{', '.join(text for text, _ in parts)}]", set().union(
            *(used for _, used in parts)
        )
    if is_registered(value):
        given = "".join(f", {name}={each!r}" for name, each in changed_fields(value).items())
        return f"get_family({value.name!r}{given})", {"get_family"}
    return stable(repr(value)), set()


def _is_own(family: Any) -> bool:
    """Whether a family, or one of several, is neither a name nor one of piforest."""
    parts = family if isinstance(family, (list, tuple)) else [family]
    return not all(isinstance(each, str) or is_registered(each) for each in parts)


def is_registered(family: Any) -> bool:
    """Whether `get_family` makes this family from its name and its options."""
    from ..families import get_family, list_families

    name = getattr(family, "name", None)
    if not is_dataclass(family) or name not in list_families():
        return False
    return type(get_family(str(name))).__name__ == type(family).__name__


def changed_fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass that are not the default ones."""
    return {
        each.name: getattr(value, each.name)
        for each in (fields(value) if is_dataclass(value) else ())
        if getattr(value, each.name) != each.default
    }


def stable(text: str) -> str:
    """The text without memory addresses, which differ from run to run."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)
