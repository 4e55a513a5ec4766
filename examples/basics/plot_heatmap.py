"""
Scores of new points: a heat map
================================

A fitted detector scores any point. The heat map shows the score at every place of the plane; the
black line is the threshold, so points outside it are anomalous.
"""

from piforest import PreferenceIsolationForest
from piforest.datasets import make_polygons
from piforest.plots import plot_heatmap

X = make_polygons(8, sizes=40, noise=0.01, anomaly_share=0.2, random_state=1).data
detector = PreferenceIsolationForest("line", random_state=0).fit(X)

# %%
# New points are scored one by one: the score of a row does not depend on the other rows.

new = [[0.5, -0.5], [0.8, 0.0]]
print(detector.anomaly_score(new).round(3), detector.predict(new))

# %%
# The blue bands follow the sides of two squares and mostly end where their points end: the
# detector bounds its models. The dark red places are passed by none of the models and score
# highest; pale rays are weak models, which a few points suggest. Where a ray is narrower than a
# cell of the map it falls apart into specks; a larger resolution joins them.

ax = plot_heatmap(detector, resolution=120)
