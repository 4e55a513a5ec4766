"""The well-supported models, over the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..families import layout_of
from ..protocols import Floats
from ._common import COLOURS, GREY, axes, checked, draw, frame, legend, names_of

# So many structures are named in the legend, and the others counted.
_NAMED = 7


def plot_structures(X: Any, structures: Sequence[Any], ax: Any = None, *, title: str = "") -> Any:
    """The structures of a fitted detector, each with its members in its own colour.

    X: the training data; structures: `detector.structures_`. What belongs to none is grey.
    A model is drawn as a line where its family knows how (`outline`) and X has all columns.
    The legend says how many points each has. Returns the axes.
    """
    if any(hasattr(each, "anomaly_score") for each in (X, structures)):
        raise ValueError(
            "plot_structures takes the training data and a list of structures, not a detector: "
            "plot_structures(X, detector.structures_)."
        )
    names, full = names_of(X), np.asarray(X, np.float64)
    X = drawn_columns(full, structures)
    X, _ = checked("X", X, np.zeros(len(X)))
    _check_members(structures, len(X))
    ax = axes(X, ax)
    rest = np.ones(len(X), np.bool_)
    for each in structures:
        rest[each.members] = False
    if rest.any():
        few = {"s": 5} if len(X) < 1_000 and X.shape[1] < 4 else {}
        label = f"no structure: {rest.sum():,} points"
        draw(ax, X[rest], len(X), c=GREY, alpha=0.3 if X.shape[1] > 3 else 0.7, label=label, **few)
    for k, each in enumerate(structures):
        colour, style = look_of(k)
        if len(each.members):
            named = {"label": _label(k, each)} if k < _NAMED else {}
            draw(ax, X[each.members], len(X), c=colour, **named)
        for line in outlines(each, full):
            ax.plot(*line.T, color=colour, lw=1.0, ls=style)
    frame(ax, title, names[: X.shape[1]] if names else None)
    if structures:
        more = len(structures) - _NAMED
        if more > 0:
            ax.plot([], [], " ", label=f"and {more} more")
        legend(ax, 2 if len(structures) < 6 else 3)
    return ax


def drawn_columns(X: Floats, structures: Sequence[Any]) -> Floats:
    """X without normals, which are no places."""
    oriented = any(layout_of(each.family).kind == "oriented points" for each in structures)
    return X[:, :3] if oriented and X.ndim == 2 and X.shape[1] == 6 else X


def outlines(structure: Any, X: Floats) -> list[Floats]:
    """The model as lines (., 2) or (., 3) within the box of X; none where its family knows no
    outline, or where X lacks columns."""
    family = structure.family
    if not hasattr(family, "outline") or family.n_features not in (None, X.shape[1]):
        return []
    places = 3 if X.shape[1] in (3, 6) else 2
    if family.n_features is None and X.shape[1] not in (2, 3):
        return []
    lines = family.outline(structure.params, X.min(axis=0), X.max(axis=0))
    return [np.asarray(line)[:, :places] for line in lines]


def look_of(k: int) -> tuple[str, str]:
    """Colour and line of structure k; where colours repeat, the lines tell them apart."""
    return COLOURS[k % len(COLOURS)], ("-", "--", ":")[k // len(COLOURS) % 3]


def _label(k: int, structure: Any) -> str:
    name = getattr(structure.family, "name", "structure")
    return f"{name} {k}: {len(structure.members):,} points"


def _check_members(structures: Sequence[Any], n: int) -> None:
    last = max((int(np.max(each.members, initial=-1)) for each in structures), default=-1)
    if last >= n:
        raise ValueError(
            f"the structures have members up to row {last}, but X has {n} rows; pass the "
            "training data, whole and in its order."
        )
