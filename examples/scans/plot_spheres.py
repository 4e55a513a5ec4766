"""
Spheres in a cloud
==================

Which points belong to which sphere, how large is each, and which points belong to none? The noise
is estimated, so that the same code works in millimetres and in metres.
"""

import matplotlib.pyplot as plt
import numpy as np

from piforest import PreferenceIsolationForest
from piforest.datasets import make_spheres
from piforest.plots import plot_structures

X, y = make_spheres(3, sizes=200, noise=0.01, anomaly_share=0.3, random_state=0, return_X_y=True)
detector = PreferenceIsolationForest("sphere", random_state=0).fit(X)
for each in detector.structures_:
    radius, points = each.parameters["radius"], each.support
    print(f"radius {radius:.3f} +- {each.sigma / np.sqrt(points):.3f}: {points} points")

# %%
# In millimetres, everything but the unit stays the same.

millimetres = PreferenceIsolationForest("sphere", random_state=0).fit(1000 * X)
print([round(each.parameters["radius"]) for each in millimetres.structures_])
print("labels that differ:", (millimetres.labels_ != detector.labels_).sum())

figure, ax = plt.subplots(figsize=(7.5, 6), layout="constrained", subplot_kw={"projection": "3d"})
plot_structures(X, detector.structures_, ax, title="three spheres")
plt.show()
