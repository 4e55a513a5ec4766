"""How far the neighbours of the points of a band lie across a model, compared with along it."""

from __future__ import annotations

from .jit import jit


@jit
def variance_ratios(R, widths, reach, places, codimension, fewest, neighbours, rows, ratios, out):
    """out (m,): the median, over some points of the band of each model, of the variance across
    the model over that along it, in the balls of `reach` widths about them.

    R (n, m): residuals; places (n, d). 0 if the band has fewer than `fewest` points, or if fewer
    of them, or less than half of those looked at, have at least `neighbours` neighbours. The
    codimension is 0 if the residual is no part of the distance between places. rows (2, n) and
    ratios, one for each point that is looked at, are workspace. O(n m + m len(ratios) near).
    """
    n, d = places.shape
    near, core, most = rows[0], rows[1], ratios.shape[0]
    across_axes, along_axes = codimension if codimension > 0 else 1, d - codimension
    for j in range(R.shape[1]):
        width, out[j] = widths[j], 0.0
        radius = reach * width
        n_near = n_core = 0
        for i in range(n):
            if R[i, j] <= radius:
                near[n_near] = i
                n_near += 1
                if R[i, j] <= width:
                    core[n_core] = i
                    n_core += 1
        if n_core < fewest:
            continue
        step = (n_core + most - 1) // most
        looked = known = 0
        for e in range(0, n_core, step):
            at = core[e]
            looked += 1
            count, across, along = 0, 0.0, 0.0
            for f in range(n_near):
                other = near[f]
                squared = 0.0
                for a in range(d):
                    difference = places[at, a] - places[other, a]
                    squared += difference * difference
                if squared <= radius * radius and other != at:
                    count += 1
                    across += R[other, j] * R[other, j]
                    along += squared
            if count < neighbours:
                continue
            across, along = across / count, along / count
            if codimension > 0:
                # Distances have a part across the model, of both points.
                along -= across + R[at, j] * R[at, j]
            least = 1e-9 * width * width
            along /= along_axes
            ratio = (across / across_axes) / (along if along > least else least)
            # Sorted by insertion.
            place = known
            while place > 0 and ratios[place - 1] > ratio:
                ratios[place] = ratios[place - 1]
                place -= 1
            ratios[place] = ratio
            known += 1
        # A heap is dense: where most points have no neighbours, those that have lie on a crossing.
        if known >= fewest and 2 * known >= looked:
            out[j] = (ratios[(known - 1) // 2] + ratios[known // 2]) / 2
