"""
Inside a tree
=============

A tree splits the points into the Voronoi cells of random points, again and again. Points that are
alone early are anomalies. The picture shows one tree in the plane; the detectors grow the same
trees in the space of preferences.
"""

import numpy as np

from piforest import VoronoiForest
from piforest.plots import plot_tree

rng = np.random.default_rng(3)
X = np.vstack([rng.normal(0, 0.25, (24, 2)), [[1.1, 0.8], [-0.9, 0.9], [0.9, -0.8]]])
forest = VoronoiForest("euclidean", n_estimators=1, branching=2, random_state=0).fit(X)

# %%
# The path length of a point is the number of splits until it is alone, or an estimate for the
# points that are left together. Scores are 2 to the power of minus the mean length, in units of
# the length expected for that many points.

many = VoronoiForest("euclidean", n_estimators=200, branching=2, random_state=0).fit(X)
print("the highest scores:", X[np.argsort(many.scores_)[:-4:-1]].round(1).tolist())

# %%
# Thick lines are the first splits. A single tree is rough: its score of a point depends on chance,
# and a forest takes the mean of a hundred.

ax = plot_tree(forest)
