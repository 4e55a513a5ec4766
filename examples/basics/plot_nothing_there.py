"""
When there is nothing to find
=============================

Points without any structure are no anomalies. The detector says that it found nothing and flags no
point, in place of flagging the least fortunate ones.
"""

import matplotlib.pyplot as plt
import numpy as np

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines
from piforest.plots import plot_scores

rng = np.random.default_rng(0)
nothing = rng.uniform(-1, 1, (300, 2))
detector = PreferenceIsolationForest("line", random_state=0).fit(nothing)
print(detector.found_structure_, detector.threshold_source_, (detector.labels_ == -1).sum())

# %%
# ``diagnosis_`` says it in words, with a way out.

for finding in detector.diagnosis_:
    print(f"{finding.code}: {finding}")

# %%
# The same number of points with one line among them: a fifth of the points is enough.
#
# There is a limit: points in a box that is much longer than wide can count as one wide line, which
# holds all of them. ``diagnosis_`` then has ``sigma_at_limit``; look at ``sigma_`` and the
# picture.

line = make_lines(1, sizes=60, noise=0.01, anomaly_share=0.8, random_state=3).data
with_line = PreferenceIsolationForest("line", random_state=0).fit(line)
print(with_line.found_structure_, (with_line.labels_ == 1).sum(), "points kept")

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for ax, X, each, title in (
    (axes[0], nothing, detector, "nothing there: no point is flagged"),
    (axes[1], line, with_line, "one line: the others are flagged"),
):
    plot_scores(X, each.scores_, ax, threshold=each.threshold_, title=title)
plt.show()
