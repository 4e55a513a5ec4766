"""
Moving the threshold
====================

Points with a score above the threshold are flagged. By default it comes from a comparison with
random points, which follow no structure. A known share of anomalies, ``contamination``, or a
threshold of your own replaces it.
"""

from piforest import PreferenceIsolationForest
from piforest.datasets import make_star
from piforest.plots import plot_threshold

X, y = make_star(5, noise=0.01, anomaly_share=0.3, random_state=0, return_X_y=True)
detector = PreferenceIsolationForest("line", random_state=0).fit(X)


def describe(detector):
    flagged = detector.predict(X) == -1
    correct, found = (y[flagged] == 0).mean(), flagged[y == 0].mean()
    source, threshold = detector.threshold_source_, detector.threshold_
    print(f"{source}, {threshold:.3f}: {flagged.sum()} flagged,", end=" ")
    print(f"{correct:.0%} of them anomalies, {found:.0%} of the anomalies found")


describe(detector)

# %%
# The histogram shows where the threshold lies. The black curve is the number of rows that any
# other threshold would flag: between the two groups it falls slowly, above 0.76 steeply. The grey
# outline are the scores of random points. The bar at the right are points that lie on none of the
# models.

ax = plot_threshold(detector)

# %%
# A detector that flags a tenth of the points, and one with a given threshold:

describe(PreferenceIsolationForest("line", contamination=0.1, random_state=0).fit(X))
describe(detector.set_threshold(0.8))
