"""
Vanishing points
================

Edges of buildings are parallel in space, so that their images meet in vanishing points. Rows are
segments; the structures are the points that many of them aim at, and anomalies are segments that
aim at none.
"""

import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection

from piforest import PreferenceIsolationForest
from piforest.datasets import make_segments

X, y = make_segments(3, sizes=30, anomaly_share=0.3, random_state=2, return_X_y=True)
detector = PreferenceIsolationForest("vanishing_point", random_state=0).fit(X)
for each in detector.structures_:
    print(f"{each.equation}: {each.support} segments")
flagged = detector.labels_ == -1
print(f"{flagged.sum()} flagged, {(y[flagged] == 0).mean():.0%} of them rightly,", end=" ")
print(f"{flagged[y == 0].mean():.0%} of the anomalies found")

# %%
# Thin lines prolong some of the segments to their vanishing points, which may lie far outside the
# image.

labels = detector.structure_labels_
figure, ax = plt.subplots(figsize=(9, 5), layout="constrained")
for k, colour in ((0, "#E69F00"), (1, "#009E73"), (2, "#CC79A7"), (-1, "#999999")):
    segments = X[labels == k].reshape(-1, 2, 2)
    name = f"point {k}: {len(segments)}" if k >= 0 else f"on none: {len(segments)}"
    ax.add_collection(LineCollection(segments, colors=colour, lw=2, label=name))
    for a, b in segments[:: 3 if k >= 0 else len(X)]:
        ax.axline(a, b, color=colour, lw=0.4)
ax.set(xlim=(-200, 840), ylim=(680, -200), aspect="equal", xlabel="pixels", ylabel="pixels")
ax.legend(loc="upper left", framealpha=1)
plt.show()
