"""Send a fitted model to the workers: once to each, without data that scoring does not need."""

from __future__ import annotations

import hashlib
import sys
import zlib
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any

import cloudpickle
from dask.delayed import delayed

from ...protocols import Floats
from ...structures.greedy import Structure
from .. import choose_engine

# The models that this process unpacked last.
_UNPACKED: OrderedDict[str, _Unpacked] = OrderedDict()
_MAX_UNPACKED = 4
_LOCK = Lock()


@dataclass(frozen=True)
class _Unpacked:
    fitted: Any
    """a FittedForest, or windows with one in each"""
    device: str
    n_jobs: int | None
    structures: list[Structure] | None = None


class PackedModel:
    """A fitted forest as bytes. Equal models have equal tokens.

    Parameters
    ----------
    fitted : FittedForest or FittedWindows
    device, n_jobs
        Those of the detector; a worker uses its free threads instead of n_jobs.
    structures : list of Structure or None
        To assign rows to; their members are left out, which workers do not need.
    """

    def __init__(
        self,
        fitted: Any,
        device: str,
        n_jobs: int | None,
        structures: list[Structure] | None = None,
    ) -> None:
        if structures is not None:
            structures = [each.with_members(each.members[:0]) for each in structures]
        content = _Unpacked(fitted.for_scoring(), device, n_jobs, structures)
        # Compression halves the size and takes a fraction of the time of a task.
        self.content = zlib.compress(cloudpickle.dumps(content), 1)
        self.token = hashlib.blake2b(self.content, digest_size=16).hexdigest()

    def __sizeof__(self) -> int:
        """The size that Dask assumes."""
        return len(self.content)

    def delayed(self) -> Any:
        """The model as one task of the graph, which all other tasks depend on.

        The scheduler receives it once, one worker runs the task, and each of the others fetches
        the result once. If that worker dies, another one runs the task again.
        """
        key = f"piforest-model-{self.token}"
        return delayed(identity, pure=True)(self, dask_key_name=key)


def identity(value: Any) -> Any:
    """A task whose result other tasks share."""
    return value


def score(packed: PackedModel, X: Floats, method: str = "scores") -> Floats:
    """On a worker: "scores" or "path_lengths" of validated rows."""
    model = unpack(packed)
    engine = choose_engine(X, model.device, _worker_threads(model.n_jobs), 0)
    result: Floats = getattr(engine, method)(model.fitted, model.fitted.rows_to_score(X))
    return result


def unpack(packed: PackedModel) -> _Unpacked:
    """The model, unpacked once in each process."""
    with _LOCK:
        if packed.token not in _UNPACKED:
            _UNPACKED[packed.token] = cloudpickle.loads(zlib.decompress(packed.content))
            while len(_UNPACKED) > _MAX_UNPACKED:
                _UNPACKED.popitem(last=False)
        _UNPACKED.move_to_end(packed.token)
        return _UNPACKED[packed.token]


def _worker_threads(default: int | None) -> int | None:
    """The threads of the worker, divided among its running tasks; outside a worker, `default`."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return default
    try:
        state = distributed.get_worker().state
    except ValueError:
        return default
    return max(1, int(state.nthreads) // max(1, len(state.executing)))
