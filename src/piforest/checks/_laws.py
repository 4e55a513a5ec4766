"""How a check reports a law that does not hold."""

from __future__ import annotations

from typing import Any

import numpy as np


class BrokenLaw(AssertionError):
    """A law that a class breaks, in words."""


def require(holds: Any, law: str) -> None:
    if not np.all(holds):
        raise BrokenLaw(law)


def lawful(function: Any, *arguments: Any) -> Any:
    """What the package itself refuses is a broken law too; an unknown name is not one."""
    try:
        return function(*arguments)
    except ValueError as error:
        if isinstance(arguments[0], str):
            raise
        raise BrokenLaw(str(error)) from error
