"""
Larger than memory: Dask
========================

The detectors take Dask arrays and data frames. Results are lazy and equal to those in memory, bit
for bit, for any chunks.
"""

import dask.array as da
import matplotlib.pyplot as plt

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines
from piforest.plots import plot_scores

X = make_lines(4, sizes=500, noise=0.01, anomaly_share=0.3, random_state=1).data
chunked = da.from_array(X, chunks=(400, 2))
detector = PreferenceIsolationForest("line", random_state=0).fit(chunked)
scores = detector.anomaly_score(chunked)
print(scores)

# %%
# Nothing is scored before ``compute``; each task scores one chunk.

computed = scores.compute()
memory = PreferenceIsolationForest("line", random_state=0).fit(X).anomaly_score(X)
print("equal to the scores in memory:", bool((computed == memory).all()))

# %%

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
plot_scores(X, computed, ax, threshold=detector.threshold_, title="scored in 8 chunks")
plt.show()
