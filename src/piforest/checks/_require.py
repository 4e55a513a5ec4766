"""How a check reports a requirement that is not met."""

from __future__ import annotations

from typing import Any

import numpy as np


class CheckError(AssertionError):
    """A requirement that a custom class does not meet; the message states it."""


def require(holds: Any, requirement: str) -> None:
    if not np.all(holds):
        raise CheckError(requirement)


def call_checked(function: Any, *arguments: Any) -> Any:
    """Call a function; its ValueError is a failed check, unless the name is unknown."""
    try:
        return function(*arguments)
    except ValueError as error:
        if isinstance(arguments[0], str):
            raise
        raise CheckError(str(error)) from error
