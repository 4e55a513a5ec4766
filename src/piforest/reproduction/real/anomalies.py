"""Anomalies near the structures, in heaps, and far from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ...datasets import make_floor_plan, make_lines, make_regressions, make_room
from ...protocols import Floats
from .cases import Case, Values
from .measures import fit, measure

RUNS = 5
KINDS = ("near", "heaped", "far")
SHARES = (0.02, 0.1, 0.3)
_CLOSEST, _FARTHEST = 3.0, 10.0  # sigmas, for near anomalies
_HEAP = 0.03  # standard deviation of a heap, in units of the largest side of the box

# name: family, noise, the scene without anomalies
SCENES: dict[str, tuple[str, float, Callable[..., Any]]] = {
    "lines": ("line", 0.01, partial(make_lines, 4, sizes=200)),
    "floor plan": ("line", 0.01, partial(make_floor_plan, 8, sizes=120)),
    "room": ("plane", 0.01, partial(make_room, 6, sizes=180)),
    "table": ("linear_regression", 0.05, partial(make_regressions, 1, n_features=3, sizes=900)),
    "table, two laws": (
        "linear_regression", 0.03, partial(make_regressions, 2, n_features=2, sizes=450),
    ),
}  # fmt: skip


def cases() -> list[Case]:
    some = [
        Case("anomalies", f"{name}, {kind}", f"{name}, {kind}, {100 * share:g} %", run,
             partial(_measure, name, kind, share))
        for name, kind, share, run in product(SCENES, KINDS, SHARES, range(RUNS))
    ]  # fmt: skip
    clean = [
        Case("anomalies", f"{name}, clean", f"{name}, clean", run, partial(_measure, name, "", 0.0))
        for name, run in product(SCENES, range(RUNS))
    ]
    return [*some, *clean]


def with_anomalies(name: str, kind: str, share: float, seed: int) -> tuple[Floats, Any, float]:
    """A scene with anomalies of a kind: (X, y, sigma)."""
    family, noise, make = SCENES[name]
    X, y = make(noise=noise, anomaly_share=0.0, random_state=seed, return_X_y=True)
    rng, n = np.random.default_rng(seed), round(len(X) * share / (1 - share))
    if kind == "near":
        anomalies = _near(X, y, n, noise, family == "linear_regression", rng)
    elif kind == "heaped":
        anomalies = _heaped(X, n, rng)
    else:
        anomalies = rng.uniform(X.min(axis=0), X.max(axis=0), (n, X.shape[1]))
    return np.concatenate([X, anomalies]), np.append(y, np.zeros(n, y.dtype)), noise


def _near(X: Floats, y: Any, n: int, noise: float, in_target: bool, rng: Any) -> Floats:
    """Normal points, moved to 3 to 10 sigmas off their structure; at least 3 off all."""
    laws = [_law(X[y == k], in_target) for k in range(1, y.max() + 1)]
    middles, normals, steps = (np.stack(each) for each in zip(*laws))
    kept: list[Floats] = [X[:0]]
    while sum(map(len, kept)) < n:
        at = rng.integers(len(X), size=4 * n + 8)
        own = y[at] - 1
        off = rng.uniform(_CLOSEST, _FARTHEST, len(at)) * rng.choice([-1, 1], len(at)) * noise
        before = np.sum((X[at] - middles[own]) * normals[own], axis=1)
        moved = X[at] + (off - before)[:, None] * steps[own]
        distances = np.abs(moved @ normals.T - np.sum(middles * normals, axis=1))
        kept.append(moved[distances.min(axis=1) >= _CLOSEST * noise * (1 - 1e-9)])
    return np.concatenate(kept)[:n]


def _law(points: Floats, in_target: bool) -> tuple[Floats, Floats, Floats]:
    """Middle, normal and step of the least-squares structure: the residual of x is
    (x - middle) normal, and a step makes it larger by 1."""
    middle = points.mean(axis=0)
    around = points - middle
    if in_target:
        slopes = np.linalg.lstsq(around[:, :-1], around[:, -1], rcond=None)[0]
        return middle, np.append(-slopes, 1.0), np.eye(points.shape[1])[-1]
    normal = np.linalg.svd(around, full_matrices=False)[2][-1]
    return middle, normal, normal


def _heaped(X: Floats, n: int, rng: Any) -> Floats:
    low, high = X.min(axis=0), X.max(axis=0)
    heaps = rng.uniform(low, high, (rng.integers(1, 4), X.shape[1]))
    spread = _HEAP * (high - low).max()
    return np.asarray(
        heaps[rng.integers(len(heaps), size=n)] + rng.normal(0, spread, (n, X.shape[1]))
    )


def _measure(name: str, kind: str, share: float, seed: int) -> Values:
    X, y, sigma = with_anomalies(name, kind, share, seed)
    values = measure(fit(SCENES[name][0], X, seed), y, sigma)
    return values if share else {**values, "flagged clean": values["flagged"]}
