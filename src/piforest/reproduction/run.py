"""Runs the cells of the tables; each is saved when it is finished."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import singledispatch
from pathlib import Path
from typing import Any, TypeVar

from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score

from ..datasets import load_adelaidermf, load_synthetic2d
from ..datasets.published import SYNTHETIC2D
from ..estimators import PreferenceEmbedding, VoronoiForest
from ..io.atomic import atomic_write
from ..protocols import Floats
from .baselines import distance_table, extended_isolation_forest, isolation_forest, lof
from .settings import PAPER, Job, family_of

Cell = dict[str, Any]
T = TypeVar("T")


def load(job: Job) -> tuple[Floats, Any]:
    """Points and labels of one run."""
    if job.dataset in SYNTHETIC2D:
        X, y = load_synthetic2d(
            job.dataset,
            anomaly_share=job.anomaly_share,
            n_samples=job.n_samples,
            random_state=job.random_state,
            return_X_y=True,
        )
    else:
        X, y = load_adelaidermf(job.dataset, return_X_y=True)
    return X, y


@singledispatch
def compute(job: Any) -> Cell:
    """The results of a job, and its CPU time."""
    raise TypeError(f"{type(job).__name__} is not a job.")


@compute.register
def _(job: Job) -> Cell:
    """AUCs of every method on one dataset, one for each of its candidate settings; all methods
    use the same points and models."""
    start = time.process_time()
    X, y = load(job)
    aucs: dict[str, list[float]] = {}
    for space, methods in job.spaces:
        plane = space == "Euclidean"
        kernel = "binary" if "binary" in space else job.kernel
        metric = "euclidean" if plane else "jaccard" if kernel == "binary" else "tanimoto"
        widths = (1,) if plane else job.widths
        for width in widths:
            rows = X if plane else _preferences(job, X, kernel, width)
            for method in methods:
                algorithm = method.split("_")[0]
                if width == 1 or algorithm in ("ifor", "eifor"):
                    scores = _SCORES[algorithm](job, rows, metric)
                    found = [float(roc_auc_score(y == 0, s)) for s in scores]
                    aucs[method] = aucs.get(method, []) + found
    return {"settings": job.settings(), "auc": aucs, "cpu_s": time.process_time() - start}


def _preferences(job: Job, X: Floats, kernel: Any, width: float) -> Any:
    embedding = PreferenceEmbedding(
        family_of(job.dataset),
        sigma=job.sigma * width,
        n_models=job.models_per_point * len(X),
        kernel=kernel,
        **PAPER,
        random_state=job.random_state,
    )
    return embedding.fit_transform(X)


def _lof(job: Job, rows: Any, metric: str) -> Iterator[Floats]:
    D = distance_table(rows, metric)
    return (lof(D, k) for k in job.neighbours)


def _forest(function: Callable[..., Floats]) -> Callable[[Job, Any, str], Iterable[Floats]]:
    return lambda job, rows, metric: [
        function(
            rows,
            n_estimators=job.n_estimators,
            max_samples=job.max_samples,
            random_state=job.random_state,
        )
    ]


def _pif(job: Job, rows: Any, metric: str) -> Iterable[Floats]:
    forest = VoronoiForest(
        metric,
        n_estimators=job.n_estimators,
        max_samples=job.max_samples,
        random_state=job.random_state,
    )
    return [forest.fit(rows).scores_]


_SCORES: dict[str, Callable[[Job, Any, str], Iterable[Floats]]] = {
    "lof": _lof,
    "ifor": _forest(isolation_forest),
    "eifor": _forest(extended_isolation_forest),
    "pif": _pif,
}


def run_jobs(jobs: Sequence[Any], folder: Path, n_jobs: int) -> list[Cell]:
    """The cells of all jobs; finished ones are read from the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    known = {job: read_cell(folder, job) for job in jobs}
    todo = [job for job, cell in known.items() if cell is None]
    # The largest first, so that no core is idle at the end.
    large = ("unihouse", "bonhall", "star11", "circle3", "stair3")
    todo.sort(key=lambda job: job.dataset not in large and job.part != "share")
    finished = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_compute_and_save)(job, folder) for job in todo
    )
    for _ in with_progress(finished, len(todo), "cells"):
        pass
    return finished_cells(jobs, folder)


def finished_cells(jobs: Sequence[Any], folder: Path) -> list[Cell]:
    cells = [read_cell(folder, job) for job in jobs]
    return [cell for cell in cells if cell is not None]


def _compute_and_save(job: Any, folder: Path) -> None:
    cell = compute(job)
    with atomic_write(folder / f"{job.key}.json") as file:
        file.write(json.dumps(cell).encode())


def read_cell(folder: Path, job: Any) -> Cell | None:
    """A finished cell, or None; a damaged file is reported and computed again."""
    path = folder / f"{job.key}.json"
    if not path.is_file():
        return None
    try:
        cell: Cell = json.loads(path.read_text())
        foreign = cell["settings"] != json.loads(json.dumps(job.settings()))
        if not foreign and not job.is_complete(cell):
            raise ValueError("it is incomplete")
        float(cell["cpu_s"])
    except (ValueError, KeyError, TypeError) as error:
        print(f"piforest: {path} is damaged ({error}) and computed again.", file=sys.stderr)
        return None
    if foreign:
        print(f"piforest: {path} has other settings and is computed again.", file=sys.stderr)
        return None
    return cell


def with_progress(items: Iterable[T], total: int, name: str) -> Iterator[T]:
    """Yield the items and print the progress to standard error: a bar on a terminal, else a line
    for every tenth."""
    start, tenths = time.monotonic(), 0
    for done, item in enumerate(items, 1):
        left = (time.monotonic() - start) / done * (total - done)
        text = f"{done}/{total} {name}, {left / 60:.1f} min left"
        if sys.stderr.isatty():
            bar = "#" * (30 * done // total)
            end = "\n" if done == total else ""
            print(f"\r{bar:<30} {text} ", end=end, file=sys.stderr, flush=True)
        elif 10 * done // total > tenths:
            tenths = 10 * done // total
            print(f"piforest: {text}", file=sys.stderr, flush=True)
        yield item
