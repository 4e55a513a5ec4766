"""
Faults in a series
==================

Channels of a machine follow one another. ``inspect_series`` finds the runs of rows in which they
do not, in sliding windows, and says which channel departs and by how much.
"""

import matplotlib.pyplot as plt
import numpy as np

from piforest.series.inspect import inspect_series

rng = np.random.default_rng(0)
t = np.arange(900.0)
load = 3 * np.sin(t / 45) + np.cumsum(rng.normal(0, 0.05, 900))
values = np.column_stack([load, 2 * load + 5, 10 - load]) + rng.normal(0, 0.1, (900, 3))
names = ["flow", "speed", "pressure"]
values[420:450, 1] -= 2.0  # speed drops
values[700:712, 2] += 1.5  # pressure rises

# %%

found = inspect_series(t, values, names=names, min_rows=3, random_state=0)
for run in found.runs:
    print(f"rows {run.first} to {run.last}: {run.reason}")
print(f"shorter runs, not listed: {found.n_shorter}")

# %%
# Neither fault leaves the range of its channel. A fault that lasts longer than half of a window
# would be a structure itself; ``reference`` names rows that are known to be normal for such cases.

figure, axes = plt.subplots(4, 1, figsize=(9, 6), layout="constrained", sharex=True)
for ax, name, channel in zip(axes, names, values.T):
    ax.plot(t, channel, color="#0072B2", lw=0.8)
    ax.set_ylabel(name)
    for run in found.runs:
        own = run.channel == name
        ax.axvspan(run.start, run.end, color="#D55E00", alpha=0.4 if own else 0.1, lw=0)
axes[3].plot(t, found.scores, color="black", lw=0.8)
axes[3].axhline(found.threshold, color="#D55E00", ls="--", lw=1)
axes[3].set(xlabel="time", ylabel="score")
plt.show()
