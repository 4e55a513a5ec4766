"""Saving and loading models: a zip of arrays and one JSON header, no pickle.

A file appears whole or not at all. The header carries the format's version; a
file of a newer version is refused by name.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import zipfile
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._files import whole_file
from ._rows import SparseRows
from .families import FAMILIES
from .forest import FlatForest, PooledForest
from .metrics import METRICS, get_metric
from .models import ModelSet

FORMAT = "piforest-model"
VERSION = 1
_DETECTORS = ("PIF", "PreferenceIsolationForest", "VoronoiForest")

Arrays = dict[str, NDArray[Any]]


def save_detector(path: str | PathLike[str], detector: Any) -> None:
    """One file with the detector's parameters and everything that scoring needs."""
    pooled: PooledForest = detector.forest_
    forest = pooled.forest
    arrays: Arrays = {"scores": detector.scores_, "labels": detector.labels_}
    for name in ("roots", "first_child", "seed", "size"):
        arrays[f"forest.{name}"] = getattr(forest, name)
    header: dict[str, Any] = {
        "class": type(detector).__name__,
        "params": {name: _encode(name, value) for name, value in detector.get_params().items()},
        "offset": detector.offset_,
        "max_samples": forest.max_samples,
        "branching": forest.branching,
        "n_features_in": getattr(detector, "n_features_in_", None),
        "feature_names_in": getattr(detector, "feature_names_in_", np.empty(0)).tolist(),
    }
    if header["class"] not in _DETECTORS:
        raise ValueError(f"save writes {', '.join(_DETECTORS)}; got {header['class']}.")
    _pack_pool(pooled.pool, header, arrays)
    if hasattr(detector, "embedding_"):
        _pack_embedding(detector.embedding_, header, arrays)
    write_archive(path, header, arrays)


def load_detector(path: str | PathLike[str], cls: type) -> Any:
    """The detector of a file, which must be a `cls`."""
    header, arrays = read_archive(path)
    found = _DETECTORS.index(header["class"]) if header["class"] in _DETECTORS else -1
    estimators = importlib.import_module("piforest.estimators")
    kind = getattr(estimators, _DETECTORS[found]) if found >= 0 else None
    if kind is None or not issubclass(kind, cls):
        raise ValueError(f"{path} holds a {header['class']}, not a {cls.__name__}.")
    params = {name: _decode(name, value) for name, value in header["params"].items()}
    detector = kind(**params)
    forest = FlatForest(
        header["max_samples"],
        header["branching"],
        *(arrays[f"forest.{name}"] for name in ("roots", "first_child", "seed", "size")),
    )
    metric = (
        detector.metric if not isinstance(detector.metric, str) else get_metric(detector.metric)
    )
    detector.forest_ = PooledForest(metric, _unpack_pool(header, arrays), forest)
    detector.max_samples_ = forest.max_samples
    detector.scores_, detector.labels_ = arrays["scores"], arrays["labels"]
    detector.offset_ = header["offset"]
    fitted = [detector]
    if "embedding" in header:
        detector.embedding_ = _unpack_embedding(detector, header["embedding"], arrays)
        fitted.append(detector.embedding_)
    for estimator in fitted:
        if header["n_features_in"] is not None:
            estimator.n_features_in_ = header["n_features_in"]
        if header["feature_names_in"]:
            estimator.feature_names_in_ = np.array(header["feature_names_in"], dtype=object)
    return detector


def write_archive(path: str | PathLike[str], header: dict[str, Any], arrays: Arrays) -> None:
    """The arrays, and the header as JSON text beside them."""
    text = json.dumps({"format": FORMAT, "version": VERSION, **header})
    with whole_file(path) as file:
        np.savez_compressed(file, header=np.array(text), **arrays)  # type: ignore[arg-type]


def read_archive(path: str | PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a file that `write_archive` made; a clear error for any other."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
            header = json.loads(str(arrays.pop("header")))
    except FileNotFoundError:
        raise
    except (ValueError, KeyError, OSError, EOFError, TypeError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not a piforest model, or it is damaged: {error}") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{path} is not a piforest model: its header names no such format.")
    if header.get("version") != VERSION:
        raise ValueError(
            f"{path} has version {header.get('version')} of the model format; this piforest "
            f"reads version {VERSION}. Update piforest, or save the model again."
        )
    return header, arrays


def _pack_pool(pool: Any, header: dict[str, Any], arrays: Arrays) -> None:
    if isinstance(pool, SparseRows):
        header["pool"] = {"layout": "sparse", "n_columns": pool.n_columns}
        for name in ("indptr", "indices", "data"):
            arrays[f"pool.{name}"] = getattr(pool, name)
    else:
        header["pool"] = {"layout": "dense"}
        arrays["pool"] = np.asarray(pool)


def _unpack_pool(header: dict[str, Any], arrays: Arrays) -> Any:
    if header["pool"]["layout"] == "dense":
        return arrays["pool"]
    indptr, indices, data = (arrays[f"pool.{name}"] for name in ("indptr", "indices", "data"))
    return SparseRows(indptr, indices, data, header["pool"]["n_columns"])


def _pack_embedding(embedding: Any, header: dict[str, Any], arrays: Arrays) -> None:
    header["embedding"] = {
        "sigma": embedding.sigma_,
        "n_degenerate": embedding.n_degenerate_,
        "random_state": embedding.random_state,
        "families": [_encode("family", models.family) for models in embedding.models_],
    }
    for i, models in enumerate(embedding.models_):
        for name in ("params", "samples", "scale", "weight"):
            arrays[f"models.{i}.{name}"] = getattr(models, name)


def _unpack_embedding(detector: Any, header: dict[str, Any], arrays: Arrays) -> Any:
    estimators = importlib.import_module("piforest.estimators")
    names = ("family", "sigma", "n_models", "kernel", "sampler", "scale", "weighting", "n_jobs")
    embedding = estimators.PreferenceEmbedding(
        **{name: getattr(detector, name) for name in names}, random_state=header["random_state"]
    )
    embedding.models_ = [
        ModelSet(
            _decode("family", family),
            *(arrays[f"models.{i}.{name}"] for name in ("params", "samples", "scale", "weight")),
        )
        for i, family in enumerate(header["families"])
    ]
    embedding.sigma_ = header["sigma"]
    embedding.n_degenerate_ = header["n_degenerate"]
    embedding.n_models_ = sum(len(models) for models in embedding.models_)
    embedding._n_features_out = embedding.n_models_
    return embedding


def _encode(name: str, value: Any) -> Any:
    """A parameter as JSON: plain values as they are, registry objects by name and options."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (np.integer, np.floating)):
        return value.item()
    if name == "random_state":
        return None
    for registry in (FAMILIES, METRICS):
        known = str(getattr(value, "name", None))
        if known in registry.entries and type(value) is type(registry.get(known)):
            return {"name": known, "options": dataclasses.asdict(value)}
    raise ValueError(
        f"{name}={value!r} cannot be saved: a model file names built-in choices only. "
        "Use pickle to keep objects of your own."
    )


def _decode(name: str, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    registry = FAMILIES if name == "family" else METRICS
    return registry.get(value["name"], **value["options"])
