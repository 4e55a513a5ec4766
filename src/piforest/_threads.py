"""Threads: blocks of work in parallel, with the same result for any number of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Any

from joblib import cpu_count, effective_n_jobs

# Each thread gets its work in at least so many portions: handing out a portion costs time too,
# but the last ones are waited for.
_PORTIONS = 32

_n_jobs: ContextVar[int | None] = ContextVar("n_jobs", default=None)


@contextmanager
def thread_limit(n_jobs: int | None) -> Iterator[None]:
    """The number of threads for code within that has no parameter for it."""
    before = _n_jobs.set(n_jobs)
    try:
        yield
    finally:
        _n_jobs.reset(before)


def allowed() -> int:
    """How many threads may be used here; one, unless `thread_limit` says otherwise."""
    return int(effective_n_jobs(_n_jobs.get()))


def in_threads(
    function: Callable[..., Any],
    arguments: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    total: int = 1,
) -> Iterator[Any]:
    """function(*each) for each of the arguments, `total` of them, in `n_jobs` threads; results
    in order.

    Results come one by one, so that those which are summed up are not all held at once. Not by
    joblib, whose pool of threads takes ten milliseconds to stop; but its settings count.
    """
    threads = min(int(effective_n_jobs(n_jobs)), total)
    # Counting the cores reads files.
    threads = min(threads, cpu_count()) if threads > 1 else threads
    if threads <= 1:
        return (function(*each) for each in arguments)
    portion = max(1, min(16, total // (_PORTIONS * threads)))
    return _in_order(function, iter(arguments), threads, portion)


def _in_order(
    function: Callable[..., Any], arguments: Iterator[tuple[Any, ...]], threads: int, portion: int
) -> Iterator[Any]:
    waiting: deque[Future[list[Any]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            while some := list(islice(arguments, portion)):
                waiting.append(pool.submit(_each, function, some))
                if len(waiting) > 2 * threads:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            for call in waiting:
                call.cancel()


def _each(function: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
    return [function(*each) for each in arguments]
