"""One GPU: the laws between it and the CPU, and how fast it fits and scores.

    python benchmarks/gpu.py [--only first|stages|speed|growth|laws] [--seconds 440]
                             [--points 1000000] [--out gpu.json]

Seconds are medians of five after one call that compiles, the device waited for at both ends. The
numbers of the CPU beside them are of the same machine, with all its cores. Families whose laws are
not reached within --seconds are named.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from data import maker
from timers import FIT, timed

sys.path[:0] = [str(Path(__file__).parents[1] / part) for part in ("src", "tests")]

REPEATS = 5
SIZES = (10**5, 10**6, 10**7)
_DEFAULT = "PreferenceIsolationForest"
_TORCH = "piforest.engines.torch"
SCORE = {
    "preferences": (f"{_TORCH}.preferences", "DevicePreferences.embed"),
    "products": (f"{_TORCH}.scorer", "products"),
    "descent": (f"{_TORCH}.forest", "DeviceForest.path_lengths"),
    "sums": (f"{_TORCH}.scorer", "Scorer._scores"),
}


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


_FIRST = """
import json, sys, time
begin = time.perf_counter()
sys.path[:0] = {path!r}
import gpu, torch
import piforest.engines.torch.residuals as residuals
few = {few!r}
residuals.FEW_MODELS = residuals.FEW_MODELS if few is None else few
seconds = dict()
def lap(name, start):
    torch.cuda.synchronize()
    seconds[name] = time.perf_counter() - start
    return time.perf_counter()
start = lap("imports", begin)
X, noise = gpu.scene("line", 100_000)
start = time.perf_counter()
torch.zeros(1, device={device!r}).item()
start = lap("device", start)
with gpu.timed(gpu.FIT, torch.cuda.synchronize) as stages:
    ours = gpu.detector({which!r}, "line", noise, {device!r}).fit(X)
start = lap("fit", start)
with gpu.timed(gpu.SCORE, torch.cuda.synchronize) as more:
    ours.anomaly_score(X)
start = lap("score", start)
ours.fit(X)
start = lap("second fit", start)
ours.anomaly_score(X)
lap("second score", start)
print(json.dumps([seconds, dict(**stages, **more)]))
"""


def first(device, _):
    """The first call of a process: without the caches of PyTorch and Triton, then with them, then
    with everything compiled; and its stages, the device waited for around each."""
    found = {}
    print("first call of a process, seconds")
    path = [str(Path(__file__).parent), *sys.path]
    for which in ("PIF", _DEFAULT):
        with tempfile.TemporaryDirectory() as folder:
            for label in ("nothing cached", "cached", "all compiled", "all compiled, cached"):
                few = 0 if label.startswith("all") else None
                caches = {
                    "TORCHINDUCTOR_CACHE_DIR": f"{folder}/i",
                    "TRITON_CACHE_DIR": f"{folder}/t",
                }
                code = _FIRST.format(path=path, device=device, which=which, few=few)
                done = subprocess.run(
                    [sys.executable, "-c", code], env={**os.environ, **caches}, text=True,
                    stdout=subprocess.PIPE, check=True,
                )  # fmt: skip
                seconds, each = json.loads(done.stdout.splitlines()[-1])
                found[f"{which}, {label}"] = {"seconds": seconds, "stages": each}
                for title, values in (("", seconds), ("  stages ", each)):
                    line = ", ".join(f"{name} {value:.2f}" for name, value in values.items())
                    print(f"{title or f'{which}, {label}: '}{line}", flush=True)
    return found


def stages(device, n):
    """Seconds of each stage, the device waited for around each, so that the sum is larger."""
    import torch

    found = {}
    for which in ("PIF", _DEFAULT):
        X, noise = scene("line", n)
        ours = detector(which, "line", noise, device).fit(X)
        ours.anomaly_score(X)
        resident = torch.as_tensor(X, device=device)
        for label, names, work in (
            ("fit", FIT, lambda X=X, ours=ours: ours.fit(X)),
            ("score", SCORE, lambda X=resident, ours=ours: ours.anomaly_score(X)),
        ):
            with timed(names, torch.cuda.synchronize) as seconds:
                whole, _ = median_seconds(lambda _, work=work: work(), None, 3)
            each = {name: value / 3 for name, value in seconds.items()}
            each["whole"] = whole
            found[f"{which}, {label}"] = each
            print(f"{which}, {label} of {n:,} points of lines: " + ", ".join(
                f"{name} {1000 * value:.1f}" for name, value in each.items()) + " ms",
                flush=True)  # fmt: skip
        print(f"    {ours.n_models_} models", flush=True)
    return found


def speed(device, n, families=("line", "circle", "homography")):
    """Fit and score of n points, beside the CPU."""
    import torch

    found = {}
    print(
        f"{n:,} points: seconds               models    fit  score  resident   points/s  "
        "CPU points/s   GiB  largest difference"
    )
    for family in families:
        X, noise = scene(family, n)
        for which in ("PIF", _DEFAULT):
            ours = detector(which, family, noise, device).fit(X)
            ours.anomaly_score(X)
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
            difference = float(np.abs(scores[few] - again).max())
            found[f"{which}, {family}, {n}"] = {
                "models": ours.n_models_, "fit_s": fit, "score_s": score,
                "score_resident_s": resident, "points_per_s": n / score, "peak_gib": peak,
                "cpu_points_per_s": 1 / host, "largest_difference": difference,
            }  # fmt: skip
            print(
                f"{which:<26}{family:<11}{ours.n_models_:>7,}{fit:>7.3f}{score:>7.3f}"
                f"{resident:>10.3f}{n / score:>11,.0f}{1 / host:>14,.0f}{peak:>6.2f}"
                f"{difference:>20.1e}", flush=True,
            )  # fmt: skip
    return found


def growth(device, _):
    """More and more points, streamed from the host."""
    found = {}
    print("streamed from the host, seconds      points    fit  score")
    for which in ("PIF", _DEFAULT):
        for n in SIZES:
            X, noise = scene("line", n)
            ours = detector(which, "line", noise, device).fit(X)
            ours.anomaly_score(X)
            seconds, _ = median_seconds(ours.anomaly_score, X, 3)
            fit, _ = median_seconds(ours.fit, X, 3)
            found[f"{which}, line, {n}"] = {"score_s": seconds, "fit_s": fit}
            print(f"{which:<26}{n:>17,}{fit:>7.3f}{seconds:>7.3f}", flush=True)
    return found


def laws(device, until):
    """Equal trees and path lengths; then, while there is time, every family end to end."""
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
    print("the paper's algorithm and vectors: equal")
    families = list_families()
    for at, family in enumerate(families):
        if time.perf_counter() > until:
            print(f"no time left for {', '.join(families[at:])}")
            break
        equal, rank, aucs = check.check_family(family, device)
        print(
            f"{family:<22} equal preferences {100 * equal:.3f} %, rank correlation {rank:.6f}, "
            f"AUC {aucs[0]:.4f} and {aucs[1]:.4f}", flush=True,
        )  # fmt: skip


PARTS = {"stages": stages, "speed": speed, "growth": growth, "first": first}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=[*PARTS, "laws"])
    parser.add_argument("--seconds", type=float, default=440)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path, default=Path("gpu.json"))
    args = parser.parse_args()
    begin = time.perf_counter()
    import torch

    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU here.")
    name = torch.cuda.get_device_name()
    print(
        f"{name}, PyTorch {torch.__version__}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores", flush=True,
    )  # fmt: skip
    results = {"device": name, "torch": torch.__version__}
    for part, measure in PARTS.items():
        if args.only in (None, part):
            results[part] = measure(args.device, args.points)
            # What is measured is kept, whatever happens next.
            args.out.write_text(json.dumps(results, indent=1))
            print(f"    [{time.perf_counter() - begin:.0f} s]", flush=True)
    if args.only in (None, "laws"):
        laws(args.device, begin + args.seconds)
    print(f"{time.perf_counter() - begin:.0f} s in all")


if __name__ == "__main__":
    main()
