"""What a model file is checked for before anything compiled, or anything large, is made of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._random import SUBSET
from .._rows import SparseRows
from ..io.archive import Arrays, damaged
from ..models import ModelSet

# Scoring keeps a number for each column of a sparse pool, so that a header alone must not ask
# for many: so many are free, or so many for each entry.
_FREE_COLUMNS, _COLUMNS_AN_ENTRY = 2**24, 64
_MOST_THREADS = 1024


def check_header(path: Any, header: dict[str, Any]) -> None:
    """Are the values of the header what they are used as?"""
    d, names = header["n_features_in"], header["feature_names_in"]
    threads = header["params"].get("n_jobs")
    rules = {
        "class": isinstance(header["class"], str),
        "offset": isinstance(header["offset"], (int, float)) and math.isfinite(header["offset"]),
        "n_training": _is_count(header["n_training"]),
        "key": _is_whole(header["key"]) and 0 <= header["key"] < 2**64,
        "max_samples": _is_count(header["max_samples"]),
        "branching": _is_whole(header["branching"]),
        "soft": isinstance(header["soft"], bool),
        "n_features_in": d is None or _is_count(d),
        "feature_names_in": isinstance(names, list)
        and all(isinstance(name, str) for name in names)
        and len(names) in (0, d),
        "n_jobs": threads is None or (_is_whole(threads) and abs(threads) <= _MOST_THREADS),
    }
    for name, holds in rules.items():
        if not holds:
            raise damaged(path, f"its header has a bad {name}")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_whole(value) and value >= 1


def is_narrow(pool: SparseRows) -> bool:
    return pool.n_columns <= max(_FREE_COLUMNS, _COLUMNS_AN_ENTRY * len(pool.data))


def pool_fits(pool: Any, metric: Any, embedding: Any, n_features: int, own: Any) -> bool:
    """Does the pool have a column for each model, or for each feature without an embedding?"""
    width = n_features
    if embedding is not None:
        if not all(_fits(models, n_features, own) for models in embedding.models_):
            return False
        width = embedding.n_models_
    if isinstance(pool, SparseRows):
        return pool.is_sound() and pool.n_columns == width and is_narrow(pool)
    if metric.name == "precomputed":
        whole = pool.ndim == 1 and pool.dtype.kind == "i"
        return whole and bool(((pool >= 0) & (pool < width)).all())
    return bool(pool.dtype.kind == "f" and pool.ndim == 2 and pool.shape[1] == width)


def scores_fit(arrays: Arrays, pool: int, n: int) -> bool:
    """One score for each point of the pool, of the subset and, where they are known, of all."""
    rows = arrays["pool.rows"]
    sizes = {"pool.scores": pool, "subset.scores": min(n, SUBSET), "scores": n}
    there = [name for name in sizes if name in arrays]
    return (
        all(arrays[name].shape == (sizes[name],) for name in there)
        and all(arrays[name].dtype == np.float64 for name in there)
        and {"pool.scores", "subset.scores"} <= set(arrays)
        and rows.shape == (pool,)
        and rows.dtype == np.int64
        and bool(((rows >= 0) & (rows < n)).all())
    )


def _fits(models: ModelSet, d: int, own: Any) -> bool:
    """One row of parameters, one sample, one scale and one weight for each model."""
    m = len(models)
    if not m or models.params.ndim != 2 or models.samples.ndim != 2:
        return False
    k, p = models.samples.shape[1], models.params.shape[1]
    distinct = len(np.unique(models.samples))
    if not (
        models.params.shape == (m, p)
        and models.samples.shape == (m, k)
        and distinct >= k  # in each sample; so k and d are no larger than what was read
        and models.points.shape == (distinct, d)
        and models.scale.shape == models.weight.shape == (m,)
        and models.samples.dtype.kind == "i"
        and all(
            array.dtype == np.float64
            for array in (models.params, models.points, models.scale, models.weight)
        )
    ):
        return False
    usable = np.isfinite(models.scale) & (models.scale > 0)
    usable &= np.isfinite(models.weight) & (models.weight >= 0)
    if not (usable.all() and models.weight.max() > 0):
        return False
    if models.family is own:
        return True  # it is asked whether it knows these models
    if models.family.sample_size(d) != k:
        return False
    with np.errstate(all="ignore"):
        return bool(models.family.solve(np.zeros((1, k, d)))[0].shape[-1] == p)
