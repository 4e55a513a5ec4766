"""The picture of `piforest surface`: scores over the map, and the defects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...surfaces import SurfaceResult

_NUMBERED = 30
_LONGEST = 1600  # pixels of the picture


def draw_surface(path: Path, found: SurfaceResult) -> None:
    """Write the map in grey, flagged pixels from yellow to red, boxes around the defects."""
    from matplotlib.patches import Rectangle

    from ._plots import pyplot_for

    h, w = found.values.shape
    step = max(1, -(-max(h, w) // _LONGEST))
    values, scores = found.values[::step, ::step], found.scores[::step, ::step]
    flagged = found.flagged[::step, ::step]
    with pyplot_for(path) as (plt, save):
        figure, ax = plt.subplots(figsize=(10, max(2.0, 9 * h / w + 0.6)), layout="constrained")
        # The tail of a map, such as wrong disparities, would leave the surface in one grey.
        low, high = np.nanpercentile(values, [2, 98])
        extent = (-0.5, w - 0.5, h - 0.5, -0.5)
        ax.imshow(values, cmap="gray", vmin=low, vmax=high, extent=extent)
        if flagged.any():
            heat = ax.imshow(
                np.ma.masked_array(scores, ~flagged), cmap="autumn_r", alpha=0.75, extent=extent,
                vmin=found.threshold, vmax=float(np.nanmax(scores)), interpolation="nearest",
            )  # fmt: skip
            figure.colorbar(heat, ax=ax, label="anomaly score above the threshold", shrink=0.8)
        for k, each in enumerate(found.defects[:_NUMBERED], start=1):
            left, upper, right, lower = each.box
            size = (right - left, lower - upper)
            corner = (left - 0.5, upper - 0.5)  # pixels are drawn around their numbers
            ax.add_patch(Rectangle(corner, *size, fill=False, edgecolor="cyan", linewidth=1))
            ax.annotate(str(k), corner, color="cyan", fontsize=8, va="bottom")
        n = len(found.defects)
        ax.set_title(f"{n} defect{'' if n == 1 else 's'}" if n else "no defects")
        save(figure)
