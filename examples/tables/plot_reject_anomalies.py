"""
Drop anomalies in a pipeline
============================

``RejectAnomalies`` removes anomalous rows of X and y while a pipeline of imbalanced-learn is
fitted, and passes rows on unchanged while it predicts. The regression behind it is fitted to clean
rows only, in each fold of a cross-validation anew.
"""

import matplotlib.pyplot as plt
import numpy as np
from imblearn.pipeline import make_pipeline
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import FunctionTransformer

from piforest import PreferenceIsolationForest, RejectAnomalies

rng = np.random.default_rng(0)
quantity = rng.uniform(-2, 2, (600, 1))
sensors = quantity * [[1.0, -0.7, 0.5]] + rng.normal(0, 0.03, (600, 3))
target = np.sin(1.5 * quantity[:, 0]) + rng.normal(0, 0.05, 600)
broken = rng.random(600) < 0.3
sensors[broken] = rng.uniform(-2, 2, (broken.sum(), 3)) * [1.0, 0.7, 0.5]  # mixed up on the way

# %%
# The three sensors measure one quantity: normal rows lie on a line in space.

first = FunctionTransformer(lambda rows: rows[:, :1])  # the regression uses the first sensor alone
reject = RejectAnomalies(PreferenceIsolationForest("line", random_state=0))
with_rejection = make_pipeline(reject, first, KNeighborsRegressor()).fit(sensors, target)
without = make_pipeline(first, KNeighborsRegressor()).fit(sensors, target)
kept = with_rejection[0].sample_indices_
print(f"broken rows: {broken.mean():.1%} before, {broken[kept].mean():.1%} of the {len(kept)} kept")

# %%
# New rows from sensors that work, judged by both models:

level = np.linspace(-2, 2, 200)
new = level[:, None] * [[1.0, -0.7, 0.5]]
figure, ax = plt.subplots(figsize=(6.5, 5.2), layout="constrained")
ax.scatter(sensors[broken, 0], target[broken], s=8, c="#BBBBBB", label="training rows, broken")
ax.scatter(sensors[~broken, 0], target[~broken], s=8, c="#0072B2", alpha=0.5, label="training rows")
ax.plot(level, np.sin(1.5 * level), color="black", lw=1, ls="--", label="truth")
for each, colour, name in (
    (without, "#D55E00", "all rows"),
    (with_rejection, "#009E73", "anomalies rejected"),
):
    predicted = each.predict(new)
    error = np.sqrt(np.mean((predicted - np.sin(1.5 * level)) ** 2))
    ax.plot(level, predicted, color=colour, label=f"{name}, error {error:.3f}")
ax.set(xlabel="first sensor", ylabel="target")
ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2)
plt.show()
