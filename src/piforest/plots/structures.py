"""The structures of a detector, over the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..families import layout_of
from ..protocols import Floats
from ..structures.greedy import Structure
from ..typing import RowsLike
from . import _common as common

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_structures"]

# The legend names this many structures, and counts the others.
_NAMED = 7


def plot_structures(
    X: RowsLike,
    structures: Sequence[Structure],
    ax: Axes | None = None,
    *,
    labels: Sequence[str] | None = None,
    title: str = "",
) -> Axes:
    """Draw the structures of a fitted detector, each with its members in one colour.

    Points of no structure are grey. A model is drawn as a line if its family has an `outline`
    and X has all columns. The legend gives the number of members.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The training data.
    structures : sequence of Structure
        `detector.structures_`.
    ax : matplotlib Axes or None, default=None
        Where to draw, 3D for points with three coordinates; None makes a new figure.
    labels : sequence of str or None, default=None
        Labels of the axes; by default the columns of a data frame, or x, y and z.
    title : str, default=""
        The title of the axes.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from piforest import PreferenceIsolationForest
    >>> from piforest.datasets import make_circles
    >>> from piforest.plots import plot_structures
    >>> X = make_circles(2, random_state=0).data
    >>> detector = PreferenceIsolationForest("circle", random_state=0).fit(X)
    >>> ax = plot_structures(X, detector.structures_)
    """
    if any(hasattr(each, "anomaly_score") for each in (X, structures)):
        raise ValueError(
            "plot_structures takes the training data and a list of structures, not a detector: "
            "plot_structures(X, detector.structures_)."
        )
    names, full = common.column_names(X) if labels is None else labels, np.asarray(X, np.float64)
    drawn = drawn_columns(full, structures)
    rows, _ = common.validate_rows("X", drawn, np.zeros(len(drawn)))
    _check_members(structures, len(rows))
    axes: Axes = common.axes_for(rows, ax)
    rest = np.ones(len(rows), np.bool_)
    for each in structures:
        rest[each.members] = False
    lines = rows.shape[1] > 3
    if rest.any():
        few = {"s": 5} if len(rows) < 1_000 and not lines else {}
        label = f"no structure: {rest.sum():,} points"
        alpha = 0.3 if lines else 0.7
        common.draw_rows(
            axes, rows[rest], len(rows), c=common.GREY, alpha=alpha, label=label, **few
        )
    for k, each in enumerate(structures):
        colour, style = style_of(k)
        if len(each.members):
            named = {"label": _label(k, each)} if k < _NAMED else {}
            common.draw_rows(axes, rows[each.members], len(rows), c=colour, **named)
        for line in outlines(each, full):
            axes.plot(*line.T, color=colour, lw=1.0, ls=style)
    common.finish_axes(axes, title, names[: rows.shape[1]] if names else None)
    if structures:
        more = len(structures) - _NAMED
        if more > 0:
            axes.plot([], [], " ", label=f"and {more} more")
        common.add_legend(axes, 2 if len(structures) < 6 else 3)
    return axes


def drawn_columns(X: Floats, structures: Sequence[Structure]) -> Floats:
    """X without normals, which are not coordinates."""
    oriented = any(layout_of(each.family).kind == "oriented points" for each in structures)
    return X[:, :3] if oriented and X.ndim == 2 and X.shape[1] == 6 else X


def outlines(structure: Structure, X: Floats) -> list[Floats]:
    """The model as polylines of 2D or 3D points within the bounding box of X.

    Empty if the family has no outline or X lacks columns.
    """
    family = structure.family
    if not hasattr(family, "outline") or family.n_features not in (None, X.shape[1]):
        return []
    dimensions = 3 if X.shape[1] in (3, 6) else 2
    if family.n_features is None and X.shape[1] not in (2, 3):
        return []
    lines = family.outline(structure.params, X.min(axis=0), X.max(axis=0))
    return [np.asarray(line)[:, :dimensions] for line in lines]


def style_of(k: int) -> tuple[str, str]:
    """Colour and line style of structure k; where colours repeat, the line style differs."""
    return common.COLOURS[k % len(common.COLOURS)], ("-", "--", ":")[k // len(common.COLOURS) % 3]


def _label(k: int, structure: Structure) -> str:
    name = getattr(structure.family, "name", "structure")
    return f"{name} {k}: {len(structure.members):,} points"


def _check_members(structures: Sequence[Structure], n: int) -> None:
    last = max((int(np.max(each.members, initial=-1)) for each in structures), default=-1)
    if last >= n:
        raise ValueError(
            f"the structures have members up to row {last}, but X has {n} rows; pass all rows of "
            "the training data in their order."
        )
