"""Checks of a model file before compiled code reads it or much memory is allocated.

Every function raises ValueError with the reason; `file.load_model` adds the name of the file.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._random import SUBSET
from .._rows import SparseRows
from .._validation import LARGEST, check_bounded
from ..families.scaled import unscaled
from ..forest import FlatForest, HashedTrees, PooledForest
from ..io.archive import Arrays
from ..models.bounds import cells_of
from ..models.drawing import ModelSet
from ..protocols import Metric, ModelFamily

# Scoring allocates memory for each column of a sparse pool, so that the number in the header is
# limited: to a constant, or to a multiple of the number of entries.
_FREE_COLUMNS, _COLUMNS_PER_ENTRY = 2**24, 64
_MAX_THREADS = 1024
_MAX_TREES = 2**16
# Computing the expected depth for more than two branches is quadratic in max_samples.
_MAX_SAMPLES_OF_MANY_BRANCHES = 2**14
_MAX_NESTING = 8
_THRESHOLD_SOURCES = (
    "automatic", "contamination", "false alarm rate", "given", "no structure", "units differ",
    "too many beyond",
)  # fmt: skip
_SIGMA_SOURCES = ("given", "estimated", "guessed")
# Metrics whose distances never exceed 1.
_BOUNDED_METRICS = ("cosine", "jaccard", "ruzicka", "tanimoto", "hamming")


def require(holds: Any, reason: str) -> None:
    """Raise the reason unless the rule holds."""
    if not holds:
        raise ValueError(reason)


def check_header(header: dict[str, Any]) -> None:
    """Check the type and the range of every value."""
    _check_nesting(header)
    d, names = header["n_features"], header["feature_names"]
    check_threshold(header)
    rules = {
        "class": isinstance(header["class"], str),
        "n_training": is_count(header["n_training"]),
        "key": is_key(header["key"]),
        "max_samples": is_count(header["max_samples"]) and header["max_samples"] >= 2,
        "branching": is_count(header["branching"]) and header["branching"] >= 2,
        "soft": isinstance(header["soft"], bool),
        "has_structures": isinstance(header["has_structures"], bool),
        "n_features": d is None or is_count(d),
        "feature_names": isinstance(names, list)
        and all(isinstance(name, str) for name in names)
        and len(names) in (0, d),
        "pool": isinstance(header["pool"], dict)
        and (header["pool"]["layout"] == "dense" or is_count(header["pool"]["n_columns"])),
    }
    for name, holds in rules.items():
        require(holds, f"its header has a bad {name}")
    if header["branching"] > 2:
        limit = _MAX_SAMPLES_OF_MANY_BRANCHES
        require(header["max_samples"] <= limit, "its header has a bad max_samples")
    _check_hashing(header)
    structured = header["class"] == "PreferenceIsolationForest"
    require(structured == ("embedding" in header), "its header has a bad embedding")
    if structured:
        _check_embedding(header["embedding"], d)


def check_threshold(header: dict[str, Any]) -> None:
    """Check the parameters and the threshold."""
    require(isinstance(header["params"], dict), "its header has a bad params")
    threads = header["params"].get("n_jobs")
    rules = {
        "threshold": _is_real(header["threshold"]),
        "threshold_source": header["threshold_source"] in _THRESHOLD_SOURCES,
        "n_jobs": threads is None or (_is_whole(threads) and 1 <= abs(threads) <= _MAX_THREADS),
    }
    for name, holds in rules.items():
        require(holds, f"its header has a bad {name}")


def _check_hashing(header: dict[str, Any]) -> None:
    hashing, kind = header.get("hashing"), header["class"]
    fits = kind != "RuzHashForest" if hashing is None else kind != "VoronoiForest"
    if hashing is not None:
        fits = fits and isinstance(hashing, dict) and is_unit(hashing["top"])
        fits = fits and is_key(hashing["key"])
        fits = fits and not header["soft"]
    require(fits, "its header has a bad hashing")


def _check_embedding(header: Any, d: int) -> None:
    require(isinstance(header, dict), "its header has a bad embedding")
    families, units = header["families"], header.get("units")
    rules = {
        "sigma": _is_real(header["sigma"]) and header["sigma"] > 0,
        "sigma_source": header["sigma_source"] in _SIGMA_SOURCES,
        "in_sample_preferences": isinstance(header["in_sample_preferences"], bool),
        "n_degenerate": _is_whole(header["n_degenerate"]) and header["n_degenerate"] >= 0,
        "families": isinstance(families, list)
        and len(families) > 0
        and all(isinstance(each, dict) for each in families),
        "units": units is None
        or (
            isinstance(units, list)
            and len(units) == d
            and all(_is_real(u) and u > 0 for u in units)
        ),
        "n_drawn": isinstance(header["n_drawn"], list)
        and len(header["n_drawn"]) == len(families)
        and all(each == 0 or is_count(each) for each in header["n_drawn"])
        and all(_is_whole(each) for each in header["n_drawn"]),
    }
    for name, holds in rules.items():
        require(holds, f"its header has a bad {name}")


def _check_nesting(value: Any, depth: int = 0) -> None:
    require(depth <= _MAX_NESTING, "its header is nested too deeply")
    if isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            _check_nesting(each, depth + 1)


def _is_real(value: Any) -> bool:
    real = isinstance(value, (int, float)) and not isinstance(value, bool)
    return real and abs(value) < LARGEST and math.isfinite(value)


def is_unit(value: Any) -> bool:
    """Whether a value is a positive number."""
    return _is_real(value) and value > 0


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_key(value: Any) -> bool:
    """Whether a value is the key of a random stream."""
    return _is_whole(value) and 0 <= value < 2**64


def is_count(value: Any) -> bool:
    """Whether a value is a positive integer, small enough that sums of a few do not overflow."""
    return _is_whole(value) and 1 <= value < 2**48


def check_trees(trees: FlatForest | HashedTrees, pool: int) -> None:
    """Check that every index is in range and every path ends."""
    fits = trees.branching <= trees.max_samples <= pool and len(trees) <= _MAX_TREES
    require(fits and trees.is_valid(pool), "its trees are not valid")


def check_hashed(trees: HashedTrees, pool: Any, metric: Metric) -> None:
    """Check that sparse rows are hashed, and that the largest value is that of the pool."""
    fits = isinstance(pool, SparseRows) and metric.name == "ruzicka"
    fits = fits and trees.top == (float(pool.data.max(initial=0)) or 1.0)
    require(fits, "its hashes do not fit the pool")


def check_soft(forest: PooledForest) -> None:
    """Check that distances within the pool are at most 1, as `fit` does for soft paths."""
    if forest.metric.name not in _BOUNDED_METRICS:
        step = forest.block_rows
        for start in range(0, len(forest.pool), step):
            check_bounded(forest.metric.name, forest.table(forest.pool[start : start + step]))


def is_narrow(pool: SparseRows) -> bool:
    """Whether the pool does not have many more columns than entries."""
    return pool.n_columns <= max(_FREE_COLUMNS, _COLUMNS_PER_ENTRY * len(pool.data))


def check_pool(pool: Any, metric: Metric, n_models: int | None, d: int | None) -> None:
    """Check that the pool has a column for each model, or for each feature without an embedding."""
    width = d if n_models is None else n_models
    if isinstance(pool, SparseRows):
        fits = pool.is_valid() and pool.n_columns == width and is_narrow(pool)
        fits = fits and is_finite(pool.data)
    elif metric.name == "precomputed":
        fits = pool.ndim == 1 and pool.dtype == np.int64 and width is not None
        fits = fits and bool(((pool >= 0) & (pool < width)).all())
    else:
        fits = pool.dtype == np.float64 and pool.ndim == 2 and pool.shape[1] == width
        fits = fits and is_finite(pool)
    entries = pool.data if isinstance(pool, SparseRows) else pool
    if getattr(metric, "non_negative", False):
        fits = fits and bool((entries >= 0).all())
    require(fits, "its pool does not fit the rest")


def is_finite(values: NDArray[Any]) -> bool:
    """Whether all numbers are finite and not too large to be squared."""
    return bool(np.isfinite(values).all() and np.abs(values).max(initial=0) <= LARGEST)


def check_scores(arrays: Arrays, pool: int, n: int) -> None:
    """Check the scores of the pool, of the subset and, if they are known, of all rows."""
    sizes = {"pool.scores": pool, "subset.scores": min(n, SUBSET), "scores": n}
    stored = [name for name in sizes if name in arrays]
    rows = arrays["pool.rows"]
    fits = (
        {"pool.scores", "subset.scores"} <= set(stored)
        and all(arrays[name].shape == (sizes[name],) for name in stored)
        and all(arrays[name].dtype == np.float64 for name in stored)
        and all(is_finite(arrays[name]) for name in stored)
        and rows.shape == (pool,)
        and rows.dtype == np.int64
        and bool((rows[1:] > rows[:-1]).all())
        and 0 <= rows[0] <= rows[-1] < n
    )
    require(fits, "its scores do not fit the rest")


def check_points(arrays: Arrays, pool: int, n: int, d: int) -> None:
    """Check the coordinates of the pool and of the subset."""
    for name, size in (("pool", pool), ("subset", min(n, SUBSET))):
        points = arrays[f"{name}.points"]
        fits = points.shape == (size, d) and points.dtype == np.float64 and is_finite(points)
        require(fits, f"its {name} has no points")


def check_models(models: ModelSet, d: int, custom: ModelFamily | None) -> None:
    """Check that there are parameters, a sample, a scale and a weight for each model."""
    require(_shapes_fit(models, d), "its models do not fit together")
    # Parameters may have any size: those of an ellipse are inverse squares of lengths.
    finite = is_finite(models.points) and bool(np.isfinite(models.params).all())
    usable = is_finite(models.scale) and bool((models.scale > 0).all())
    usable = usable and is_finite(models.weight) and bool((models.weight >= 0).all())
    require(finite and usable and models.weight.max() > 0, "its models have bad values")
    _check_exclusions(models)
    if unscaled(models.family) is custom:
        return  # `check_same_family` checks its models
    k, p = models.samples.shape[1], models.params.shape[1]
    require(models.family.sample_size(d) == k, "its models do not fit the family")
    with np.errstate(all="ignore"):
        solved = models.family.solve(np.zeros((1, k, d)))[0]
    require(solved.shape[-1] == p, "its models do not fit the family")


def _check_exclusions(models: ModelSet) -> None:
    excludes = models.excludes_sample
    fits = excludes is None or (excludes.dtype == np.bool_ and excludes.shape == (len(models),))
    require(fits, "its models do not fit together")


def check_bounds(models: ModelSet, d: int) -> None:
    """Check that every model has a range of positive size and the cells of its chart."""
    bounds = models.bounds
    if bounds is None:
        return
    shape = (len(models), 2)
    fits = (
        bounds.low.shape == bounds.size.shape == shape
        and bounds.low.dtype == bounds.size.dtype == np.float64
        and bounds.cells.dtype == np.bool_
        and bounds.cells.shape == (len(models), cells_of(models.family, models.params, d))
    )
    require(fits, "its bounds do not fit the models")
    require(is_finite(bounds.low) and bool((bounds.size > 0).all()), "its bounds have bad values")


def _shapes_fit(models: ModelSet, d: int) -> bool:
    m, floats = len(models), (models.params, models.points, models.scale, models.weight)
    if not m or models.params.ndim != 2 or models.samples.ndim != 2:
        return False
    samples, k = models.samples, models.samples.shape[1]
    n_points = len(np.unique(samples))
    return (
        samples.shape == (m, k)
        and samples.dtype == np.int64
        and bool((samples >= 0).all())
        # This also bounds k and d by the size of the arrays.
        and n_points >= k >= 1
        and models.points.shape == (n_points, d)
        and models.scale.shape == models.weight.shape == (m,)
        and all(array.dtype == np.float64 for array in floats)
    )
