"""Model files: a fitted value and the parameters of its detector, as one archive.

A file holds arrays and a JSON header, never code. Nothing in it is trusted: `file_checks` checks
every value before compiled code reads it or much memory is allocated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np

from .._rows import SparseRows
from ..families import FAMILIES, resolve_families, resolve_family
from ..families.scaled import ScaledFamily, unscaled
from ..forest import FlatForest, HashedForest, HashedTrees, PooledForest
from ..io.archive import ArchiveError, Arrays, damaged, read_archive, write_archive
from ..models.bounds import Bounds
from ..models.drawing import ModelSet
from ..models.membership import sample_membership
from ..protocols import Floats, Metric, ModelFamily
from . import file_checks as checks
from .family_fingerprint import check_same_family, fingerprint
from .file_measuring import decode_measuring, encode_measuring
from .file_params import built_in, decode, decode_params, encode, encode_params
from .file_structures import StoredStructures, pack_structures, unpack_structures
from .file_versions import VERSION, to_current_version
from .state import FittedEmbedding, FittedForest

_TREES = ("roots", "first_child", "seed", "size")
_HASHED_TREES = ("roots", "nodes")
_MODELS = ("params", "samples", "points", "scale", "weight")
_BOUNDS = ("low", "size", "cells")

Header = dict[str, Any]
ThresholdSource = Literal[
    "automatic",
    "contamination",
    "false alarm rate",
    "given",
    "no structure",
    "units differ",
    "too many beyond",
]


@dataclass(frozen=True)
class StoredModel:
    """The content of a model file."""

    kind: str
    """the class name of the detector"""
    params: dict[str, Any]
    """of its constructor"""
    fitted: FittedForest
    threshold: float
    threshold_source: ThresholdSource
    n_features: int | None
    feature_names: list[str]
    scores: Floats | None
    """of all training rows, if they are known"""
    subset_scores: Floats
    """of the subset that represents them"""
    structures: StoredStructures | None = None
    """None for a forest without models, and in files of earlier versions"""


def save_model(path: str | PathLike[str], stored: StoredModel) -> None:
    """Write a fitted detector.

    Raises
    ------
    ValueError
        If a parameter or the pool cannot be stored.
    """
    write_archive(path, *encode_model(stored), VERSION)


def encode_model(stored: StoredModel) -> tuple[Header, Arrays]:
    """A fitted detector as the header and the arrays of a file."""
    fitted = stored.fitted
    forest, embedding = fitted.forest, fitted.embedding
    families = [] if embedding is None else [unscaled(part.family) for part in embedding.models]
    arrays: Arrays = {"pool.scores": fitted.pool_scores, "pool.rows": fitted.pool_numbers}
    # Fitted values are stored beside the parameters, which may have been set after the fit.
    header: Header = {
        "class": stored.kind,
        "params": encode_params(stored.params, families),
        "metric": encode("metric", forest.metric),
        "threshold": stored.threshold,
        "threshold_source": stored.threshold_source,
        "n_training": fitted.n_training,
        "key": fitted.key,
        "max_samples": forest.trees.max_samples,
        "branching": forest.trees.branching,
        "n_features": stored.n_features,
        "feature_names": stored.feature_names,
        "has_structures": stored.structures is not None,
    }
    arrays["subset.scores"] = stored.subset_scores
    if stored.scores is not None and len(stored.scores) != len(stored.subset_scores):
        arrays["scores"] = stored.scores
    _pack_trees(forest.trees, header, arrays)
    _pack_pool(forest.pool, header, arrays)
    if embedding is not None:
        _pack_embedding(embedding, header, arrays)
        arrays["pool.points"], arrays["subset.points"] = fitted.points, fitted.subset
        if stored.structures is not None:
            pack_structures(stored.structures, embedding.models, arrays)
    return header, arrays


def load_model(path: str | PathLike[str], kinds: Sequence[str], family: Any = None) -> StoredModel:
    """Read a file that `save_model` wrote, of one of these classes.

    family: the custom family that the detector was fitted with, if any.

    Raises
    ------
    ValueError
        If the file is damaged, incomplete or not a model; the message names the file.
    """
    header, arrays = read_archive(path)
    if isinstance(header.get("stream"), dict):
        kind = header.get("class")
        raise ArchiveError(f"{path} holds the state of a stream: load it with {kind}.load(path).")
    if isinstance(header.get("windows"), dict):
        kind = header.get("class")
        raise ArchiveError(f"{path} holds a {kind}, not a {' or '.join(kinds)}.")
    with content_errors(path):
        header = to_current_version(path, header)
        checks.check_header(header)
        if header["class"] not in kinds:
            raise ArchiveError(f"{path} holds a {header['class']}, not a {' or '.join(kinds)}.")
        return decode_model(path, header, arrays, _custom_family(path, header, family))


@contextmanager
def content_errors(path: Any) -> Iterator[None]:
    """Any error here is due to the content of the file, and names it."""
    try:
        yield
    except ArchiveError:
        raise
    except KeyError as error:
        raise damaged(path, f"it has no {error}") from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise damaged(path, error) from error


def _custom_family(path: Any, header: Header, family: Any) -> ModelFamily | None:
    """The family that the user has to pass; None if the file names all families."""
    stored = header["embedding"]["families"] if "embedding" in header else []
    names = [each["own"] for each in stored if "own" in each]
    if family is None and names:
        raise ArchiveError(
            f"{path} holds a detector with a custom family, {names[0]!r}, which a file cannot "
            f"hold: pass it again in Python, {header['class']}.load(path, family=...)."
        )
    if family is not None and not names:
        raise ArchiveError(
            f"{path} holds a detector that needs no custom family; leave family out, got "
            f"{family!r}."
        )
    if isinstance(family, (list, tuple)):
        # The list that the detector was fitted with; only its custom family is needed.
        passed = [each for each, _ in resolve_families(family) if FAMILIES.name_of(each) is None]
        if len(passed) != 1:
            raise ArchiveError(
                f"family must hold the one custom family of {path}, {names[0]!r}, got {family!r}."
            )
        return passed[0]
    return None if family is None else resolve_family(family)


def decode_model(
    path: Any, header: Header, arrays: Arrays, custom: ModelFamily | None = None
) -> StoredModel:
    """The detector of a checked header and its arrays, which are checked."""
    params = decode_params(header["params"], custom)
    pool, metric = _unpack_pool(header, arrays), built_in("metric", header["metric"])
    trees = _unpack_trees(header, arrays)
    n, d = header["n_training"], header["n_features"]
    models = _unpack_models(header, arrays, custom)
    # Before compiled code reads them.
    checks.check_trees(trees, len(pool))
    checks.check_pool(pool, metric, None if models is None else _count(models), d)
    checks.check_scores(arrays, len(pool), n)
    embedding = None
    if models is not None:
        for part in models:
            checks.check_models(part, d, custom)
        checks.check_points(arrays, len(pool), n, d)
        if custom is not None:
            check_same_family(path, header["embedding"]["families"], models, arrays)
        for part in models:
            checks.check_bounds(part, d)
        embedding = _unpack_embedding(header["embedding"], models)
    forest = _with_pool(trees, pool, metric)
    fitted = FittedForest(
        forest, embedding, header["key"], n, arrays["pool.rows"], arrays["pool.scores"],
        arrays.get("pool.points"), arrays.get("subset.points"),
    )  # fmt: skip
    structures = None
    if models is not None and header["has_structures"]:
        structures = unpack_structures(arrays, models, fitted.represented_numbers)
    return StoredModel(
        header["class"], params, fitted, float(header["threshold"]), header["threshold_source"],
        d, header["feature_names"], arrays.get("scores"), arrays["subset.scores"], structures,
    )  # fmt: skip


def _count(models: Sequence[ModelSet]) -> int:
    return sum(len(part) for part in models)


def _pack_trees(trees: FlatForest | HashedTrees, header: Header, arrays: Arrays) -> None:
    hashed = isinstance(trees, HashedTrees)
    for name in _HASHED_TREES if hashed else _TREES:
        arrays[f"forest.{name}"] = getattr(trees, name)
    header["soft"] = False if isinstance(trees, HashedTrees) else trees.soft
    if isinstance(trees, HashedTrees):
        header["hashing"] = {"key": trees.key, "top": trees.top}


def _unpack_trees(header: Header, arrays: Arrays) -> FlatForest | HashedTrees:
    shape = header["max_samples"], header["branching"]
    if "hashing" in header:
        hashing = header["hashing"]
        parts = (arrays[f"forest.{name}"] for name in _HASHED_TREES)
        return HashedTrees(*shape, hashing["key"], float(hashing["top"]), *parts)
    parts = (arrays[f"forest.{name}"] for name in _TREES)
    return FlatForest(*shape, *parts, soft=header["soft"])


def _with_pool(
    trees: FlatForest | HashedTrees, pool: Any, metric: Metric
) -> PooledForest | HashedForest:
    """The forest of checked trees and a checked pool."""
    if isinstance(trees, HashedTrees):
        checks.check_hashed(trees, pool, metric)
        return HashedForest(pool, trees)
    forest = PooledForest(metric, pool, trees)
    if trees.soft:
        checks.check_soft(forest)
    return forest


def _pack_pool(pool: Any, header: Header, arrays: Arrays) -> None:
    if isinstance(pool, SparseRows):
        if not checks.is_narrow(pool):
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


def _unpack_pool(header: Header, arrays: Arrays) -> Any:
    if header["pool"]["layout"] == "dense":
        return arrays["pool"]
    indptr, indices, data = (arrays[f"pool.{name}"] for name in ("indptr", "indices", "data"))
    return SparseRows(indptr, indices, data, header["pool"]["n_columns"])


def _pack_embedding(embedding: FittedEmbedding, header: Header, arrays: Arrays) -> None:
    families = [unscaled(models.family) for models in embedding.models]
    header["embedding"] = {
        "kernel": encode("kernel", embedding.kernel),
        "sigma": embedding.sigma,
        "sigma_source": embedding.sigma_source,
        "in_sample_preferences": embedding.membership is None,
        "n_degenerate": embedding.n_degenerate,
        "families": [encode("family", family, families) for family in families],
        "n_drawn": [models.n_drawn for models in embedding.models],
    }
    scaled = embedding.models[0].family
    if isinstance(scaled, ScaledFamily):
        header["embedding"]["units"] = list(scaled.units)
    if embedding.measuring is not None:
        header["embedding"]["measuring"] = [encode_measuring(each) for each in embedding.measuring]
    if sum("own" in each for each in header["embedding"]["families"]) > 1:
        raise ValueError(
            "a model file can name one custom family, these are more: "
            f"{[family.name for family in families]}. Use pickle to keep them."
        )
    for i, models in enumerate(embedding.models):
        for name in _MODELS:
            arrays[f"models.{i}.{name}"] = getattr(models, name)
        if models.excludes_sample is not None:
            arrays[f"models.{i}.excludes_sample"] = models.excludes_sample
        if models.bounds is not None:
            for name in _BOUNDS:
                arrays[f"models.{i}.bounds.{name}"] = getattr(models.bounds, name)
        if "own" in header["embedding"]["families"][i]:
            for j, part in enumerate(fingerprint(models)):
                arrays[f"models.{i}.known.{j}"] = part


def _unpack_models(
    header: Header, arrays: Arrays, custom: ModelFamily | None
) -> tuple[ModelSet, ...] | None:
    if "embedding" not in header:
        return None
    stored = header["embedding"]
    return tuple(
        ModelSet(
            _scaled(decode("family", family, custom), stored.get("units")),
            **{name: arrays[f"models.{i}.{name}"] for name in _MODELS},
            bounds=_unpack_bounds(arrays, f"models.{i}.bounds"),
            excludes_sample=arrays.get(f"models.{i}.excludes_sample"),
            n_drawn=n_drawn,
        )
        for i, (family, n_drawn) in enumerate(zip(stored["families"], stored["n_drawn"]))
    )


def _scaled(family: ModelFamily, units: Sequence[float] | None) -> ModelFamily:
    return family if units is None else ScaledFamily(family, tuple(units))


def _unpack_bounds(arrays: Arrays, prefix: str) -> Bounds | None:
    if not any(name.startswith(f"{prefix}.") for name in arrays):
        return None
    return Bounds(*(arrays[f"{prefix}.{name}"] for name in _BOUNDS))


def _unpack_embedding(header: Header, models: tuple[ModelSet, ...]) -> FittedEmbedding:
    return FittedEmbedding(
        models,
        built_in("kernel", header["kernel"]),
        None if header["in_sample_preferences"] else sample_membership(models),
        float(header["sigma"]),
        header["sigma_source"],
        header["n_degenerate"],
        measuring=decode_measuring(header.get("measuring"), len(models), models[0].points.shape[1]),
    )
