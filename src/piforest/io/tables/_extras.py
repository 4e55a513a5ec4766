"""Optional packages."""

from __future__ import annotations

import importlib
from typing import Any


def needed(module: str, what: str, extra: str) -> Any:
    """An optional module, or an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(f"{what} need {package}: pip install 'piforest[{extra}]'") from error
