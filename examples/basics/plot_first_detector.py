"""
A first detector
================

Half of these points lie on four lines, half lie on none. The detector finds the points of no line.
It needs the family, "line", and neither the number of lines, nor their noise, nor the share of
anomalies.
"""

import matplotlib.pyplot as plt

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines
from piforest.plots import plot_scores, plot_structures

X, y = make_lines(4, noise=0.01, anomaly_share=0.5, random_state=0, return_X_y=True)

# %%
# The detector is a scikit-learn estimator. ``predict`` gives -1 for anomalies and 1 for the rest.

detector = PreferenceIsolationForest("line", random_state=0).fit(X)
flagged = detector.predict(X) == -1
print(f"flagged: {flagged.sum()} of {len(X)} points")
print(f"of the flagged points, {(y[flagged] == 0).mean():.0%} lie on no line")
print(f"of the points on no line, {flagged[y == 0].mean():.0%} are flagged")

# %%
# On the left the anomaly scores: blue points are kept, red ones are flagged. On the right the
# lines that the detector found. Anomalies that happen to lie close to a line cannot be told from
# its points.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
plot_scores(X, detector.scores_, axes[0], threshold=detector.threshold_, title="anomaly scores")
plot_structures(X, detector.structures_, axes[1], title="structures")
plt.show()
