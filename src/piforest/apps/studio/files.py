"""Files for download, made on the first request. Runs in a helper.

The command of the job runs again with one more output and with its fitted detector, so that the
files are those that the command writes.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...io.tables import Table, read_table, write_table
from ..server.guard import Refused
from .commands import FAMILY_FILE, MODEL, with_threshold
from .explaining import load_model
from .results import ALL_SCORES
from .running import RecordingOutput, execute

# The option that writes a file, by its name.
_TABLES = ("csv", "parquet", "xlsx", "jsonl", "ply", "pcd", "las", "laz")
_FLAGS = {
    **{f"rows.{suffix}": "--out" for suffix in _TABLES},
    "report.html": "--report", "surfaces.json": "--surfaces", MODEL: "--model",
    "picture.png": "--plot", "picture.svg": "--plot",
}  # fmt: skip
# Files that commands in windows, and of many pairs, write themselves.
_WRITTEN = frozenset({
    *_FLAGS, "runs.csv", "defects.csv", "scores.npy", "pairs.csv", "filtered.db",
    "filtered.sqlite", "filtered.h5", "filtered.hdf5",
}) - {MODEL}  # fmt: skip
_WINDOWS = ("surface", "series")
_FORMULA = re.compile(r"\s*[=+\-@]")
_NUMBER = re.compile(r"\s*[+-]?[\d.,]*\d[.,]?([eE][+-]?\d+)?\s*")


def make(folder: str, name: str, threshold: float | None, code: bool) -> str:
    """The path of a file of a job, which is written if it does not exist."""
    job = Path(folder)
    place = job / "files" / ("own" if threshold is None else threshold.hex())
    target = place / name
    if target.exists():
        return str(target)
    written = name in _WRITTEN and (job / "run" / name).is_file()
    if written and threshold is None:
        return _copied(job / "run" / name, target)
    if not written and name not in _FLAGS:
        raise Refused(404, f"there is no file {name!r}; files: {', '.join(_FLAGS)}.")
    words = json.loads((job / "job.json").read_text())["argv"]
    kept = _plain(words)
    if written:
        kept += [each for each in words if each.endswith(f"={name}")]
    else:
        kept += [f"{_flag(words[0], name)}={name}"]
    _prepare(place, job / "run")
    _, error = _run_again(job, with_threshold([*kept, "--force"], threshold), place, code)
    if error is not None:
        raise Refused(422, error)
    if name.endswith(".csv"):
        escape_formulas(target)
    return str(target)


def found_at(folder: str, threshold: float) -> dict[str, Any]:
    """The defects of a map, or the stretches of a series, at another threshold."""
    from .result_windows import map_findings, series_findings

    job = Path(folder)
    words = json.loads((job / "job.json").read_text())["argv"]
    if words[0] not in _WINDOWS:
        raise Refused(422, "maps and series have defects and stretches; this result is of neither.")
    recorded, error = _run_again(job, with_threshold(_plain(words), threshold), job / "run", False)
    if recorded is None or error is not None:
        raise Refused(422, error or "the command gave no result.")
    found = recorded.found
    return map_findings(found["surface"]) if "surface" in found else series_findings(found)


def _plain(words: list[str]) -> list[str]:
    """The command without its outputs; of `score`, the model is an input."""
    outputs = ("--out=", "--table=", "--scores=", "--plot=", "--model=")
    return [
        each for each in words if not each.startswith(outputs[: 4 if words[0] == "score" else 5])
    ]


def _copied(source: Path, target: Path) -> str:
    """A file that the command has written."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    if source.suffix == ".csv":
        escape_formulas(target)
    return str(target)


def _flag(command: str, name: str) -> str:
    flag = _FLAGS[name]
    known = {"detect": ("--out", "--report", "--model", "--plot"),
             "matches": ("--out", "--report", "--model", "--plot"),
             "cloud": ("--out", "--report", "--model", "--plot", "--surfaces"),
             "score": ("--out",)}.get(command, ())  # fmt: skip
    if flag not in known:
        raise Refused(404, f"a result of `piforest {command}` has no {name}.")
    return flag


def _prepare(place: Path, run: Path) -> None:
    """A folder with links to the inputs, in which the command runs again."""
    place.mkdir(parents=True, exist_ok=True)
    for each in run.iterdir():
        link = place / each.name
        if (each.is_symlink() or each.name == FAMILY_FILE) and not link.exists():
            link.symlink_to(each.resolve())


def _run_again(
    job: Path, words: list[str], place: Path, code: bool
) -> tuple[RecordingOutput | None, str | None]:
    """Run the command with what the job has found; what it kept, and the error or None."""
    if words[0] == "score":
        return execute(words, place)
    if not (job / ALL_SCORES).exists():
        raise Refused(422, "this result has the threshold of its run; run again for another.")
    scores = np.load(job / ALL_SCORES)
    if words[0] in _WINDOWS or "--local" in words:
        return execute(words, place, lambda args: setattr(args, "known_scores", scores))
    detector = load_model(str(job), code)
    chosen = (detector.threshold_, detector.threshold_source_)

    def fitted(args: argparse.Namespace) -> None:
        args.fitted, args.known_scores = detector, scores
        args.known_seconds = json.loads((job / "result.json").read_text())["summary"]["seconds"]

    try:
        return execute(words, place, fitted)
    finally:  # it stays in memory for the next file
        detector.threshold_, detector.threshold_source_ = chosen


def escape_formulas(path: Path) -> None:
    """Put an apostrophe before text that a spreadsheet would run as a formula; numbers stay."""
    table = read_table(path)
    columns = {}
    for name, values in table.columns.items():
        texts = values.dtype.kind in "OUS"
        columns[harmless(name)] = _harmless(values) if texts else values
    if list(columns) == table.names and all(
        columns[name] is table.columns[name] for name in columns
    ):
        return
    write_table(path, _with(table, columns))


def _with(table: Table, columns: dict[str, Any]) -> Table:
    return replace(table, columns=columns)


def _harmless(values: Any) -> Any:
    """The same array if nothing in it looks like a formula."""
    cells = values.tolist()
    found = [harmless(cell) if isinstance(cell, str) else cell for cell in cells]
    if found == cells:
        return values
    changed = np.empty(len(cells), object)
    changed[:] = found
    return changed


def harmless(text: str) -> str:
    """As in the downloads of the report."""
    is_formula = _FORMULA.match(text) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text
