"""
A family that is learned
========================

``LearnedFamily`` turns any estimator of scikit-learn into a family: each model is the estimator
fitted to a few rows. Here the laws are step functions, which no formula describes, and decision
trees learn them.
"""

import matplotlib.pyplot as plt
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeRegressor

from piforest import PreferenceIsolationForest
from piforest.datasets import make_piecewise_laws
from piforest.families import LearnedFamily
from piforest.plots import plot_comparison

X, y = make_piecewise_laws(3, noise=0.01, random_state=0, return_X_y=True)
steps = LearnedFamily(DecisionTreeRegressor(max_depth=3), sample_size=6, target=-1)
detectors = {
    "lines": PreferenceIsolationForest.paper("line", sigma=0.01, random_state=0),
    "trees of 6 rows": PreferenceIsolationForest.paper(
        steps, sigma=0.01, n_models=1500, random_state=0
    ),
}
scores = {name: each.fit(X).scores_ for name, each in detectors.items()}
aucs = {name: roc_auc_score(y == 0, values) for name, values in scores.items()}
print({name: round(float(auc), 3) for name, auc in aucs.items()})

# %%
# Use samples as small as the estimator can learn from: all rows of a sample have to belong to one
# structure, which becomes rare in large samples.

figure = plot_comparison(X, y, scores, aucs)
plt.show()
