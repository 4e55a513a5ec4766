"""Model files of windows: each window as the model of one detector, all of them in one archive.

The arrays of one name of all windows are stored as one, with a table of their shapes, since an
archive of thousands of small arrays is slow. Nothing in a file is trusted: each window passes the
checks of a model file, and the rest is checked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from .._random import SUBSET
from ..fitted import FittedForest
from ..fitted import file_checks as checks
from ..fitted.file import (
    Header,
    StoredModel,
    ThresholdSource,
    content_errors,
    decode_model,
    encode_model,
)
from ..fitted.file_params import decode_params, encode_params
from ..fitted.file_versions import VERSION, to_current_version
from ..io.archive import ArchiveError, Arrays, read_archive, write_archive
from ..protocols import Floats
from ..structures.greedy import Structure
from .cutting import MAX_WINDOWS
from .fitted import FittedWindows, Window, weight_of
from .tiling import Tiling

KIND = "LocalPreferenceIsolationForest"
_FOREST = "PreferenceIsolationForest"
# Parameters that may be lists of plain values.
_LISTS = ("window", "coordinates", "features")
_MAX_SIZES, _MAX_AXES = 64, 4
# The power of the share that a window explains, in the weights of files without weights.
_EARLIER_POWER = 4
_SIGMA_SOURCES = ("given", "estimated", "guessed")


@dataclass(frozen=True)
class StoredWindows:
    """The content of a model file of windows."""

    params: dict[str, Any]
    fitted: FittedWindows
    threshold: float
    threshold_source: ThresholdSource
    feature_names: list[str]


def save_windows(path: str | PathLike[str], stored: StoredWindows) -> None:
    """Write fitted windows.

    Raises
    ------
    ValueError
        If a parameter or a family cannot be stored.
    """
    fitted = stored.fitted
    parts = [encode_model(_as_model(window.fitted)) for window in fitted.windows]
    if any("own" in family for header, _ in parts for family in header["embedding"]["families"]):
        raise ValueError("windows with a custom family cannot be saved: use pickle to keep them.")
    params = {name: value for name, value in stored.params.items() if name not in _LISTS}
    lists = {name: np.asarray(stored.params[name], object).tolist() for name in _LISTS}
    header: Header = {
        "class": KIND,
        "params": {**encode_params(params, ()), **{k: _plain(v) for k, v in lists.items()}},
        "threshold": stored.threshold,
        "threshold_source": stored.threshold_source,
        "feature_names": stored.feature_names,
        "windows": {
            "sigma": None if np.isnan(fitted.sigma) else float(fitted.sigma),
            "sigma_source": fitted.sigma_source,
            "key": fitted.key,
            "n_training": fitted.n_training,
            "n_skipped": fitted.n_skipped,
            "tilings": [[float(each.side), float(each.step)] for each in fitted.tilings],
            **_common([header for header, _ in parts]),
        },
    }
    arrays = {
        "coordinates": fitted.coordinates,
        "features": fitted.features,
        "subset": fitted.subset,
        "tilings.low": np.stack([each.low for each in fitted.tilings]),
        "tilings.counts": np.stack([each.counts for each in fitted.tilings]),
        "windows.places": np.array([[w.size, w.number, w.n_rows] for w in fitted.windows]),
        "windows.explained": np.array([window.explained for window in fitted.windows]),
        "windows.weight": np.array([window.weight for window in fitted.windows]),
        **_stacked([{**own, **_structure(w)} for w, (_, own) in zip(fitted.windows, parts)]),
    }
    write_archive(path, header, arrays, VERSION)


def _plain(value: Any) -> Any:
    """Numbers and names as JSON has them."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def _as_model(fitted: FittedForest) -> StoredModel:
    """A window as a detector of its pool, which is all that is left of its rows."""
    n = len(fitted.pool_numbers)
    whole = replace(
        fitted, n_training=n, pool_numbers=np.arange(n), subset=fitted.points, key=fitted.key
    )
    scores = fitted.pool_scores
    d = fitted.points.shape[1]
    return StoredModel(_FOREST, {}, whole, 0.0, "automatic", d, [], None, scores)


def _common(headers: Sequence[Header]) -> Header:
    """What all headers have in common, and for each header the rest."""
    first = headers[0]
    same = {
        name: value
        for name, value in first.items()
        if all(name in each and each[name] == value for each in headers)
    }
    rest = [{name: each[name] for name in each if name not in same} for each in headers]
    return {"common": same, "each": rest}


def _structure(window: Window) -> Arrays:
    found = window.structure
    if found is None:
        return {}
    assert window.fitted.embedding is not None
    families = [models.family for models in window.fitted.embedding.models]
    numbers = [found.half_width, found.log_ratio, found.sigma, float(window.significant)]
    return {
        "structure.family": np.array([families.index(found.family)]),
        "structure.numbers": np.array(numbers),
        "structure.params": np.asarray(found.params, np.float64),
        "structure.members": np.asarray(found.members, np.int64),
    }


def _stacked(windows: Sequence[Arrays]) -> Arrays:
    """For each name the numbers of all windows in one array, and the shapes (windows, axes): rows
    of -1 for windows without it."""
    out: Arrays = {}
    for name in sorted({name for each in windows for name in each}):
        parts = [each.get(name) for each in windows]
        axes = max(part.ndim for part in parts if part is not None)
        none = [-1] * axes
        shapes = [none if part is None else list(part.shape) for part in parts]
        out[f"each.{name}"] = np.concatenate([p.ravel() for p in parts if p is not None])
        out[f"shapes.{name}"] = np.array(shapes, np.int64).reshape(len(parts), axes)
    return out


def _split(arrays: Arrays, n: int) -> list[Arrays]:
    """The arrays of each of n windows."""
    out: list[Arrays] = [{} for _ in range(n)]
    for name in [name.removeprefix("each.") for name in arrays if name.startswith("each.")]:
        data, shapes = arrays[f"each.{name}"], arrays[f"shapes.{name}"]
        fits = data.ndim == 1 and shapes.ndim == 2 and shapes.dtype == np.int64
        fits = fits and len(shapes) == n and bool(((shapes >= -1) & (shapes < 2**31)).all())
        checks.require(fits, f"its {name} do not fit the windows")
        at = 0
        for window, shape in zip(out, shapes.tolist()):
            if -1 in shape:
                continue
            size = 1
            for length in shape:
                size *= length
            checks.require(at + size <= len(data), f"its {name} do not fit the windows")
            window[name] = data[at : at + size].reshape(shape)
            at += size
        checks.require(at == len(data), f"its {name} do not fit the windows")
    return out


def is_windows(path: str | PathLike[str]) -> bool:
    """Whether a model file holds windows."""
    return isinstance(read_archive(path, only_header=True)[0].get("windows"), dict)


def load_windows(path: str | PathLike[str]) -> StoredWindows:
    """Read a file that `save_windows` wrote.

    Raises
    ------
    ValueError
        If the file is damaged, incomplete or not a model of windows; the message names the file.
    """
    header, arrays = read_archive(path)
    if header.get("class") != KIND:
        raise ArchiveError(f"{path} holds a {header.get('class')}, not a {KIND}.")
    with content_errors(path):
        header = to_current_version(path, header)
        return _unpacked(path, header, arrays)


def _unpacked(path: Any, header: Header, arrays: Arrays) -> StoredWindows:
    stored = header["windows"]
    checks.check_threshold(header)
    d = _check_rows(stored, arrays, header["feature_names"])
    tilings = _tilings(stored["tilings"], arrays)
    each = stored["each"]
    fits = isinstance(each, list) and 1 <= len(each) <= 2 * MAX_WINDOWS
    checks.require(fits and isinstance(stored["common"], dict), "its header has bad windows")
    places, explained = arrays["windows.places"], arrays["windows.explained"]
    _check_places(places, explained, tilings, len(each))
    weights = _weights(arrays, explained, places)
    features = arrays["features"]
    windows = []
    split = _split(arrays, len(each))
    for own, parts, place, share, weight in zip(each, split, places, explained, weights):
        one = {**stored["common"], **own}
        checks.check_header(one)
        checks.require(one["n_features"] == len(features), "its windows have other columns")
        checks.require(one["class"] == _FOREST and one["params"] == {}, "its windows are none")
        fitted = replace(decode_model(path, one, parts).fitted, subset=None)
        structure, significant = _unpacked_structure(fitted, parts)
        size, number, n_rows = (int(value) for value in place)
        windows.append(Window(
            size, number, n_rows, fitted, float(share), float(weight), structure, significant
        ))  # fmt: skip
    sigma = float("nan") if stored["sigma"] is None else float(stored["sigma"])
    result = FittedWindows(
        arrays["coordinates"], features, tilings, tuple(windows), sigma, stored["sigma_source"],
        stored["key"], stored["n_training"], stored["n_skipped"], arrays["subset"],
    )  # fmt: skip
    checks.require(d == arrays["subset"].shape[1], "its rows do not fit")
    params = decode_params(header["params"], None)
    return StoredWindows(
        params, result, float(header["threshold"]), header["threshold_source"],
        header["feature_names"],
    )  # fmt: skip


def _check_rows(stored: Header, arrays: Arrays, names: Any) -> int:
    """Check the training rows and the columns; the number of columns."""
    subset = arrays["subset"]
    checks.require(subset.ndim == 2 and subset.dtype == np.float64, "its rows do not fit")
    n, d = stored["n_training"], int(subset.shape[1])
    rules = {
        "n_training": checks.is_count(n) and len(subset) == min(n, SUBSET),
        "n_skipped": stored["n_skipped"] == 0 or checks.is_count(stored["n_skipped"]),
        "key": checks.is_key(stored["key"]),
        "sigma": stored["sigma"] is None or checks.is_unit(stored["sigma"]),
        "sigma_source": stored["sigma_source"] in _SIGMA_SOURCES,
        "feature_names": isinstance(names, list)
        and all(isinstance(name, str) for name in names)
        and len(names) in (0, d),
        "subset": checks.is_finite(subset),
        **{name: _are_columns(arrays[name], d) for name in ("coordinates", "features")},
    }
    for name, holds in rules.items():
        checks.require(holds, f"its header has a bad {name}")
    return d


def _are_columns(columns: Any, d: int) -> bool:
    fits = columns.ndim == 1 and columns.dtype == np.int64 and 1 <= len(columns) <= d
    fits = fits and bool(((columns >= 0) & (columns < d)).all())
    return fits and len(np.unique(columns)) == len(columns)


def _tilings(stored: Any, arrays: Arrays) -> tuple[Tiling, ...]:
    low, counts = arrays["tilings.low"], arrays["tilings.counts"]
    k = len(arrays["coordinates"])
    fits = (
        isinstance(stored, list) and 1 <= len(stored) <= _MAX_SIZES and k <= _MAX_AXES
        and low.shape == counts.shape == (len(stored), k)
        and low.dtype == np.float64 and counts.dtype == np.int64
        and checks.is_finite(low) and bool((counts >= 1).all())
        and bool((np.prod(counts.astype(np.float64), axis=1) < 2.0**62).all())
        and all(
            isinstance(each, list) and len(each) == 2 and all(map(checks.is_unit, each))
            # A row is in few windows of a size.
            and each[1] <= each[0] <= 8 * each[1]
            for each in stored
        )
    )  # fmt: skip
    checks.require(fits, "its header has bad tilings")
    return tuple(Tiling(a, float(s[0]), float(s[1]), c) for a, s, c in zip(low, stored, counts))


def _check_places(places: Any, explained: Any, tilings: Sequence[Tiling], n: int) -> None:
    fits = places.shape == (n, 3) and places.dtype == np.int64 and bool((places >= 0).all())
    fits = fits and explained.shape == (n,) and explained.dtype == np.float64
    fits = fits and bool(((explained >= 0) & (explained <= 1)).all())
    checks.require(fits and bool((places[:, 0] < len(tilings)).all()), "its windows have no place")
    last = np.array([int(np.prod(each.counts)) for each in tilings])
    in_order = np.diff(places[:, 0]) * 2.0**62 + np.diff(places[:, 1]) > 0
    fits = bool((places[:, 1] < last[places[:, 0]]).all() and in_order.all())
    checks.require(fits, "its windows have no place")


def _weights(arrays: Arrays, explained: Any, places: Any) -> Any:
    """How much the windows count. Earlier files do not have it."""
    if "windows.weight" not in arrays:
        shares = zip(explained.tolist(), places[:, 0].tolist())
        return [weight_of(share, size, _EARLIER_POWER) for share, size in shares]
    weights = arrays["windows.weight"]
    fits = weights.shape == explained.shape and weights.dtype == np.float64
    checks.require(fits and checks.is_finite(weights) and bool((weights > 0).all()),
                   "its windows have bad weights")  # fmt: skip
    return weights


def _unpacked_structure(fitted: FittedForest, parts: Arrays) -> tuple[Structure | None, bool]:
    if "structure.numbers" not in parts:
        return None, False
    assert fitted.embedding is not None  # the header was checked
    models = fitted.embedding.models
    family, numbers = parts["structure.family"], parts["structure.numbers"]
    params: Floats = parts["structure.params"]
    members = parts["structure.members"]
    fits = (
        family.shape == (1,) and family.dtype == np.int64 and 0 <= family[0] < len(models)
        and numbers.shape == (4,) and numbers.dtype == params.dtype == np.float64
        and checks.is_finite(numbers) and bool((numbers[[0, 2]] > 0).all())
        and bool(np.isfinite(params).all()) and members.ndim == 1 and members.dtype == np.int64
        and params.shape == (models[int(family[0])].params.shape[1],)
    )  # fmt: skip
    checks.require(fits, "its structures do not fit the windows")
    width, ratio, sigma, significant = numbers.tolist()
    kind = models[int(family[0])].family
    return Structure(kind, params, width, ratio, members, sigma), significant > 0
