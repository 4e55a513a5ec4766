"""Matches in a table: four columns, and any others beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..cameras import Camera
from ..tables import Table, check_columns, read_table, write_table
from ..tables.table import check_orientation
from . import MATCH, UNNAMED, Pair, PairMatches, Verdict


def open_file(
    path: Path, columns: Sequence[str] | None = None, array: str | None = None
) -> MatchTable:
    return MatchTable(path, named_matches(read_table(path, array=array), columns))


class MatchTable:
    """A table of the matches of one pair."""

    def __init__(self, path: Path, table: Table) -> None:
        self.path, self.table = path, table

    def pairs(self) -> list[Pair]:
        return [UNNAMED]

    def read(self, pair: Pair) -> PairMatches:
        self.table.check_complete(self.table.points, "remove such rows, or fill them")
        return PairMatches(self.table.numbers(self.table.points))

    def camera(self, image: str) -> Camera | None:
        return None

    def check_writable(self, out: Path) -> None:
        check_columns(out, self.table)

    def write(self, out: Path, verdicts: Mapping[Pair, Verdict]) -> None:
        """The rows that are kept."""
        (verdict,) = verdicts.values()
        columns = {name: each[verdict.kept] for name, each in self.table.columns.items()}
        write_table(out, replace(self.table, columns=columns))


def named_matches(table: Table, columns: Sequence[str] | None = None) -> Table:
    """The table with its columns of points: the named ones, x1, y1, x2, y2, or without names the
    first four."""
    if columns is not None:
        table.check_names(columns)
        if len(columns) != 4:
            raise ValueError(
                f"matches are four columns x1, y1, x2, y2, got {len(columns)}: "
                f"{', '.join(columns)}."
            )
        return replace(table, points=tuple(columns))
    check_orientation(table)
    if set(MATCH) <= set(table.names):
        return replace(table, points=MATCH)
    if table.names[:4] == [f"x{k}" for k in range(4)]:
        names = [*MATCH, *table.names[4:]]
        return replace(table, columns=dict(zip(names, table.columns.values())), points=MATCH)
    raise ValueError(
        f"{table.source} must have the columns x1, y1, x2, y2; its columns: "
        f"{', '.join(table.names)}. Name others with --columns."
    )


def quality_of(table: Table, name: str) -> np.ndarray:  # type: ignore[type-arg]
    """(n,) a column as quality."""
    table.check_complete([name], "fill such rows, or omit --quality")
    return table.numbers([name])[:, 0]
