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

from ._columns import dependent_columns

_INTERNAL = ("piforest", "sklearn", "joblib", "contextlib")
# Cubes of larger coordinates, or of ones below its inverse, exceed the range of floats.
LARGEST = 1e90


def warn_user(message: str) -> None:
    """Issue a warning that points to the line of the user's code."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _INTERNAL:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level)


def clear_fit(estimator: Any) -> None:
    """Delete the results of an earlier fit, so that a fit that fails leaves an unfitted estimator,
    not a mixture of two."""
    for name in [name for name in vars(estimator) if name.endswith("_")]:
        delattr(estimator, name)


def unknown_name(parameter: str, value: Any, known: Sequence[str]) -> ValueError:
    # The beginning of a name is not close to a long one: "linear" is closer to "line".
    text = str(value).lower()
    begun = sorted((name for name in known if text and name.startswith(text)), key=len)
    close = begun[:2] or difflib.get_close_matches(text, known, n=1, cutoff=0.5)
    hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
    listed = ", ".join(repr(name) for name in known)
    return ValueError(f"{parameter} must be one of {listed}; got {value!r}.{hint}")


def check_tensor(X: Any, n_features: int) -> None:
    """Check a tensor on its device as scikit-learn checks arrays."""
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
    """The error for a metric or kernel that only the CPU computes."""
    return ValueError(
        f"{kind} {getattr(given, 'name', given)!r} is computed on the CPU only; use device='cpu', "
        f"or a built-in {kind}: {', '.join(known)}."
    )


def check_choice(parameter: str, value: Any, known: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in known:
        raise unknown_name(parameter, value, known)
    return value


def check_integer(parameter: str, value: Any, minimum: int, hint: str = "") -> int:
    is_integer = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_integer or value < minimum:
        raise ValueError(
            f"{parameter} must be an integer of at least {minimum}, got {value!r}. {hint}".rstrip()
        )
    return int(value)


def check_positive(parameter: str, value: Any, hint: str = "") -> float:
    if not is_real(value) or not math.isfinite(value) or value <= 0:
        raise ValueError(
            f"{parameter} must be a finite number above 0, got {value!r}. {hint}".rstrip()
        )
    return float(value)


def is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def check_contamination(value: Any) -> float | None:
    """A share in (0, 1), or None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    if not is_real(value) or not 0 < value < 1:
        raise ValueError(
            "contamination must be 'auto' or a share of anomalies in (0, 1), "
            f"got {value!r}. For 10 % write 0.1."
        )
    return float(value)


def check_false_alarm_rate(value: Any, contamination: Any = "auto") -> float | None:
    """A share in (0, 1), or None if there is none."""
    if value is None:
        return None
    if not is_real(value) or not 0 < value < 1:
        raise ValueError(
            "false_alarm_rate must be None or a share in (0, 1), the expected share of normal rows "
            f"among the flagged ones, got {value!r}. For 10 % write 0.1."
        )
    if not (isinstance(contamination, str) and contamination == "auto"):
        raise ValueError(
            f"false_alarm_rate={value!r} and contamination={contamination!r} both choose the "
            "threshold: give one of them."
        )
    return float(value)


def check_share(parameter: str, value: Any) -> float:
    if not isinstance(value, numbers.Real) or not 0 <= float(value) < 1:
        raise ValueError(f"{parameter} must be in [0, 1), got {value!r}. For 10 % write 0.1.")
    return float(value)


def check_not_below_zero(parameter: str, value: Any) -> float:
    if not isinstance(value, numbers.Real) or not 0 <= float(value) < math.inf:
        raise ValueError(f"{parameter} must be a finite number of at least 0, got {value!r}.")
    return float(value)


def check_sizes(parameter: str, value: Any, n: int) -> list[int]:
    """The size of each of n structures, from one number or n numbers."""
    counts = np.full(n, value).tolist() if np.ndim(value) == 0 else list(value)
    valid = all(isinstance(count, numbers.Integral) and int(count) >= 1 for count in counts)
    if len(counts) != n or not valid:
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
    """Check the number of columns and of rows, then what the family itself requires of them."""
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
    reason = family.reason_to_reject(X) if hasattr(family, "reason_to_reject") else None
    if reason is not None:
        raise ValueError(reason)


class NoModels(ValueError):
    """Every minimal sample was degenerate."""


def no_valid_models(family: Any, X: NDArray[np.float64], n_samples: int) -> NoModels:
    """The error for data of which every minimal sample was degenerate."""
    if (X[0] == X).all():
        return NoModels(
            f"all {len(X)} points are identical, so no {family.name} can be fitted. "
            "Check that the right columns were passed."
        )
    views = getattr(getattr(family, "layout", None), "views", ())
    n_places = min((len(np.unique(X[:, list(view)], axis=0)) for view in views), default=len(X))
    if n_places < family.sample_size(X.shape[1]):
        return NoModels(
            f"the {len(X)} matches have only {n_places} different points in one of the views, and "
            f"family {family.name!r} needs {family.sample_size(X.shape[1])}: many features were "
            "matched with the same one, as between views of different scenes. Match mutually, or "
            "check that the views show the same scene."
        )
    hint = _still_matches(views, X) or ("" if views else dependent_columns(X))
    if not hint:
        distinct = len(np.unique(X, axis=0))
        repeated = "remove repeated rows or " if distinct < len(X) else ""
        hint = f"X has {distinct} distinct rows of {len(X)}; {repeated}choose a simpler family."
    return NoModels(
        f"every one of {n_samples} random minimal samples was degenerate for family "
        f"{family.name!r} (repeated points, or points in special position such as "
        f"collinear ones). {hint}"
    )


def _still_matches(views: Sequence[Sequence[int]], X: NDArray[np.float64]) -> str:
    """What to say of matches whose two points are equal; empty for others."""
    if len(views) != 2 or not np.array_equal(X[:, list(views[0])], X[:, list(views[1])]):
        return ""
    return (
        "Both points of every match are equal: nothing moved between the views. Check that two "
        "different views were matched."
    )


def check_table(D: NDArray[np.float64], source: str, shape: tuple[int, ...]) -> None:
    """Check that distances have this shape and are neither NaN nor negative."""
    if D.shape != shape:
        raise ValueError(f"{source} must give distances of shape {shape}, got {D.shape}.")
    smallest = D.min() if D.size else 0.0
    if np.isnan(smallest):
        raise ValueError(f"{source} must not give NaN.")
    if smallest < 0:
        raise ValueError(
            f"Negative values in data: distances must not be negative, {source} gives "
            f"{float(smallest)!r}."
        )


def check_magnitude(X: NDArray[np.float64]) -> None:
    """Check that squares and cubes of the coordinates neither overflow nor underflow."""
    # Without an array of absolute values.
    largest = max(float(X.max(initial=0.0)), -float(X.min(initial=0.0)))
    if largest > LARGEST or 0 < largest < 1 / LARGEST:
        raise ValueError(
            f"X must hold values between {1 / LARGEST:g} and {LARGEST:g} in size, its largest is "
            f"{largest:g}. Use another unit, and remove rows with fill values."
        )


def check_shape(source: str, values: Any, shape: tuple[Any, ...]) -> Any:
    """An array from the result of user code; None in `shape` stands for any length."""
    array = np.asarray(values)
    fits = array.ndim == len(shape) and all(
        expected is None or length == expected for length, expected in zip(array.shape, shape)
    )
    if not fits:
        wanted = str(tuple("p" if length is None else length for length in shape)).replace("'", "")
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
    smallest = float(R.min()) if R.size else 0.0
    if not smallest >= 0:  # also if it is NaN
        raise ValueError(
            f"{source} must not be negative or NaN, got {smallest!r}: a distance, infinite at most."
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

    None if X is an array of numbers, which scikit-learn validates. With `certainly`, the items of
    a list are objects even if they look like rows.
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
    """Check that the rows to score are of the same kind as the training rows."""
    if fitted_on_objects != (objects is not None):
        kinds = ("a list of objects", "rows of numbers")
        was, now = kinds if fitted_on_objects else kinds[::-1]
        raise ValueError(f"the forest was fitted on {was}, X is {now}.")


def check_bounded(metric: str, D: NDArray[np.float64]) -> None:
    """Check that distances are at most 1, since soft edges count 2 - distance."""
    if D.max() > 1 + 1e-9:
        raise ValueError(
            f"path='soft' needs a metric with distances of at most 1, such as 'tanimoto'; metric "
            f"{metric!r} gave {D.max():.3g}. Use path='depth' with it."
        )


def check_finite(name: str, value: Any) -> float:
    if not is_real(value) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}.")
    return float(value)


def check_flag(name: str, value: Any, other: str = "") -> bool:
    """other: the text of a further value that is allowed, but not checked here."""
    if not isinstance(value, (bool, np.bool_)):
        allowed = f"True, False or {other}" if other else "True or False"
        raise ValueError(f"{name} must be {allowed}, got {value!r}.")
    return bool(value)


def check_enough_rows(n: int, minimum: int = 20) -> None:
    if n < minimum:
        raise ValueError(
            f"contamination='auto' needs at least {minimum} rows of X to take a threshold from, "
            f"got {n}. Leave X out for the training points, or use set_threshold."
        )
