"""Threads: blocks of work in parallel, with the same result for any number of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

# Each thread gets its work in about so many portions: handing out a portion costs time too.
_PORTIONS = 8


_n_jobs: ContextVar[int | None] = ContextVar("n_jobs", default=None)


@contextmanager
def allowing(n_jobs: int | None) -> Iterator[None]:
    """Let what is called within, and cannot be told otherwise, use so many threads."""
    before = _n_jobs.set(n_jobs)
    try:
        yield
    finally:
        _n_jobs.reset(before)


def allowed() -> int:
    """How many threads may be used here; one, unless `allowing` says otherwise."""
    return int(effective_n_jobs(_n_jobs.get()))


def in_threads(
    function: Callable[..., Any],
    arguments: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    total: int = 1,
) -> Iterator[Any]:
    """function(*each) for each of the arguments, `total` of them, in `n_jobs` threads; results
    in order.

    The threads share memory, whatever backend joblib is told to use. Results come one by
    one, so that those which are summed up are not all held at once.
    """
    calls = (delayed(function)(*each) for each in arguments)
    threads = effective_n_jobs(n_jobs)
    portion = max(1, min(16, total // (_PORTIONS * threads)))
    run = Parallel(
        n_jobs=n_jobs, require="sharedmem", return_as="generator", batch_size=portion,
        pre_dispatch=2 * threads * portion,
    )  # fmt: skip
    results: Iterator[Any] = run(calls)
    return results
