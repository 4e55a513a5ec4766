"""
Choose parameters with a few labels
===================================

Detectors need no labels. Where some rows are labelled, the tools of scikit-learn choose
parameters: here the family of the laws and the number of trees, by the area under the ROC curve in
a cross-validation.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from piforest import PreferenceIsolationForest
from piforest.datasets import make_regressions


def auc(detector, X, y):
    return roc_auc_score(y == 0, detector.anomaly_score(X))


families, trees = ["linear_regression", "polynomial_regression"], [5, 20, 100]
table = make_regressions(2, n_features=2, degree=2, sizes=150, anomaly_share=0.25, random_state=0)
# Straight laws are no structure of these rows, which every fit with them says.
warnings.filterwarnings("ignore", message="no structure of family 'linear_regression'")
search = GridSearchCV(
    PreferenceIsolationForest(n_models=2000, random_state=0),
    {"family": families, "n_estimators": trees},
    scoring=auc,
    cv=StratifiedKFold(3, shuffle=True, random_state=0),
).fit(table.data, table.target)
print(search.best_params_, f"AUC {search.best_score_:.3f}")

# %%
# The laws are quadratic, so that the family matters. The number of trees hardly does: the bars,
# the standard deviations over the folds, are larger than its effect.

results = search.cv_results_
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for family, colour in zip(families, ("#0072B2", "#E69F00")):
    rows = [k for k, each in enumerate(results["params"]) if each["family"] == family]
    means, errors = results["mean_test_score"][rows], results["std_test_score"][rows]
    ax.errorbar(range(3), means, errors, marker="o", capsize=3, color=colour, label=family)
ax.set(xlabel="n_estimators", ylabel="AUC of held-out rows", ylim=(0.7, 1.02))
ax.set_xticks(range(3), trees)
ax.legend(frameon=False, loc="lower right")
plt.show()
