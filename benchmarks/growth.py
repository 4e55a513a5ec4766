"""How time and memory grow: with points, models, trees, points of a tree, branches, threads."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from data import circles, detector
from measure import Result, case, cpu_seconds, measured

POINTS = (1_000, 10_000, 100_000, 1_000_000)
_PAIRS = 15


def _fit(n: int, which: str) -> Result:
    X = circles(n)
    return measured(lambda: detector(which, contamination="auto").fit(X), 3 if n < 10**5 else 1)


for _n in POINTS:
    case(f"fit, {_n:,} points", beside=() if _n == POINTS[0] else (f"fit, {_n // 10:,} points",))(
        lambda n=_n: _fit(n, "PreferenceIsolationForest")
    )


def _score(which: str, pool: int, n: int, **changes: object) -> Result:
    """New points of the same scene, from a memory map; the noise makes preferences 5 % dense."""
    X = np.random.default_rng(0).permutation(circles(pool + n, noise=0.0075))
    known = {"sigma": 0.0075} if which == "PIF" else {}
    fitted = detector(which, pool_size=pool, **known, **changes).fit(X[:pool])
    rows = fitted.embedding_.transform(X[-1_000:])
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", X[pool:])
        mapped = np.load(Path(folder) / "X.npy", mmap_mode="r")
        fitted.anomaly_score(mapped[:1000])
        result = measured(lambda: fitted.anomaly_score(mapped), 3 if n <= 10**4 else 1, warm=False)
    density = rows.nnz / rows.shape[0] / rows.shape[1]
    return {**result, "points_per_cpu_s": n / result["cpu_s"], "density": density}


_DEFAULT = "PreferenceIsolationForest"
for _pool in (1_000, 4_096):
    for _label, _which, _changes in (
        ("PIF", "PIF", {}),
        ("PIF binary", "PIF", {"kernel": "binary"}),
        ("default", _DEFAULT, {}),
    ):
        case(f"score 10,000 points, pool {_pool:,}, {_label}")(
            lambda which=_which, pool=_pool, changes=_changes: _score(
                which, pool, 10_000, **changes
            )
        )
for _n in POINTS[2:]:
    case(f"score {_n:,} points, pool 4,096, default")(lambda n=_n: _score(_DEFAULT, 4096, n))


def _grows(**changes: object) -> Result:
    X = circles(1_000)
    return measured(lambda: detector(_DEFAULT, **changes).fit(X).labels_)


for _key, _values in (
    ("n_models", (2_500, 5_000, 10_000, 20_000)),
    ("n_estimators", (25, 100, 400)),
    ("max_samples", (64, 256, 1_000)),
    ("branching", (2, 4, 8)),
):
    for _value in _values:
        case(f"1,000 points, {_key} {_value:,}")(
            lambda key=_key, value=_value: _grows(**{key: value})
        )


def _speed_up(work: Callable[[int], object]) -> Result:
    """Wall time with one thread over that with two: the median of 15 pairs of runs, since what
    else the machine does comes and goes."""
    wall: dict[int, list[float]] = {1: [], 2: []}
    work(1)
    work(2)
    before = cpu_seconds()
    for _ in range(_PAIRS):
        for jobs, times in wall.items():
            start = time.perf_counter()
            work(jobs)
            times.append(time.perf_counter() - start)
    ratios = [one / two for one, two in zip(wall[1], wall[2], strict=True)]
    return {
        "cpu_s": (cpu_seconds() - before) / (2 * _PAIRS),
        "wall_s": statistics.median(wall[2]),
        "speed_up": statistics.median(ratios),
    }


@case("two threads, one compiled loop")
def _machine_threads() -> Result:
    """What the machine itself gives: residuals that stay in the cache, nothing else."""
    from concurrent.futures import ThreadPoolExecutor

    from piforest.families import get_family

    params = detector(_DEFAULT).fit(circles(1_000)).models_[0].params
    few, family = circles(1_000, seed=1)[:16], get_family("circle")

    def part(times: int) -> None:
        for _ in range(times):
            family.residuals(few, params)

    def work(jobs: int) -> None:
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(part, [2_000 // jobs] * jobs))

    return _speed_up(work)


@case("two threads, embedding")
def _embedding_threads() -> Result:
    """As a detector embeds; `transform` also makes a SciPy array of it, in one thread."""
    from piforest._rows import stack
    from piforest.engines import CpuEngine

    embedding = detector(_DEFAULT).fit(circles(1_000)).fitted_.embedding
    new = circles(20_000, seed=1)
    return _speed_up(lambda jobs: stack(CpuEngine(jobs).embed(embedding, new), len(new)))


@case("two threads, transform")
def _transform_threads() -> Result:
    embedding, new = detector(_DEFAULT).fit(circles(1_000)).embedding_, circles(20_000, seed=1)
    return _speed_up(lambda jobs: embedding.set_params(n_jobs=jobs).transform(new))


@case("two threads, scoring")
def _scoring_threads() -> Result:
    fitted, new = detector(_DEFAULT).fit(circles(1_000)), circles(20_000, seed=1)
    return _speed_up(lambda jobs: fitted.set_params(n_jobs=jobs).anomaly_score(new))
