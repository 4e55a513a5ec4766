"""Threads: blocks of work in parallel, with the same result for any number of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from joblib import Parallel, delayed


def in_threads(
    function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[Any]:
    """function(*each) for each of the arguments, in `n_jobs` threads; results in order.

    The threads share memory, whatever backend joblib is told to use. Results come one by
    one, so that those which are summed up are not all held at once.
    """
    calls = (delayed(function)(*each) for each in arguments)
    results: Iterator[Any] = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(
        calls
    )
    return results
