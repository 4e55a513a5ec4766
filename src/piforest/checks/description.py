"""Checks of the descriptions of models."""

from __future__ import annotations

import json
from typing import Any

from ..protocols import Floats, ModelFamily
from ..structures.description import column_names, describe, extent_of
from ._require import CheckError, require


def check_description(family: ModelFamily, X: Floats, theta: Floats, shaken: Floats) -> None:
    """Check `describe` and `covered_part`: plain finite values, one line of text, of the model that
    is described. shaken: samples of other models than theta."""
    names = column_names(family, X.shape[1])
    found = [_called("describe", describe, family, params, names, 8) for params in theta[:5]]
    for each in found:
        require(
            isinstance(each.parameters, dict) and bool(each.parameters),
            f"describe must give a dict of named parameters, got {each.parameters!r}.",
        )
        _require_plain("describe", each.parameters)
        require(
            isinstance(each.equation, str) and bool(each.equation) and "\n" not in each.equation,
            f"describe must give an equation of one line of text, got {each.equation!r}.",
        )
    params, valid = family.solve(shaken)
    others = [describe(family, each, names, 8).equation for each in params[valid][:5]]
    require(
        len(others) == 0 or len({found[0].equation, *others}) > 1,
        "describe must depend on the parameters: it gives one equation for different models.",
    )
    part = _called("covered_part", extent_of, family, theta[0], X, names)
    _require_plain("covered_part", part)


def _called(member: str, function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        raise CheckError(
            f"{member} must not raise an error for a valid model; it raised "
            f"{type(error).__name__}: {error}"
        ) from error


def _require_plain(member: str, value: Any) -> None:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise CheckError(
            f"{member} must give numbers, text, and lists and dicts of them, all finite, as JSON "
            f"holds them; {error}."
        ) from error
