"""Connect to a running Dask cluster, or start one on this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

# Seconds to wait for a scheduler to answer and to have a worker.
TIMEOUT = 10.0
# By default, workers return memory to the system at once. Every block allocates distances, and
# requesting the memory again took a quarter of the time.
_KEEP_MEMORY = {"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None}


@contextmanager
def connect(
    address: str, workers: int | None = None, timeout: float | None = None
) -> Iterator[Any]:
    """A client of the scheduler at `address`, such as tcp://host:8786, or of a new cluster.

    With "local", a cluster on this machine runs until the end of the block, with `workers`
    processes (by default one for each core) of one thread each. timeout: in seconds, 10 if None.
    """
    import dask.config
    from distributed import Client, LocalCluster

    timeout = TIMEOUT if timeout is None else timeout
    if address == "local":
        with (
            dask.config.set(_KEEP_MEMORY),
            LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=workers, threads_per_worker=1, processes=True,
                dashboard_address="127.0.0.1:0",
            ) as cluster,
            Client(cluster) as client,  # type: ignore[no-untyped-call]
        ):  # fmt: skip
            yield client
        return
    client = _client(Client, address, timeout)
    with _ending(client):
        try:
            client.wait_for_workers(1, timeout=timeout)
        except TimeoutError:
            raise OSError(
                f"the Dask scheduler at {address} has no workers; start some with "
                f"`dask worker {address}`."
            ) from None
        yield client


@contextmanager
def _ending(client: Any) -> Iterator[None]:
    """Close the client at the end of the block. One that is just connecting again, to a scheduler
    that restarted, raises an error when it is closed, which would hide that of the block."""
    client.__enter__()
    try:
        yield
    finally:
        with suppress(RuntimeError):
            client.__exit__(None, None, None)


def _client(kind: Any, address: str, timeout: float) -> Any:
    # The log of each attempt says less than the error below.
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        return kind(address, timeout=timeout)
    except (OSError, ValueError, TypeError) as error:
        raise OSError(
            f"no Dask scheduler answers at {address!r} within {timeout:g} s; start one with "
            "`dask scheduler`, or use 'local' for a cluster on this machine."
        ) from error
    finally:
        logger.setLevel(level)
