"""How fitting and scoring gain from threads, stage by stage.

    python benchmarks/threads.py [--points 100000] [--jobs 1,2,4,8,16] [--family line,circle,plane]

Wall seconds are the smallest of three runs, after one that compiles; the number behind each is the
ratio to one thread, the one behind a stage its share of a fit with one thread. The default takes
about a minute for lines. Scores are compared: they do not depend on the number of threads.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from pathlib import Path

import numpy as np
from data import maker
from timers import FIT, timed

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

REPEATS = 3


AFTER = ("fit", "score", "structures")


def scene(family: str, n: int) -> np.ndarray:
    from piforest import datasets

    make = {
        "line": lambda size: datasets.make_lines(8, sizes=size, anomaly_share=0.3, random_state=0),
        "circle": lambda size: datasets.make_circles(
            8, sizes=size, anomaly_share=0.3, random_state=0
        ),
        "plane": lambda size: datasets.make_room(8, sizes=size, anomaly_share=0.3, random_state=0),
    }[family]
    return np.random.default_rng(0).permutation(make(round(0.7 * n / 8)).data)


def run(family: str, X: np.ndarray, jobs: int) -> tuple[dict[str, float], np.ndarray]:
    """The smallest seconds of each stage, and the scores."""
    best: dict[str, float] = {}
    for repeat in range(REPEATS + 1):
        detector = maker("default")(family, random_state=0, n_jobs=jobs)
        with timed(FIT) as seconds:
            start = time.perf_counter()
            detector.fit(X)
            whole = time.perf_counter() - start
        seconds = {**seconds, "other": whole - sum(seconds.values()), "fit": whole}
        start = time.perf_counter()
        scores = detector.anomaly_score(X)
        seconds["score"] = time.perf_counter() - start
        start = time.perf_counter()
        detector.structures_  # noqa: B018
        seconds["structures"] = time.perf_counter() - start
        if repeat:
            best = {name: min(best.get(name, np.inf), value) for name, value in seconds.items()}
    return best, scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--jobs", default="1,2,4,8,16")
    parser.add_argument("--family", default="line")
    args = parser.parse_args()
    if importlib.util.find_spec("numba") is None:
        sys.exit("numba is not installed here: piforest computes nothing on the CPU without it.")
    jobs = [int(each) for each in args.jobs.split(",")]
    print(f"{os.cpu_count()} cores, {args.points:,} points; seconds, and how many times faster")
    for family in args.family.split(","):
        X = scene(family, args.points)
        results = [run(family, X, each) for each in jobs]
        print(f"{family:<24}" + "".join(f"{f'{each} threads':>16}" for each in jobs))
        for stage, one in results[0][0].items():
            cells = (
                f"{seconds[stage]:8.3f} {one / seconds[stage]:5.1f} x" for seconds, _ in results
            )
            share = f"{one / results[0][0]['fit']:4.0%}" if stage not in AFTER else ""
            print(f"  {stage:<17}{share:>5}" + "".join(f"{cell:>16}" for cell in cells), flush=True)
        equal = all(np.array_equal(results[0][1], scores) for _, scores in results)
        print(f"  scores are {'equal' if equal else 'DIFFERENT'} for all numbers of threads")


if __name__ == "__main__":
    main()
