"""Pages of the API reference, written from `piforest.__all__` before each build.

Public is what `piforest.__all__` and the `__all__` of the modules in it name. Each module gets a
page with a table of its classes and functions, which have pages of their own, and its types and
constants with their definitions. `docs/api/index.md` says in which order the modules stand. A page
without an example in its docstring gets that of `docs/api/examples.md`.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import piforest

API = Path(__file__).parent.parent / "api"
GENERATED = API / "generated"


def modules() -> dict[str, list[str]]:
    """Public modules and their names; "piforest" has the names that are no modules."""
    found: dict[str, list[str]] = {"piforest": []}
    for name in piforest.__all__:
        value = getattr(piforest, name)
        if isinstance(value, ModuleType):
            found[f"piforest.{name}"] = list(value.__all__)
        else:
            found["piforest"].append(name)
    return found


def pages() -> Iterator[tuple[str, str]]:
    """The file name and the text of the page of each module."""
    for module, names in modules().items():
        home = importlib.import_module(module)
        plain = [name for name in names if not has_page(getattr(home, name))]
        listed = "\n".join(f"   {name}" for name in names if name not in plain)
        title = "Detectors and functions" if module == "piforest" else module
        about = [] if module == "piforest" else [f".. automodule:: {module}\n   :no-members:\n"]
        parts = [
            f"{title}\n{'=' * len(title)}\n",
            *about,
            f".. currentmodule:: {module}\n",
            f".. autosummary::\n   :toctree: .\n   :nosignatures:\n\n{listed}\n",
        ]
        if plain:
            parts += ["Types and constants", "-------------------", ""]
            parts += [f".. py:data:: {each}\n   :value: {value(home, each)}\n" for each in plain]
        yield f"{module}.rst", "\n".join(parts)


def names_with_pages() -> Iterator[tuple[str, str]]:
    """Modules, and the names in them that have pages of their own."""
    for module, names in modules().items():
        home = importlib.import_module(module)
        yield from ((module, name) for name in names if has_page(getattr(home, name)))


def has_page(member: Any) -> bool:
    return inspect.isclass(member) or inspect.isfunction(member)


def value(module: ModuleType, name: str) -> str:
    """A constant, or the definition of a type as it is written where it is defined."""
    if isinstance(getattr(module, name), str):
        return repr(getattr(module, name))
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ImportFrom) and any(each.name == name for each in node.names):
            above = "." * node.level + (node.module or "")
            package = module.__name__ if hasattr(module, "__path__") else module.__package__
            home = importlib.import_module(above, package)
            ours = home.__name__.startswith("piforest")
            return value(home, name) if ours else f"{home.__name__}.{name}"
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(each, ast.Name) and each.id == name for each in targets):
            return ast.unparse(node.value)
    raise LookupError(f"{module.__name__} does not define {name}")


def write_pages(app: Any, config: Any) -> None:
    """Write the pages that changed, since Sphinx builds anew what is new, and drop old names."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    texts = dict(pages())
    for name, text in texts.items():
        path = GENERATED / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    named = {f"{module}.{name}.rst" for module, name in names_with_pages()}
    for path in GENERATED.iterdir():
        if path.name not in named and path.name not in texts:
            path.unlink()


def examples() -> dict[str, list[str]]:
    """The examples of examples.md, by the names of their classes, as lines."""
    page = (API / "examples.md").read_text()
    found = re.findall(r"^## (\S+)\n+```python\n(.*?)\n*```", page, re.DOTALL | re.MULTILINE)
    return {name: lines.splitlines() for name, lines in found}


def add_example(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Append an example to a class without one. Before numpydoc, which arranges the sections."""
    if what in ("class", "exception") and not any(line.strip().startswith(">>>") for line in lines):
        lines += ["", "Examples", "--------", *examples().get(name, [])]


def skip_inherited(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> Any:
    """Members that a class has from another package, such as scikit-learn, are documented there."""
    function = inspect.unwrap(getattr(member, "fget", member) or member)
    module = getattr(getattr(function, "__func__", function), "__module__", "piforest")
    foreign = inspect.isroutine(member) and not (module or "").startswith("piforest")
    return True if foreign else None


def setup(app: Any) -> dict[str, bool]:
    # Before Sphinx looks which pages there are, of which autosummary makes those of the names.
    app.connect("config-inited", write_pages)
    app.connect("autodoc-skip-member", skip_inherited)
    app.connect("autodoc-process-docstring", add_example, priority=100)
    return {"parallel_read_safe": True}
