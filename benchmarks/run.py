"""What piforest costs, beside what one would pick instead, measured in the same run.

    python benchmarks/run.py                 every case, a table, and bench.json
    python benchmarks/run.py --only import   the cases whose name contains a word

Each case runs in a process of its own, after a first call that compiles. CPU
seconds are the median of five runs, those of child processes included; memory is
the peak above what the imports take, with the data and what the compiler took.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

REPEATS = 5


def cpu_seconds() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measured(work: Callable[[], object], repeats: int = REPEATS) -> dict[str, float]:
    """CPU and wall seconds of one call (median), peak memory above the state before it."""
    work()
    cpu, wall = [], []
    for _ in range(repeats):
        start = cpu_seconds(), time.perf_counter()
        work()
        cpu.append(cpu_seconds() - start[0])
        wall.append(time.perf_counter() - start[1])
    return {"cpu_s": statistics.median(cpu), "wall_s": statistics.median(wall)}


def scene() -> np.ndarray:
    """1,000 points of three unequal circles, half of them anomalies: the paper's circle3."""
    from piforest.datasets import make_circles

    return make_circles(3, sizes=[340, 80, 80], noise=0.0107, random_state=0).data


def detector(name: str, **changes: object) -> object:
    import piforest

    params = {"n_models": 10_000, "random_state": 0, "n_jobs": 1, **changes}
    return getattr(piforest, name)("circle", **params)


def preferences() -> object:
    return detector("PIF", sigma=0.0107).fit(scene()).embedding_.transform(scene())


# --- cases: each returns what it measured


def case_circle3_PIF() -> dict[str, float]:
    X = scene()
    return measured(lambda: detector("PIF", sigma=0.0107).fit(X).scores_)


def case_circle3_default() -> dict[str, float]:
    """No sigma, and labels from a null."""
    X = scene()
    return measured(lambda: detector("PreferenceIsolationForest").fit(X).labels_)


def case_circle3_default_share_given() -> dict[str, float]:
    X = scene()
    return measured(lambda: detector("PreferenceIsolationForest", contamination=0.5).fit(X).labels_)


def case_circle3_default_structures() -> dict[str, float]:
    X = scene()
    return measured(lambda: detector("PreferenceIsolationForest").fit(X).structures_)


def case_circle3_embedding_alone() -> dict[str, float]:
    """What the two competitors below are given for nothing."""
    X = scene()
    embedding = detector("PIF", sigma=0.0107).fit(X).embedding_
    return measured(lambda: embedding.fit(X).transform(X))


def case_circle3_LOF_with_Tanimoto_matrix() -> dict[str, float]:
    """scikit-learn's LOF on the same preferences, its distances by a dense BLAS product."""
    from sklearn.neighbors import LocalOutlierFactor

    P = preferences().toarray()

    def lof() -> object:
        dot = P @ P.T
        norms = np.diag(dot)
        D = 1 - dot / (norms[:, None] + norms - dot)
        np.clip(np.nan_to_num(D, copy=False, nan=1.0), 0, None, out=D)
        return LocalOutlierFactor(n_neighbors=25, metric="precomputed").fit_predict(D)

    return measured(lof)


def case_circle3_IsolationForest() -> dict[str, float]:
    """scikit-learn's isolation forest on the same preferences."""
    from sklearn.ensemble import IsolationForest

    P = preferences().tocsc()
    return measured(lambda: IsolationForest(random_state=0).fit(P).score_samples(P))


def case_score_new_points() -> dict[str, float]:
    X = scene()
    fitted = detector("PIF", sigma=0.0107).fit(X)
    new = np.random.default_rng(0).uniform(X.min(axis=0), X.max(axis=0), (10_000, 2))
    result = measured(lambda: fitted.anomaly_score(new))
    return {**result, "points_per_cpu_s": 10_000 / result["cpu_s"]}


def case_score_new_points_default() -> dict[str, float]:
    X = scene()
    fitted = detector("PreferenceIsolationForest").fit(X)
    new = np.random.default_rng(0).uniform(X.min(axis=0), X.max(axis=0), (10_000, 2))
    result = measured(lambda: fitted.anomaly_score(new))
    return {**result, "points_per_cpu_s": 10_000 / result["cpu_s"]}


def case_one_line_dense_preferences() -> dict[str, float]:
    """A scene so simple that most points prefer most models."""
    from piforest import PIF
    from piforest.datasets import make_lines

    X = make_lines(1, sizes=980, anomaly_share=0.02, random_state=0).data
    return measured(lambda: PIF("line", sigma=0.01, random_state=0, n_jobs=1).fit(X))


def _solve(name: str, **options: str) -> dict[str, float]:
    from piforest.families import get_family

    family = get_family(name, **options)
    d = family.n_features or 2
    samples = np.random.default_rng(0).uniform(0, 1000, (50_000, family.sample_size(d), d))
    result = measured(lambda: family.solve(samples))
    return {**result, "models_per_cpu_s": 50_000 / result["cpu_s"]}


def case_solve_line() -> dict[str, float]:
    return _solve("line")


def case_solve_circle() -> dict[str, float]:
    return _solve("circle")


def case_solve_homography() -> dict[str, float]:
    return _solve("homography")


def case_solve_fundamental_8_point() -> dict[str, float]:
    return _solve("fundamental")


def case_solve_fundamental_7_point() -> dict[str, float]:
    return _solve("fundamental", solver="7-point")


def _process(*command: str) -> dict[str, float]:
    return measured(lambda: subprocess.run([sys.executable, *command], check=True, stdout=-3))


def case_python_alone() -> dict[str, float]:
    return _process("-c", "pass")


def case_import_piforest() -> dict[str, float]:
    return _process("-c", "import piforest")


def case_command_line_help() -> dict[str, float]:
    return _process("-m", "piforest", "--help")


def case_import_estimators() -> dict[str, float]:
    """With NumPy, SciPy, scikit-learn and numba."""
    return _process("-c", "import piforest.estimators")


def _demo(cache: str) -> None:
    command = [sys.executable, "-m", "piforest", "demo", "--no-picture"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    subprocess.run(command, check=True, stdout=-3, env=environment)


def case_demo_first_run() -> dict[str, float]:
    """Compile time included: every run has an empty cache."""

    def first() -> None:
        with tempfile.TemporaryDirectory() as cache:
            _demo(cache)

    return measured(first, repeats=1)


def case_demo_second_run() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as cache:
        return measured(lambda: _demo(cache), repeats=2)


CASES = {name[5:]: case for name, case in globals().items() if name.startswith("case_")}
BESIDE = {  # case: what its CPU time is divided by
    "circle3_PIF": "circle3_LOF_with_Tanimoto_matrix",
    "circle3_default": "circle3_PIF",
    "circle3_default_share_given": "circle3_PIF",
    "circle3_default_structures": "circle3_PIF",
    "circle3_IsolationForest": "circle3_PIF",
}


def run_case(name: str) -> None:
    """In the child process: measure and print JSON."""
    import piforest.estimators  # noqa: F401  the imports are not what is measured

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = CASES[name]()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({**result, "peak_mb": (peak - before) / 1024}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--out", default="bench.json", type=Path)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.case:
        run_case(args.case)
        return
    results: dict[str, dict[str, float]] = {}
    print(f"{'case':<38}{'CPU s':>9}{'wall s':>9}{'peak MB':>9}   ")
    for name in (name for name in CASES if args.only in name):
        command = [sys.executable, __file__, "--case", name]
        told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        result = results[name] = json.loads(told.stdout)
        extra = "".join(f"   {k} {v:,.0f}" for k, v in result.items() if k.endswith("per_cpu_s"))
        print(
            f"{name:<38}{result['cpu_s']:>9.3f}{result['wall_s']:>9.3f}{result['peak_mb']:>9.0f}{extra}"
        )
    for name, other in BESIDE.items():
        if name in results and other in results:
            ratio = results[name]["cpu_s"] / results[other]["cpu_s"]
            results[name][f"ratio_to_{other}"] = ratio
            print(f"{name} takes {ratio:.2f} times the CPU of {other}")
    versions = {m: __import__(m).__version__ for m in ("piforest", "numpy", "numba", "sklearn")}
    machine = {"python": platform.python_version(), "machine": platform.machine(), **versions}
    args.out.write_text(json.dumps({"machine": machine, "results": results}, indent=1))


if __name__ == "__main__":
    main()
