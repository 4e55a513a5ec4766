"""`--functions FILE`: a family of two functions in a Python file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

# What a file may set beside the functions `fit` and `residuals`.
_SETTINGS = ("sample_size", "n_features", "name", "codimension", "exact", "batched")


def family_of_file(path: Path) -> Any:
    """The family that a Python file defines; its code runs."""
    from ...families import from_functions

    if not path.exists():
        raise FileNotFoundError(f"--functions: there is no file {path}.")
    names: dict[str, Any] = {"__name__": "family", "__file__": str(path)}
    try:
        exec(compile(path.read_text(), str(path), "exec"), names)
    except Exception as error:
        raise ValueError(f"--functions: {path}: {type(error).__name__}: {error}") from error
    for name in ("fit", "residuals", "sample_size"):
        if name not in names:
            raise ValueError(
                f"--functions: {path} must define fit(points), residuals(X, params) and "
                f"sample_size; it has no {name}."
            )
    given = {name: names[name] for name in _SETTINGS if name in names}
    return from_functions(names["fit"], names["residuals"], **{"name": path.stem, **given})
