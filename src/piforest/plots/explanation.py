"""One row and the structures nearest to it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from ..explain import Explanation, Nearby
from ..protocols import Floats
from ..structures.greedy import Structure
from ..structures.laws import predicted_target
from ..typing import RowsLike
from . import _common as common
from .structures import drawn_columns, outlines, style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..estimators.structured import StructuredDetector

__all__ = ["plot_explanation"]


def plot_explanation(
    detector: StructuredDetector,
    X: RowsLike,
    row: int,
    ax: Axes | None = None,
    *,
    columns: Sequence[int | str] | None = None,
    labels: Sequence[str] | None = None,
    row_name: str | None = None,
    title: str | None = None,
) -> Axes:
    """Draw one row among the others, with the structures that are nearest to it.

    The legend gives, for each of these structures, the distance of the row in its sigmas and
    the number of its points.

    Parameters
    ----------
    detector : PreferenceIsolationForest
        A fitted detector with structures.
    X : array-like of shape (n, d)
        The training data, whose members are coloured, or other rows.
    row : int
        The index of the row in X.
    ax : matplotlib Axes or None, default=None
        Where to draw, 3D for points with three coordinates; None makes a new figure.
    columns : sequence of int or str or None, default=None
        The two or three columns to draw, by index or name; needed if d is not 2, 3, 4 or 6. Of a
        regression of more than two features, the default is the target over its prediction.
    labels : sequence of str or None, default=None
        Labels of the axes; by default the column names, or x, y and z.
    row_name : str or None, default=None
        The name of the row in legend and title; by default "row" and its index.
    title : str or None, default=None
        The title of the axes; by default the decision, the score and the threshold.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from piforest import PreferenceIsolationForest
    >>> from piforest.datasets import make_circles
    >>> from piforest.plots import plot_explanation
    >>> X = make_circles(2, random_state=0).data
    >>> detector = PreferenceIsolationForest("circle", random_state=0).fit(X)
    >>> ax = plot_explanation(detector, X, int(detector.scores_.argmax()))
    """
    common.check_detector("plot_explanation", detector)
    if not hasattr(detector, "explain"):
        raise ValueError(
            f"plot_explanation needs a detector with structures, {type(detector).__name__} has "
            "none; PreferenceIsolationForest has."
        )
    full, names = np.asarray(X, np.float64), common.column_names(X, detector)
    at = _validate_row(row, len(full))
    explanation = detector.explain(_one_row(X, at))[0]
    structures = [detector.structures_[near.structure] for near in explanation.nearest]
    drawn = drawn_columns(full, structures)
    law = None if columns is not None else _actual_and_predicted(detector.structures_, full, names)
    if columns is not None:
        chosen = _column_indices(columns, names, full.shape[1])
        drawn, names = full[:, chosen], [names[k] for k in chosen] if names else None
    elif law is not None:
        drawn, names = law
    elif full.shape[1] not in (2, 3, 4, 6):
        raise ValueError(
            f"X has {full.shape[1]} columns: select two or three to draw, such as columns=(0, 1)."
        )
    drawn, _ = common.validate_rows("X", drawn, np.zeros(len(drawn)))
    axes: Axes = common.axes_for(drawn, ax, (6, 5))
    common.draw_rows(axes, drawn, c=common.GREY, alpha=_alpha(drawn), zorder=1)
    training = len(full) == detector.fitted_.n_training
    for near, each in zip(explanation.nearest, structures):
        lines = outlines(each, full) if columns is None and law is None else []
        members = drawn[each.members] if training else drawn[:0]
        _draw_structure(axes, near, each, members, lines, len(full))
    if law is not None:
        axes.axline((0, 0), slope=1, color=common.GREY, lw=1, zorder=1)
    name = f"row {at}" if row_name is None else row_name
    _draw_row(axes, drawn[at], name)
    title = _decision(name, explanation) if title is None else title
    common.finish_axes(axes, title, names if labels is None else labels)
    common.add_legend(axes, 1)
    return axes


def _actual_and_predicted(
    structures: Sequence[Structure], X: Floats, names: Sequence[str] | None
) -> tuple[Floats, list[str]] | None:
    """The predicted and the actual target (n, 2) of a table of more columns than can be drawn, and
    their names."""
    found = predicted_target(structures, X) if X.shape[1] > 3 else None
    if found is None:
        return None
    target, predicted = found
    name = "target" if names is None else names[target]
    return np.column_stack([predicted, X[:, target]]), [f"predicted {name}", name]


def _draw_structure(
    ax: Any, near: Nearby, structure: Structure, members: Floats, lines: list[Floats], n: int
) -> None:
    """Draw the members of a structure and its outline; n: all points of the plot."""
    colour, style = style_of(near.structure)
    away = f"{near.sigmas:.3g} sigmas" if np.isfinite(near.sigmas) else "on its wrong side"
    label = f"{structure.family.name} {near.structure}: {away}, {near.support:,} points"
    if len(members):
        # The label belongs to the outline, if there is one.
        named = {} if lines else {"label": label}
        alpha = min(1.0, 2 * _alpha(members))
        common.draw_rows(ax, members, n, c=colour, alpha=alpha, zorder=2, **named)
    elif not lines:
        ax.plot([], [], "o", color=colour, label=label)
    for k, line in enumerate(lines):
        named = {} if k else {"label": label}
        ax.plot(*line.T, color=colour, ls=style, lw=1.6, zorder=3, **named)


def _alpha(X: Floats) -> float:
    """Opacity of the other rows: lower for lines, which cover more than points."""
    return 0.25 if X.shape[1] > 3 else 0.6


def _draw_row(ax: Any, values: Floats, name: str) -> None:
    """Draw the row itself large and black; a match or a segment as a thick line."""
    style = {"color": "black", "label": name, "zorder": 6, "mec": "white", "mew": 1.2}
    if len(values) in (2, 3):
        ax.plot(*values[:, None], "o", ms=12, ls="", **style)
    else:
        ax.plot(*values.reshape(2, -1).T, "-o", lw=2.5, ms=6, **style)


def _decision(name: str, explanation: Explanation) -> str:
    word, sign = ("anomalous", ">") if explanation.anomalous else ("normal", "≤")
    return f"{name} is {word}: score {explanation.score:.3f} {sign} {explanation.threshold:.3f}"


def _one_row(X: Any, row: int) -> Any:
    """The row as a table of one row, a data frame if X is one."""
    return X.iloc[[row]] if hasattr(X, "iloc") else X[row : row + 1]


def _validate_row(row: Any, n: int) -> int:
    try:
        at = index(row)
    except TypeError:
        raise ValueError(f"row must be an integer, got {row!r}.") from None
    if not 0 <= at < n:
        raise ValueError(f"row must be from 0 to {n - 1}, got {row!r}.")
    return at


def _column_indices(columns: Sequence[Any], names: list[str] | None, d: int) -> list[int]:
    """Indices of columns that are given by index or by name."""
    known = names or []
    found = [known.index(each) if each in known else each for each in columns]
    valid = all(isinstance(each, int | np.integer) and 0 <= each < d for each in found)
    if not valid or len(found) not in (2, 3):
        choice = f"of {known}" if known else f"from 0 to {d - 1}"
        raise ValueError(f"columns must be two or three {choice}, got {columns!r}.")
    return [int(each) for each in found]
