"""Ground in airborne scans, beside a progressive morphological filter with one setting.

    PIFOREST_DATA=folder python benchmarks/terrain.py

Total error, type I (ground taken for an object), type II (an object taken for ground), CPU seconds.
The constants of `find_ground` were chosen on samples 11 and 31, and after a look
at all, one for plateaus on sample 53; the others judge.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
from scipy import ndimage

from piforest.io.tables import read_table
from piforest.terrain import find_ground

CHOSEN_ON = ("samp11", "samp31", "samp53")


def morphological(X, cell=1.0, slope=0.3, first=0.5, largest=3.0, widest=18.0):
    """A progressive morphological filter (Zhang et al. 2003): the lowest points on a grid, openings
    with windows that double up to `widest`, and a threshold that grows with the window."""
    low = X[:, :2].min(axis=0)
    at = np.floor((X[:, :2] - low) / cell).astype(int)
    width, height = at.max(axis=0) + 1
    z = np.full((height, width), np.inf)
    np.minimum.at(z, (at[:, 1], at[:, 0]), X[:, 2])
    nearest = ndimage.distance_transform_edt(
        np.isinf(z), return_distances=False, return_indices=True
    )
    surface = z[tuple(nearest)]
    ground = np.ones(len(X), bool)
    before, half = 1, 1
    while (2 * half + 1) * cell <= widest:
        size = 2 * half + 1
        opened = ndimage.grey_opening(surface, (size, size))
        threshold = min(slope * (size - before) * cell + first, largest)
        ground &= X[:, 2] - opened[at[:, 1], at[:, 0]] <= threshold
        surface, before, half = opened, size, 2 * half
    return ground


def main() -> None:
    folder = Path(os.environ["PIFOREST_DATA"]) / "terrain"
    totals: dict[str, list[float]] = {}
    for path in sorted(folder.glob("*.csv.gz")):
        table = read_table(path)
        X, truth = table.numbers(["x", "y", "z"]), table.numbers(["ground"])[:, 0] > 0
        name = path.name.split(".")[0]
        methods = {
            "connected surfaces": lambda X=X: find_ground(X).is_ground,
            "morphological": lambda X=X: morphological(X),
        }
        for method, run in methods.items():
            start = time.process_time()
            found = run()
            seconds = time.process_time() - start
            missed, wrong = np.mean(~found[truth]), np.mean(found[~truth])
            total = float(np.mean(found != truth))
            if name not in CHOSEN_ON:
                totals.setdefault(method, []).append(total)
            print(
                f"{name}, {len(X):,} points, {method}: total {100 * total:.2f} %, type I "
                f"{100 * missed:.2f} %, type II {100 * wrong:.2f} % ({seconds:.1f} s)",
                flush=True,
            )
    for method, each in totals.items():
        print(f"mean of samples that nothing was chosen on, {method}: {100 * np.mean(each):.2f} %")


if __name__ == "__main__":
    main()
