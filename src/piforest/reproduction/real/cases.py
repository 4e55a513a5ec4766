"""A case: one fit on one scene or file, and what is measured on it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..._random import Stream

Values = dict[str, float]

# Folders of the package that no measured value depends on.
_NOT_MEASURED = ("apps", "report", "plots", "reproduction")
_PRESENTATION = ("page.py", "parts.py", "pictures.py", "reproduce.py", "summary.py")


@dataclass(frozen=True)
class Case:
    """One run of one cell of the table."""

    part: str
    group: str
    """cells of one group share a row of the page"""
    cell: str
    run: int
    measure: Callable[[int], Values]
    """random state -> measured values"""
    slow: bool = False
    """left out of quick runs"""

    @property
    def key(self) -> str:
        return f"{self.part} | {self.cell} | {self.run}"

    def random_state(self, seed: int) -> int:
        return int(Stream(seed).child("real", self.part, self.cell, self.run).key % 2**31)


def third(cases: Sequence[Case]) -> list[Case]:
    """The first run of a third of the cells that are not slow, and of at least six; which ones
    does not depend on the order of the cells."""
    first = [case for case in cases if case.run == 0 and not case.slow]
    first.sort(key=lambda case: Stream(0).child("third", case.part, case.cell).key)
    chosen = {case.key for case in first[: max(6, -(-len(first) // 3))]}
    return [case for case in cases if case.key in chosen]


@cache
def source_digest() -> str:
    """A digest of the code that the values depend on: results of other code are not reused."""
    root = Path(__file__).parents[2]
    own = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root).parts
        measured = own in path.parents and path.name not in _PRESENTATION
        if inside[0] not in _NOT_MEASURED or measured:
            digest.update("/".join(inside).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
