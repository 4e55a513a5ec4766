"""python -m mutants --number 60 --seed 0 --only forest --jobs 2

Prints the share of mutants that make a test fail, for each part of the core, and those that do not.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from .applying import NotApplied, apply
from .equivalent import EQUIVALENT, reason_to_exclude
from .mutations import Mutant, mutants_of
from .targets import TARGETS, Target

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
REQUIRED = 0.9
_MEMORY = 8 * 2**30
# Seconds of CPU time: a mutant may take these, and this many times the time without it.
_SECONDS, _FACTOR = 30, 4
_NOT_APPLIED = 99


def main() -> int:
    """Run all parts; 1 if too many mutants survive in one of them."""
    asked = parsed()
    for name in ("numba", "pandas", "scipy.sparse", "sklearn", "hypothesis.strategies"):
        importlib.import_module(name)
    # Shrinking an example takes a hundred times as long as finding it.
    settings.register_profile(
        "mutants", derandomize=True, deadline=None, max_examples=60,
        phases=[Phase.explicit, Phase.generate],
    )  # fmt: skip
    if gone := unknown():
        print("\n".join(f"no longer a mutant: {name} (equivalent.py)" for name in gone))
    shares = [run(name, TARGETS[name], asked) for name in asked.only or TARGETS]
    return int(min(shares) < REQUIRED or bool(gone))


def unknown() -> list[str]:
    """Equivalent mutants whose code has changed since."""
    paths = [SOURCE / "piforest" / path for each in TARGETS.values() for path in each.modules]
    names = [mutant.name for path in paths for mutant in mutants_of(path)]
    return [start for start in EQUIVALENT if not any(name.startswith(start) for name in names)]


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--number", type=int, default=60, help="mutants of each part; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=TARGETS)
    parser.add_argument("--like", default="", help="only mutants whose names contain this")
    return parser.parse_args()


def run(name: str, target: Target, asked: argparse.Namespace) -> float:
    """Run one part, and return the share of its mutants that are killed."""
    all_mutants = [
        each for path in target.modules for each in mutants_of(SOURCE / "piforest" / path)
    ]
    all_mutants = [each for each in all_mutants if asked.like in each.name]
    tested = [each for each in all_mutants if reason_to_exclude(each.name) is None]
    chosen = tested
    if 0 < asked.number < len(tested):
        chosen = random.Random(asked.seed).sample(tested, asked.number)
    for path in target.modules:
        importlib.import_module("piforest." + path.removesuffix(".py").replace("/", "."))
    limit = _SECONDS + _FACTOR * baseline(name, target)
    survived, start = [], time.monotonic()
    for mutant, status in outcomes(chosen, target, limit, asked.jobs):
        if status == 0:
            survived.append(mutant)
            print(f"  survived: {mutant.path.name}:{mutant.line} {mutant.name}", flush=True)
    share = 1 - len(survived) / max(1, len(chosen))
    print(
        f"{name}: {len(chosen) - len(survived)} of {len(chosen)} mutants killed, {share:.1%} "
        f"({len(all_mutants)} in all, {len(all_mutants) - len(tested)} of them equivalent; "
        f"{time.monotonic() - start:.0f} s)",
        flush=True,
    )
    return share


def baseline(name: str, target: Target) -> float:
    """The CPU time of the tests without a mutant; twice, since the first run may compile."""
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _, status = os.waitpid(started(None, target, None), 0)
        if status:
            raise SystemExit(f"the tests of {name} fail without a mutant")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def outcomes(
    mutants: list[Mutant], target: Target, limit: float, jobs: int
) -> Iterator[tuple[Mutant, int]]:
    """Each mutant with the status of its process, 0 if all tests pass; `jobs` at a time."""
    waiting, running = mutants[::-1], {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            running[started(mutant, target, limit)] = mutant
        pid, status = os.wait()
        if os.waitstatus_to_exitcode(status) == _NOT_APPLIED:
            raise SystemExit(f"cannot apply {running[pid].name}")
        yield running.pop(pid), status


def started(mutant: Mutant | None, target: Target, limit: float | None) -> int:
    """The number of a process that runs the tests."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
            # A test may wait for something that never comes.
            signal.alarm(int(10 * limit))
        status = run_tests(mutant, target)
    finally:
        os._exit(status)


def run_tests(mutant: Mutant | None, target: Target) -> int:
    """The exit code of pytest."""
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    if mutant is not None:
        os.dup2(silent, 2)
        try:
            apply(mutant, SOURCE)
        except NotApplied:
            return _NOT_APPLIED
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        code = pytest.main(
            ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=mutants",
             f"--basetemp={folder}/pytest", *(f"tests/{test}" for test in target.tests)],
            plugins=[SlowLast()],
        )  # fmt: skip
    return int(code)


class SlowLast:
    """Most mutants are killed by tests that are fast."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Stable, so that fixtures of a module are made once."""
        items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


if __name__ == "__main__":
    sys.exit(main())
