"""One worker against two on a Dask cluster of this machine: the same points, the same bits.

    python benchmarks/dask_scaling.py                        a million points, 1 and 2 workers
    python benchmarks/dask_scaling.py --points 100000 --workers 1 2 4

Workers are processes of one thread, as `piforest score --dask local` starts them. The points
lie on the workers before the clock starts, and each worker has scored a few of them, so that
nothing is compiled or loaded while it runs. What is measured is from the call to all scores
here: wall seconds, CPU seconds and peak memory of the workers. Run it on an idle machine with
as many cores as workers.
"""

from __future__ import annotations

import argparse
import json
import resource
import time

import dask.array as da
import numpy as np

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines
from piforest.engines.dask import PackedModel, connect

CHUNK = 25_000
DETECTORS = {
    "PreferenceIsolationForest": lambda: PreferenceIsolationForest("line", random_state=0),
    "PIF": lambda: PreferenceIsolationForest.paper("line", sigma=0.01, random_state=0),
}


def used() -> tuple[float, float]:
    """CPU seconds and peak memory in MB of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(detector, X: np.ndarray, workers: int, runs: int) -> dict[str, object]:
    with connect("local", workers) as client:
        blocks = [X[start : start + CHUNK] for start in range(0, len(X), CHUNK)]
        array = da.concatenate(
            [
                da.from_delayed(future, shape=block.shape, dtype=X.dtype)
                for future, block in zip(client.scatter(blocks), blocks)
            ]
        )
        for address in client.scheduler_info(n_workers=-1)["workers"]:
            few = detector.anomaly_score(da.from_array(X[:512], chunks=(256, X.shape[1])))
            client.compute(few, workers=[address], allow_other_workers=False).result()
        results = []
        for _ in range(runs):
            before, start = client.run(used), time.perf_counter()
            scores = client.compute(detector.anomaly_score(array)).result()
            wall, after = time.perf_counter() - start, client.run(used)
            cpu = sum(after[key][0] - before[key][0] for key in after)
            results.append((wall, cpu, max(peak for _, peak in after.values())))
        wall, cpu, peak = np.median(results, axis=0)
        return {"workers": workers, "wall_s": wall, "cpu_s": cpu, "peak_mb": peak, "scores": scores}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=3, help="the median of them is printed")
    parser.add_argument("--detector", choices=DETECTORS, default="PreferenceIsolationForest")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    lines = make_lines(
        4, sizes=int(0.7 * args.points / 4), noise=0.01, anomaly_share=0.3, random_state=0
    )
    X = lines.data
    start = time.perf_counter()
    detector = DETECTORS[args.detector]().fit(X)
    fit_s = time.perf_counter() - start
    shipped = len(PackedModel(detector.fitted_, "cpu", None).content)
    print(f"{args.detector}: {len(X):,} points, fit {fit_s:.1f} s, shipped {shipped / 1e6:.1f} MB")
    print("workers   wall s    CPU s   peak MB   points a second   times one worker")
    found, scores = [], []
    for workers in args.workers:
        result = measure(detector, X, workers, args.runs)
        scores.append(result.pop("scores"))
        assert np.array_equal(scores[0], scores[-1]), "scores differ"
        found.append({**result, "ratio": (found or [result])[0]["wall_s"] / result["wall_s"]})
        print(
            f"{workers:7d}{result['wall_s']:9.1f}{result['cpu_s']:9.1f}{result['peak_mb']:10.0f}"
            f"{len(X) / result['wall_s']:18,.0f}{found[-1]['ratio']:19.2f}"
        )
    if args.json:
        with open(args.json, "w") as file:
            about = {"points": len(X), "detector": args.detector, "fit_s": fit_s}
            json.dump({**about, "shipped_bytes": shipped, "workers": found}, file, indent=2)


if __name__ == "__main__":
    main()
