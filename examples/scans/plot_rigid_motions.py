"""
Parts that move: rigid motions
==============================

Two scans of one scene, matched point by point: each part moves rigidly, and some matches are
false. The structures are the motions, each a rotation and a translation.
"""

import matplotlib.pyplot as plt
import numpy as np

from piforest import PreferenceIsolationForest
from piforest.datasets import make_rigid_matches

X, y = make_rigid_matches(3, sizes=80, anomaly_share=0.3, random_state=0, return_X_y=True)
detector = PreferenceIsolationForest("rigid", random_state=0).fit(X)
for each in detector.structures_:
    print(f"{each.equation}: {each.support} matches")
labels = detector.structure_labels_
flagged = detector.labels_ == -1
print(f"{flagged.sum()} flagged, {(y[flagged] == 0).mean():.0%} of them rightly,", end=" ")
print(f"{flagged[y == 0].mean():.0%} of the false matches found")

# %%
# The first scan is on the left, the second on the right. Points of one motion have one colour.

figure, axes = plt.subplots(
    1, 2, figsize=(10, 4.8), layout="constrained", subplot_kw={"projection": "3d"}
)
for ax, points, title in ((axes[0], X[:, :3], "first scan"), (axes[1], X[:, 3:], "second scan")):
    for k, colour in ((0, "#E69F00"), (1, "#009E73"), (2, "#CC79A7"), (-1, "#999999")):
        name = f"motion {k}" if k >= 0 else "on none"
        ax.scatter(*points[labels == k].T, s=10 if k >= 0 else 4, c=colour, label=name)
    ax.set(title=title, xlabel="x", ylabel="y", zlabel="z")
    ax.set_box_aspect(np.ptp(points, axis=0))
axes[0].legend(loc="upper left", fontsize=8)
plt.show()
