"""
A metric of your own
====================

``VoronoiForest`` isolates points in any metric space. Here rows are times of the day, and the
metric knows that 23:50 is close to 0:10. With plain numbers, midnight would be at both ends.
"""

import matplotlib.pyplot as plt
import numpy as np

from piforest import VoronoiForest
from piforest.checks import check_metric


class TimeOfDay:
    """Hours between two times, across midnight."""

    name = "time of day"
    empty_rows = False

    def pairwise(self, A, B):
        apart = np.abs(A[:, None, 0] - B[None, :, 0]) % 24
        return np.minimum(apart, 24 - apart)


rng = np.random.default_rng(0)
backups = rng.normal(0.5, 0.35, 120) % 24  # about half past midnight, a few before it
reports = rng.normal(9, 0.7, 60)
unusual = np.array([4.2, 14.8, 19.0])
hours = np.concatenate([backups, reports, unusual])[:, None]
check_metric(TimeOfDay(), hours)

# %%
# With plain numbers, the backups just before midnight are at the far end of the scale, away from
# those after it, and score high. The metric keeps them together. The axis runs from noon to noon.

from_noon = np.linspace(-12, 12, 481)[:-1]
grid = (from_noon % 24)[:, None]
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for metric, colour, name in (
    (TimeOfDay(), "#0072B2", "time of day"),
    ("euclidean", "#E69F00", "plain numbers"),
):
    forest = VoronoiForest(metric, random_state=0).fit(hours)
    highest = hours[np.argsort(forest.scores_)[:-4:-1], 0].round(1)
    print(f"{name}: the highest scores have", highest)
    ax.plot(from_noon, forest.anomaly_score(grid), color=colour, label=name)
ax.plot((hours + 12) % 24 - 12, np.full(len(hours), 0.4), "|", color="black", label="the data")
ticks = range(-12, 13, 3)
ax.set(xlabel="time of the day", ylabel="anomaly score", xlim=(-12, 12))
ax.set_xticks(ticks, [f"{tick % 24}:00" for tick in ticks])
ax.axvline(0, color="grey", linewidth=0.8, linestyle=":")
ax.legend(loc="lower left", bbox_to_anchor=(0, 0.1))
plt.show()
