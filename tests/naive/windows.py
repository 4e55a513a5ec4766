"""Windows one by one: which hold a row, and the mean of its depths."""

from __future__ import annotations

import numpy as np

from piforest.engines.cpu import CpuEngine


def windows_of(tiling, position):
    """The numbers of the windows that hold a position within the grid."""
    held = []
    for number, index in enumerate(np.ndindex(*tiling.counts)):
        low = tiling.low + tiling.step * np.array(index)
        inside = (position >= low) & (position < low + tiling.side)
        last = (np.array(index) == tiling.counts - 1) & (position >= low)
        if np.all(inside | last):
            held.append(number)
    return held


def depth(fitted, row):
    """The normalised depth of a row: for each size the mean over its windows, each with the weight
    of how much it explains, then over the sizes."""
    total = weights = 0.0
    for size, tiling in enumerate(fitted.tilings):
        numbers = windows_of(tiling, row[fitted.coordinates])
        held = [each for each in fitted.windows if each.size == size and each.number in numbers]
        for window in held:
            score = CpuEngine(None).scores(window.fitted, row[None, fitted.features])[0]
            weight = window.explained**8 * 0.5**size + 1e-6
            total += weight * -np.log2(score) / len(held)
            weights += weight / len(held)
    return total / weights
