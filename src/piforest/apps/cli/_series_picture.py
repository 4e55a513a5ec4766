"""The picture of `piforest series`: the channels, the scores, and the runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...series.inspect import SeriesResult

_CHANNELS = 8  # drawn at most, those that runs name first
_POINTS = 4000  # drawn of each channel


def draw_series(path: Path, found: SeriesResult, time: str, reference: int | None) -> None:
    """Write the channels one above the other, the scores below, runs in red, the reference grey."""
    from ._plots import pyplot_for

    named = [run.channel for run in found.runs if run.channel is not None]
    usable = [name for name in found.names if name not in found.constant]
    ranked = sorted(usable, key=lambda name: -named.count(name))[:_CHANNELS]
    shown = [name for name in usable if name in ranked]
    step = max(1, -(-len(found.times) // _POINTS))
    # A line would join the sides of a gap.
    broken = np.isin(np.arange(len(found.times)), found.gaps)
    start = found.times[0]
    at = np.where(broken, np.nan, found.times - start)[::step]
    with pyplot_for(path) as (plt, save):
        figure, axes = plt.subplots(
            len(shown) + 1, 1, sharex=True, layout="constrained",
            figsize=(10, 1.1 * len(shown) + 2),
        )  # fmt: skip
        for ax, name in zip(axes, shown):
            values = found.values[::step, found.names.index(name)]
            ax.plot(at, values, color="0.25", linewidth=0.7)
            ax.set_ylabel(name, rotation=0, ha="right", va="center", fontsize=8)
        axes[-1].plot(at, found.scores[::step], color="tab:blue", linewidth=0.8)
        axes[-1].axhline(found.threshold, color="tab:red", linewidth=0.8, linestyle="--")
        axes[-1].set_ylabel("score", rotation=0, ha="right", va="center", fontsize=8)
        origin = "" if start == 0 else " from the first row"
        axes[-1].set_xlabel(f"{time}{origin}")
        for ax in axes:
            ax.tick_params(labelsize=7)
            for run in found.runs:
                span = (run.start - start, run.end - start)
                ax.axvspan(*span, color="tab:red", alpha=0.2, linewidth=1)
            if reference is not None:
                ax.axvspan(0, found.times[reference - 1] - start, color="0.5", alpha=0.12)
        figure.suptitle(f"{len(found.runs)} anomalous runs", fontsize=10)
        save(figure)
