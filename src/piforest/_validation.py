"""Checks of parameters and arrays that several modules share.

An error names the parameter, the rule, the value and the way out.
"""

from __future__ import annotations

import difflib
import math
import numbers
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_OURS = ("piforest", "sklearn", "joblib")
# Beyond this size, or below its inverse, the cubes of coordinates leave the range of floats.
LARGEST = 1e90


def warn_user(message: str) -> None:
    """A warning that points at the user's line, not at one of ours."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _OURS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level)


def forget_fit(estimator: Any) -> None:
    """Drop the results of an earlier fit, so that a fit that fails leaves an unfitted estimator
    and not a mixture of two."""
    for name in [name for name in vars(estimator) if name.endswith("_")]:
        delattr(estimator, name)


def unknown_name(parameter: str, value: Any, known: Sequence[str]) -> ValueError:
    close = difflib.get_close_matches(str(value), known, n=1, cutoff=0.5)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    listed = ", ".join(repr(name) for name in known)
    return ValueError(f"{parameter} must be one of {listed}; got {value!r}.{hint}")


def check_tensor(X: Any, n_features: int) -> None:
    """What scikit-learn's validation says of arrays, for a tensor on its device."""
    if str(X.layout) != "torch.strided" or X.is_complex():
        what = "complex numbers" if X.is_complex() else X.layout
        raise ValueError(f"X must be a dense tensor of real numbers, got {what}.")
    if X.ndim != 2 or X.shape[1] != n_features:
        raise ValueError(
            f"X must be a tensor of rows with {n_features} columns, as in fit; got shape "
            f"{tuple(X.shape)}."
        )
    if len(X) == 0:
        raise ValueError("X must have at least 1 row, got none.")
    if not bool(X.isfinite().all()):
        raise ValueError("X contains NaN or infinity; drop or fill these rows.")


def cpu_only_error(kind: str, given: Any, known: Sequence[str]) -> ValueError:
    """What a device other than the CPU does not know."""
    return ValueError(
        f"{kind} {getattr(given, 'name', given)!r} is computed on the CPU only; use device='cpu', "
        f"or a built-in {kind}: {', '.join(known)}."
    )


def check_choice(parameter: str, value: Any, known: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in known:
        raise unknown_name(parameter, value, known)
    return value


def check_integer(parameter: str, value: Any, least: int, way_out: str = "") -> int:
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < least:
        raise ValueError(
            f"{parameter} must be an integer of at least {least}, got {value!r}.{_then(way_out)}"
        )
    return int(value)


def check_positive(parameter: str, value: Any, way_out: str = "") -> float:
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not math.isfinite(value) or value <= 0:
        raise ValueError(
            f"{parameter} must be a finite number above 0, got {value!r}.{_then(way_out)}"
        )
    return float(value)


def check_contamination(value: Any) -> float | None:
    """A share in (0, 1), or None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not 0 < value < 1:
        raise ValueError(
            "contamination must be 'auto' or a share of anomalies in (0, 1), "
            f"got {value!r}. For 10 % write 0.1."
        )
    return float(value)


def check_share(parameter: str, value: Any) -> float:
    if not isinstance(value, numbers.Real) or not 0 <= float(value) < 1:
        raise ValueError(f"{parameter} must be in [0, 1), got {value!r}. For 10 % write 0.1.")
    return float(value)


def check_share_of_samples(parameter: str, value: Any) -> float:
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not 0 < float(value) <= 1:
        raise ValueError(
            f"{parameter} of the samples must be in (0, 1], got {value!r}. For half of them write "
            "0.5; for none use sampler='uniform'."
        )
    return float(value)


def check_not_below_zero(parameter: str, value: Any) -> float:
    if not isinstance(value, numbers.Real) or not 0 <= float(value) < math.inf:
        raise ValueError(f"{parameter} must be a finite number of at least 0, got {value!r}.")
    return float(value)


def check_sizes(parameter: str, value: Any, n: int) -> list[int]:
    """One count above 0 for each of n structures, from one number or n of them."""
    counts = np.full(n, value).tolist() if np.ndim(value) == 0 else list(value)
    whole = all(isinstance(count, numbers.Integral) and int(count) >= 1 for count in counts)
    if len(counts) != n or not whole:
        raise ValueError(
            f"{parameter} must be one number above 0 or one for each of the {n} structures, "
            f"got {value!r}."
        )
    return [int(count) for count in counts]


def check_box(value: Any, names: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    box = np.asarray(value, np.float64)
    if box.shape != (2, len(names)) or not (box[0] < box[1]).all():
        low, high = (", ".join(f"{end} {name}" for name in names) for end in ("lowest", "highest"))
        raise ValueError(
            f"box must be ({low}), ({high}) with the lowest below the highest, got {value!r}."
        )
    return box[0], box[1]


def check_forest_shape(n_estimators: Any, max_samples: Any, branching: Any, pool_size: Any) -> None:
    check_integer("n_estimators", n_estimators, 1, "100 is the usual number of trees.")
    check_integer("max_samples", max_samples, 2, "A tree needs two points to split; 256 is usual.")
    check_integer("branching", branching, 2, "2 is the usual number of seeds in a node.")
    check_integer("pool_size", pool_size, 2, "4096 is the default.")
    if branching > max_samples:
        raise ValueError(
            f"branching must be at most max_samples ({max_samples}), got {branching}: "
            "a node cannot draw more seeds than a tree has points."
        )


def check_family_fits(family: Any, X: NDArray[np.float64]) -> None:
    """Enough columns, then enough rows, for the family to be solved at all; then its own word."""
    n, d = X.shape
    layout = getattr(family, "layout", None)
    what = "matches" if getattr(layout, "kind", "points") == "matches" else "points"
    rows = "" if layout is None else f": rows {layout}"
    if family.n_features is not None and d != family.n_features:
        raise ValueError(
            f"family {family.name!r} needs {family.n_features} columns{rows}; X has {d} feature(s)."
        )
    if family.codimension(d) < 1:
        enough = (c for c in range(d + 1, d + 1000) if family.codimension(c) >= 1)
        least = next(enough, None)
        if least is None:
            raise ValueError(f"codimension({d}) of family {family.name!r} must be at least 1.")
        raise ValueError(
            f"family {family.name!r} needs at least {least} columns{rows}; X has {d} feature(s)."
        )
    size = check_integer(f"sample_size of family {family.name!r}", family.sample_size(d), 1)
    if n < size:
        raise ValueError(f"family {family.name!r} needs at least {size} {what}, got {n}.")
    complaint = family.complaint(X) if hasattr(family, "complaint") else None
    if complaint is not None:
        raise ValueError(complaint)


class NoModels(ValueError):
    """Every minimal sample was degenerate."""


def nothing_valid(family: Any, X: NDArray[np.float64], n_samples: int) -> NoModels:
    """Every minimal sample was degenerate: say what the data look like."""
    if (X[0] == X).all():
        return NoModels(
            f"all {len(X)} points are identical, so no {family.name} can be fitted. "
            "Check that the right columns were passed."
        )
    return NoModels(
        f"every one of {n_samples} random minimal samples was degenerate for family "
        f"{family.name!r} (repeated points, or points in special position such as "
        f"collinear ones). X has {len(np.unique(X, axis=0))} distinct rows of {len(X)}; "
        "remove repeated rows or choose a simpler family."
    )


def check_table(D: NDArray[np.float64], source: str, shape: tuple[int, ...]) -> None:
    """Distances: of the right shape, numbers, not negative."""
    if D.shape != shape:
        raise ValueError(f"{source} must give distances of shape {shape}, got {D.shape}.")
    least = D.min() if D.size else 0.0
    if np.isnan(least):
        raise ValueError(f"{source} must not give NaN.")
    if least < 0:
        raise ValueError(
            f"Negative values in data: distances must not be negative, {source} gives "
            f"{float(least)!r}."
        )


def check_magnitude(X: NDArray[np.float64]) -> None:
    """Neither squares nor cubes of the coordinates may overflow or vanish."""
    largest = float(np.abs(X).max(initial=0.0))
    if largest > LARGEST or 0 < largest < 1 / LARGEST:
        raise ValueError(
            f"X must hold values between {1 / LARGEST:g} and {LARGEST:g} in size, its largest is "
            f"{largest:g}. Use another unit, and remove rows with fill values."
        )


def check_shape(source: str, values: Any, shape: tuple[Any, ...]) -> Any:
    """An array from an object of the user's; `shape` may hold None for any length."""
    array = np.asarray(values)
    fits = array.ndim == len(shape) and all(
        want is None or have == want for have, want in zip(array.shape, shape)
    )
    if not fits:
        wanted = str(tuple("p" if want is None else want for want in shape)).replace("'", "")
        raise ValueError(f"{source} must have shape {wanted}, got {array.shape}.")
    return array


def check_square(D: NDArray[np.float64]) -> None:
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise ValueError(
            "metric='precomputed' needs a square matrix of distances between the training "
            f"points, got shape {D.shape}. To pass the points themselves, name their metric."
        )


def check_row_numbers(source: str, rows: NDArray[Any], n: int) -> None:
    if rows.dtype.kind not in "iu" or (rows.size and not 0 <= rows.min() <= rows.max() < n):
        raise ValueError(f"{source} must be row numbers, integers from 0 to {n - 1}.")


def check_row_count(metric: str, kept: int, given: int) -> None:
    if kept != given:
        raise ValueError(
            f"rows(X) of metric {metric!r} must keep all {given} rows, it gives {kept}."
        )


def check_distances(source: str, R: NDArray[np.float64]) -> None:
    least = float(R.min()) if R.size else 0.0
    if not least >= 0:  # a NaN among them makes the least one NaN
        raise ValueError(
            f"{source} must not be negative or NaN, got {least!r}: a distance, infinite at most."
        )


def check_not_negative(name: str, values: NDArray[Any]) -> None:
    if values.size and values.min() < 0:
        raise ValueError(
            f"Negative values in data: metric={name!r} needs entries of at least 0, got "
            f"{float(values.min())!r}. Shift the data, or use metric='euclidean'."
        )


def check_unit_interval(name: str, values: NDArray[np.float64]) -> None:
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        raise ValueError(
            f"kernel {name} must return values in [0, 1], got [{values.min():g}, {values.max():g}]."
        )


def check_not_increasing(name: str, values: NDArray[np.float64]) -> None:
    if (np.diff(values) > 0).any():
        raise ValueError(
            f"kernel {name} must not increase with r: a nearer point prefers a model more."
        )


def objects_or_none(X: Any, certainly: bool = False) -> NDArray[np.object_] | None:
    """A 1-D array of objects if X is a list of strings, dicts, ragged lists and so on.

    None if X is a table of numbers, which scikit-learn's validation takes; with
    `certainly` the items of a list are objects even if they look like rows.
    """
    if isinstance(X, (str, bytes, dict)):
        raise ValueError(f"X must be a list of items, got one {type(X).__name__}: {X!r:.40}.")
    if hasattr(X, "to_numpy") and getattr(X, "ndim", len(getattr(X, "shape", ()))) == 1:
        X = X.to_numpy()
    if isinstance(X, np.ndarray):
        return X.astype(object) if X.ndim == 1 and X.dtype.kind in "OUST" else None
    if hasattr(X, "shape") or hasattr(X, "columns") or not isinstance(X, Iterable):
        return None
    items = list(X)
    table = all(_is_vector(item) and len(item) == len(items[0]) for item in items)
    if items and table and not certainly:
        return None
    objects = np.empty(len(items), dtype=object)
    objects[:] = items
    return objects


def _is_vector(item: Any) -> bool:
    return isinstance(item, (list, tuple, np.ndarray)) and all(
        isinstance(value, numbers.Number) for value in item
    )


def check_no_strings(metric: str, X: Any) -> None:
    first = next(iter(X), None) if isinstance(X, (list, tuple)) else None
    if isinstance(X, str) or isinstance(first, str):
        raise ValueError(
            f"metric={metric!r} takes rows of numbers; for strings pass a function d(a, b)."
        )


def different_columns(a: int, b: int) -> ValueError:
    return ValueError(f"the rows of A and B must have the same columns, got {a} and {b}.")


def check_same_kind(fitted_on_objects: bool, objects: Any) -> None:
    """Rows to score must be of the kind that was fitted."""
    if fitted_on_objects != (objects is not None):
        kinds = ("a list of objects", "rows of numbers")
        was, now = kinds if fitted_on_objects else kinds[::-1]
        raise ValueError(f"the forest was fitted on {was}, X is {now}.")


def _then(way_out: str) -> str:
    return f" {way_out}" if way_out else ""


def check_bounded(metric: str, D: NDArray[np.float64]) -> None:
    """Soft edges count 2 - distance, which has to be at least 1."""
    if D.max() > 1 + 1e-9:
        raise ValueError(
            f"path='soft' needs a metric with distances of at most 1, such as 'tanimoto'; metric "
            f"{metric!r} gave {D.max():.3g}. Use path='depth' with it."
        )


def check_finite(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}.")
    return float(value)


def check_flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def check_enough_rows(n: int, least: int = 20) -> None:
    if n < least:
        raise ValueError(
            f"contamination='auto' needs at least {least} rows of X to take a threshold from, got "
            f"{n}. Leave X out for the training points, or use set_threshold."
        )


def check_quality(sampler: str, quality: Any, n: int, size: int) -> NDArray[np.float64]:
    """(n,) finite, not negative, and above 0 for as many points as a sample has."""
    if quality is None:
        raise ValueError(
            f"sampler {sampler!r} needs the quality of each point: pass it to fit, "
            "fit(X, quality=...), numbers of at least 0, high for points to trust."
        )
    quality = check_shape("quality", quality, (n,)).astype(np.float64, copy=False)
    bad = np.flatnonzero(~(np.isfinite(quality) & (quality >= 0)))
    if len(bad):
        raise ValueError(
            f"quality must be finite numbers of at least 0, got {float(quality[bad[0]])!r} for "
            f"row {bad[0]}. Where low is good, as in ratios of distances, pass 1 - ratio."
        )
    positive = int(np.sum(quality > 0))
    if positive < size:
        raise ValueError(
            f"quality must be above 0 for at least {size} points, as many as a minimal sample "
            f"has; it is for {positive} of {n}, and sampler {sampler!r} draws no others. Give "
            "more points a small quality, or use sampler='uniform'."
        )
    return np.asarray(quality)


def check_groups(
    sampler: str, groups: Any, n: int, size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(n,) as numbers of groups from 0, and how many points each has, one large enough."""
    if groups is None:
        raise ValueError(
            f"sampler {sampler!r} needs the group of each point: pass it to fit, "
            "fit(X, groups=...), a number or name for each row."
        )
    values = check_shape("groups", groups, (n,))
    _, of, sizes = np.unique(values, return_inverse=True, return_counts=True)
    if sizes.max() < size:
        raise ValueError(
            f"groups must have one group of at least {size} points, as many as a minimal sample "
            f"has; the largest of {len(sizes)} has {sizes.max()}. Merge groups, or use "
            "sampler='uniform'."
        )
    return of, sizes
