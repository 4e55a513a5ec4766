"""Which models the points prefer: as a matrix, and as a map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from .._validation import check_choice
from ..metrics import as_rows
from ..protocols import Floats, Ints
from ..structures import members_of
from ._common import (
    COLOURS,
    GREY,
    check_detector,
    check_drawable,
    check_flat,
    draw,
    frame,
    known_scores,
    legend,
    new_axes,
    pyplot,
)
from ._mds import mds
from .points import plot_scores

KINDS = ["map", "matrix"]
# So many rows are looked at, spread evenly over the scores.
_MATRIX_ROWS, _MAP_ROWS = 4_000, 1_000
# So many pixels the matrix has at most.
_PIXELS = (300, 400)
# A group with a smaller share of the rows has no name beside it.
_NAMED = 0.03


@dataclass(frozen=True)
class _Groups:
    """Which rows belong together, in the order in which they are drawn."""

    of: Ints
    """(n,) the group of each row"""
    names: list[str]
    colours: list[str]


def plot_preferences(
    detector: Any,
    X: Any,
    ax: Any = None,
    *,
    kind: str = "matrix",
    y: Any = None,
    scores: Any = None,
    title: str = "",
) -> Any:
    """The preferences of the rows of X for the detector's models.

    kind="matrix": a row for each point, a column for each model, both ordered by structure,
    points within it by score; each pixel is the mean of the preferences that fall on it,
    and the curve on the right is the score. kind="map": the points in the plane so that
    their distances are, as far as they can be, those of their preferences (multidimensional
    scaling); points of one structure lie together, and anomalies apart. It takes any
    detector, a `VoronoiForest` too.
    y (n,): true labels, 0 = anomalous, to order and colour by instead; scores (n,):
    `anomaly_score(X)` where it is known already. At most 4,000 rows
    (1,000 on the map), spread evenly over the scores, are looked at. Returns the axes.
    """
    check_detector("plot_preferences", detector)
    check_choice("kind", kind, KINDS)
    if kind == "matrix" and not hasattr(detector, "embedding_"):
        raise ValueError(
            f"kind='matrix' needs a detector with preferences, {type(detector).__name__} has "
            "none; kind='map' draws its distances."
        )
    if detector.forest_.metric.name == "precomputed":
        raise ValueError("plot_preferences compares rows; metric='precomputed' has no rows.")
    scores = known_scores(detector.anomaly_score(X) if scores is None else scores, X)
    if y is not None:
        y = np.asarray(y)
        if y.shape != scores.shape:
            raise ValueError(f"y must have a label for each of {len(scores)} rows, got {y.shape}.")
        check_drawable("y", y)
    if ax is not None:
        check_flat(ax)
    drawn = _matrix if kind == "matrix" else _map
    return drawn(detector, X, scores, y, ax, title)


def _matrix(detector: Any, X: Any, scores: Floats, y: Any, ax: Any, title: str) -> Any:
    rows = spread(scores, _MATRIX_ROWS)
    some = _rows_of(X, rows)
    points, P = np.asarray(some, np.float64), detector.embedding_.transform(some)
    values = scores[rows]
    groups = _by_structure(detector, points, values) if y is None else _by_label(y[rows])
    order = np.lexsort((values, groups.of))
    pixels = _pixels(P[order], groups.of[order])
    if ax is None:
        ax = new_axes((7, 4.8))
    top = float(np.percentile(pixels[pixels > 0], 99)) if (pixels > 0).any() else 1.0
    image = ax.imshow(
        pixels, cmap="Blues", extent=(0, P.shape[1], len(rows), 0), aspect="auto",
        norm=pyplot().matplotlib.colors.PowerNorm(0.5, 0, top), interpolation="nearest",
    )  # fmt: skip
    ax.set_xlabel(f"{P.shape[1]:,} models, by the points that prefer them")
    ax.set_title(title, fontsize=10)
    ax.tick_params(labelsize=8)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    _beside(ax, groups, order, len(scores))
    _score_curve(ax, values[order], detector.threshold_)
    # A layout engine knows of the curve beside the matrix, nothing else does.
    pad = 0.16 if ax.figure.get_layout_engine() is None else 0.02
    bar = ax.figure.colorbar(image, ax=ax, label="preference", pad=pad, extend="max")
    bar.ax.tick_params(labelsize=8)
    return ax


def _map(detector: Any, X: Any, scores: Floats, y: Any, ax: Any, title: str) -> Any:
    rows = spread(scores, _MAP_ROWS)
    if len(rows) < 3:
        raise ValueError(f"a map needs at least 3 rows, got {len(rows)}.")
    places = mds(_distances(detector, X, rows))
    what = "preferences" if hasattr(detector, "embedding_") else "rows"
    title = title or f"Distances between {what}{_of(len(rows), len(scores))}, as a map"
    if y is None:
        ax = plot_scores(places, scores[rows], ax, title=title)
    else:
        ax = ax or new_axes((5.5, 5))
        _labelled(ax, places, _by_label(y[rows]), title)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel("first coordinate")
    ax.set_ylabel("second coordinate")
    return ax


def spread(scores: Floats, most: int) -> Ints:
    """At most so many rows, evenly from the lowest score to the highest, in ascending order."""
    order = np.argsort(scores, kind="stable")
    return np.sort(order[np.linspace(0, len(order) - 1, min(most, len(order))).round().astype(int)])


def _distances(detector: Any, X: Any, rows: Ints) -> Floats:
    """(rows, rows) under the detector's own metric."""
    metric = detector.forest_.metric
    if hasattr(detector, "embedding_"):
        table = as_rows(metric, detector.embedding_.transform(_rows_of(X, rows)))
    else:
        table = as_rows(metric, _rows_of(X, rows))
    prepare = getattr(metric, "prepare", lambda rows: rows)
    return np.asarray(metric.pairwise(table, prepare(table)), np.float64)


def _rows_of(X: Any, rows: Ints) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]


def _by_structure(detector: Any, points: Floats, scores: Floats) -> _Groups:
    """Rows by the structure that they lie on; last those on none."""
    found = detector.structures_
    cells = members_of(points, scores <= detector.threshold_, found)
    names = [f"{each.family.name} {k}" for k, each in enumerate(found)]
    return _groups(np.where(cells < 0, len(found), cells), [*names, "on none"])


def _by_label(y: Any) -> _Groups:
    """Rows by label, the anomalies last."""
    labels = [*np.unique(y[y != 0]), *([0] if (y == 0).any() else [])]
    names = ["anomalous" if label == 0 else f"label {label}" for label in labels]
    found = np.argmax(y[:, None] == np.asarray(labels), axis=1)
    return _groups(found, names)


def _groups(of: Ints, names: list[str]) -> _Groups:
    none = names[-1] in ("on none", "anomalous")
    colours = [COLOURS[k % len(COLOURS)] for k in range(len(names))]
    return _Groups(of, names, [*colours[:-1], GREY] if none else colours)


def _pixels(P: Any, groups: Ints) -> Floats:
    """Means of the entries of sorted rows, columns sorted by the group that prefers them most."""
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


def _beside(ax: Any, groups: _Groups, order: Ints, n: int) -> None:
    """A strip of colours on the left, with the names of the groups, and lines between them."""
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
        if len(rows) >= _NAMED * len(of):
            ticks.append(rows.mean() + 0.5)
            names.append(f"{name}\n{len(rows):,}")
    ax.set_yticks(ticks, names)
    ax.tick_params(axis="y", length=0, pad=16)
    ax.set_ylabel(f"points{_of(len(of), n)}, by score within each group")


def _of(drawn: int, n: int) -> str:
    return "" if drawn == n else f" ({drawn:,} of {n:,})"


def _score_curve(ax: Any, scores: Floats, cut: float) -> None:
    """The scores, row by row, with the threshold."""
    side = ax.inset_axes([1.01, 0, 0.13, 1])
    side.plot(scores, np.arange(len(scores)) + 0.5, color="black", lw=0.9)
    side.set_ylim(len(scores), 0)
    side.set_yticks([])
    side.set_xlabel("score", fontsize=8)
    side.xaxis.set_label_position("top")
    side.axvline(cut, color="#D55E00", lw=1)
    side.set_xticks([cut], [f"{cut:.3f}"], fontsize=8)
    side.tick_params(axis="x", top=True, bottom=False, labeltop=True, labelbottom=False)


def _labelled(ax: Any, places: Floats, groups: _Groups, title: str) -> None:
    for k, (name, colour) in enumerate(zip(groups.names, groups.colours)):
        rows = groups.of == k
        if rows.any():
            draw(ax, places[rows], len(places), c=colour, label=f"{name}: {rows.sum():,}")
    frame(ax, title)
    legend(ax, 3)
