"""How the cases are measured: CPU seconds, wall seconds, and a registry to find them by name."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable

REPEATS = 5
Result = dict[str, float]
CASES: dict[str, Callable[[], Result]] = {}
BESIDE: dict[str, list[str]] = {}


def case(name: str, *, beside: tuple[str, ...] = ()) -> Callable[[Callable[[], Result]], object]:
    """Register a function as a case. Its CPU time is divided by that of the cases `beside`."""

    def register(function: Callable[[], Result]) -> Callable[[], Result]:
        CASES[name] = function
        BESIDE[name] = list(beside)
        return function

    return register


def cpu_seconds() -> float:
    """Of this process and of its children that have ended."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measured(work: Callable[[], object], repeats: int = REPEATS, warm: bool = True) -> Result:
    """CPU and wall seconds of one call: the median of the repeats, after one that compiles."""
    if warm:
        work()
    cpu, wall = [], []
    for _ in range(repeats):
        start = cpu_seconds(), time.perf_counter()
        work()
        cpu.append(cpu_seconds() - start[0])
        wall.append(time.perf_counter() - start[1])
    return {"cpu_s": statistics.median(cpu), "wall_s": statistics.median(wall)}
