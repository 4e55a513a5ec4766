"""
A table with one law
====================

In a table, a structure is a law: one column is a function of the others, up to noise. The target
is named as in the data frame. Here the LDL of patients (s2) follows their total cholesterol (s1).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from piforest import PreferenceIsolationForest
from piforest.families import get_family

table = load_diabetes(as_frame=True, scaled=False).data[["s1", "s2"]]
law = get_family("linear_regression", target="s2")
detector = PreferenceIsolationForest(law, random_state=0).fit(table)
[structure] = detector.structures_
print(f"{structure.equation}, {structure.support} patients, sigma {structure.sigma:.1f}")
print(f"flagged: {(detector.labels_ == -1).sum()} of {len(table)}")

# %%
# The automatic threshold flags few rows. To look at the most unusual 2 %, ask for them.

detector.set_params(contamination=0.02).fit(table)
flagged = table[detector.labels_ == -1]
for row, why in zip(flagged.index[:3], detector.explain(flagged)):
    print(f"patient {row}: {why}")

# %%
# Distances count along the target alone, so that the units of the other columns do not matter.

coefficients = structure.parameters["coefficients"]
ends = np.array([table["s1"].min(), table["s1"].max()])
on_law = coefficients["intercept"] + coefficients["s1"] * ends
figure, ax = plt.subplots(figsize=(6.5, 4.6), layout="constrained")
low, high = on_law - 3 * structure.sigma, on_law + 3 * structure.sigma
ax.fill_between(ends, low, high, color="#E69F00", alpha=0.2, lw=0, label="the law and 3 sigmas")
ax.plot(ends, on_law, color="#E69F00")
kept = table[detector.labels_ == 1]
ax.scatter(kept["s1"], kept["s2"], s=10, c="#0072B2", label="kept")
ax.scatter(flagged["s1"], flagged["s2"], s=24, c="#D55E00", label="flagged")
ax.set(xlabel="total cholesterol (s1)", ylabel="LDL (s2)")
ax.legend(frameon=False)
plt.show()
