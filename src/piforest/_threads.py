"""Threads: blocks of work in parallel, with the same result for any number of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController


def in_threads(
    function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[Any]:
    """function(*each) for each of the arguments, in `n_jobs` threads; results in order.

    The threads share memory, whatever backend joblib is told to use, and BLAS gets one
    each: its own threads would compete with ours, and spin while they wait.
    """
    calls = (delayed(function)(*each) for each in arguments)
    with _one_blas_thread():
        # A generator, so that results which are summed up are not all held at once.
        yield from Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(calls)


_lock = Lock()
_inside = 0
_limit: Any = None


@contextmanager
def _one_blas_thread() -> Generator[None]:
    """The limit belongs to the process: the first to enter sets it, the last to leave lifts it."""
    global _inside, _limit
    with _lock:
        if _inside == 0:
            _limit = _controller().limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limit.restore_original_limits()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
