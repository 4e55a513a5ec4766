"""
Pipes: cylinders with normals
=============================

A cylinder is determined by five points, but by two with normals. So ``estimate_normals`` makes the
search much easier: samples of one pipe are far more frequent. Rows are x, y, z, nx, ny, nz.
"""

import matplotlib.pyplot as plt
import numpy as np

from piforest import PreferenceIsolationForest
from piforest.clouds import describe_surfaces, estimate_normals
from piforest.datasets import make_cylinders
from piforest.families import get_family
from piforest.plots import plot_structures

X, y = make_cylinders(3, sizes=400, noise=0.005, anomaly_share=0.1, random_state=1, return_X_y=True)
oriented = np.column_stack([X, estimate_normals(X)])

# %%

with_normals = PreferenceIsolationForest(get_family("cylinder", normals=True), random_state=0)
with_normals.fit(oriented)
for surface in describe_surfaces(with_normals.structures_, X, with_normals.structure_labels_):
    size = f"radius {surface['radius']:.3f}, length {surface['length']:.2f}"
    print(f"{size}: {surface['points']} points")
flagged = with_normals.labels_ == -1
print(f"{flagged.sum()} flagged, {(y[flagged] == 0).mean():.0%} of them rightly,", end=" ")
print(f"{flagged[y == 0].mean():.0%} of the anomalies found")

# %%
# Normals come from neighbours: where pipes touch, and of anomalies close to a pipe, they are
# wrong.

figure, ax = plt.subplots(figsize=(7.5, 6), layout="constrained", subplot_kw={"projection": "3d"})
plot_structures(oriented, with_normals.structures_, ax, title="three pipes")
plt.show()
