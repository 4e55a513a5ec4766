"""
Rounded data
============

Sensors and files round. Rounded points lie exactly on many accidental lines: the rows and columns
of the grid. The detector finds the step of each column and does not take the grid for a structure.
"""

import matplotlib.pyplot as plt

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines
from piforest.plots import plot_structures

X = make_lines(2, sizes=200, noise=0.02, anomaly_share=0.3, random_state=0).data
rounded = (X / 0.05).round() * 0.05
detector = PreferenceIsolationForest("line", random_state=0).fit(rounded)
print("steps of the columns:", detector.resolution_)
print(f"sigma {detector.sigma_:.3f}, that of the step alone is {0.05 / 12**0.5:.3f}")
for finding in detector.diagnosis_:
    print(finding)

# %%
# On the left the points before they were rounded, on the right the rounded ones. The lines are the
# same; their noise now contains that of the rounding. Steps of 0.1, five times the noise, are too
# coarse for some scenes like this one: two lines may become one wide line, or none.

before = PreferenceIsolationForest("line", random_state=0).fit(X)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
plot_structures(X, before.structures_, axes[0], title=f"as measured, sigma {before.sigma_:.3f}")
title = f"rounded to 0.05, sigma {detector.sigma_:.3f}"
plot_structures(rounded, detector.structures_, axes[1], title=title)
plt.show()
