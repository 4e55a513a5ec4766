"""Many matches by their motions: points for all of them, lines for a few."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._random import Stream, choose
from ..protocols import Bools, Floats, Ints
from . import _common as common
from .structures import style_of

# Lines for this many matches that are kept, and for this many anomalies; more are a tangle.
_LINES, _ANOMALIES = 120, 60
# The red end of the score colours: the orange of flagged points is too near to that of a motion.
_RED = "#b40426"
# The legend names the motions that have a colour of their own, and counts the others.
_NAMED = len(common.COLOURS)


def draw_motions(ax: Any, X: Floats, labels: Ints, flagged: Bools, offset: float) -> None:
    """Draw the ends of all matches: the motions in their colours, anomalies as red crosses; and
    lines for a fixed random few of each kind."""
    groups = _groups(labels, flagged)
    kept = sum(len(rows) for rows, *_ in groups if len(rows)) - int(flagged.sum())
    size = float(np.clip(400 / np.sqrt(len(X)), 2.5, 14))
    rasterized = len(X) > common.RASTERIZED
    handles = []
    for number, (rows, colour, name, is_anomaly) in enumerate(groups):
        if not len(rows):
            continue
        most = _ANOMALIES if is_anomaly else max(3, round(_LINES * len(rows) / max(1, kept)))
        stream = Stream.from_random_state(0).child("lines").child(number)
        few = rows[choose(stream, len(rows), most)]
        _lines(ax, X[few], offset, colour, is_anomaly)
        for ends in (X[rows, :2], X[rows, 2:] + [offset, 0]):
            # The smaller kind is on top.
            above = is_anomaly and len(rows) <= kept
            ax.scatter(
                *ends.T, s=1.6 * size if is_anomaly else size, c=colour, rasterized=rasterized,
                marker="x" if is_anomaly else "o", zorder=4 if above else 3 - 0.2 * is_anomaly,
                linewidths=float(np.clip(size / 12, 0.35, 1)) if is_anomaly else 0,
            )  # fmt: skip
        lines = "" if len(few) == len(rows) else f" (lines for {len(few)})"
        if name:
            handles.append(_handle(colour, f"{name}: {len(rows):,}{lines}", is_anomaly))
    more = int(labels.max(initial=-1)) + 1 - _NAMED
    if more > 0:
        handles.insert(-1, _handle(common.GREY, f"and {more} more", False))
    common.add_legend(ax, 3 if len(handles) != 4 else 2, handles, below=0.5)


def _groups(labels: Ints, flagged: Bools) -> list[tuple[Ints, str, str, bool]]:
    """Rows, colour and name of the motions, of kept matches of no motion, and of anomalies."""
    groups: list[tuple[Ints, str, str, bool]] = [
        (np.flatnonzero((labels < 0) & ~flagged), common.KEPT, "kept, no motion", False)
    ]
    for k in range(int(labels.max(initial=-1)) + 1):
        colour = style_of(k)[0] if k < _NAMED else common.GREY
        name = f"motion {k}" if k < _NAMED else ""
        groups.append((np.flatnonzero((labels == k) & ~flagged), colour, name, False))
    return [*groups, (np.flatnonzero(flagged), _RED, "anomalies", True)]


def _lines(ax: Any, X: Floats, offset: float, colour: str, is_anomaly: bool) -> None:
    ends = np.stack([X[:, :2], X[:, 2:] + [offset, 0]], axis=1)
    lines = common.pyplot().matplotlib.collections.LineCollection(
        ends, color=colour, lw=0.8 if is_anomaly else 0.6, alpha=0.6,
        zorder=2.5 if is_anomaly else 2,
    )  # fmt: skip
    ax.add_collection(lines)


def _handle(colour: str, name: str, is_anomaly: bool) -> Any:
    line = common.pyplot().matplotlib.lines.Line2D
    return line([], [], color=colour, marker="x" if is_anomaly else "o", lw=1, ms=5, label=name)
