"""Measure how far p-values and probabilities can be trusted, and draw the reliability diagram of
reading_the_result.md.

python docs/measure_certainty.py [--quick]
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np

FAMILIES = ("line", "circle", "plane", "homography", "linear_regression")
SIZES = (200, 1000, 5000, 20_000)
SHARES = (0.05, 0.2, 0.4)
# Other scenes than those that the method was looked at with.
FIRST_SEED, SEEDS = 5000, 3
LEVELS, RATES = (0.01, 0.05, 0.1), (0.05, 0.1, 0.2)
BINS = np.array([0.0, 0.05, 0.15, 0.35, 0.65, 0.85, 0.95, 1.0])
PICTURE = Path(__file__).parent / "images" / "reliability.png"


def measure(family: str, n: int, share: float, seed: int) -> dict[str, Any]:
    """p-values, probabilities and flags of one scene with ground truth."""
    from piforest import PreferenceIsolationForest
    from piforest.families import get_family

    scene: Any = get_family(family).scene  # type: ignore[attr-defined]
    size = max(8, round(n * (1 - share) / scene.n_structures))
    made = scene.make(random_state=FIRST_SEED + seed, sizes=size, anomaly_share=share)
    detector = PreferenceIsolationForest(family, random_state=seed).fit(made.data)
    normal = made.target > 0
    p = detector.p_values(made.data)
    found: dict[str, Any] = {
        "levels": [float(np.mean(p[normal] <= level)) for level in LEVELS],
        "probability": detector.anomaly_probability(made.data),
        "anomalous": ~normal,
    }
    calibration = detector.findings_.calibration(detector._engine().backend)
    flags = [detector.scores_ > calibration.threshold(rate) for rate in RATES]
    found["false"] = [float(np.sum(flag & normal) / max(1, flag.sum())) for flag in flags]
    found["power"] = [float(np.mean(flag[~normal])) for flag in flags]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two sizes, one scene of each kind")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    sizes, seeds = (SIZES[:2], 1) if quick else (SIZES, SEEDS)
    everything = []
    print("| rows | P(p <= .01) | .05 | .1 | false alarms at .05 | .1 | .2 | found at .1 |")
    print("|---|---|---|---|---|---|---|---|")
    for n in sizes:
        trials = [
            measure(family, n, share, seed)
            for family in FAMILIES
            for share in SHARES
            for seed in range(seeds if n < 20_000 else 1)
        ]
        everything += trials
        parts = [np.mean([trial[part] for trial in trials], axis=0)
                 for part in ("levels", "false", "power")]  # fmt: skip
        cells = [*(f"{v:.3f}" for v in parts[0]), *(f"{v:.3f}" for v in parts[1]),
                 f"{parts[2][1]:.3f}"]  # fmt: skip
        print(f"| {n:,} | {' | '.join(cells)} |", flush=True)
    draw(everything)


def draw(trials: list[dict[str, Any]]) -> None:
    """The share of anomalies among rows of about the same probability."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    probability = np.concatenate([trial["probability"] for trial in trials])
    anomalous = np.concatenate([trial["anomalous"] for trial in trials])
    known = np.isfinite(probability)
    probability, anomalous = probability[known], anomalous[known]
    cells = np.clip(np.digitize(probability, BINS) - 1, 0, len(BINS) - 2)
    counts = np.bincount(cells, minlength=len(BINS) - 1)
    used = np.flatnonzero(counts)
    said = np.array([probability[cells == k].mean() for k in used])
    true = np.array([anomalous[cells == k].mean() for k in used])
    figure, ax = plt.subplots(figsize=(5.2, 4.6), layout="constrained")
    ax.plot([0, 1], [0, 1], color="0.6", linestyle="--", linewidth=1)
    ax.plot(said, true, color="tab:blue", marker="o")
    for x, y, count in zip(said, true, counts[used]):
        ax.annotate(f"{count:,}", (x, y), (6, -12), textcoords="offset points", fontsize=8)
    ax.set(xlabel="anomaly_probability", ylabel="share of anomalies", xlim=(-0.03, 1.13),
           ylim=(-0.03, 1.05))  # fmt: skip
    ax.set_title("Reliability of the probabilities (numbers: rows)", fontsize=10)
    for x, y, count in zip(said, true, counts[used]):
        print(f"said {x:.3f}, true {y:.3f}, rows {count:,}")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=90)


if __name__ == "__main__":
    main()
