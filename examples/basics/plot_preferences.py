"""
What the forest sees: preferences
=================================

Each point is described by its preferences for random models: 1 if it lies on a model, 0 if it is
far away. Points of one structure prefer the same models; anomalies share hardly any. The forest
uses nothing else.
"""

import matplotlib.pyplot as plt

from piforest import PreferenceEmbedding, PreferenceIsolationForest
from piforest.datasets import make_circles
from piforest.plots import plot_preferences

X, y = make_circles(3, noise=0.01, anomaly_share=0.4, random_state=0, return_X_y=True)
detector = PreferenceIsolationForest("circle", random_state=0).fit(X)

# %%
# ``PreferenceEmbedding`` is the transformer alone, for pipelines. Its result is sparse. It draws
# models of its own, so that their number is not exactly that of the detector below.

preferences = PreferenceEmbedding("circle", random_state=0).fit_transform(X)
print(f"{preferences.shape}, {preferences.nnz / len(X):.0f} preferences of a point on average")

# %%
# The matrix has a row for each point and a column for each model, both sorted by structure. On the
# map, points that prefer the same models are close to each other: structures become clusters.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
plot_preferences(detector, X, axes[0], title="matrix")
plot_preferences(detector, X, axes[1], kind="map", y=y, title="map")
plt.show()
