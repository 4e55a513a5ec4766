"""Runs the cases; the results are stored in one file, from which an interrupted run continues."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from ...io.atomic import atomic_write
from ..run import with_progress
from .cases import Case, Values, source_digest, third
from .parts import PARTS

Row = dict[str, Any]
Log = Callable[[str], None]
_SAVE_EVERY = 10.0  # seconds


def evaluate(
    path: Path,
    *,
    parts: Sequence[str] | None = None,
    quick: bool = False,
    runs: int | None = None,
    seed: int = 0,
    n_jobs: int = -1,
    log: Log = print,
) -> list[Row]:
    """The rows of all finished cases, old and new; they are stored in the file `path`.

    parts: all by default. quick: one run of a third of the cells. runs: at most this many of each
    cell.
    """
    parts = tuple(PARTS) if parts is None else parts
    cases = [case for part in parts for case in selected(part, quick, runs)]
    for part in parts:
        if not any(case.part == part for case in cases):
            log(f"{part}: no data. Set PIFOREST_DATA to the folder of the data.")
    rows = {key_of(row): row for row in _stored(path, seed, log)}
    todo = [case for case in cases if case.key not in rows]
    log(f"{len(cases)} cases, {len(cases) - len(todo)} of them stored in {path}.")
    finished = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_row)(case, seed) for case in todo
    )
    saved = time.monotonic()
    try:
        for row in with_progress(finished, len(todo), "cases"):
            rows[key_of(row)] = row
            if time.monotonic() - saved > _SAVE_EVERY:
                _store(path, seed, rows)
                saved = time.monotonic()
    finally:
        _store(path, seed, rows)
    return list(rows.values())


def selected(part: str, quick: bool, runs: int | None = None) -> list[Case]:
    """The cases of a part whose data are there; quick: one run of a third of the cells; runs: at
    most this many of each cell."""
    cases = [case for case in PARTS[part].cases() if runs is None or case.run < runs]
    return third(cases) if quick else cases


def key_of(row: Row) -> str:
    return f"{row['part']} | {row['cell']} | {row['run']}"


def read_rows(path: Path) -> list[Row]:
    """The rows of a file of results."""
    try:
        rows: list[Row] = json.loads(path.read_text())["rows"]
        for row in rows:
            assert isinstance(row["values"], dict)
            key_of(row)
    except (ValueError, KeyError, TypeError, AssertionError) as error:
        raise ValueError(f"{path} is not a file of results of reproduce --real: {error}") from error
    return rows


def _row(case: Case, seed: int) -> Row:
    values: Values = case.measure(case.random_state(seed))
    row = {"part": case.part, "group": case.group, "cell": case.cell, "run": case.run}
    # Five digits are enough, and keep the file small.
    return {**row, "values": {name: float(f"{value:.5g}") for name, value in values.items()}}


def _stored(path: Path, seed: int, log: Log) -> list[Row]:
    """Rows of the same code and the same seed."""
    if not path.is_file():
        return []
    rows = read_rows(path)
    head = json.loads(path.read_text())
    if (head.get("code"), head.get("seed")) != (source_digest(), seed):
        log(f"{path} has results of other code or of another seed; all is computed again.")
        return []
    return rows


def _store(path: Path, seed: int, rows: dict[str, Row]) -> None:
    order = {part: at for at, part in enumerate(PARTS)}
    each = sorted(rows.values(), key=lambda r: (order.get(r["part"], len(order)), key_of(r)))
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in each)
    head = json.dumps({"code": source_digest(), "seed": seed})[:-1]
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(f'{head}, "rows": [\n{lines}\n]}}\n'.encode())
