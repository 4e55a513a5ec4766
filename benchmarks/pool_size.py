"""How large must the pool be? AUC, F1 of the labels and CPU seconds for 20,000 points.

python benchmarks/pool_size.py
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from data import maker
from sklearn.metrics import f1_score, roc_auc_score

from piforest.datasets import make_circles, make_lines

POOLS = (256, 512, 1024, 2048, 4096, 8192)
SEEDS = range(3)
SCENES = {  # family, noise, how it is made
    "8 lines, half anomalies": ("line", 0.006, make_lines, {"n_structures": 8, "sizes": 1250}),
    "20 lines, half anomalies": ("line", 0.004, make_lines, {"n_structures": 20, "sizes": 500}),
    "5 unequal circles, half anomalies": (
        "circle", 0.008, make_circles,
        {"n_structures": 5, "sizes": [5000, 2500, 1250, 800, 450]},
    ),
    "4 lines, 5 % anomalies": (
        "line", 0.01, make_lines, {"n_structures": 4, "sizes": 4750, "anomaly_share": 0.05},
    ),
}  # fmt: skip


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'':<62}" + "".join(f"{pool:>22,}" for pool in POOLS))
    for scene, (family, noise, make, options) in SCENES.items():
        for name in ("PreferenceIsolationForest", "PIF"):
            cells = [_cell(name, family, noise, make, options, pool) for pool in POOLS]
            print(f"{scene:<36}{name:<26}" + "".join(cells), flush=True)


def _cell(name: str, family: str, noise: float, make: object, options: dict, pool: int) -> str:
    known = {"sigma": noise} if name == "PIF" else {}
    aucs, f1s, start = [], [], time.process_time()
    for seed in SEEDS:
        X, y = make(noise=noise, random_state=100 + seed, return_X_y=True, **options)
        params = {"pool_size": pool, "random_state": seed, "n_jobs": -1, **known}
        detector = maker(name)(family, **params).fit(X)
        aucs.append(roc_auc_score(y == 0, detector.scores_))
        f1s.append(f1_score(y == 0, detector.labels_ == -1))
    seconds = (time.process_time() - start) / len(SEEDS)
    return f"{np.mean(aucs):>9.4f}{np.mean(f1s):>6.3f}{seconds:>5.1f} s"


if __name__ == "__main__":
    main()
