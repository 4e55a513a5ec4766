"""
Many columns: subspaces
=======================

In a table with many columns, groups of rows often need few of the dimensions: each group lies near
a subspace. The detector finds rows in no subspace, although every single column looks normal.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

from piforest import PreferenceIsolationForest
from piforest.datasets import make_subspaces
from piforest.families import get_family

X, y = make_subspaces(
    3, dimension=2, n_features=8, noise=0.02, anomaly_share=0.2, random_state=0, return_X_y=True
)
detector = PreferenceIsolationForest(get_family("subspace", dimension=2), random_state=0).fit(X)
forest = IsolationForest(random_state=0).fit(X)
print([each.support for each in detector.structures_])
for name, scores in (
    ("piforest", detector.scores_),
    ("isolation forest", -forest.score_samples(X)),
):
    print(f"{name}: AUC {roc_auc_score(y == 0, scores):.3f}")

# %%
# In two principal components, anomalies lie among the others. The distance to the nearest
# subspace, in its sigmas, separates the rows.

labels, sigmas = detector.assign(X, return_distance=True)
shown = PCA(2).fit_transform(X)
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
for k, colour in ((0, "#E69F00"), (1, "#009E73"), (2, "#CC79A7"), (-1, "#555555")):
    name = f"subspace {k}" if k >= 0 else "on none"
    left.scatter(*shown[labels == k].T, s=12, c=colour, label=name)
left.set(xlabel="first component", ylabel="second component", title="principal components")
left.legend(frameon=False)
bins = np.geomspace(max(sigmas.min(), 0.1), sigmas.max(), 40)
right.hist(sigmas[y > 0], bins, color="#E69F00", label="normal")
right.hist(sigmas[y == 0], bins, color="#0072B2", label="anomalies")
right.set(xscale="log", xlabel="distance to the nearest subspace in sigmas", ylabel="rows")
right.set_title("by the ground truth")
right.legend(frameon=False)
plt.show()
