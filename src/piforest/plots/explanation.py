"""One point, and the structures nearest to it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from ..protocols import Floats
from ._common import (
    GREY,
    axes,
    check_detector,
    checked,
    draw,
    frame,
    legend,
    names_of,
)
from .structures import drawn_columns, look_of, outlines


def plot_explanation(
    detector: Any,
    X: Any,
    row: int,
    ax: Any = None,
    *,
    columns: Sequence[Any] | None = None,
    title: str | None = None,
) -> Any:
    """Row `row` of X among the others, with the structures that are nearest to it.

    detector: fitted, with structures; X: the training data, whose members are coloured, or
    other rows. Each of the nearest structures is named with how many of its sigmas away
    the row lies and how many points it has. columns: the two or three to draw, by name or
    number, where X has others than 2, 3, 4 or 6. title: by default the verdict. Returns
    the axes.
    """
    check_detector("plot_explanation", detector)
    if not hasattr(detector, "explain"):
        raise ValueError(
            f"plot_explanation needs a detector with structures, {type(detector).__name__} has "
            "none; PreferenceIsolationForest has."
        )
    row = _checked_row(row, len(X))
    reason = detector.explain(_one(X, row))[0]
    found = [detector.structures_[near.structure] for near in reason.nearest]
    names, full = names_of(X, detector), np.asarray(X, np.float64)
    places = drawn_columns(full, found)
    if columns is not None:
        chosen = _chosen(columns, names, full.shape[1])
        places, names = full[:, chosen], [names[k] for k in chosen] if names else None
    elif full.shape[1] not in (2, 3, 4, 6):
        raise ValueError(
            f"X has {full.shape[1]} columns: say which two or three to draw, as columns=(0, 1)."
        )
    places, _ = checked("X", places, np.zeros(len(places)))
    ax = axes(places, ax, (6, 5))
    whole = columns is None
    _surroundings(ax, places, full, reason, found, whole, len(full) == detector.fitted_.n_training)
    _point(ax, places[row], row)
    frame(ax, _verdict(row, reason) if title is None else title, names)
    legend(ax, 1)
    return ax


def _surroundings(
    ax: Any, X: Floats, full: Floats, reason: Any, found: list[Any], whole: bool, training: bool
) -> None:
    """All points in grey, those of the nearest structures in colour, and their outlines."""
    faint = 0.25 if X.shape[1] > 3 else 0.6
    draw(ax, X, c=GREY, alpha=faint, zorder=1)
    for near, each in zip(reason.nearest, found):
        colour, style = look_of(near.structure)
        label = _near_label(near, each)
        lines = outlines(each, full) if whole else []
        if training and len(each.members):
            # The label goes to the outline where there is one.
            named = {} if lines else {"label": label}
            look = {"c": colour, "alpha": min(1.0, 2 * faint), "zorder": 2, **named}
            draw(ax, X[each.members], len(X), **look)
        elif not lines:
            ax.plot([], [], "o", color=colour, label=label)
        for k, line in enumerate(lines):
            named = {} if k else {"label": label}
            ax.plot(*line.T, color=colour, ls=style, lw=1.6, zorder=3, **named)


def _near_label(near: Any, structure: Any) -> str:
    away = f"{near.sigmas:.3g} sigmas" if np.isfinite(near.sigmas) else "on its wrong side"
    return f"{structure.family.name} {near.structure}: {away}, {near.support:,} points"


def _point(ax: Any, place: Floats, row: int) -> None:
    """The row itself, large and black; a match or a segment as a thick line."""
    look = {"color": "black", "label": f"row {row}", "zorder": 6, "mec": "white", "mew": 1.2}
    if len(place) in (2, 3):
        coordinates = [[each] for each in place]
        ax.plot(*coordinates, "o", ms=12, ls="", **look)
    else:
        ends = place.reshape(2, -1)
        ax.plot(*ends.T, "-o", lw=2.5, ms=6, **look)


def _verdict(row: int, reason: Any) -> str:
    word, sign = ("anomalous", ">") if reason.anomalous else ("normal", "≤")
    return f"row {row} is {word}: score {reason.score:.3f} {sign} {reason.threshold:.3f}"


def _one(X: Any, row: int) -> Any:
    """The row alone, a data frame's as a data frame."""
    return X.iloc[[row]] if hasattr(X, "iloc") else X[row : row + 1]


def _checked_row(row: Any, n: int) -> int:
    try:
        at = index(row)
    except TypeError:
        raise ValueError(f"row must be a whole number, got {row!r}.") from None
    if not 0 <= at < n:
        raise ValueError(f"row must be from 0 to {n - 1}, got {row!r}.")
    return at


def _chosen(columns: Sequence[Any], names: list[str] | None, d: int) -> list[int]:
    """The numbers of the columns."""
    known = names or []
    found = [known.index(each) if each in known else each for each in columns]
    sound = all(isinstance(each, int | np.integer) and 0 <= each < d for each in found)
    if not sound or len(found) not in (2, 3):
        choice = f"of {known}" if known else f"from 0 to {d - 1}"
        raise ValueError(f"columns must be two or three {choice}, got {columns!r}.")
    return [int(each) for each in found]
