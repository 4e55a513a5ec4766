"""What each sampler is worth, and what it costs: the tables of docs/sampling.md.

python benchmarks/samplers.py          both tables, about two minutes
python benchmarks/samplers.py --speed  the second one
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from piforest import PreferenceIsolationForest
from piforest._random import Stream
from piforest.datasets import make_lines, make_plane_pair, make_stair, make_star
from piforest.sampling import get_sampler

# The samplers' own defaults were chosen on seeds 0 to 2 and 100 to 102.
SEEDS = range(200, 205)
# The paper's steps, with any sampler.
PAPER = {
    "scale": "fixed", "weighting": "none", "in_sample_preferences": True, "path": "depth",
}  # fmt: skip
SAMPLERS: dict[str, Any] = {
    "uniform": "uniform",
    "mixed": "mixed",
    "local": "local",
    "local, share=1": get_sampler("local", share=1.0),
    "stratified": "stratified",
    "weighted": "weighted",
    "grouped": "grouped",
    "grouped, share=0.5": get_sampler("grouped", share=0.5),
}


class Scene(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    family: str
    sigma: float
    quality: np.ndarray | None = None
    groups: np.ndarray | None = None
    n_models: int | str = "auto"


def _lines(seed: int) -> Scene:
    X, y = make_lines(20, sizes=30, anomaly_share=0.3, random_state=seed, return_X_y=True)
    return Scene(X, y, "line", 0.01)


def _stair(seed: int) -> Scene:
    X, y = make_stair(20, sizes=20, noise=0.002, random_state=seed, return_X_y=True)
    return Scene(X, y, "line", 0.002)


def _star(seed: int) -> Scene:
    X, y = make_star(11, sizes=25, random_state=seed, return_X_y=True)
    return Scene(X, y, "line", 0.01)


def _pieces(seed: int) -> Scene:
    """Twenty segments of length 0.3 anywhere in the square [-1, 1]^2."""
    rng = np.random.default_rng(seed)
    middle, angle = rng.uniform(-0.85, 0.85, (20, 1, 2)), rng.uniform(0, np.pi, (20, 1))
    along = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    across = np.stack([-np.sin(angle), np.cos(angle)], axis=-1)
    at, off = rng.uniform(-0.15, 0.15, (20, 25, 1)), rng.normal(0, 0.005, (20, 25, 1))
    on = (middle + at * along + off * across).reshape(-1, 2)
    X = np.concatenate([on, rng.uniform(-1, 1, (300, 2))])
    return Scene(X, np.append(np.repeat(np.arange(1, 21), 25), np.zeros(300, int)), "line", 0.005)


def _planes(false: float) -> Callable[[int], Scene]:
    """Four planes; the quality of true matches is 2/3 on average, that of false ones 1/3."""

    def scene(seed: int) -> Scene:
        X, y = make_plane_pair(
            4, sizes=25, anomaly_share=false, random_state=seed, return_X_y=True
        )  # fmt: skip
        rng = np.random.default_rng(seed)
        quality = np.where(y > 0, rng.beta(4, 2, len(y)), rng.beta(2, 4, len(y)))
        return Scene(X, y, "homography", 1.0, quality=quality)

    return scene


def _in_groups(wrong: float) -> Callable[[int], Scene]:
    def scene(seed: int) -> Scene:
        X, y = make_lines(20, sizes=30, anomaly_share=0.5, random_state=seed, return_X_y=True)
        rng = np.random.default_rng(seed)
        anywhere = (y == 0) | (rng.uniform(size=len(y)) < wrong)
        return Scene(X, y, "line", 0.01, groups=np.where(anywhere, rng.integers(1, 21, len(y)), y))

    return scene


SCENES: dict[str, Callable[[int], Scene]] = {
    "20 long lines, 30 points each": _lines,
    "20 short line segments, 25 points each": _pieces,
    "the same, 300 models instead of 8,000": lambda seed: _pieces(seed)._replace(n_models=300),
    "stair of 20 steps, 20 points each": _stair,
    "star of 11 lines, 25 points each": _star,
    "4 planes, 85 % false matches, with quality": _planes(0.85),
    "4 planes, 95 % false matches, with quality": _planes(0.95),
    "20 lines, with groups": _in_groups(0.0),
    "20 lines, with groups, 30 % of them wrong": _in_groups(0.3),
}


def auc(scene: Scene, sampler: Any, seed: int, paper: bool) -> float:
    needs = getattr(get_sampler(sampler) if isinstance(sampler, str) else sampler, "needs", ())
    given = {name: getattr(scene, name) for name in needs}
    steps = {"sigma": scene.sigma, **PAPER} if paper else {}
    detector = PreferenceIsolationForest(
        scene.family, sampler=sampler, n_models=scene.n_models, contamination=0.5,
        random_state=seed, **steps,
    )  # fmt: skip
    return float(roc_auc_score(scene.y == 0, detector.fit(scene.X, **given).scores_))


def usable(scene: Scene, sampler: Any) -> bool:
    needs = getattr(get_sampler(sampler) if isinstance(sampler, str) else sampler, "needs", ())
    return all(getattr(scene, name) is not None for name in needs)


def worth(seeds: range) -> None:
    """Means, and beside them the standard error of the mean difference to uniform, in
    thousandths: the scenes are the same for all, so most of what they vary by cancels."""
    print("| | " + " | ".join(SAMPLERS) + " |\n|---|" + "---|" * len(SAMPLERS))
    for paper in (True, False):
        for name, make in SCENES.items():
            scenes = {seed: make(seed) for seed in seeds}
            table = {
                label: np.array([auc(scene, sampler, i, paper) for i, scene in scenes.items()])
                for label, sampler in SAMPLERS.items()
                if usable(scenes[seeds[0]], sampler)
            }
            cells = [_cell(table[k], table["uniform"]) if k in table else "" for k in SAMPLERS]
            kind = "PIF" if paper else "default"
            print(f"| {kind}: {name} | " + " | ".join(cells) + " |", flush=True)


def _cell(values: np.ndarray, uniform: np.ndarray) -> str:
    mean = f"{values.mean():.3f}".replace("0.", ".")
    error = 1000 * np.std(values - uniform, ddof=1) / np.sqrt(len(values))
    return mean if values is uniform else f"{mean} ±{error:.0f}"


def speed(n: int = 100_000, n_samples: int = 10_000, size: int = 3) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 2))
    extra = {"quality": rng.uniform(size=n), "groups": rng.integers(0, 1000, n)}
    sparse = {"local, scale=0.002, share=1": get_sampler("local", scale=0.002, share=1.0)}
    print("| sampler | CPU ms |\n|---|---|")
    for name, sampler in {**SAMPLERS, **sparse}.items():
        sampler = get_sampler(sampler) if isinstance(sampler, str) else sampler
        given = {need: extra[need] for need in getattr(sampler, "needs", ())}
        times = []
        for seed in range(4):  # the first compiles
            start = time.process_time()
            sampler.draw(X, size, n_samples, Stream(seed), **given)
            times.append(time.process_time() - start)
        print(f"| {name} | {1000 * np.median(times[1:]):.1f} |")


if __name__ == "__main__":
    warnings.simplefilter("ignore", UserWarning)
    if "--speed" not in sys.argv:
        worth(SEEDS)
    speed()
