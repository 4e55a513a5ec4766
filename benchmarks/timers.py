"""Wall seconds of the stages of a fit, with timers around the functions that compute them."""

from __future__ import annotations

import importlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps

_FITTING = "piforest.fitting"
# Stages that contain no other; what is left of the whole is the rest.
FIT = {
    "samples and models": (f"{_FITTING}.embedding", "draw_models"),
    "choice of widths": (f"{_FITTING}.embedding", "steady_grid"),
    "unexplained rows": (f"{_FITTING}.embedding", "add_unexplained"),
    "bands": (f"{_FITTING}.embedding", "_Scaling._measure"),
    "names": (f"{_FITTING}.refinement", "name_counts"),
    "refits": (f"{_FITTING}.refinement", "_refit"),
    "equal models": (f"{_FITTING}.refinement", "representatives"),
    "bounds": (f"{_FITTING}.refinement", "find_bounds"),
    "explained models": (f"{_FITTING}.embedding", "drop_explained"),
    "pool, distances, trees": ("piforest.estimators.preference_fit", "fit_forest"),
    "threshold": ("piforest.estimators.detector", "Detector._set_threshold"),
}


@contextmanager
def timed(
    stages: dict[str, tuple[str, str]], wait: Callable[[], object] = lambda: None
) -> Iterator[dict[str, float]]:
    """The seconds of each stage while the block runs; wait() is called at both ends of a stage."""
    seconds: dict[str, float] = defaultdict(float)
    originals = []
    for stage, (module, path) in stages.items():
        *outer, name = path.split(".")
        owner = importlib.import_module(module)
        for each in outer:
            owner = getattr(owner, each)
        original = getattr(owner, name)
        originals.append((owner, name, original))
        setattr(owner, name, _with_timer(original, stage, seconds, wait))
    try:
        yield seconds
    finally:
        for owner, name, original in originals:
            setattr(owner, name, original)


def _with_timer(
    function: Callable[..., object],
    stage: str,
    seconds: dict[str, float],
    wait: Callable[[], object],
) -> Callable[..., object]:
    @wraps(function)
    def run(*args: object, **options: object) -> object:
        wait()
        start = time.perf_counter()
        try:
            return function(*args, **options)
        finally:
            wait()
            seconds[stage] += time.perf_counter() - start

    return run
