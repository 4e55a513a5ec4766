"""
Beside isolation forest and LOF
===============================

Isolation forest and the local outlier factor look for points in sparse regions. piforest looks for
points of no structure. Use it where normal points lie on structures; where they form dense clouds,
the others are the right tools.
"""

import matplotlib.pyplot as plt
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from piforest import PreferenceIsolationForest
from piforest.datasets import make_circle_scene
from piforest.plots import plot_comparison

X, y = make_circle_scene(3, sizes=80, noise=0.01, random_state=0, return_X_y=True)
scores = {
    "isolation forest": -IsolationForest(random_state=0).fit(X).score_samples(X),
    "LOF": -LocalOutlierFactor().fit(X).negative_outlier_factor_,
    "piforest": PreferenceIsolationForest("circle", random_state=0).fit(X).scores_,
}
aucs = {name: roc_auc_score(y == 0, values) for name, values in scores.items()}
print({name: round(float(auc), 3) for name, auc in aucs.items()})

# %%
# The area under the ROC curve is 1 for a perfect ranking and 0.5 for a random one.

figure = plot_comparison(X, y, scores, aucs)
plt.show()
