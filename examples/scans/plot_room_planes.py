"""
Planes of a room
================

A scan of a room consists of planes: floor, walls, ceiling, tables. The detector finds the points
of no plane and gives each plane with its equation and corners, as plain numbers for CAD programs.
"""

import json

import matplotlib.pyplot as plt
import numpy as np

from piforest import PreferenceIsolationForest
from piforest.clouds import describe_surfaces
from piforest.datasets import make_room
from piforest.plots import plot_structures

X, y = make_room(7, sizes=300, anomaly_share=0.15, random_state=0, return_X_y=True)
detector = PreferenceIsolationForest("plane", random_state=0).fit(X)
flagged = detector.labels_ == -1
print(f"{len(detector.structures_)} planes, sigma {detector.sigma_:.4f}")
print(f"{flagged.sum()} points flagged, {(y[flagged] == 0).mean():.0%} of them on no plane")

# %%

surfaces = describe_surfaces(detector.structures_, X, detector.structure_labels_)
for surface in surfaces[:3]:
    print(surface["equation"], f"{surface['points']} points")
print(json.dumps({"corners": np.round(surfaces[0]["corners"], 2).tolist()}))

# %%
# Points in the colours of their planes; the grey ones belong to none.

figure, ax = plt.subplots(figsize=(7.5, 6), layout="constrained", subplot_kw={"projection": "3d"})
plot_structures(X, detector.structures_, ax, title=f"{len(detector.structures_)} planes")
plt.show()
