"""A fitted detector on its way to the workers: once to each, in as few bytes as scoring needs."""

from __future__ import annotations

import copy
import hashlib
import sys
import zlib
from collections import OrderedDict
from threading import Lock
from typing import Any

import cloudpickle
from dask.delayed import delayed

# Detectors that this process has unpacked, the latest last.
_UNPACKED: OrderedDict[str, Any] = OrderedDict()
_KEPT = 4
_LOCK = Lock()


class Parcel:
    """A packed detector. Equal detectors have equal tokens.

    named: does it know the names of its columns? Without, it takes plain arrays.
    """

    def __init__(self, detector: Any, named: bool = True) -> None:
        lean = _lean(detector)
        if not named:
            vars(lean).pop("feature_names_in_", None)
        # Half the size, in a fraction of the time that a task takes.
        self.content = zlib.compress(cloudpickle.dumps(lean), 1)
        self.token = hashlib.blake2b(self.content, digest_size=16).hexdigest()

    def __sizeof__(self) -> int:
        """What Dask reckons with when it moves or keeps it."""
        return len(self.content)

    def delayed(self) -> Any:
        """The parcel as one task of a graph, on which all others depend: the scheduler gets it
        once, one worker runs the task, the others fetch its result, once each. Where that worker
        dies, another one runs it."""
        key = f"piforest-model-{self.token}"
        return delayed(handed_on, pure=True)(self, dask_key_name=key)


def handed_on(value: Any) -> Any:
    """A task whose result others share."""
    return value


def _lean(detector: Any) -> Any:
    """The detector without what only fitting and asking for structures need."""
    lean = copy.copy(detector)
    known = vars(detector).get("_known", {})
    lean._known = {name: known[name] for name in ("null",) if name in known}
    lean._training, lean.verbose = None, 0
    if hasattr(lean, "embedding_"):
        lean._subset_points = lean._subset_points[:0]
        lean.embedding_ = copy.copy(lean.embedding_)
        lean.embedding_.bands_, lean.embedding_.verbose = None, 0
    return lean


def unpacked(parcel: Parcel) -> Any:
    """The detector, unpacked and moved to its device once in each process, with as many threads
    as this task may use."""
    with _LOCK:
        if parcel.token not in _UNPACKED:
            _UNPACKED[parcel.token] = cloudpickle.loads(zlib.decompress(parcel.content))
            while len(_UNPACKED) > _KEPT:
                _UNPACKED.popitem(last=False)
        _UNPACKED.move_to_end(parcel.token)
        held = _UNPACKED[parcel.token]
        detector = copy.copy(held)
        # A copy does not take along what a device holds.
        detector._on_device = held._scorer()
    detector.n_jobs = _threads(detector.n_jobs)
    return detector


def _threads(otherwise: int | None) -> int | None:
    """The worker's threads, shared by the tasks that it runs now; outside of a worker, what the
    detector says."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return otherwise
    try:
        state = distributed.get_worker().state
    except ValueError:
        return otherwise
    return max(1, int(state.nthreads) // max(1, len(state.executing)))
