"""
A table with two laws
=====================

Two machines write into one table, and nobody noted which. Each follows a law of its own. The
detector finds both, says which rows belong to which, and which to none. A single regression would
pass between the two.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import HuberRegressor

from piforest import PreferenceIsolationForest
from piforest.families import get_family

rng = np.random.default_rng(0)
n = 400
machine = rng.integers(2, size=n)
table = pd.DataFrame({"load": rng.uniform(0, 10, n), "speed": rng.uniform(20, 60, n)})
table["power"] = np.where(
    machine == 0,
    5 + 3.0 * table["load"] + 0.2 * table["speed"],
    12 + 1.2 * table["load"] + 0.6 * table["speed"],
) + rng.normal(0, 0.5, n)
broken = rng.random(n) < 0.1
table.loc[broken, "power"] = rng.uniform(10, 60, broken.sum())

# %%

law = get_family("linear_regression", target="power")
detector = PreferenceIsolationForest(law, random_state=0).fit(table)
for each in detector.structures_:
    print(f"{each.equation}: {each.support} rows")
labels = detector.structure_labels_
right = [np.mean(machine[(labels == k) & ~broken] == machine[labels == k][0]) for k in (0, 1)]
print("rows of a law that are of one machine:", np.round(right, 3))
print(f"broken rows flagged: {(detector.labels_[broken] == -1).mean():.0%}")

# %%
# Each panel shows the power beside what a law says. A robust regression fits neither machine.

huber = HuberRegressor().fit(table[["load", "speed"]], table["power"])
panels = [("a robust regression", huber.predict(table[["load", "speed"]]))]
for k, each in enumerate(detector.structures_):
    found = each.parameters["coefficients"]
    value = found["intercept"] + sum(found[c] * table[c] for c in ("load", "speed"))
    panels.append((f"law {k}", value))
figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained", sharey=True)
for ax, (title, predicted) in zip(axes, panels):
    for k, colour in ((0, "#E69F00"), (1, "#009E73"), (-1, "#D55E00")):
        rows = labels == k
        name = f"law {k}" if k >= 0 else "flagged"
        ax.scatter(predicted[rows], table["power"][rows], s=10, c=colour, label=name)
    ax.axline((30, 30), slope=1, color="grey", lw=0.8, zorder=0)
    ax.set(xlabel=f"power by {title}")
axes[0].set_ylabel("power")
axes[0].legend(loc="lower right")
plt.show()
