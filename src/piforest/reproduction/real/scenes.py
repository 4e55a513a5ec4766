"""Scenes that no constant was chosen on, for the accuracy of the scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

from ...datasets import (
    make_arcs,
    make_circles,
    make_cylinders,
    make_floor_plan,
    make_lines,
    make_motion_pair,
    make_plane_pair,
    make_polygons,
    make_regressions,
    make_room,
)
from .cases import Case, Values
from .measures import fit, measure

RUNS = 4
SHARES = (0.02, 0.1, 0.3, 0.6)

# name: family, noise, scene
KINDS: dict[str, tuple[str, float, Callable[..., Any]]] = {
    "lines": ("line", 0.008, partial(make_lines, 5, sizes=[160, 120, 90, 70, 50])),
    "circles": ("circle", 0.008, partial(make_circles, 4, sizes=[180, 120, 90, 60])),
    "arcs": ("circle", 0.008, partial(make_arcs, 4, sizes=[150, 120, 90, 70])),
    "polygons": ("line", 0.008, partial(make_polygons, 12, n_sides=4, sizes=45)),
    "floor plans": ("line", 0.01, partial(make_floor_plan, 9, sizes=70)),
    "rooms": ("plane", 0.008, partial(make_room, 7, sizes=100)),
    "cylinders": ("cylinder", 0.006, partial(make_cylinders, 3, sizes=[220, 150, 120])),
    "motions": ("fundamental", 0.8, partial(make_motion_pair, 3, sizes=[110, 80, 60])),
    "plane pairs": ("homography", 0.8, partial(make_plane_pair, 4, sizes=[110, 80, 60, 40])),
    "tables": (
        "linear_regression", 0.03, partial(make_regressions, 3, n_features=4, sizes=[220, 150, 100])
    ),
    "dominant line": ("line", 0.01, partial(make_lines, 3, sizes=[900, 60, 40])),
}  # fmt: skip
# Two laws in a table of 20 features: noise relative to the standard deviation of the target.
WIDE_NOISES = (0.02, 0.1)
_WIDE = partial(make_regressions, 2, n_features=20, sizes=900, anomaly_share=0.1)
# The standard deviation of a law with 20 slopes, all of them uniform in [-1, 1], as features are.
_WIDE_SPREAD = (20 / 9) ** 0.5


def cases() -> list[Case]:
    fresh = [
        Case("scenes", name, f"{name}, {100 * share:g} %", run, partial(_measure, name, share))
        for name, share, run in product(KINDS, SHARES, range(RUNS))
    ]
    wide = [
        Case("scenes", f"wide table, noise {100 * noise:g} %", f"wide table, noise {noise:g}", run,
             partial(_measure_wide, noise))
        for noise, run in product(WIDE_NOISES, range(RUNS))
    ]  # fmt: skip
    return [*fresh, *wide]


def _measure(name: str, share: float, seed: int) -> Values:
    family, noise, make = KINDS[name]
    X, y = make(noise=noise, anomaly_share=share, random_state=seed, return_X_y=True)
    return measure(fit(family, X, seed), y, noise)


def _measure_wide(noise: float, seed: int) -> Values:
    sigma = noise * _WIDE_SPREAD
    X, y = _WIDE(noise=sigma, random_state=seed, return_X_y=True)
    return measure(fit("linear_regression", X, seed), y, sigma)
