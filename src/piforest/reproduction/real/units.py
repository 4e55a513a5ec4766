"""Scenes whose columns are in different units."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...datasets import make_circles, make_lines, make_planes, make_regressions, make_subspaces
from .cases import Case, Values
from .measures import fit, measure

RUNS = 4
FACTORS = (1.0, 1000.0, 0.001)
SCENES: dict[str, tuple[str, Callable[..., Any]]] = {
    "lines": ("line", partial(make_lines, 3, noise=0.01, anomaly_share=0.3)),
    "circles": ("circle", partial(make_circles, 2, noise=0.01, anomaly_share=0.3)),
    "planes": ("plane", partial(make_planes, 3, noise=0.01, anomaly_share=0.3)),
    "hyperplanes": (
        "hyperplane",
        partial(make_subspaces, 2, dimension=3, n_features=4, noise=0.01, anomaly_share=0.3),
    ),
    "subspaces": (
        "subspace",
        partial(make_subspaces, 3, dimension=2, n_features=5, noise=0.01, anomaly_share=0.3),
    ),
    "tables": (
        "linear_regression",
        partial(make_regressions, 2, n_features=3, noise=0.02, anomaly_share=0.3),
    ),
}


def cases() -> list[Case]:
    return [
        Case("units", name, name, run, partial(_measure, name))
        for name in SCENES
        for run in range(RUNS)
    ]


def _measure(name: str, seed: int) -> Values:
    family, make = SCENES[name]
    X, y = make(random_state=seed, return_X_y=True)
    plain = measure(fit(family, X, seed), y)
    X = X * np.resize(FACTORS, X.shape[1])
    fitted, scaled = fit(family, X, seed), fit(family, X, seed, scale_columns=True)
    values = measure(fitted, y)
    warned = any(re.search(r"scale_columns|units?\b", text) for text in fitted.messages)
    loss = plain["auc"] - values["auc"]
    silent = 0.0 if warned and values["flagged"] == 0 else loss
    asked = plain["auc"] - measure(scaled, y)["auc"]
    return {**values, "loss": loss, "warned": float(warned), "counted loss": silent,
            "scaled loss": asked}  # fmt: skip
