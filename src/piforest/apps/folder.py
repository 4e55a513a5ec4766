"""Scoring of folders of Parquet files on a cluster, file by file; runs can be continued."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..engines.dask.engine import TASK_ROWS
from ..engines.dask.packed import PackedModel, score, unpack
from ..io.atomic import remove_leftovers
from ..io.tables import Table, parquet, table_writer, with_scores
from ..protocols import Floats
from ..structures.assignment import assign_rows, structures_to_assign
from ..structures.greedy import Structure

_STAMP = b"piforest"


class Counts(NamedTuple):
    """Numbers of rows."""

    rows: int
    skipped: int
    """rows that were not scored, because they lack a number"""
    anomalies: int


@dataclass
class Report:
    """The state of the files of a folder, by their names in it."""

    files: int
    done: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    """finished by an earlier run"""
    failed: dict[str, str] = field(default_factory=dict)
    """names to reasons"""
    counts: Counts = field(default_factory=lambda: Counts(0, 0, 0))
    """rows of the files in `done`"""

    @property
    def seen(self) -> int:
        return len(self.done) + len(self.skipped) + len(self.failed)


def parquet_files(folder: Path) -> list[str]:
    """Names of the Parquet files in a folder and its subfolders, sorted; without hidden files and
    names that begin with _."""
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is not a folder of Parquet files.")
    names = sorted(path.relative_to(folder) for path in folder.rglob("*.parquet"))
    shown = [str(name) for name in names if not any(part[0] in "._" for part in name.parts)]
    if not shown:
        raise FileNotFoundError(f"{folder} has no Parquet files: no name ends in .parquet.")
    return shown


def score_folder(
    detector: Any,
    source: Path,
    out: Path,
    client: Callable[[], Any],
    names: Sequence[str],
    *,
    model: str,
    skip_missing: bool = False,
    force: bool = False,
    watch: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Score every Parquet file of a folder on a cluster that can access both folders.

    Each file of `source` gives one of the same name in `out`, with the same columns and those of
    `with_scores`. It is written atomically; one that exists from the same data, model and
    settings is skipped. A file that cannot be read or scored is reported, and does not stop the
    others.

    client: returns the client of the cluster, called if there are files to score; names: the
    columns to score; model: an identifier of the model, stored in the files; skip_missing: do
    not score rows that lack a number, else their file fails; watch: called with the report
    after each file.
    """
    files = parquet_files(source)
    if source.resolve() in (out.resolve(), *out.resolve().parents):
        raise ValueError(f"the output folder must be outside of {source}, got {out}.")
    threshold = float(detector.threshold_)
    job = _Job(source, out, list(names), model, threshold, skip_missing, force)
    return _Run(detector, job, files, watch).all(client)


@dataclass(frozen=True)
class _Job:
    """Settings of all files."""

    source: Path
    out: Path
    names: list[str]
    model: str
    threshold: float
    skip_missing: bool
    force: bool

    def stamp(self, path: Path) -> dict[str, Any]:
        """What the output of a file depends on."""
        state = path.stat()
        return {
            "model": self.model,
            "columns": self.names,
            "threshold": self.threshold,
            "skip_missing": self.skip_missing,
            "source": [state.st_size, state.st_mtime_ns],
        }


class _File(NamedTuple):
    """A file to score."""

    name: str
    sizes: list[int]
    """rows of its row groups"""
    stamp: dict[str, Any]


class _Run:
    """Scores files on a cluster."""

    def __init__(
        self, detector: Any, job: _Job, files: list[str], watch: Callable[[Report], None]
    ) -> None:
        self.detector, self.job, self.watch = detector, job, watch
        self.report, self.files = Report(len(files)), files

    def all(self, connect: Callable[[], Any]) -> Report:
        waiting = self._unfinished()
        first = next(waiting, None)
        if first is not None:
            client = connect()
            self.job.out.mkdir(parents=True, exist_ok=True)
            try:
                self._on_cluster(client, chain([first], waiting))
            except _lost_connection() as error:
                done = len(self.report.done)
                raise OSError(
                    f"the connection to the Dask scheduler was lost after {done} of "
                    f"{self.report.files} files; run the same again when it is back: finished "
                    "files are kept."
                ) from error
        return self.report

    def _unfinished(self) -> Iterator[_File]:
        """The files that an earlier run did not finish; reports the others."""
        job = self.job
        for name in self.files:
            try:
                path, target = job.source / name, job.out / name
                file = _File(name, parquet.row_groups(path), job.stamp(path))
                finished = target.exists() and not job.force
                if finished:
                    _check_finished(target, file.stamp)
            except Exception as error:
                self.report.failed[name] = _reason(error)
                self.watch(self.report)
                continue
            if finished:
                self.report.skipped.append(name)
                self.watch(self.report)
            else:
                yield file

    def _on_cluster(self, client: Any, waiting: Iterator[_File]) -> None:
        from distributed import as_completed

        # A task, so that it can be computed again if the workers that hold it die.
        detector = self.detector
        found = structures_to_assign(detector)
        packed = PackedModel(detector.fitted_, detector.device, detector.n_jobs, found)
        model = client.compute(packed.delayed())
        running = as_completed(loop=client.loop)  # type: ignore[no-untyped-call]
        names: dict[str, str] = {}

        def start(most: int) -> None:
            for file in islice(waiting, most):
                future = self._submit(client, model, file)
                names[future.key] = file.name
                running.add(future)  # type: ignore[no-untyped-call]

        # Enough tasks to keep all threads busy, independent of the number of files.
        start(2 * sum(client.nthreads().values()) + 2)
        for future in running:
            self._end(names.pop(future.key), future)
            start(1)

    def _submit(self, client: Any, model: Any, file: _File) -> Any:
        """Submit the tasks of one file."""
        job, path, target = self.job, self.job.source / file.name, self.job.out / file.name
        parts = [(at, k) for at, size in enumerate(file.sizes) for k in range(0, size, TASK_ROWS)]
        task = partial(score_rows, path, job.names, job.skip_missing, TASK_ROWS)
        scores = [client.submit(task, *part, model, pure=False) for part in parts]
        # Files in progress are finished first.
        return client.submit(
            write_scores, path, target, file.stamp, job.threshold, job.names, model, scores,
            pure=False, priority=1,
        )  # fmt: skip

    def _end(self, name: str, future: Any) -> None:
        if future.status == "finished":
            counts = zip(self.report.counts, future.result())
            self.report.counts = Counts(*(before + more for before, more in counts))
            self.report.done.append(name)
            # Of workers that died in the middle of this file.
            remove_leftovers(self.job.out / name)
        elif future.status == "error":
            self.report.failed[name] = _reason(future.exception())
        else:  # its scheduler has forgotten it
            raise _Forgotten
        self.watch(self.report)


def score_rows(
    path: Path,
    names: list[str],
    skip_missing: bool,
    rows: int,
    group: int,
    start: int,
    model: PackedModel,
) -> Floats:
    """On a worker: scores of at most `rows` rows of a row group from `start` on; nan for rows
    that lack a number."""
    table = parquet.read_group(path, group, start, rows, names)
    X = table.numbers(names)
    if not skip_missing:
        table.check_complete(names)
    scored = ~np.isnan(X).any(axis=1)
    scores = np.full(len(X), np.nan)
    if scored.any():
        scores[scored] = score(model, X[scored])
    return scores


def write_scores(
    path: Path,
    target: Path,
    stamp: dict[str, Any],
    threshold: float,
    names: list[str],
    model: PackedModel,
    scores: list[Floats],
) -> Counts:
    """On a worker: write the file with its scores and structures."""
    structures = unpack(model).structures
    added = partial(_with_scores, threshold=threshold, names=names, structures=structures)
    target.parent.mkdir(parents=True, exist_ok=True)
    flat, start = np.concatenate([np.empty(0), *scores]), 0
    first = parquet.read_group(path, 0)
    with table_writer(target, added(_stamped(first, stamp), flat)) as writer:
        for group in range(len(parquet.row_groups(path))):
            table = first if group == 0 else parquet.read_group(path, group)
            part = flat[start : start + len(table)]
            writer.write(added(table, part))
            start += len(table)
    return Counts(len(flat), int(np.isnan(flat).sum()), int((flat > threshold).sum()))


def _with_scores(
    table: Table,
    scores: Floats,
    threshold: float,
    names: list[str],
    structures: list[Structure] | None,
) -> Table:
    scores = scores[: len(table)]
    scored = ~np.isnan(scores)
    known = scores[scored]
    assigned = None
    if structures is not None:
        assigned = assign_rows(table.numbers(names)[scored], known <= threshold, structures)
    return with_scores(table, known, threshold, scored, assigned)


def _stamped(table: Table, stamp: dict[str, Any]) -> Table:
    """The table with the stamp in the metadata of its file."""
    arrow, text = table.origin.arrow, json.dumps(stamp).encode()
    arrow = arrow.replace_schema_metadata({**(arrow.schema.metadata or {}), _STAMP: text})
    return replace(table, origin=replace(table.origin, arrow=arrow))


def _check_finished(target: Path, stamp: dict[str, Any]) -> None:
    try:
        metadata = parquet.read_group(target, 0, 0, 0).origin.arrow.schema.metadata or {}
        found = json.loads(metadata.get(_STAMP, b"null"))
    except ValueError:
        found = None
    # A file that was finished without skip_missing lacks no number: the option has no effect.
    if found not in (stamp, {**stamp, "skip_missing": False}):
        raise FileExistsError(
            f"{target} already exists, from other data, another model or other settings; --force "
            "overwrites it."
        )


class _Forgotten(Exception):
    """A scheduler that restarted knows nothing of the tasks of before."""


def _lost_connection() -> tuple[type[BaseException], ...]:
    from concurrent.futures import CancelledError

    from distributed.comm.core import CommClosedError

    return _Forgotten, CommClosedError, CancelledError


def _reason(error: Any) -> str:
    """One line."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return (
            "the workers that worked on it died, for lack of memory most often; give them more "
            "(dask worker --memory-limit), or run again."
        )
    return " ".join(str(error).split()) or type(error).__name__
