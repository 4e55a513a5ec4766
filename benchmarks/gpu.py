"""One GPU: the laws between it and the CPU, and how fast it fits and scores.

    python benchmarks/gpu.py [--only laws|speed|growth] [--points 1000000] [--out gpu.json]

Seconds are medians of five after one call that compiles, the device waited for at both ends. The
numbers of the CPU beside them are of the same machine, with all its cores.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from data import maker

sys.path[:0] = [str(Path(__file__).parents[1] / part) for part in ("src", "tests")]

REPEATS = 5


def median_seconds(work, X, repeats=REPEATS):
    """Wall seconds of one call, device included, and what it returned."""
    import torch

    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        answer = work(X)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times), answer


def scene(family, n, seed=0):
    """n points or matches of eight structures, three tenths of them anomalies."""
    from piforest import datasets

    make = {
        "line": datasets.make_lines,
        "circle": datasets.make_circles,
        "homography": datasets.make_plane_pair,
    }[family]
    noise = {"line": 0.005, "circle": 0.005, "homography": 1.0}[family]
    small = make(8, sizes=2000, noise=noise, anomaly_share=0.3, random_state=seed).data
    if n <= len(small):
        return small[:n], noise
    # More points of the same structures: the same ones, moved by the noise.
    rng = np.random.default_rng(seed)
    rows = small[rng.integers(0, len(small), n)]
    return rows + rng.normal(scale=noise / 2, size=rows.shape), noise


def detector(which, family, noise, device, **changes):
    known = {"sigma": noise} if which == "PIF" else {}
    options = {"n_models": 10_000, "random_state": 0, "n_jobs": -1, **known, **changes}
    return maker(which)(family, device=device, **options)


def laws(device):
    import device_laws as check
    from piforest.families import list_families

    for metric in ("tanimoto", "jaccard", "cosine"):
        for branching in (2, 5):
            for path in ("soft", "depth"):
                check.check_same_bits(device, metric, branching, path)
    print("equal preferences give equal trees and path lengths: 3 metrics, 2 branchings, 2 paths")
    check.check_pif(device)
    for metric in ("euclidean", "manhattan"):
        check.check_vectors(device, metric)
    for family in list_families():
        equal, rank, aucs = check.check_family(family, device)
        print(
            f"{family:<22} equal preferences {100 * equal:.3f} %, rank correlation {rank:.6f}, "
            f"AUC {aucs[0]:.4f} and {aucs[1]:.4f}", flush=True,
        )  # fmt: skip


def speed(device, n, families):
    import torch

    found = {}
    for family in families:
        X, noise = scene(family, n)
        for which in ("PIF", "PreferenceIsolationForest"):
            start = time.perf_counter()
            ours = detector(which, family, noise, device).fit(X)
            ours.anomaly_score(X)
            first = time.perf_counter() - start
            torch.cuda.reset_peak_memory_stats()
            fit, ours = median_seconds(detector(which, family, noise, device).fit, X)
            score, scores = median_seconds(ours.anomaly_score, X)
            resident, _ = median_seconds(ours.anomaly_score, torch.as_tensor(X, device=device))
            peak = torch.cuda.max_memory_allocated() / 2**30
            few = slice(0, 20_000)
            cpu = ours.set_params(device="cpu")
            cpu.anomaly_score(X[few])
            begin = time.perf_counter()
            again = cpu.anomaly_score(X[few])
            host = (time.perf_counter() - begin) / len(again)
            case = {
                "first_call_s": first, "fit_s": fit, "score_s": score, "score_resident_s": resident,
                "points_per_s": n / score, "peak_gib": peak, "cpu_points_per_s": 1 / host,
                "largest_difference": float(np.abs(scores[few] - again).max()),
            }  # fmt: skip
            found[f"{which}, {family}, {n}"] = case
            print(
                f"{which:<26}{family:<11} fit {fit:.3f} s, score {score:.3f} s "
                f"({n / score:,.0f} a second; CPU {1 / host:,.0f}; on the device already "
                f"{resident:.3f} s), {peak:.2f} GiB, first call {first:.1f} s, scores differ by at "
                f"most {case['largest_difference']:.1e}", flush=True,
            )  # fmt: skip
    return found


def growth(device, sizes):
    found = {}
    for which in ("PIF", "PreferenceIsolationForest"):
        for n in sizes:
            X, noise = scene("line", n)
            ours = detector(which, "line", noise, device).fit(X)
            seconds, _ = median_seconds(ours.anomaly_score, X, repeats=3 if n < 10**7 else 1)
            fit, _ = median_seconds(ours.fit, X, repeats=3)
            found[f"{which}, line, {n}"] = {"score_s": seconds, "fit_s": fit}
            print(f"{which:<26}{n:>11,} points: fit {fit:.3f} s, score {seconds:.3f} s", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=["laws", "speed", "growth"])
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--families", default="line,circle,homography")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path, default=Path("gpu.json"))
    args = parser.parse_args()
    import torch

    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU here.")
    name = torch.cuda.get_device_name()
    print(f"{name}, PyTorch {torch.__version__}, Python {platform.python_version()}")
    results = {"device": name, "torch": torch.__version__}
    if args.only in (None, "speed"):
        results["speed"] = speed(args.device, args.points, args.families.split(","))
    if args.only in (None, "growth"):
        results["growth"] = growth(args.device, [10**5, 10**6, 10**7])
    if args.only in (None, "laws"):
        laws(args.device)
    args.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
