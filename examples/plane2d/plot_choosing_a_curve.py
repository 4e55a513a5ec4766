"""
Curves: polynomials and ellipses
================================

Families have options: the degree of a polynomial, for example. Pass a family object made by
``get_family`` in place of its name.
"""

import matplotlib.pyplot as plt

from piforest import PreferenceIsolationForest
from piforest.datasets import make_ellipses, make_polynomials
from piforest.families import get_family, list_families
from piforest.plots import plot_structures

print(list_families())

# %%
# Two cubic curves, and three ellipses. A minimal sample has four points of a cubic and five of an
# ellipse; the more points it has, the rarer are samples of one structure alone, and the more
# anomalies are left near the structures.

cubics = make_polynomials(2, degree=3, anomaly_share=0.3, random_state=1).data
ellipses = make_ellipses(3, anomaly_share=0.3, random_state=1).data

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, X, family, title in (
    (axes[0], cubics, get_family("polynomial", degree=3), "polynomials of degree 3"),
    (axes[1], ellipses, "ellipse", "ellipses"),
):
    detector = PreferenceIsolationForest(family, random_state=0).fit(X)
    for each in detector.structures_:
        print(each.equation)
    plot_structures(X, detector.structures_, ax, title=title)
plt.show()
