"""
A smooth curve that no family describes
=======================================

``LocalPreferenceIsolationForest`` runs a simple family in overlapping windows. A smooth curve is
nearly a line in a small window, whatever its form.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from piforest import LocalPreferenceIsolationForest, PreferenceIsolationForest
from piforest.plots import plot_scores

rng = np.random.default_rng(0)
x = rng.uniform(0, 6, 1500)
X = np.column_stack([x, np.sin(8 * x) + rng.normal(0, 0.02, 1500)])
y = np.ones(1500, int)
y[:200] = 0
X[:200, 1] = rng.uniform(-1, 1, 200)

local = LocalPreferenceIsolationForest("line", coordinates=[0], random_state=0).fit(X)
whole = PreferenceIsolationForest("line", random_state=0).fit(X)
print(f"{len(local.windows_)} windows")
print(local.explain(X[[local.scores_.argmax()]])[0])

# %%
# All at once, there are too many flanks for the detector to know them all. Where a curve has few
# bends, one detector does as well as windows; where windows hold too few points, or bend within,
# they fail.

figure, axes = plt.subplots(1, 2, figsize=(11, 2.9), layout="constrained", sharey=True)
for ax, detector, title in ((axes[0], local, "in windows"), (axes[1], whole, "all at once")):
    auc = roc_auc_score(y == 0, detector.scores_)
    found = (detector.labels_[y == 0] == -1).mean()
    title = f"{title}: AUC {auc:.3f}, {found:.0%} of the anomalies flagged"
    threshold = detector.threshold_
    plot_scores(X, detector.scores_, ax, threshold=threshold, title=title, colorbar=False)
plt.show()
