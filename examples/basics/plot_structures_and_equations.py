"""
Structures and their equations
==============================

The detector also says what it found. Each structure has an equation, named parameters, its noise,
its members, and the part that the members cover: here the angles of an arc.
"""

from piforest import PreferenceIsolationForest
from piforest.datasets import make_arcs
from piforest.plots import plot_structures

X = make_arcs(3, noise=0.01, anomaly_share=0.3, random_state=3).data
detector = PreferenceIsolationForest("circle", random_state=0).fit(X)
for number, each in enumerate(detector.structures_):
    print(f"{number}: {each.equation}, {each.support} points, sigma {each.sigma:.4f}")

# %%
# The same as numbers:

arc = detector.structures_[0]
print(arc.parameters["centre"], arc.parameters["radius"])
print("angles from {:.0f} to {:.0f} degrees".format(*arc.extent["angles"]))

# %%
# ``assign`` gives the structure of any row, -1 for none, and the distance in sigmas.

labels, sigmas = detector.assign(X[:5], return_distance=True)
print(labels, sigmas.round(1))

# %%
# The picture draws the whole circles within the frame, with their members; grey points belong to
# none of them.

ax = plot_structures(X, detector.structures_, title="three arcs")
