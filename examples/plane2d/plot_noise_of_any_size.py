"""
Noise of any size
=================

The detector estimates the noise, sigma, from the data. One line in a square of side 2 is found
with noise from 0.003 to 0.1, with the same parameters. Several lines need less noise: their bands
must not fill the square.
"""

import matplotlib.pyplot as plt

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines
from piforest.plots import plot_structures


def fitted(lines, noise):
    X = make_lines(lines, sizes=300 // lines, noise=noise, anomaly_share=0.2, random_state=7).data
    return X, PreferenceIsolationForest("line", random_state=0).fit(X)


noises = [0.003, 0.01, 0.03, 0.06, 0.1]
one = [fitted(1, noise)[1] for noise in noises]
three = [fitted(3, noise)[1] for noise in noises]
for noise, a, b in zip(noises, one, three):
    print(f"noise {noise}: sigma of one line {a.sigma_:.4f}, of three {b.sigma_:.4f}", end=" ")
    print(f"with {len(b.structures_)} structures")

# %%
# The estimate of one line follows the noise. From 0.06 on, two of the three lines are taken for
# one wide line, and sigma is too large. The picture on the right shows it.

figure, axes = plt.subplots(1, 3, figsize=(13, 4.8), layout="constrained")
axes[0].loglog(noises, noises, color="grey", ls="--", label="equal")
for found, colour, label in ((one, "#0072B2", "one line"), (three, "#D55E00", "three lines")):
    sigmas = [each.sigma_ for each in found]
    axes[0].loglog(noises, sigmas, "o-", color=colour, label=label)
axes[0].set(xlabel="true noise", ylabel="sigma_")
axes[0].set_xticks(noises, [f"{noise:g}" for noise in noises])
axes[0].minorticks_off()
axes[0].legend(frameon=False)
for ax, noise in zip(axes[1:], [0.03, 0.06]):
    X, detector = fitted(3, noise)
    plot_structures(X, detector.structures_, ax, title=f"three lines, noise {noise}")
plt.show()
