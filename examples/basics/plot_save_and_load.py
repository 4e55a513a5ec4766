"""
Save a model, score later
=========================

``save`` writes one file without pickle, and ``piforest.load`` reads it, on another machine if need
be. The loaded detector gives the same scores to the last bit.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import piforest
from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines
from piforest.plots import plot_scores

X = make_lines(3, sizes=150, noise=0.01, anomaly_share=0.3, random_state=5).data
old, new = X[::2], X[1::2]
detector = PreferenceIsolationForest("line", random_state=0).fit(old)

# %%

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "lines.pif")
    detector.save(path)
    print(f"{path.stat().st_size / 1000:.0f} kB")
    loaded = piforest.load(path)
same = (loaded.anomaly_score(new) == detector.anomaly_score(new)).all()
print(f"{type(loaded).__name__}, the same scores: {same}")

# %%
# Rows that the detector has never seen, scored by the loaded model:

scores = loaded.anomaly_score(new)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", sharey=True)
plot_scores(old, loaded.scores_, axes[0], threshold=loaded.threshold_, title="training rows")
plot_scores(new, scores, axes[1], threshold=loaded.threshold_, title="new rows")
plt.show()
