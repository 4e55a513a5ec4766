"""
A family from two functions
===========================

A structure can be anything that two functions describe: one fits a model to a few points, the
other gives the distances of points to a model. Here a structure is an exponential decay.
"""

import matplotlib.pyplot as plt
import numpy as np

from piforest import PreferenceIsolationForest
from piforest.checks import check_family
from piforest.families import from_functions


def fit_decay(points):
    (x1, y1), (x2, y2) = points
    if x1 == x2 or min(y1, y2) <= 0:
        return None  # these two points determine no decay
    rate = np.log(y1 / y2) / (x2 - x1)
    return (y1 * np.exp(rate * x1), rate) if rate > 0 else None


def distance_to_decay(X, params):
    height, rate = params
    return np.abs(X[:, 1] - height * np.exp(-rate * X[:, 0]))


decay = from_functions(fit_decay, distance_to_decay, sample_size=2, n_features=2, name="decay")

# %%
# ``check_family`` tests the functions and names what is wrong with them. The list says what could
# not be promised: here that all blocks of rows give the same bits.

rng = np.random.default_rng(0)
x = rng.uniform(0, 3, 400)
y = np.where(rng.random(400) < 0.5, 3 * np.exp(-x / 0.7), 2 * np.exp(-x / 3))
y += rng.normal(0, 0.03, 400)
anomalous = rng.random(400) < 0.2
y[anomalous] = rng.uniform(0, 3, anomalous.sum())
X = np.column_stack([x, y])
print(check_family(decay, X))

# %%

detector = PreferenceIsolationForest(decay, n_models=2000, random_state=0).fit(X)
figure, ax = plt.subplots(figsize=(6.5, 4.4), layout="constrained")
grid = np.linspace(0, 3, 100)
labels = detector.structure_labels_
for k, colour in ((-1, "#999999"), (0, "#E69F00"), (1, "#009E73")):
    name = "on none" if k < 0 else f"decay {k}"
    ax.scatter(*X[labels == k].T, s=10, c=colour, label=f"{name}: {(labels == k).sum()}")
for each, colour in zip(detector.structures_, ("#E69F00", "#009E73")):
    height, rate = each.params
    print(f"{height:.2f} exp(-x / {1 / rate:.2f}): {each.support} points")
    ax.plot(grid, height * np.exp(-rate * grid), color=colour, lw=1)
ax.set(xlabel="x", ylabel="y")
ax.legend(frameon=False)
plt.show()
