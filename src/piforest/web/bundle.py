"""ES modules as one module, for pages that load nothing."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

STATIC = Path(__file__).parent / "static"
"""The folder of the shared modules and of their style."""

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w-]+\.js)";\n', re.MULTILINE)
# Comments and indentation, which no string of the modules depends on.
_SPACE = re.compile(r"^[ ]*//.*\n|^[ ]+|^\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function |const )", re.MULTILINE)


@cache
def static(path: Path) -> str:
    """The text of a file, read once."""
    return path.read_text("utf-8")


@cache
def bundled(entry: Path) -> str:
    """A module and all that it imports, as one text without imports.

    Each module is written once, after those that it imports, without comments and indentation.
    All names share one scope, so no two modules may have the same name at their top.

    Parameters
    ----------
    entry : Path
        The module to start from.

    Returns
    -------
    str
        The text of the modules in the order of their dependencies.
    """
    texts = map(static, modules(entry))
    return "".join(_SPACE.sub("", _EXPORT.sub("", _IMPORT.sub("", text))) for text in texts)


def modules(entry: Path) -> list[Path]:
    """The module and all that it imports, each after those that it imports.

    Modules import names from "./other.js" beside them or in the shared folder.
    """
    done: dict[str, Path] = {}
    _add(entry, done, ())
    return list(done.values())


def _add(path: Path, done: dict[str, Path], above: tuple[str, ...]) -> None:
    if path.name in above:
        raise ValueError(f"modules import each other: {' -> '.join((*above, path.name))}.")
    for name in _IMPORT.findall(static(path)):
        if name not in done:
            beside = path.with_name(name)
            _add(beside if beside.exists() else STATIC / name, done, (*above, path.name))
    done[path.name] = path
