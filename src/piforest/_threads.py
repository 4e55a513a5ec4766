"""Blocks of work in parallel threads; the result does not depend on the number of threads."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from joblib import cpu_count, effective_n_jobs
from threadpoolctl import ThreadpoolController

# The minimum number of chunks for each thread: more chunks cost time, but fewer balance worse.
_CHUNKS_PER_THREAD = 32

_T = TypeVar("_T")
_END: Any = object()

# The pool of each thread that calls `in_threads`, and its size. A fit does so forty times, and to
# start and stop threads takes as long as many a stage. No thread waits for the pool it works in.
_kept = threading.local()

_n_jobs: ContextVar[int | None] = ContextVar("n_jobs", default=None)

_blas_lock = threading.Lock()


@contextmanager
def thread_limit(n_jobs: int | None) -> Iterator[None]:
    """Set the number of threads for code in the block that has no parameter for it."""
    before = _n_jobs.set(n_jobs)
    try:
        yield
    finally:
        _n_jobs.reset(before)


def n_threads() -> int:
    """The number of threads to use here: one, unless `thread_limit` sets another."""
    return int(effective_n_jobs(_n_jobs.get()))


def at_most(most: int, n_jobs: int | None) -> int:
    """The number of threads for `n_jobs`, but no more than `most`."""
    return min(most, int(effective_n_jobs(n_jobs)))


def in_parts(function: Callable[[slice], Any], n: int, most: int, fewest: int) -> None:
    """function(part) for slices of n items, of at most `most`, in the threads of `thread_limit`:
    two slices for each, of at least `fewest`."""
    threads = n_threads()
    size = most if threads == 1 else min(most, max(fewest, -(-n // (2 * threads))))
    parts = [(slice(start, start + size),) for start in range(0, n, size)]
    list(in_threads(function, parts, threads, len(parts)))


def at_once(*functions: Callable[[], Any]) -> list[Any]:
    """The results of functions that run at once in the threads of `thread_limit`. Those that they
    start use one thread."""
    return list(in_threads(_call, [(each,) for each in functions], n_threads(), len(functions)))


@contextmanager
def beside(function: Callable[[], _T]) -> Iterator[Callable[[], _T]]:
    """Run a function beside the block, which gets its result by a call. With one thread it runs
    when the result is asked for."""
    if n_threads() <= 1:
        yield function
        return
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(copy_context().run, function)
        yield result.result


@cache
def _blas() -> ThreadpoolController:
    """Finding the libraries takes 3 ms."""
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS uses one thread in the block: many of its small products take longer with all cores,
    which then wait actively for 30 ms, and `n_jobs` would not hold for them.

    The number holds for the whole process. Of several callers at once the first one sets it, and
    sets it back when it ends, so that it is never left at one.
    """
    lock = _blas_lock
    if not lock.acquire(blocking=False):
        yield
        return
    try:
        with _blas().limit(limits=1):
            yield
    finally:
        lock.release()


def _call(function: Callable[[], Any]) -> Any:
    return function()


def in_threads(
    function: Callable[..., Any],
    arguments: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    total: int = 1,
) -> Iterator[Any]:
    """function(*each) for each of the `total` arguments, in `n_jobs` threads; results in order.

    Results are yielded one by one, so that a sum over them does not hold them all. joblib is not
    used, because its thread pool takes ten milliseconds to stop; but its configuration applies.
    """
    threads = min(int(effective_n_jobs(n_jobs)), total)
    threads = min(threads, _cores()) if threads > 1 else threads
    if threads <= 1:
        return (function(*each) for each in arguments)
    chunk_size = max(1, min(16, total // (_CHUNKS_PER_THREAD * threads)))
    return _in_order(function, iter(arguments), threads, chunk_size)


@cache
def _cores() -> int:
    """Counting the cores reads files, which takes as long as a small stage of a fit."""
    return int(cpu_count())


def _in_order(
    function: Callable[..., Any],
    arguments: Iterator[tuple[Any, ...]],
    threads: int,
    chunk_size: int,
) -> Iterator[Any]:
    waiting: deque[Future[list[Any]]] = deque()
    pool = _pool(threads)
    try:
        while chunk := list(islice(arguments, chunk_size)):
            waiting.append(pool.submit(_call_each, function, chunk))
            if len(waiting) > 2 * threads:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        for call in waiting:
            call.cancel()
        wait(waiting)


def _pool(threads: int) -> ThreadPoolExecutor:
    """A pool of so many threads, which end with the thread that calls this."""
    if getattr(_kept, "threads", 0) != threads:
        _kept.threads, _kept.pool = threads, ThreadPoolExecutor(threads)
    pool: ThreadPoolExecutor = _kept.pool
    return pool


def _forget_threads() -> None:
    """The threads of a pool, and who holds a lock, do not exist in a forked process."""
    global _kept, _blas_lock
    _kept, _blas_lock = threading.local(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def _call_each(function: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
    return [function(*each) for each in arguments]


def one_ahead(values: Iterator[_T]) -> Iterator[_T]:
    """The values of a generator; a thread computes the next one while the caller uses the last."""
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, values, _END)
        try:
            while (value := following.result()) is not _END:
                following = pool.submit(next, values, _END)
                yield value
        finally:
            wait([following])
            values.close()  # type: ignore[attr-defined]
