"""Deprecation: a warning with a date and a way out, and a list that a test checks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class Deprecation(NamedTuple):
    """One name that will be removed."""

    name: str
    removed_in: str
    """the version that no longer has it"""
    instead: str
    """what to use instead"""

    def text(self) -> str:
        """The text of the warning."""
        return f"{self.name} will be removed in piforest {self.removed_in}; {self.instead}."


DEPRECATIONS: list[Deprecation] = []
"""all that are in force"""


def deprecated(*, removed_in: str, instead: str) -> Callable[[Function], Function]:
    """Mark a function or method as deprecated: each call issues a FutureWarning.

    removed_in: the version that no longer has it, such as "0.3.0". instead: the way out, such as
    "use anomaly_score".
    """

    def marked(function: Function) -> Function:
        found = Deprecation(function.__qualname__, removed_in, instead)
        DEPRECATIONS.append(found)

        @wraps(function)
        def warned(*args: Any, **kwargs: Any) -> Any:
            warnings.warn(found.text(), FutureWarning, stacklevel=2)
            return function(*args, **kwargs)

        return warned  # type: ignore[return-value]

    return marked
