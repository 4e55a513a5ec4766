"""
Which family?
=============

Without a family, the detector compares those that suit the columns and takes the best.
``propose_families`` shows the comparison: how much evidence each family has, and how many of the
points it explains.
"""

import matplotlib.pyplot as plt
import numpy as np

from piforest import PreferenceIsolationForest, propose_families
from piforest.datasets import make_circles
from piforest.plots import plot_structures

X = make_circles(3, noise=0.01, anomaly_share=0.3, random_state=1).data
proposals = propose_families(X, random_state=0)
print(proposals)

# %%
# ``PreferenceIsolationForest()`` makes the same comparison while it is fitted.

detector = PreferenceIsolationForest(random_state=0).fit(X)
print(detector.family_.name, detector.proposals_.found)

# %%
# Pieces of a circle are nearly parabolas, so that this family finds something, too. It needs more
# structures and explains fewer points, with less evidence.

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, name in zip(axes, ["circle", "parabola"]):
    found = PreferenceIsolationForest(name, random_state=0).fit(X)
    share = np.mean(found.structure_labels_ >= 0)
    plot_structures(X, found.structures_, ax, title=f"{name}: {share:.0%} of the points explained")
plt.show()
