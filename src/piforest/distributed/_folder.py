"""Folders of Parquet files, scored file by file: what is done stays done."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._files import whole_file
from ..protocols import Floats
from ._mapping import TASK_ROWS
from ._model import Parcel, unpacked

_STAMP = b"piforest"


@dataclass
class Report:
    """What became of the files of a folder, by their names in it."""

    files: int
    done: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    """finished by an earlier run"""
    failed: dict[str, str] = field(default_factory=dict)
    """and why"""
    rows: int = 0
    """scored now"""
    anomalies: int = 0

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
    force: bool = False,
    watch: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Score every Parquet file of a folder on a cluster that sees both folders.

    Each file of `source` becomes one of the same name in `out`, with the same columns and two
    more: `anomaly_score`, and `anomaly`, True where the detector flags the row. It appears whole
    or not at all; one that is there already from the same data and model is left as it is. A
    file that cannot be read or scored is reported, and the others are done.

    names: the columns to score; model: what tells this model from others, in the files written;
    watch: called with the report after each file.
    """
    import distributed

    files = parquet_files(source)
    if source.resolve() == out.resolve():
        raise ValueError(f"the output folder must be another one than {source}.")
    out.mkdir(parents=True, exist_ok=True)
    report, job = Report(len(files)), _Job(detector, source, out, client, list(names), model, force)
    of: dict[str, str] = {}
    waiting, running = iter(files), distributed.as_completed()  # type: ignore[no-untyped-call]
    # Enough to keep all threads busy, and no more, however many files there are.
    ahead = 2 * sum(client.nthreads().values()) + 2
    job.start(waiting, ahead, report, running, of, watch)
    for future in running:
        name = of.pop(future.key)
        if future.status == "finished":
            rows, anomalies = future.result()
            report.rows, report.anomalies = report.rows + rows, report.anomalies + anomalies
            report.done.append(name)
            _remove_left_over(out / name)
        else:
            report.failed[name] = _reason(future.exception())
        watch(report)
        job.start(waiting, 1, report, running, of, watch)
    return report


@dataclass
class _Job:
    """What is the same for all files."""

    detector: Any
    source: Path
    out: Path
    client: Any
    names: list[str]
    model: str
    force: bool

    def __post_init__(self) -> None:
        parcel = Parcel(self.detector)
        self.threshold = -float(self.detector.offset_)
        # As a task, so that it can be made again where the workers that hold it die.
        self.parcel = self.client.compute(parcel.delayed())

    def start(
        self,
        waiting: Iterator[str],
        most: int,
        report: Report,
        running: Any,
        of: dict[str, str],
        watch: Callable[[Report], None],
    ) -> None:
        """Give the cluster so many of the files that wait."""
        started = 0
        while started < most and (name := next(waiting, None)) is not None:
            try:
                future = self._submit(name)
            except Exception as error:
                report.failed[name] = _reason(error)
                watch(report)
                continue
            if future is None:
                report.skipped.append(name)
                watch(report)
                continue
            of[future.key] = name
            running.add(future)
            started += 1

    def _submit(self, name: str) -> Any:
        """Tasks for one file; None if it was finished by an earlier run."""
        import pyarrow.parquet as pq

        path, target = self.source / name, self.out / name
        groups = pq.read_metadata(path)
        sizes = [groups.row_group(at).num_rows for at in range(groups.num_row_groups)]
        stamp = _stamp(path, self.model)
        if target.exists() and not self.force:
            _check_finished(target, stamp)
            return None
        target.parent.mkdir(parents=True, exist_ok=True)
        scores = [
            self.client.submit(
                score_rows, str(path), self.names, group, start, self.parcel, pure=False
            )
            for group, size in enumerate(sizes)
            for start in range(0, size, TASK_ROWS)
        ]
        return self.client.submit(
            write_scores, str(path), str(target), stamp, self.threshold, scores, pure=False,
            # What is begun is finished first.
            priority=1,
        )  # fmt: skip


def score_rows(path: str, names: list[str], group: int, start: int, parcel: Parcel) -> Floats:
    """On a worker: scores of some rows of a row group, from `start` on."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        table = file.read_row_group(group, columns=names).slice(start, TASK_ROWS)
    missing = set(names) - set(table.column_names)
    if missing:
        raise ValueError(f"it has no column {sorted(missing)[0]!r}")
    scores: Floats = unpacked(parcel).anomaly_score(table.select(names).to_pandas())
    return scores


def write_scores(
    path: str, target: str, stamp: bytes, threshold: float, scores: list[Floats]
) -> tuple[int, int]:
    """On a worker: the file with its scores beside its rows, and how many were flagged."""
    import pyarrow.parquet as pq

    flat = np.concatenate([np.empty(0), *scores])
    added = {"anomaly_score": flat, "anomaly": flat > threshold}
    with pq.ParquetFile(path) as file, whole_file(target) as out:
        empty = _with(file.schema_arrow.empty_table(), {key: added[key][:0] for key in added})
        schema = empty.schema.with_metadata({**(empty.schema.metadata or {}), _STAMP: stamp})
        with pq.ParquetWriter(out, schema) as writer:
            start = 0
            for group in range(file.num_row_groups):
                table = file.read_row_group(group)
                rows = slice(start, start + len(table))
                table = _with(table, {key: added[key][rows] for key in added})
                writer.write_table(table.cast(schema))
                start += len(table)
    return len(flat), int(added["anomaly"].sum())


def _with(table: Any, added: Mapping[str, Any]) -> Any:
    """The table with more columns; one of the same name is replaced where it stands."""
    for name, values in added.items():
        at = table.schema.get_field_index(name)
        table = (
            table.append_column(name, [values]) if at < 0 else table.set_column(at, name, [values])
        )
    return table


def _stamp(path: Path, model: str) -> bytes:
    """What an output file was made from."""
    state = path.stat()
    return json.dumps({"model": model, "source": [state.st_size, state.st_mtime_ns]}).encode()


def _check_finished(target: Path, stamp: bytes) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found = (pq.read_schema(target).metadata or {}).get(_STAMP)
    except (OSError, pa.ArrowException):
        found = None
    if found != stamp:
        raise FileExistsError(
            f"{target} is there already, from other data or another model; --force overwrites it."
        )


def _remove_left_over(target: Path) -> None:
    """What workers that died in the middle of this file left of it."""
    for path in target.parent.glob(f".{target.name}.*"):
        path.unlink(missing_ok=True)


def _reason(error: Any) -> str:
    """One line."""
    return " ".join(str(error).split()) or type(error).__name__
