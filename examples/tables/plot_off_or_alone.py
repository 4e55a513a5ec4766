"""
Off the law, or alone on it
===========================

The detector bounds its models to the part where their points are. So a row can be flagged for two
reasons: it is far from every law, or it lies on a law where hardly any other row is. With
``bound=False``, laws hold everywhere, and only the first reason is left. Tables often need that.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from piforest import PreferenceIsolationForest
from piforest.families import get_family

table = load_breast_cancer(as_frame=True).data[["mean radius", "mean perimeter"]]
logarithms = np.log(table)  # errors are relative: larger nuclei vary more
law = get_family("linear_regression", target="mean perimeter")
detectors = {
    bound: PreferenceIsolationForest(law, bound=bound, random_state=0).fit(logarithms)
    for bound in (True, False)
}
print(detectors[False].structures_[0].equation)

# %%
# The distance in sigmas tells the two kinds of flagged rows apart.

kinds = {}
for bound, detector in detectors.items():
    _, sigmas = detector.assign(logarithms, return_distance=True)
    flagged = detector.labels_ == -1
    kinds[bound] = flagged & (sigmas > 3), flagged & (sigmas <= 3), ~flagged
    off, alone, _ = (rows.sum() for rows in kinds[bound])
    print(f"bound={bound}: {off} rows off the law, {alone} alone on it")

# %%
# The picture shows the perimeter over 2 pi times the radius: 1 for a circle. With bounds, the
# largest and the smallest nuclei are flagged, which are few; without, those that are too long for
# their radius.

ratio = table["mean perimeter"] / (2 * np.pi * table["mean radius"])
figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained", sharey=True)
for ax, (bound, (off, alone, kept)) in zip(axes, kinds.items()):
    for rows, colour, name in (
        (kept, "#BBBBBB", "kept"),
        (off, "#D55E00", "off the law"),
        (alone, "#0072B2", "alone on it"),
    ):
        label = f"{name}: {rows.sum()}"
        ax.scatter(table["mean radius"][rows], ratio[rows], s=14, c=colour, label=label)
    ax.set(xlabel="mean radius", title=f"bound={bound}")
    ax.legend(frameon=False)
axes[0].set_ylabel("perimeter / (2 pi radius)")
plt.show()
