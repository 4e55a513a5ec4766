"""Registries: names to classes, which are imported on first use."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from ._validation import unknown_name


def overrides_consistently(kind: type, extra: str, base: str) -> bool:
    """Whether the member `extra` of a class agrees with its member `base`: not if a subclass
    overrides `base` alone."""
    owner = {}
    for each in reversed(kind.__mro__):
        owner.update({name: each for name in (extra, base) if name in vars(each)})
    return {extra, base} <= set(owner) and issubclass(owner[extra], owner[base])


@dataclass(frozen=True)
class Registry:
    """The classes of one kind by name, each as "package.module:Class"."""

    kind: str
    entries: Mapping[str, str]

    def names(self) -> list[str]:
        return sorted(self.entries)

    def name_of(self, value: Any) -> str | None:
        """The name that the class of an object is registered under; None if it is not."""
        kind = type(value)
        path = f"{kind.__module__}:{kind.__qualname__}"
        return next((name for name, entry in self.entries.items() if entry == path), None)

    def get(self, name: str, **options: Any) -> Any:
        if not isinstance(name, str) or name not in self.entries:
            raise unknown_name(self.kind, name, self.names())
        module, attribute = self.entries[name].split(":")
        kind = getattr(importlib.import_module(module), attribute)
        known = [field.name for field in fields(kind) if field.init] if is_dataclass(kind) else []
        for option in options:
            if is_dataclass(kind) and option not in known:
                listed = ", ".join(repr(each) for each in known) or "none"
                raise ValueError(
                    f"{self.kind} {name!r} has no option {option!r}; its options: {listed}."
                )
        return kind(**options)
