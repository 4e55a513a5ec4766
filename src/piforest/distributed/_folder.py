"""Folders of Parquet files, scored file by file: what is done stays done."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..files import Table, parquet, table_writer, with_scores
from ..protocols import Floats
from ._mapping import TASK_ROWS
from ._model import Parcel, unpacked

_STAMP = b"piforest"


class Counts(NamedTuple):
    """Rows of files."""

    rows: int
    skipped: int
    """not scored, since they lack a number"""
    anomalies: int


@dataclass
class Report:
    """What became of the files of a folder, by their names in it."""

    files: int
    done: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    """finished by an earlier run"""
    failed: dict[str, str] = field(default_factory=dict)
    """and why"""
    counts: Counts = field(default_factory=lambda: Counts(0, 0, 0))
    """of the files that were done now"""

    @property
    def seen(self) -> int:
        return len(self.done) + len(self.skipped) + len(self.failed)


def parquet_files(folder: Path) -> list[str]:
    """The Parquet files of a folder and of those in it, by their names in it, sorted; hidden
    ones and those that begin with _ are others' business."""
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no folder of Parquet files.")
    names = sorted(path.relative_to(folder) for path in folder.rglob("*.parquet"))
    shown = [str(name) for name in names if not any(part[0] in "._" for part in name.parts)]
    if not shown:
        raise FileNotFoundError(f"{folder} has no Parquet files: none ends in .parquet.")
    return shown


def score_folder(
    detector: Any,
    source: Path,
    out: Path,
    client: Any,
    names: Sequence[str],
    *,
    model: str,
    drop_missing: bool = False,
    force: bool = False,
    watch: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Score every Parquet file of a folder on a cluster that sees both folders.

    Each file of `source` becomes one of the same name in `out`, with the same columns and those
    of `files.with_scores`. It appears whole or not at all; one that is there already from the
    same data, model and settings is left as it is. A file that cannot be read or scored is
    reported, and the others are done.

    names: the columns to score; model: what tells this model from others, in the files written;
    drop_missing: rows that lack a number stay unscored, else their file fails; watch: called
    with the report after each file.
    """
    files = parquet_files(source)
    if source.resolve() in (out.resolve(), *out.resolve().parents):
        raise ValueError(f"the output folder must lie outside of {source}, got {out}.")
    out.mkdir(parents=True, exist_ok=True)
    threshold = -float(detector.offset_)
    job = _Job(source, out, list(names), model, threshold, drop_missing, force)
    return _Run(detector, job, client, files, watch).all()


@dataclass(frozen=True)
class _Job:
    """What is the same for all files."""

    source: Path
    out: Path
    names: list[str]
    model: str
    threshold: float
    drop_missing: bool
    force: bool

    def stamp(self, path: Path) -> dict[str, Any]:
        """What the output of a file is made from."""
        state = path.stat()
        return {
            "model": self.model,
            "columns": self.names,
            "threshold": self.threshold,
            "drop_missing": self.drop_missing,
            "source": [state.st_size, state.st_mtime_ns],
        }


class _Run:
    """Files on their way through a cluster."""

    def __init__(
        self,
        detector: Any,
        job: _Job,
        client: Any,
        files: list[str],
        watch: Callable[[Report], None],
    ) -> None:
        from distributed import as_completed

        self.job, self.client, self.watch = job, client, watch
        self.report, self.waiting = Report(len(files)), iter(files)
        # As a task, so that it can be made again where the workers that hold it die.
        self.parcel = client.compute(Parcel(detector, named=False).delayed())
        self.running = as_completed()  # type: ignore[no-untyped-call]
        self.names: dict[str, str] = {}

    def all(self) -> Report:
        # Enough to keep all threads busy, and no more, however many files there are.
        self._start(2 * sum(self.client.nthreads().values()) + 2)
        for future in self.running:
            self._end(self.names.pop(future.key), future)
            self._start(1)
        return self.report

    def _start(self, most: int) -> None:
        """Give the cluster so many of the files that wait."""
        started = 0
        while started < most and (name := next(self.waiting, None)) is not None:
            try:
                future = self._submit(name)
            except Exception as error:
                self.report.failed[name] = _reason(error)
                self.watch(self.report)
                continue
            if future is None:
                self.report.skipped.append(name)
                self.watch(self.report)
                continue
            self.names[future.key] = name
            self.running.add(future)  # type: ignore[no-untyped-call]
            started += 1

    def _submit(self, name: str) -> Any:
        """Tasks for one file; None if it was finished by an earlier run."""
        job, path, target = self.job, self.job.source / name, self.job.out / name
        sizes, stamp = parquet.row_groups(path), job.stamp(path)
        if target.exists() and not job.force:
            _check_finished(target, stamp)
            return None
        target.parent.mkdir(parents=True, exist_ok=True)
        parts = [(at, k) for at, size in enumerate(sizes) for k in range(0, size, TASK_ROWS)]
        task = partial(score_rows, path, job.names, job.drop_missing, TASK_ROWS)
        scores = [self.client.submit(task, *part, self.parcel, pure=False) for part in parts]
        # What is begun is finished first.
        return self.client.submit(
            write_scores, path, target, stamp, job.threshold, scores, pure=False, priority=1
        )

    def _end(self, name: str, future: Any) -> None:
        if future.status == "finished":
            counts = zip(self.report.counts, future.result())
            self.report.counts = Counts(*(before + more for before, more in counts))
            self.report.done.append(name)
            _remove_left_over(self.job.out / name)
        else:
            self.report.failed[name] = _reason(future.exception())
        self.watch(self.report)


def score_rows(
    path: Path,
    names: list[str],
    drop_missing: bool,
    rows: int,
    group: int,
    start: int,
    parcel: Parcel,
) -> Floats:
    """On a worker: scores of at most so many rows of a part of a file, from `start` on; nan for
    rows that lack a number."""
    table = parquet.read_group(path, group, start, rows, names)
    X = table.numbers(names)
    if not drop_missing:
        table.check_complete(names)
    scored = ~np.isnan(X).any(axis=1)
    scores = np.full(len(X), np.nan)
    if scored.any():
        scores[scored] = unpacked(parcel).anomaly_score(X[scored])
    return scores


def write_scores(
    path: Path, target: Path, stamp: dict[str, Any], threshold: float, scores: list[Floats]
) -> Counts:
    """On a worker: the file with its scores beside its rows."""
    flat, start = np.concatenate([np.empty(0), *scores]), 0
    first = parquet.read_group(path, 0)
    with table_writer(target, _with_scores(_stamped(first, stamp), flat, threshold)) as writer:
        for group in range(len(parquet.row_groups(path))):
            table = first if group == 0 else parquet.read_group(path, group)
            part = flat[start : start + len(table)]
            writer.write(_with_scores(table, part, threshold))
            start += len(table)
    return Counts(len(flat), int(np.isnan(flat).sum()), int((flat > threshold).sum()))


def _with_scores(table: Table, scores: Floats, threshold: float) -> Table:
    scores = scores[: len(table)]
    scored = ~np.isnan(scores)
    return with_scores(table, scores[scored], threshold, scored)


def _stamped(table: Table, stamp: dict[str, Any]) -> Table:
    """The table as one whose file says what it was made from."""
    arrow, text = table.form.arrow, json.dumps(stamp).encode()
    arrow = arrow.replace_schema_metadata({**(arrow.schema.metadata or {}), _STAMP: text})
    return replace(table, form=replace(table.form, arrow=arrow))


def _check_finished(target: Path, stamp: dict[str, Any]) -> None:
    try:
        metadata = parquet.read_group(target, 0, 0, 0).form.arrow.schema.metadata or {}
        found = json.loads(metadata.get(_STAMP, b"null"))
    except ValueError:
        found = None
    # A file that was finished without drop_missing lacks no number: it would be the same with.
    if found not in (stamp, {**stamp, "drop_missing": False}):
        raise FileExistsError(
            f"{target} is there already, from other data, another model or other settings; "
            "--force overwrites it."
        )


def _remove_left_over(target: Path) -> None:
    """What workers that died in the middle of this file left of it."""
    for path in target.parent.glob(f".{target.name}.*"):
        path.unlink(missing_ok=True)


def _reason(error: Any) -> str:
    """One line."""
    return " ".join(str(error).split()) or type(error).__name__
