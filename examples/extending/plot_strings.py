"""
Strings and distance matrices
=============================

A Voronoi forest needs distances only, so that rows can be strings. A function of two rows is a
metric; a matrix of distances, made by any library, works as well.
"""

import matplotlib.pyplot as plt
import numpy as np

from piforest import VoronoiForest


def edits(a, b):
    """The number of letters to insert, delete or replace (Levenshtein)."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (letter != other))
    return float(row[-1])


rng = np.random.default_rng(0)
parts = [f"PUMP-AX-20{rng.integers(10)}" for _ in range(30)]
parts += [f"VALVE/{rng.integers(10)}{rng.integers(10)}/mm" for _ in range(30)]
odd = ["PUMPAX", "VALVE-AX-203", "unknown", "VALVE/1"]
parts += odd

forest = VoronoiForest(edits, random_state=0).fit(parts)
for k in np.argsort(forest.scores_)[:-6:-1]:
    print(f"{forest.scores_[k]:.3f} {parts[k]}")

# %%
# The same with a matrix of distances:

distances = np.array([[edits(a, b) for b in parts] for a in parts])
precomputed = VoronoiForest("precomputed", random_state=0).fit(distances)
print("the same scores:", bool((precomputed.scores_ == forest.scores_).all()))

# %%
# Three of the four odd strings have the highest scores. VALVE-AX-203 is a mixture of both kinds
# and as close to them as they are to one another.

shown = np.argsort(forest.scores_)[-12:]
figure, ax = plt.subplots(figsize=(6.8, 4.2), layout="constrained")
colours = ["#D55E00" if parts[k] in odd else "#0072B2" for k in shown]
ax.barh(range(len(shown)), forest.scores_[shown], color=colours)
ax.set_yticks(range(len(shown)), [parts[k] for k in shown], family="monospace")
ax.set(xlabel="anomaly score", title="the highest scores; orange: the odd strings")
plt.show()
