"""
A stream whose law changes
==========================

``StreamingPreferenceIsolationForest`` scores each row, then learns it. Its window forgets old
rows, so that it follows a law that changes; ``drift_`` says when a structure came or left.
"""

import matplotlib.pyplot as plt
import numpy as np

from piforest import StreamingPreferenceIsolationForest

rng = np.random.default_rng(0)
n, change = 2400, 1200
x = rng.uniform(0, 10, n)
slope = np.where(np.arange(n) < change, 2.0, -1.0)
X = np.column_stack([x, slope * x + rng.normal(0, 0.1, n)])
anomalous = rng.random(n) < 0.05
X[anomalous, 1] = rng.uniform(-10, 20, anomalous.sum())

# %%

detector = StreamingPreferenceIsolationForest("line", window=400, random_state=0)
scores, labels = detector.score_learn(X, return_labels=True)
for event in detector.drift_:
    print(f"row {event.row}: {event.structure.equation} {event.kind}")

# %%
# The first rows have no score. Right after the change all rows are anomalies, until the detector
# has seen enough of the new law: here for less than a quarter of the window.

flagged = labels == -1
figure, (top, bottom) = plt.subplots(
    2, 1, figsize=(9, 5), layout="constrained", sharex=True, height_ratios=[2, 1]
)
rows = np.arange(n)
top.scatter(rows[~flagged], X[~flagged, 1], s=4, c="#0072B2", label="kept, or not scored yet")
top.scatter(rows[flagged], X[flagged, 1], s=8, c="#D55E00", label="flagged")
top.set(ylabel="y", title="y = 2 x before row 1,200, y = -x after it")
top.legend(loc="lower left", framealpha=1)
wrong = np.convolve(flagged & ~anomalous, np.ones(50) / 50, mode="same")
bottom.plot(rows, wrong, color="black", lw=1)
bottom.set(xlabel="row", ylabel="false alarms,\nmean of 50 rows")
for ax in (top, bottom):
    ax.axvline(change, color="grey", ls="--", lw=1)
plt.show()
