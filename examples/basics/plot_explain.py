"""
Why is this point an anomaly?
=============================

``explain`` gives a reason for each row: the nearest structures, how far the row is in units of
their noise, and how sure the label is.
"""

import numpy as np

from piforest import PreferenceIsolationForest
from piforest.datasets import make_circles
from piforest.plots import plot_explanation

X = make_circles(3, noise=0.01, anomaly_share=0.3, random_state=3).data
detector = PreferenceIsolationForest("circle", random_state=0).fit(X)

# %%
# One row that is flagged, and one that is kept:

flagged = int(np.argmax(detector.scores_))
kept = int(np.argmin(detector.scores_))
for explanation in detector.explain(X[[flagged, kept]]):
    print(explanation)

# %%
# The reasons are also plain values. The stability is the share of forests, drawn again, that would
# flag the row.

why = detector.explain(X[[flagged]])[0]
print(f"p-value {why.p_value:.4f}, probability of an anomaly {why.probability:.2f}")
print(f"stability {why.stability:.2f}")
for change in why.changes:
    print(f"{change.column}: {change.value:.3f} would do, a change of {change.change:+.3f}")

# %%
# The picture shows the row and the structures that are nearest to it.

ax = plot_explanation(detector, X, row=flagged)
