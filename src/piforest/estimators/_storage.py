"""Detectors as files: what is in the archive, and what it is checked for when read."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from .._random import SUBSET
from .._rows import SparseRows
from ..families import FAMILIES, resolve_families, resolve_family
from ..forest import FlatForest, PooledForest
from ..io.archive import Arrays, damaged, read_archive, write_archive
from ..metrics import METRICS
from ..models import ModelSet, own_models
from ..preferences import KERNELS
from ..sampling import SAMPLERS
from ._sound import check_header, is_narrow, pool_fits, scores_fit
from .embedding import PreferenceEmbedding

_FOREST = ("roots", "first_child", "seed", "size")
_MODELS = ("params", "samples", "points", "scale", "weight")
_REGISTRIES = {"family": FAMILIES, "kernel": KERNELS, "metric": METRICS, "sampler": SAMPLERS}
# A family of the user's own is not in the file. So many of its models, and the distances of so
# many points to them, are what it is known by; to this tolerance, since another machine's BLAS
# rounds otherwise, where a hash would be another one.
_KNOWN_MODELS, _KNOWN_POINTS = 16, 64
_KNOWN_TO = 1e-6


def save_detector(path: str | PathLike[str], detector: Any) -> None:
    """One file with the detector's parameters and everything that scoring needs."""
    pooled: PooledForest = detector.forest_
    arrays: Arrays = {
        "subset.scores": detector._subset_scores(),
        "pool.scores": detector._known["pool scores"],
        "pool.rows": detector._pool_rows,
    }
    if "scores" in detector._known and detector._n_training > SUBSET:
        arrays["scores"] = detector.scores_
    for name in _FOREST:
        arrays[f"forest.{name}"] = getattr(pooled.forest, name)
    embedding = getattr(detector, "embedding_", None)
    fitted = [] if embedding is None else [models.family for models in embedding.models_]
    # What was fitted is stored beside the parameters, which may have been set since.
    header: dict[str, Any] = {
        "class": type(detector).__name__,
        "params": _encoded(detector.get_params(), fitted),
        "metric": _encode("metric", pooled.metric),
        "offset": detector.offset_,
        "by_hand": detector._by_hand,
        "n_training": detector._n_training,
        "key": detector._key,
        "max_samples": pooled.forest.max_samples,
        "branching": pooled.forest.branching,
        "soft": pooled.forest.soft,
        "n_features_in": getattr(detector, "n_features_in_", None),
        "feature_names_in": getattr(detector, "feature_names_in_", np.empty(0)).tolist(),
    }
    _pack_pool(pooled.pool, header, arrays)
    if embedding is not None:
        _pack_embedding(embedding, header, arrays)
        arrays["pool.points"] = detector._points
        arrays["subset.points"] = detector._subset_points
    write_archive(path, header, arrays)


def load_detector(path: str | PathLike[str], kinds: Sequence[type], family: Any = None) -> Any:
    """The detector of a file, which must be of one of these classes.

    family: the family of the user's own that the detector was fitted with, if it was.
    """
    header, arrays = read_archive(path)
    try:
        check_header(path, header)
        own = _own_family(path, header, family)
        return _detector(path, header, arrays, kinds, own)
    except (KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise damaged(path, error) from error


def _own_family(path: Any, header: dict[str, Any], family: Any) -> Any:
    """The family that the user has to bring, or None where the file names all it needs."""
    stored = header.get("embedding", {}).get("families", [])
    names = [each["own"] for each in stored if "own" in each]
    if family is None and names:
        raise ValueError(
            f"{path} holds a detector with a family of your own, {names[0]!r}, which a file cannot "
            f"hold: pass it again in Python, {header['class']}.load(path, family=...)."
        )
    if family is not None and not names:
        raise ValueError(
            f"{path} holds a detector that needs no family of your own; leave family out, got "
            f"{family!r}."
        )
    if isinstance(family, (list, tuple)):
        # The list that the detector was fitted with: of it, the one that the file cannot hold.
        brought = [each for each, _ in resolve_families(family) if FAMILIES.name_of(each) is None]
        if len(brought) != 1:
            raise ValueError(f"family must hold the one of your own, {names[0]!r}, got {family!r}.")
        return brought[0]
    return None if family is None else resolve_family(family)


def _detector(
    path: Any, header: dict[str, Any], arrays: Arrays, kinds: Sequence[type], own: Any
) -> Any:
    named = {kind.__name__: kind for kind in kinds}
    if header["class"] not in named:
        raise ValueError(f"{path} holds a {header['class']}, not a {' or '.join(named)}.")
    detector: Any = named[header["class"]](**_decoded(header["params"], own))
    trees = (arrays[f"forest.{name}"] for name in _FOREST)
    forest = FlatForest(header["max_samples"], header["branching"], *trees, soft=header["soft"])
    pool, metric = _unpack_pool(header, arrays), _built_in("metric", header["metric"])
    embedding: Any = None
    if "embedding" in header:
        embedding = _unpack_embedding(header["embedding"], arrays, own)
    # Before anything compiled reads them.
    if not (forest.max_samples <= len(pool) and forest.is_sound(len(pool))):
        raise damaged(path, "its trees point nowhere")
    n, d = header["n_training"], header["n_features_in"]
    if not (pool_fits(pool, metric, embedding, d, own) and scores_fit(arrays, len(pool), n)):
        raise damaged(path, "its parts do not fit together")
    if embedding is not None and not embedding.own_votes:
        embedding._own = own_models(embedding.models_)
    if own is not None:
        _check_known(path, header["embedding"]["families"], embedding.models_, arrays)
    detector.forest_ = PooledForest(metric, pool, forest)
    detector.max_samples_ = forest.max_samples
    detector.offset_, detector._by_hand = header["offset"], header.get("by_hand") is True
    detector._n_training, detector._key = n, int(header["key"])
    detector._pool_rows, detector._training = arrays["pool.rows"], None
    detector._known = {
        name: arrays[name.replace(" ", ".")]
        for name in ("pool scores", "subset scores", "scores")
        if name.replace(" ", ".") in arrays
    }
    if n <= SUBSET:
        detector._known["scores"] = arrays["subset.scores"]
    fitted = [detector]
    if embedding is not None:
        detector.embedding_ = embedding
        fitted.append(embedding)
        for name, size in (("pool", len(pool)), ("subset", min(n, SUBSET))):
            points = arrays[f"{name}.points"]
            if not (points.shape == (size, d) and points.dtype == np.float64):
                raise damaged(path, f"its {name} has no points")
        detector._points = arrays["pool.points"]
        detector._subset_points = arrays["subset.points"]
    for estimator in fitted:
        if header["n_features_in"] is not None:
            estimator.n_features_in_ = header["n_features_in"]
        if header["feature_names_in"]:
            estimator.feature_names_in_ = np.array(header["feature_names_in"], dtype=object)
    return detector


def _known(models: ModelSet) -> tuple[Any, Any]:
    """What a family of the user's own is known by: how far its first points are from its first
    models, and the same for models that it solves again from their samples; inf for none."""
    family, few = models.family, models.first(_KNOWN_MODELS)
    points = few.points[:_KNOWN_POINTS]
    stored = np.asarray(family.residuals(points, few.params), np.float64)
    samples = few.points[np.searchsorted(np.unique(few.samples), few.samples)]
    params, valid = (np.asarray(part) for part in family.solve(samples))
    again = np.full((len(points), *valid.shape), np.inf)
    again[:, valid] = family.residuals(points, params[valid])
    # A solver may number the models of a sample as it likes.
    return stored, np.sort(again, axis=2).reshape(len(points), -1)


def _check_known(path: Any, headers: Any, sets: list[ModelSet], arrays: Arrays) -> None:
    """Is the family that was passed the one of the file?"""
    for i, (header, models) in enumerate(zip(headers, sets)):
        if "own" not in header:
            continue
        expected, reason = [arrays[f"models.{i}.known.{j}"] for j in range(2)], None
        try:
            with np.errstate(all="ignore"):
                given = _known(models)
        except Exception as error:
            given, reason = None, error
        if given is None or not all(_alike(*pair) for pair in zip(given, expected)):
            raise ValueError(
                f"family={models.family!r} is not the one that {path} was saved with, "
                f"{header['own']!r}: it does not give the same distances for the same points. Pass "
                "that one, with the same options and the same versions of what it is made with."
            ) from reason


def _alike(given: Any, expected: Any) -> bool:
    """To `_KNOWN_TO` of what is usual, so that distances of next to 0 may be any."""
    finite = expected[np.isfinite(expected)]
    slack = _KNOWN_TO * float(np.median(finite)) if finite.size else 0.0
    same = given.shape == expected.shape
    return same and bool(np.allclose(given, expected, rtol=_KNOWN_TO, atol=slack))


def _pack_pool(pool: Any, header: dict[str, Any], arrays: Arrays) -> None:
    if isinstance(pool, SparseRows):
        if not is_narrow(pool):
            raise ValueError(
                f"a pool with {pool.n_columns} columns and {len(pool.data)} entries cannot be "
                "saved: it is too wide. Use pickle to keep it."
            )
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
    families = [models.family for models in embedding.models_]
    header["embedding"] = {
        "params": _encoded(embedding.get_params(), families),
        "kernel": _encode("kernel", embedding.kernel_),
        "sigma": embedding.sigma_,
        "sigma_source": embedding.sigma_source_,
        "n_degenerate": embedding.n_degenerate_,
        "families": [_encode("family", family, families) for family in families],
    }
    if sum("own" in each for each in header["embedding"]["families"]) > 1:
        raise ValueError(
            "a model file can name one family of your own, these are more: "
            f"{[family.name for family in families]}. Use pickle to keep them."
        )
    for i, models in enumerate(embedding.models_):
        for name in _MODELS:
            arrays[f"models.{i}.{name}"] = getattr(models, name)
        if "own" in header["embedding"]["families"][i]:
            for j, part in enumerate(_known(models)):
                arrays[f"models.{i}.known.{j}"] = part


def _unpack_embedding(header: dict[str, Any], arrays: Arrays, own: Any) -> Any:
    embedding = PreferenceEmbedding(**_decoded(header["params"], own))
    embedding.models_ = [
        ModelSet(
            _decode("family", family, own), *(arrays[f"models.{i}.{name}"] for name in _MODELS)
        )
        for i, family in enumerate(header["families"])
    ]
    embedding.kernel_ = _built_in("kernel", header["kernel"])
    embedding.sigma_, embedding.sigma_source_ = header["sigma"], header["sigma_source"]
    embedding.n_degenerate_ = header["n_degenerate"]
    embedding.n_models_ = sum(len(models) for models in embedding.models_)
    embedding._n_features_out = embedding.n_models_
    embedding._own = None
    embedding.bands_ = None
    return embedding


def _encoded(params: dict[str, Any], families: list[Any]) -> dict[str, Any]:
    # Where a model is loaded there may be other devices.
    kept = {name: value for name, value in params.items() if name != "device"}
    return {name: _encode(name, value, families) for name, value in kept.items()}


def _decoded(params: dict[str, Any], own: Any) -> dict[str, Any]:
    return {name: _decode(name, value, own) for name, value in params.items()}


def _encode(name: str, value: Any, families: Sequence[Any] = ()) -> Any:
    """A parameter as JSON: plain values as they are, registry objects by name and options, a
    family of the user's own by its name alone if it is one of the fitted `families`."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (list, tuple)) and name == "family":
        return [_encode(name, each, families) for each in value]
    if isinstance(value, (np.integer, np.floating)):
        return value.item()
    if name == "random_state":
        return None
    known = _REGISTRIES[name].name_of(value) if name in _REGISTRIES else None
    if known is not None:
        return {"name": known, "options": dataclasses.asdict(value)}
    if name == "family" and any(value is family for family in families):
        return {"own": str(value.name)}
    if name == "family":
        raise ValueError(
            f"family={value!r} cannot be saved: it was set after fitting. Fit again before saving."
        )
    raise ValueError(
        f"{name}={value!r} cannot be saved: a model file can only name what is built in. "
        "Use pickle to keep objects of your own."
    )


def _decode(name: str, value: Any, own: Any = None) -> Any:
    if isinstance(value, list):
        return [_decode(name, each, own) for each in value]
    if not isinstance(value, dict):
        return value
    if "own" in value:
        return own
    return _built_in(name, value)


def _built_in(name: str, value: dict[str, Any]) -> Any:
    return _REGISTRIES[name].get(value["name"], **value["options"])
