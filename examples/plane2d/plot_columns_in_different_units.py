"""
Columns in different units
==========================

Distances to a line mix the columns, so their units matter: a column in millimetres drowns one in
metres. ``scale_columns=True`` measures each column in a unit of its own. The default, "auto", does
so with a warning if the structures could not be seen otherwise.
"""

import warnings

import matplotlib.pyplot as plt

from piforest import PreferenceIsolationForest
from piforest.datasets import make_circles

X, y = make_circles(2, noise=0.01, anomaly_share=0.3, random_state=2, return_X_y=True)
mixed = X * [1000.0, 1.0]  # the first column in millimetres

# %%
# Without scaling, circles are ellipses a thousand times as wide as high, and none is found. The
# warning says what to do.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    without = PreferenceIsolationForest("circle", random_state=0).fit(mixed)
print(*[each.message for each in caught], sep="\n")
print(without.threshold_source_, (without.labels_ == -1).sum(), "flagged")

# %%
# With scaling, the units are powers of ten that make the spreads similar:

detector = PreferenceIsolationForest("circle", scale_columns=True, random_state=0).fit(mixed)
print("units:", detector.units_)
for each in detector.structures_:
    print(each.equation)

# %%

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", sharey=True)
for ax, each, title in (
    (axes[0], without, "units as they are: nothing found"),
    (axes[1], detector, "scale_columns=True"),
):
    flagged = each.labels_ == -1
    ax.scatter(*mixed[~flagged].T, s=12, c="#0072B2", label=f"kept: {(~flagged).sum()}")
    ax.scatter(*mixed[flagged].T, s=12, c="#D55E00", label=f"flagged: {flagged.sum()}")
    ax.set(xlabel="x in mm", title=title)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False)
axes[0].set_ylabel("y in m")
plt.show()
