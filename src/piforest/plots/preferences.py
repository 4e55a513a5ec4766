"""The preferences of rows for models: as a matrix and as a map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike

from .._rows import as_rows
from .._validation import check_choice
from ..protocols import Floats, Ints
from ..structures.assignment import assign_rows
from ..typing import RowsLike
from . import _common as common
from ._mds import mds
from .points import plot_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..estimators.detector import Detector

__all__ = ["plot_preferences"]

# Rows that are drawn at most, at even intervals over the scores.
_MATRIX_ROWS, _MAP_ROWS = 4_000, 1_000
# The largest size of the matrix in pixels.
_PIXELS = (300, 400)
# A group with a smaller share of the rows has no label.
_LABELLED_SHARE = 0.03


@dataclass(frozen=True)
class _Groups:
    """Groups of rows, in the order in which they are drawn."""

    of: Ints
    """(n,) the group of each row"""
    names: list[str]
    colours: list[str]


def plot_preferences(
    detector: Detector,
    X: RowsLike,
    ax: Axes | None = None,
    *,
    kind: Literal["matrix", "map"] = "matrix",
    y: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    title: str = "",
) -> Axes:
    """Draw the preferences of rows for the models of a detector.

    Parameters
    ----------
    detector : Detector
        A fitted detector. The matrix needs one with models, the map any.
    X : array-like of shape (n, d)
        The rows. At most 4,000 of them (1,000 on the map) are drawn, at even intervals over the
        scores.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    kind : {"matrix", "map"}, default="matrix"
        "matrix" draws a row for each point and a column for each model, both ordered by
        structure, points within a structure by score. A pixel is the mean of its preferences;
        the curve on the right is the score. "map" places the points in the plane so that their
        distances approximate those of their preferences (multidimensional scaling): points of
        one structure lie together, anomalies apart.
    y : array-like of shape (n,) or None, default=None
        True labels, 0 = anomalous, to order and colour by.
    scores : array-like of shape (n,) or None, default=None
        `detector.anomaly_score(X)`, if it is known.
    title : str, default=""
        The title of the axes.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from piforest import PreferenceIsolationForest
    >>> from piforest.datasets import make_lines
    >>> from piforest.plots import plot_preferences
    >>> X = make_lines(3, random_state=0).data
    >>> detector = PreferenceIsolationForest("line", random_state=0).fit(X)
    >>> ax = plot_preferences(detector, X)
    """
    common.check_detector("plot_preferences", detector)
    check_choice("kind", kind, ["map", "matrix"])
    if kind == "matrix" and not hasattr(detector, "embedding_"):
        raise ValueError(
            f"kind='matrix' needs a detector with preferences, {type(detector).__name__} has "
            "none; kind='map' draws its distances."
        )
    if detector.forest_.metric.name == "precomputed":
        raise ValueError("plot_preferences compares rows; metric='precomputed' has no rows.")
    values = common.validate_scores(detector.anomaly_score(X) if scores is None else scores, X)
    labels = None if y is None else np.asarray(y)
    if labels is not None:
        if labels.shape != values.shape:
            raise ValueError(
                f"y must have a label for each of {len(values)} rows, got shape {labels.shape}."
            )
        common.check_drawable("y", labels)
    if ax is not None:
        common.check_2d(ax)
    draw = _draw_matrix if kind == "matrix" else _draw_map
    axes: Axes = draw(detector, X, values, labels, ax, title)
    return axes


def _draw_matrix(detector: Any, X: Any, scores: Floats, y: Any, ax: Any, title: str) -> Any:
    rows = evenly_by_score(scores, _MATRIX_ROWS)
    chosen, values = _rows_of(X, rows), scores[rows]
    points, P = np.asarray(chosen, np.float64), detector.embedding_.transform(chosen)
    groups = _by_structure(detector, points, values) if y is None else _by_label(y[rows])
    order = np.lexsort((values, groups.of))
    pixels = _pixels(P[order], groups.of[order])
    if ax is None:
        ax = common.new_axes((7, 4.8))
    top = float(np.percentile(pixels[pixels > 0], 99)) if (pixels > 0).any() else 1.0
    image = ax.imshow(
        pixels, cmap="Blues", extent=(0, P.shape[1], len(rows), 0), aspect="auto",
        norm=common.pyplot().matplotlib.colors.PowerNorm(0.5, 0, top), interpolation="nearest",
    )  # fmt: skip
    ax.set_xlabel(f"{P.shape[1]:,} models, by the points that prefer them")
    ax.set_title(title, fontsize=10)
    ax.tick_params(labelsize=8)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    _label_groups(ax, groups, order, len(scores))
    _draw_scores(ax, values[order], detector.threshold_)
    # Only a layout engine makes space for the curve beside the matrix.
    pad = 0.16 if ax.figure.get_layout_engine() is None else 0.02
    bar = ax.figure.colorbar(image, ax=ax, label="preference", pad=pad, extend="max")
    bar.ax.tick_params(labelsize=8)
    return ax


def _draw_map(detector: Any, X: Any, scores: Floats, y: Any, ax: Any, title: str) -> Any:
    rows = evenly_by_score(scores, _MAP_ROWS)
    if len(rows) < 3:
        raise ValueError(f"a map needs at least 3 rows, got {len(rows)}.")
    places = mds(_distances(detector, X, rows))
    what = "preferences" if hasattr(detector, "embedding_") else "rows"
    title = title or f"Distances between {what}{_part(len(rows), len(scores))}, as a map"
    if y is None:
        ax = plot_scores(places, scores[rows], ax, title=title)
    else:
        ax = ax or common.new_axes((5.5, 5))
        _draw_groups(ax, places, _by_label(y[rows]), title)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel("first coordinate")
    ax.set_ylabel("second coordinate")
    return ax


def evenly_by_score(scores: Floats, most: int) -> Ints:
    """At most `most` rows at even intervals from the lowest score to the highest, ascending."""
    order = np.argsort(scores, kind="stable")
    return np.sort(order[np.linspace(0, len(order) - 1, min(most, len(order))).round().astype(int)])


def _distances(detector: Any, X: Any, rows: Ints) -> Floats:
    """(rows, rows) distances under the metric of the detector."""
    metric = detector.forest_.metric
    chosen = _rows_of(X, rows)
    if hasattr(detector, "embedding_"):
        chosen = detector.embedding_.transform(chosen)
    table = as_rows(metric, chosen)
    prepare = getattr(metric, "prepare", lambda rows: rows)
    return np.asarray(metric.pairwise(table, prepare(table)), np.float64)


def _rows_of(X: Any, rows: Ints) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]


def _by_structure(detector: Any, points: Floats, scores: Floats) -> _Groups:
    """Rows by the structure that they belong to; those of none last."""
    found = detector.structures_
    cells = assign_rows(points, scores <= detector.threshold_, found).labels
    names = [f"{each.family.name} {k}" for k, each in enumerate(found)]
    return _groups(np.where(cells < 0, len(found), cells), [*names, "on none"])


def _by_label(y: Any) -> _Groups:
    """Rows by label; anomalies last."""
    labels = [*np.unique(y[y != 0]), *([0] if (y == 0).any() else [])]
    names = ["anomalous" if label == 0 else f"label {label}" for label in labels]
    found = np.argmax(y[:, None] == np.asarray(labels), axis=1)
    return _groups(found, names)


def _groups(of: Ints, names: list[str]) -> _Groups:
    none = names[-1] in ("on none", "anomalous")
    colours = [common.COLOURS[k % len(common.COLOURS)] for k in range(len(names))]
    return _Groups(of, names, [*colours[:-1], common.GREY] if none else colours)


def _pixels(P: Any, groups: Ints) -> Floats:
    """Mean preferences; columns are sorted by the group that prefers them most."""
    n, m = P.shape
    sizes = np.bincount(groups)
    member = scipy.sparse.csr_array((1 / sizes[groups], (groups, np.arange(n))))
    means = (member @ P).toarray()
    place = np.empty(m, np.int64)
    place[np.lexsort((-means.max(axis=0), means.argmax(axis=0)))] = np.arange(m)
    down, across = min(n, _PIXELS[0]), min(m, _PIXELS[1])
    entries = P.tocoo()
    row, column = np.arange(n) * down // n, place * across // m
    at = row[entries.row] * across + column[entries.col]
    sums = np.bincount(at, entries.data, down * across).reshape(down, across)
    counts = np.outer(np.bincount(row), np.bincount(column))
    return np.asarray(sums / counts)


def _label_groups(ax: Any, groups: _Groups, order: Ints, n: int) -> None:
    """Add a strip of colours on the left with the names of the groups, and lines between them."""
    of = groups.of[order]
    strip = ax.inset_axes([-0.04, 0, 0.03, 1])
    strip.set_axis_off()
    strip.set_xlim(0, 1)
    strip.set_ylim(len(of), 0)
    ticks, names = [], []
    for k, (name, colour) in enumerate(zip(groups.names, groups.colours)):
        rows = np.flatnonzero(of == k)
        if not len(rows):
            continue
        strip.axhspan(rows[0], rows[-1] + 1, color=colour, linewidth=0)
        if rows[0] > 0:
            ax.axhline(rows[0], color="#555555", lw=0.5)
        if len(rows) >= _LABELLED_SHARE * len(of):
            ticks.append(rows.mean() + 0.5)
            names.append(f"{name}\n{len(rows):,}")
    ax.set_yticks(ticks, names)
    ax.tick_params(axis="y", length=0, pad=16)
    ax.set_ylabel(f"points{_part(len(of), n)}, by score within each group")


def _part(drawn: int, n: int) -> str:
    """How many of the rows are drawn, if not all."""
    return "" if drawn == n else f" ({drawn:,} of {n:,})"


def _draw_scores(ax: Any, scores: Floats, threshold: float) -> None:
    """Draw the scores beside the matrix, with the threshold."""
    side = ax.inset_axes([1.01, 0, 0.13, 1])
    side.plot(scores, np.arange(len(scores)) + 0.5, color="black", lw=0.9)
    side.set_ylim(len(scores), 0)
    side.set_yticks([])
    side.set_xlabel("score", fontsize=8)
    side.xaxis.set_label_position("top")
    side.axvline(threshold, color=common.FLAGGED, lw=1)
    side.set_xticks([threshold], [f"{threshold:.3f}"], fontsize=8)
    side.tick_params(axis="x", top=True, bottom=False, labeltop=True, labelbottom=False)


def _draw_groups(ax: Any, places: Floats, groups: _Groups, title: str) -> None:
    for k, (name, colour) in enumerate(zip(groups.names, groups.colours)):
        rows = groups.of == k
        if rows.any():
            common.draw_rows(
                ax, places[rows], len(places), c=colour, label=f"{name}: {rows.sum():,}"
            )
    common.finish_axes(ax, title)
    common.add_legend(ax, 3)
