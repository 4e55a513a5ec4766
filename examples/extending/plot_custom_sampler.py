"""
A sampler that knows more
=========================

Minimal samples decide how many models are good. If you know something about the rows, a sampler
can use it. Here points come in the order in which a scanner passed the lines, so that neighbours
in time belong together.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from piforest import PreferenceIsolationForest
from piforest.checks import check_sampler
from piforest.datasets import make_star


class NeighboursInTime:
    """Rows within `reach` of each other in the order of X."""

    name = "neighbours in time"

    def __init__(self, reach=30):
        self.reach = reach

    def draw(self, X, size, n_samples, stream, *, quality=None, groups=None):
        reach = min(self.reach, len(X))
        samples = []
        for i in range(n_samples):  # each sample depends on the stream and its number alone
            rng = stream.child(i).generator()
            first = rng.integers(len(X) - reach + 1)
            samples.append(first + rng.choice(reach, size, replace=False))
        return np.stack(samples)


check_sampler(NeighboursInTime())

# %%
# Eleven lines with as many anomalies as points. The paper's algorithm keeps all models that are
# drawn, so that the sampler matters most there. Each point of the picture is a mean of five seeds.

X, y = make_star(11, sizes=40, noise=0.01, anomaly_share=0.5, random_state=0, return_X_y=True)
rng = np.random.default_rng(0)
time = np.where(y > 0, y + rng.uniform(0, 1, len(y)), rng.uniform(1, 12, len(y)))
order = np.argsort(time)  # line after line, with anomalies in between
X, y = X[order], y[order]

numbers = [200, 500, 1000, 2000]
figure, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
colours = ("#E69F00", "#0072B2", "#009E73")
for sampler, colour in zip(("uniform", "mixed", NeighboursInTime()), colours):
    aucs = []
    for n_models in numbers:
        found = []
        for seed in range(5):
            detector = PreferenceIsolationForest.paper("line", sigma=0.01, random_state=seed)
            detector.set_params(sampler=sampler, n_models=n_models).fit(X)
            found.append(roc_auc_score(y == 0, detector.scores_))
        aucs.append(np.mean(found))
    name = sampler if isinstance(sampler, str) else sampler.name
    print(name, np.round(aucs, 3))
    ax.plot(numbers, aucs, "o-", color=colour, label=name)
ax.set(xscale="log", xlabel="models drawn", ylabel="AUC")
ax.set_xticks(numbers, numbers)
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()
