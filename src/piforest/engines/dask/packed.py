"""A fitted model on its way to the workers: once to each, in as few bytes as scoring needs."""

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

from ...fitted import FittedForest
from ...protocols import Floats
from .. import choose_engine

# Models that this process has unpacked, the latest last.
_UNPACKED: OrderedDict[str, _Unpacked] = OrderedDict()
_KEPT = 4
_LOCK = Lock()


@dataclass(frozen=True)
class _Unpacked:
    fitted: FittedForest
    device: str
    n_jobs: int | None


class PackedModel:
    """A fitted forest as bytes. Equal models have equal tokens.

    Parameters
    ----------
    fitted : FittedForest
    device, n_jobs
        As of the detector; inside a worker, its free threads are used.
    """

    def __init__(self, fitted: FittedForest, device: str, n_jobs: int | None) -> None:
        content = _Unpacked(fitted.for_scoring(), device, n_jobs)
        # Half the size, in a fraction of the time that a task takes.
        self.content = zlib.compress(cloudpickle.dumps(content), 1)
        self.token = hashlib.blake2b(self.content, digest_size=16).hexdigest()

    def __sizeof__(self) -> int:
        """What Dask assumes when it moves or keeps it."""
        return len(self.content)

    def delayed(self) -> Any:
        """The model as one task of a graph that all others depend on.

        The scheduler gets it once, one worker runs the task, and the others fetch its result
        once each. If that worker dies, another one runs it.
        """
        key = f"piforest-model-{self.token}"
        return delayed(identity, pure=True)(self, dask_key_name=key)


def identity(value: Any) -> Any:
    """A task whose result others share."""
    return value


def score(packed: PackedModel, X: Floats, question: str = "scores") -> Floats:
    """On a worker: "scores" or "path_lengths" of validated rows."""
    model = unpack(packed)
    engine = choose_engine(X, model.device, _threads(model.n_jobs), 0)
    answer: Floats = getattr(engine, question)(model.fitted, model.fitted.rows_to_score(X))
    return answer


def unpack(packed: PackedModel) -> _Unpacked:
    """The model, unpacked once in each process."""
    with _LOCK:
        if packed.token not in _UNPACKED:
            _UNPACKED[packed.token] = cloudpickle.loads(zlib.decompress(packed.content))
            while len(_UNPACKED) > _KEPT:
                _UNPACKED.popitem(last=False)
        _UNPACKED.move_to_end(packed.token)
        return _UNPACKED[packed.token]


def _threads(otherwise: int | None) -> int | None:
    """The worker's threads, divided among its running tasks; outside a worker, `otherwise`."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return otherwise
    try:
        state = distributed.get_worker().state
    except ValueError:
        return otherwise
    return max(1, int(state.nthreads) // max(1, len(state.executing)))
