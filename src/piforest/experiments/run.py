"""Running the cells of the tables, each saved as soon as it is finished."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score

from .._files import whole_file
from .._random import Stream
from ..datasets import load_adelaidermf, load_synthetic2d
from ..estimators import PreferenceEmbedding, VoronoiForest
from ..protocols import Floats
from .baselines import distance_table, extended_isolation_forest, isolation_forest, lof
from .settings import NEIGHBOURS, TABLES, Job

Cell = dict[str, Any]


def compute(job: Job) -> Cell:
    """AUC of every method on one set; all share the same points and the same models."""
    table = TABLES[job.table]
    seed = int(Stream(job.seed).child(job.table, job.dataset, job.run).key % 2**31)
    if job.table == "synthetic":
        X, y = load_synthetic2d(job.dataset, random_state=seed, return_X_y=True)
    else:
        X, y = load_adelaidermf(job.dataset, return_X_y=True)
    start = time.process_time()
    aucs: dict[str, Any] = {}
    for space, methods in table.spaces:
        rows, metric = _rows(job, X, space, seed)
        scores = _scores(job, rows, metric, seed)
        for method, values in zip(methods, scores):
            aucs[method] = [float(roc_auc_score(y == 0, s)) for s in values]
    return {"settings": job.settings(), "auc": aucs, "cpu_s": time.process_time() - start}


def _rows(job: Job, X: Floats, space: str, seed: int) -> tuple[Any, str]:
    """The points as they are, or their preferences, and the metric between them."""
    if space == "Euclidean":
        return X, "euclidean"
    table = TABLES[job.table]
    kernel, metric = ("binary", "jaccard") if "binary" in space else ("gaussian", "tanimoto")
    embedding = PreferenceEmbedding(
        table.family(job.dataset),
        sigma=table.sigma(job.dataset),
        n_models=table.models_per_point * len(X),
        kernel=kernel,
        random_state=seed,
    )
    return embedding.fit_transform(X), metric


def _scores(job: Job, rows: Any, metric: str, seed: int) -> list[list[Floats]]:
    """Scores of LOF (one for each k), iFor, EiFor and PIF."""
    shape = {"n_estimators": job.n_estimators, "max_samples": job.max_samples}
    D = distance_table(rows, metric)
    # Not from D, which does not know that a row of zeros prefers nothing.
    pif = VoronoiForest(metric, random_state=seed, **shape).fit(rows)
    return [
        [lof(D, k) for k in NEIGHBOURS],
        [isolation_forest(rows, random_state=seed, **shape)],
        [extended_isolation_forest(rows, random_state=seed, **shape)],
        [pif.scores_],
    ]


def run_jobs(jobs: list[Job], folder: Path, n_jobs: int, quiet: bool = False) -> list[Cell]:
    """The cells of all jobs; those that are finished already are read, not computed."""
    folder.mkdir(parents=True, exist_ok=True)
    known = {job: read_cell(folder, job) for job in jobs}
    todo = [job for job, cell in known.items() if cell is None]
    # The largest first, so that no core waits for the last one.
    todo.sort(key=lambda job: job.dataset not in ("unihouse", "bonhall", "star11", "circle3"))
    finished = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_compute_and_save)(job, folder) for job in todo
    )
    for _ in _with_bar(finished, len(todo), quiet):
        pass
    cells = [read_cell(folder, job) for job in jobs]
    return [cell for cell in cells if cell is not None]


def _compute_and_save(job: Job, folder: Path) -> None:
    cell = compute(job)
    with whole_file(folder / f"{job.key}.json") as file:
        file.write(json.dumps(cell).encode())


def read_cell(folder: Path, job: Job) -> Cell | None:
    """A finished cell, or None; a damaged file is reported and computed again."""
    path = folder / f"{job.key}.json"
    if not path.is_file():
        return None
    try:
        cell: Cell = json.loads(path.read_text())
        settings, aucs = cell["settings"], cell["auc"]
        whole = all(np.isfinite(aucs[method]).all() for method in TABLES[job.table].methods)
    except (ValueError, KeyError, TypeError) as error:
        print(f"piforest: {path} is damaged ({error}); it is computed again.", file=sys.stderr)
        return None
    if settings != json.loads(json.dumps(job.settings())) or not whole:
        print(f"piforest: {path} is of other settings; it is computed again.", file=sys.stderr)
        return None
    return cell


def _with_bar(items: Iterable[Any], total: int, quiet: bool) -> Iterable[Any]:
    """The items, with a bar and the time left on standard error if that is a terminal."""
    start = time.monotonic()
    for done, item in enumerate(items, 1):
        if sys.stderr.isatty() and not quiet:
            left = (time.monotonic() - start) / done * (total - done)
            bar = "#" * (30 * done // total)
            end = "\n" if done == total else ""
            print(
                f"\r{bar:<30} {done}/{total} cells, {left / 60:.1f} min left ",
                end=end,
                file=sys.stderr,
                flush=True,
            )
        yield item
