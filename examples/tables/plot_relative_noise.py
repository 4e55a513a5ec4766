"""
Errors that grow with the size
==============================

A detector has one sigma for a law. The perimeter of large cell nuclei varies more than that of
small ones, so that large ones are flagged too often. In logarithms the errors are relative, and
one sigma suits all sizes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from piforest import PreferenceIsolationForest
from piforest.families import get_family

table = load_breast_cancer(as_frame=True).data[["mean radius", "mean perimeter"]]
law = get_family("linear_regression", target="mean perimeter")
detectors = {
    "as it is": PreferenceIsolationForest(law, random_state=0).fit(table),
    "logarithms": PreferenceIsolationForest(law, random_state=0).fit(np.log(table)),
}
for name, detector in detectors.items():
    for each in detector.structures_:
        print(f"{name}: {each.equation}, {each.support} rows, sigma {each.sigma:.3g}")

# %%
# The picture shows the perimeter over 2 pi times the radius: 1 for a circle.

large = table["mean radius"] > 15
ratio = table["mean perimeter"] / (2 * np.pi * table["mean radius"])
figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", sharey=True)
for ax, (name, detector) in zip(axes, detectors.items()):
    flagged = detector.labels_ == -1
    print(f"{name}: {flagged.sum()} flagged, {flagged[large].sum()} of them with a radius above 15")
    for rows, colour, label in ((~flagged, "#BBBBBB", "kept"), (flagged, "#D55E00", "flagged")):
        label = f"{label}: {rows.sum()}"
        ax.scatter(table["mean radius"][rows], ratio[rows], s=14, c=colour, label=label)
    ax.set(xlabel="mean radius", title=name)
    ax.legend(frameon=False)
axes[0].set_ylabel("perimeter / (2 pi radius)")
plt.show()
