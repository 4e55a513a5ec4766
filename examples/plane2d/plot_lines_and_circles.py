"""
Lines and circles at once
=========================

A list of families draws models of each. Here a scene has two circles and two lines; with one
family alone, the points of the other would be anomalies.
"""

import matplotlib.pyplot as plt
import numpy as np

from piforest import PreferenceIsolationForest
from piforest.datasets import make_circles, make_lines
from piforest.plots import plot_structures

circles = make_circles(2, noise=0.01, anomaly_share=0.0, random_state=5).data
lines = make_lines(2, noise=0.01, anomaly_share=0.0, random_state=8).data
rng = np.random.default_rng(0)
anomalies = rng.uniform(-1.2, 1.2, (100, 2))
X = np.concatenate([circles, lines, anomalies])
y = np.repeat([1, 2, 0], [200, 200, 100])

# %%

detector = PreferenceIsolationForest(["line", "circle"], random_state=0).fit(X)
for each in detector.structures_:
    print(f"{each.family.name}: {each.equation}, {each.support} points")

# %%
# With lines alone, the points of the circles are anomalies. (With circles alone, nothing would be
# lost here: a piece of a line is a piece of a very large circle.)

alone = PreferenceIsolationForest("line", random_state=0).fit(X)
figure, axes = plt.subplots(1, 2, figsize=(10, 5.2), layout="constrained")
for ax, each, title in (
    (axes[0], detector, "lines and circles"),
    (axes[1], alone, "lines alone"),
):
    kept = (each.labels_[y > 0] == 1).mean()
    title = f"{title}: {kept:.0%} of the normal points kept"
    plot_structures(X, each.structures_, ax, title=title)
plt.show()
