"""What piforest costs, beside what one would pick instead, measured in the same run.

    python benchmarks/run.py                   every case, a table, and bench.json
    python benchmarks/run.py --only circle3    the cases whose name contains a word
    python benchmarks/run.py --list            their names

Each case runs in a process of its own, after a first call that compiles. CPU
seconds are the median of several runs, those of child processes included; memory is
the peak above what the imports take, with the data and what the compiler took.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import growth  # noqa: F401  importing them registers their cases
import sizes  # noqa: F401
import stages  # noqa: F401
import starting  # noqa: F401
import targets  # noqa: F401
from measure import BESIDE, CASES, Result

WIDE = max(map(len, CASES)) + 2
# Printed behind the three numbers that every case has.
EXTRAS = {
    "nonzeros": "{:,.0f} non-zeros",
    "density": "{:.1%} dense",
    "points_per_cpu_s": "{:,.0f} points a CPU second",
    "samples_per_cpu_s": "{:,.0f} samples a CPU second",
    "valid": "{:.2f} models a sample",
    "speed_up": "{:.2f} times as fast as one thread",
}


def names(only: str) -> list[str]:
    """The cases that contain a word, and those that they are compared with."""
    chosen = {name for name in CASES if only in name}
    chosen |= {other for name in chosen for other in BESIDE[name]}
    return [name for name in CASES if name in chosen]


def run_here(name: str) -> None:
    """In the child process: measure and print JSON."""
    import piforest.estimators  # noqa: F401  the imports are not what is measured

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = CASES[name]()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({**result, "peak_mb": (peak - before) / 1024}))


def run_case(name: str, source: Path | None = None, cache: Path | None = None) -> Result | None:
    """In a process of its own, with the package of `source`; None where it fails there."""
    environment = dict(os.environ)
    if source is not None:
        paths = [str(source), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    command = [sys.executable, __file__, "--case", name]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=False)
    return json.loads(told.stdout) if told.returncode == 0 else None


def line(name: str, result: Result) -> str:
    extras = "; ".join(text.format(result[key]) for key, text in EXTRAS.items() if key in result)
    numbers = f"{result['cpu_s']:>9.3f}{result['wall_s']:>9.3f}{result['peak_mb']:>9.0f}"
    return f"{name:<{WIDE}}{numbers}   {extras}".rstrip()


def ratios(results: dict[str, Result]) -> Iterator[tuple[str, str, float]]:
    """(case, other, CPU time of the case over that of the other)."""
    for name, result in results.items():
        for other in BESIDE[name]:
            if other in results:
                yield name, other, result["cpu_s"] / results[other]["cpu_s"]


def machine() -> dict[str, Any]:
    """What the numbers depend on."""
    modules = ("piforest", "numpy", "scipy", "sklearn", "numba")
    versions = {module: __import__(module).__version__ for module in modules}
    commit = subprocess.run(
        ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    cpu = platform.processor() or platform.machine()
    if (info := Path("/proc/cpuinfo")).exists():
        models = [x.split(":")[1].strip() for x in info.open() if x.startswith("model name")]
        cpu = models[0] if models else cpu
    return {"cpu": cpu, "cores": os.cpu_count(), "python": platform.python_version(),
            "commit": commit, **versions}  # fmt: skip


def save(path: Path, results: dict[str, Result]) -> None:
    """Whole or not at all."""
    beside = {name: {} for name in results}
    for name, other, ratio in ratios(results):
        beside[name][other] = ratio
    told = {name: {**result, "cpu_over": beside[name]} for name, result in results.items()}
    part = path.with_suffix(".part")
    part.write_text(json.dumps({"machine": machine(), "results": told}, indent=1))
    part.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--out", type=Path, help="default: bench.json; none with --only")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.case:
        run_here(args.case)
        return
    if args.list:
        print(*CASES, sep="\n")
        return
    if not names(args.only):
        sys.exit(f"no case contains {args.only!r}; --list names them.")
    results: dict[str, Result] = {}
    print(f"{'':<{WIDE}}{'CPU s':>9}{'wall s':>9}{'peak MB':>9}")
    for name in names(args.only):
        result = run_case(name)
        if result is None:
            sys.exit(f"the case {name!r} failed")
        results[name] = result
        print(line(name, result), flush=True)
    print()
    for name, other, ratio in ratios(results):
        print(f"{name} takes {ratio:.3g} times the CPU of {other}")
    out = args.out or (None if args.only else Path("bench.json"))
    if out is not None:
        save(out, results)


if __name__ == "__main__":
    main()
