"""
Where a line ends
=================

The detector bounds each model to the part where its points are. A point far beyond the end of a
segment is then an anomaly, although it lies on the line. With ``bound=False``, lines have no ends.
"""

import matplotlib.pyplot as plt
import numpy as np

from piforest import PreferenceIsolationForest
from piforest.plots import plot_heatmap

rng = np.random.default_rng(0)
short = np.column_stack([rng.uniform(-0.9, -0.1, 150), rng.normal(0.3, 0.01, 150)])
other = np.column_stack([rng.normal(-0.5, 0.01, 150), rng.uniform(-0.9, -0.2, 150)])
anomalies = rng.uniform(-1, 1, (100, 2))
beyond = np.array([[0.5, 0.3], [0.8, 0.3], [-0.5, 0.8]])  # on the lines, beyond their ends
X = np.concatenate([short, other, anomalies, beyond])

# %%

detectors = {
    bound: PreferenceIsolationForest("line", bound=bound, random_state=0).fit(X)
    for bound in (True, False)
}
for bound, detector in detectors.items():
    print(f"bound={bound}: of the points beyond the ends", detector.predict(beyond))

# %%
# The black line is the threshold; the three points have green rings. The structures, and so
# ``assign``, keep whole lines in any case; ``extent`` has their ends.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained", sharey=True)
for ax, (bound, detector) in zip(axes, detectors.items()):
    plot_heatmap(detector, ax=ax, resolution=100, title=f"bound={bound}")
    ax.scatter(*beyond.T, s=90, facecolors="none", edgecolors="#009E73", lw=2.5, zorder=5)
plt.show()
