"""
One line, two walls
===================

Two walls on one line are one structure. ``connected_structures`` splits a structure where there is
a gap in its points that their own density does not explain: here at a door.
"""

import matplotlib.pyplot as plt
import numpy as np

from piforest import PreferenceIsolationForest
from piforest.plots import plot_structures

rng = np.random.default_rng(3)


def wall(start, end, points):
    along = rng.uniform(size=(points, 1))
    return np.array(start) + along * (np.array(end) - start) + rng.normal(0, 0.01, (points, 2))


X = np.concatenate(
    [
        wall([0, 0], [1.6, 0], 160),
        wall([2.4, 0], [4, 0], 160),  # a door between the two
        wall([0, 0], [0, 2], 200),
        rng.uniform([-0.3, -0.3], [4.3, 2.3], (120, 2)),
    ]
)
detector = PreferenceIsolationForest("line", random_state=0).fit(X)
pieces = detector.connected_structures()
for each in pieces:
    ends = np.round(each.extent["ends"], 2).tolist()
    print(f"{each.support} points from {ends[0]} to {ends[1]}")

# %%
# ``assign(X, connected=True)`` numbers rows by pieces in place of structures.

print(np.unique(detector.assign(X, connected=True), return_counts=True))

figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", sharey=True)
plot_structures(X, detector.structures_, axes[0], title="structures")
plot_structures(X, pieces, axes[1], title="connected pieces")
plt.show()
