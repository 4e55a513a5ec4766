"""The state of a stream as a file, from which it goes on exactly where it stopped.

A file holds arrays and a JSON header, never code; all of it is checked before it is used. The trees
are not stored: they follow from the models and the pool.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from ..fitted import file_checks as checks
from ..io.archive import ArchiveError, Arrays, damaged, read_archive, write_archive
from ..models.bounds import Bounds
from ..models.drawing import ModelSet
from ..protocols import ModelFamily
from ..structures.greedy import Structure
from .detector import POOL, StreamDetector
from .drift import Drift, Tracked

VERSION = 1

Header = dict[str, Any]
_MODELS = ("params", "samples", "points", "scale", "weight")
_BOUNDS = ("low", "size", "cells")
_MOST_ROWS = 2**50


def write_state(path: str | PathLike[str], header: Header, detector: StreamDetector) -> None:
    """Write the state; header: what else the file is to hold, such as the parameters."""
    window, tracker = detector.window, detector.tracker
    arrays: Arrays = {"window.rows": window.X, "window.scores": window.scores}
    stored = {
        "key": detector.key,
        "n_seen": window.n_seen,
        "length": window.length,
        "renewed_at": detector.renewed_at,
        "sigma": _number(detector.sigma),
        "threshold": _number(detector.threshold),
        "tracked": [
            {"confirmed": each.confirmed, "count": each.count, "peak": each.peak}
            for each in tracker.tracked
        ],
        "events": [{"row": each.row, "kind": each.kind} for each in tracker.events],
        "has_models": detector.models is not None,
    }
    _pack_structures("tracked", [each.structure for each in tracker.tracked], arrays)
    _pack_structures("events", [each.structure for each in tracker.events], arrays)
    models, cells = detector.models, detector.cells
    if models is not None and cells is not None:
        for name in _MODELS:
            arrays[f"models.{name}"] = getattr(models, name)
        if models.excludes_sample is not None:
            arrays["models.excludes_sample"] = models.excludes_sample
        if models.bounds is not None:
            for name in _BOUNDS:
                arrays[f"bounds.{name}"] = getattr(models.bounds, name)
        arrays["pool.rows"], arrays["pool.numbers"] = cells.pool, cells.numbers
        arrays["leaves"] = cells.leaves
    write_archive(path, {**header, "stream": stored}, arrays, VERSION)


def read_header(path: str | PathLike[str], kind: str) -> tuple[Header, Arrays]:
    """The header and the arrays of a state of this class; else an error that says what it is."""
    header, arrays = read_archive(path)
    if header.get("class") != kind or not isinstance(header.get("stream"), dict):
        raise ArchiveError(
            f"{path} holds a {header.get('class')}, not the state of a {kind}: give another file, "
            "or none to begin anew."
        )
    if header.get("version") != VERSION:
        raise ArchiveError(
            f"{path} has version {header.get('version')!r} of the format of states; this piforest "
            f"reads version {VERSION}."
        )
    return header, arrays


def restore(path: Any, header: Header, arrays: Arrays, detector: StreamDetector) -> StreamDetector:
    """Put the state of a file into a new detector with the same settings."""
    try:
        _restore(header["stream"], arrays, detector)
    except ArchiveError:
        raise
    except KeyError as error:
        raise damaged(path, f"it has no {error}") from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise damaged(path, error) from error
    return detector


def _restore(stored: Header, arrays: Arrays, detector: StreamDetector) -> None:
    window, family = detector.window, detector.settings.reservoir.family
    for name in ("n_seen", "length", "renewed_at", "key"):
        _require(type(stored[name]) is int and stored[name] >= 0, f"its header has a bad {name}")
    n_seen, length = stored["n_seen"], stored["length"]
    fits = n_seen < _MOST_ROWS and length <= min(n_seen, window.capacity)
    _require(fits and stored["renewed_at"] <= n_seen, "its numbers of rows do not fit together")
    _require(stored["key"] < 2**64, "its header has a bad key")
    for name, own in (("window.rows", window.X), ("window.scores", window.scores)):
        _require(_alike(arrays[name], own), f"its {name} do not fit the parameters")
    _require(bool(np.isfinite(arrays["window.rows"]).all()), "its rows are not finite")
    scores = arrays["window.scores"]
    _require(bool((np.isnan(scores) | (scores > 0) & (scores <= 1)).all()), "its scores are wrong")
    window.X[:], window.scores[:] = arrays["window.rows"], scores
    window.n_seen, window.length = n_seen, length
    detector.key, detector.renewed_at = stored["key"], stored["renewed_at"]
    detector.sigma, detector.threshold = _real(stored["sigma"]), _real(stored["threshold"])
    _unpack_tracker(stored, arrays, detector, family)
    if stored["has_models"] is True:
        _unpack_models(arrays, detector, family)


def _unpack_tracker(
    stored: Header, arrays: Arrays, detector: StreamDetector, family: ModelFamily
) -> None:
    tracked = _unpack_structures("tracked", len(stored["tracked"]), arrays, family)
    events = _unpack_structures("events", len(stored["events"]), arrays, family)
    for each in stored["tracked"]:
        fits = type(each["confirmed"]) is bool and type(each["count"]) is int
        _require(fits and 0 <= each["count"] < 100, "its structures do not fit")
    for each in stored["events"]:
        _require(
            type(each["row"]) is int and each["kind"] in ("came", "left"), "its events are wrong"
        )
    detector.tracker.tracked = [
        Tracked(structure, each["confirmed"], each["count"], _real(each["peak"]))
        for structure, each in zip(tracked, stored["tracked"])
    ]
    detector.tracker.events = [
        Drift(each["row"], each["kind"], structure)
        for structure, each in zip(events, stored["events"])
    ]


def _unpack_models(arrays: Arrays, detector: StreamDetector, family: ModelFamily) -> None:
    d, bounds = detector.window.X.shape[1], None
    if "bounds.low" in arrays:
        bounds = Bounds(*(arrays[f"bounds.{name}"] for name in _BOUNDS))
    parts: dict[str, Any] = {name: arrays[f"models.{name}"] for name in _MODELS}
    parts["params"] = np.asfortranarray(parts["params"])
    models = ModelSet(
        family, **parts, bounds=bounds, excludes_sample=arrays.get("models.excludes_sample")
    )
    checks.check_models(models, d, None)
    checks.check_bounds(models, d)
    pool, numbers, leaves = arrays["pool.rows"], arrays["pool.numbers"], arrays["leaves"]
    p, t = len(pool), detector.settings.n_trees
    fits = (
        pool.shape == (p, d) and pool.dtype == np.float64 and 2 <= p <= POOL
        and numbers.shape == (p,) and numbers.dtype == np.int64
        and leaves.shape == (p, t) and leaves.dtype == np.int32
        and bool(np.isfinite(pool).all())
        and bool((np.diff(numbers) > 0).all() and numbers[0] >= 0)
        and bool(numbers[-1] < detector.renewed_at)
    )  # fmt: skip
    _require(fits, "its pool does not fit the rest")
    detector.models = models
    detector.cells = cells = detector.grown(models, pool, numbers)
    _require(cells.counts_from(leaves), "its leaves do not fit the trees")


def _pack_structures(name: str, structures: Sequence[Structure], arrays: Arrays) -> None:
    """Numbers (s, 3), parameters, and the members of all with the end of each."""
    numbers = [[each.half_width, each.log_ratio, each.sigma] for each in structures]
    arrays[f"{name}.numbers"] = np.array(numbers, np.float64).reshape(-1, 3)
    if structures:
        arrays[f"{name}.params"] = np.stack([each.params for each in structures])
        arrays[f"{name}.members"] = np.concatenate([each.members for each in structures])
        arrays[f"{name}.ends"] = np.cumsum([len(each.members) for each in structures])


def _unpack_structures(name: str, n: int, arrays: Arrays, family: ModelFamily) -> list[Structure]:
    if n == 0:
        return []
    numbers, params = arrays[f"{name}.numbers"], arrays[f"{name}.params"]
    members, ends = arrays[f"{name}.members"], arrays[f"{name}.ends"]
    fits = (
        numbers.shape == (n, 3) and numbers.dtype == params.dtype == np.float64
        and params.ndim == 2 and len(params) == n and ends.shape == (n,)
        and members.ndim == 1 and members.dtype == ends.dtype == np.int64
        and bool(np.isfinite(numbers).all() and np.isfinite(params).all())
        and bool((np.diff(ends, prepend=0) >= 0).all() and ends[-1] == len(members))
    )  # fmt: skip
    _require(fits, f"its {name} do not fit together")
    return [
        Structure(family, theta, float(w), float(ratio), part, float(sigma))
        for theta, (w, ratio, sigma), part in zip(params, numbers, np.split(members, ends[:-1]))
    ]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _real(value: Any) -> float:
    if value is None:
        return math.nan
    _require(type(value) in (int, float) and math.isfinite(value), "its header has a bad number")
    return float(value)


def _alike(array: Any, own: Any) -> bool:
    return bool(array.shape == own.shape and array.dtype == own.dtype)


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise ValueError(reason)
