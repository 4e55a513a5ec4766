"""The content of the page: validated input, and the rows that are shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._random import Stream, choose
from ..families import layout_of
from ..protocols import Floats, Ints
from ..structures.greedy import Structure
from .columns import bytes_per_row, floats_or_none, unmasked
from .images import Pixels, validate_image

# Limits of the view: rows, and bytes of their values.
MAX_ROWS = 10_000
MAX_BYTES = 1_100_000


@dataclass(frozen=True)
class Content:
    """A fitted detector and the rows to show."""

    detector: Any
    input: Any
    """X as the user passed it, such as a data frame"""
    X: Floats
    """(n, d)"""
    scores: Floats
    """(n,)"""
    names: list[str]
    """names of the columns of X"""
    columns: dict[str, NDArray[Any]]
    """name to (n,): the columns of the table, and those of X that are not among them"""
    places: list[int]
    """(d,) indices of the columns of X in `columns`"""
    rows: Ints
    """(n,) their numbers for the reader"""
    shown: Ints
    """(m,) indices of the rows on the page, ascending"""
    images: list[Pixels]
    structures: list[Structure]

    @property
    def threshold(self) -> float:
        return float(self.detector.threshold_)

    @property
    def found_structure(self) -> bool:
        """Whether structures were found, or none were looked for."""
        return bool(getattr(self.detector, "found_structure_", True))

    @property
    def families(self) -> list[Any]:
        return [models.family for models in getattr(self.detector, "models_", [])]

    @property
    def are_matches(self) -> bool:
        """Whether rows are (x1, y1, x2, y2), points in two images."""
        two = [layout_of(family).kind == "matches" for family in self.families]
        return self.X.shape[1] == 4 and (bool(self.images) or (bool(two) and all(two)))

    @property
    def noun(self) -> str:
        return "matches" if self.are_matches else "points"


def build_content(
    detector: Any, X: Any, scores: Any, table: Any, names: Any, rows: Any, images: Any
) -> Content:
    """Validate the parameters of `write_report` and choose the rows to show."""
    if not hasattr(detector, "anomaly_score"):
        raise ValueError(
            "detector must be a PreferenceIsolationForest or a VoronoiForest, got "
            f"{type(detector).__name__}."
        )
    check_is_fitted(detector, "fitted_")
    points = _points(X)
    n, d = points.shape
    scores = detector.anomaly_score(X) if scores is None else scores
    scores = _one_each("scores", np.asarray(scores, np.float64), n)
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite; remove the rows that have none.")
    column_names = _names(names, X, d, detector)
    columns, places = _columns(points, column_names, table)
    rows = np.arange(1, n + 1) if rows is None else np.asarray(rows)
    if rows.dtype.kind not in "iu":
        raise ValueError(f"rows must be integers, got dtype {rows.dtype}.")
    pictures = _images(images, d)
    shown = _shown(scores, columns)
    structures = _named(getattr(detector, "structures_", []), column_names)
    return Content(
        detector, X, points, scores, column_names, columns, places,
        _one_each("rows", rows, n).astype(np.int64), shown, pictures, structures,
    )  # fmt: skip


def _named(structures: Any, names: list[str]) -> list[Structure]:
    """The structures with the names of the page, if they have others."""
    return [each if each.names == tuple(names) else replace(each, names=tuple(names))
            for each in structures]  # fmt: skip


def _points(X: Any) -> Floats:
    points = np.asarray(X)
    if points.ndim != 2 or points.dtype.kind not in "iufbO" or not points.size:
        raise ValueError(
            f"X must be numeric of shape (n, d), got shape {points.shape} and dtype {points.dtype}."
        )
    points = points.astype(np.float64)
    if not np.isfinite(points).all():
        row = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise ValueError(
            f"X must be finite, but row {row} (from 0) is not; remove the rows that were not "
            "scored."
        )
    return points


def _one_each(name: str, values: NDArray[Any], n: int) -> NDArray[Any]:
    if values.shape != (n,):
        raise ValueError(
            f"{name} must have one value for each of the {n} rows of X, got shape {values.shape}."
        )
    return values


def _names(names: Any, X: Any, d: int, detector: Any) -> list[str]:
    """Given names; those of a data frame; those of the family; or numbered ones."""
    if names is None:
        names = getattr(X, "columns", None)
    if names is None:
        layouts = [layout_of(models.family) for models in getattr(detector, "models_", [])]
        usual = [each.columns for each in layouts if each.columns is not None]
        names = next((columns for columns in usual if len(columns) == d), None)
    if names is None:
        return ["x", "y", "z"][:d] if d <= 3 else [f"x{k}" for k in range(d)]
    found = [str(name) for name in names]
    if len(found) != d or len(set(found)) != d:
        raise ValueError(f"names must be {d} different names of the columns of X, got {found}.")
    return found


def _columns(X: Floats, names: list[str], table: Any) -> tuple[dict[str, NDArray[Any]], list[int]]:
    """The columns of X that the table lacks, then those of the table; and the indices of X's."""
    stored = {} if table is None else {str(k): unmasked(v) for k, v in table.columns.items()}
    for name, values in stored.items():
        if values.shape != (len(X),):
            raise ValueError(
                f"table must have a row for each of the {len(X)} rows of X, but its column "
                f"{name!r} has shape {values.shape}; remove the rows that were not scored."
            )
    added, used = {}, []
    for k, name in enumerate(names):
        same = floats_or_none(stored[name]) if name in stored else None
        if same is None or not np.array_equal(same, X[:, k]):
            name = _unused(f"{name} (scored)" if name in stored else name, stored)
            added[name] = X[:, k]
        used.append(name)
    columns = {**added, **stored}
    order = list(columns)
    return columns, [order.index(name) for name in used]


def _unused(name: str, taken: Any) -> str:
    while name in taken:
        name += "'"
    return name


def _images(images: Any, d: int) -> list[Pixels]:
    if images is None:
        return []
    if len(images) != 2:
        raise ValueError(f"images must be two arrays, got {len(images)}.")
    if d != 4:
        raise ValueError(
            f"images are drawn under matches, rows (x1, y1, x2, y2), but X has {d} columns; "
            "omit images."
        )
    return [validate_image(image, which) for which, image in enumerate(images)]


def _shown(scores: Floats, columns: dict[str, NDArray[Any]]) -> Ints:
    """All rows; or the most anomalous ones and as many random others, as the page can hold."""
    # 25 bytes: the score, the number, the nearest structure and its distance.
    each = 25 + sum(bytes_per_row(values) for values in columns.values())
    most = max(100, min(MAX_ROWS, int(MAX_BYTES / each)))
    return most_telling(scores, most)


def most_telling(scores: Floats, most: int) -> Ints:
    """All rows, ascending; of more than `most`, the most anomalous ones and random others."""
    if len(scores) <= most:
        return np.arange(len(scores))
    order = np.argsort(-scores, kind="stable")
    top, rest = order[: most // 2], np.sort(order[most // 2 :])
    picked = rest[choose(Stream(0).child("report"), len(rest), most - len(top))]
    return np.sort(np.concatenate([top, picked]))
