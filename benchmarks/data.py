"""The sets that the cases run on: the published ones where they are, else made ones as large."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Problem(NamedTuple):
    X: np.ndarray
    family: str
    sigma: float
    models_per_point: int


_MADE = {"star5": "make_star", "star11": "make_star", "stair3": "make_stair"}


def problem(name: str) -> Problem:
    """A set by its name, with its family and noise; image pairs have 6 models a point."""
    from piforest.datasets import list_datasets, load_adelaidermf, load_synthetic2d
    from piforest.reproduction.settings import family_of, sigma_of

    family, sigma = family_of(name), sigma_of(name)
    try:
        if name in list_datasets():
            load = load_synthetic2d if family in ("line", "circle") else load_adelaidermf
            data = load(name, **({"random_state": 0} if load is load_synthetic2d else {}))
            return Problem(data.data, family, sigma, 10 if load is load_synthetic2d else 6)
    except FileNotFoundError:
        pass
    return _made(name, family, sigma)


def _made(name: str, family: str, sigma: float) -> Problem:
    from piforest import datasets

    if family in ("line", "circle"):
        make = getattr(datasets, _MADE.get(name, "make_circle_scene"))
        count = int("".join(filter(str.isdigit, name)))
        sizes = {"star11": 50, "star5": 50}.get(name)
        options = {} if sizes is None else {"sizes": sizes}
        return Problem(make(count, noise=sigma, random_state=0, **options).data, family, sigma, 10)
    make = datasets.make_plane_pair if family == "homography" else datasets.make_motion_pair
    n = {"bonhall": 1068, "unihouse": 2084}.get(name, 260)
    data = make(4, sizes=n // 6, noise=1.0, anomaly_share=1 / 3, random_state=0)
    return Problem(data.data, family, sigma, 6)


def circles(n: int, seed: int = 0, noise: float = 0.0107) -> np.ndarray:
    """n points of three unequal circles, half of them anomalies: the paper's circle3, any size."""
    from piforest.datasets import make_circles

    small = round(0.08 * n)
    sizes = [n // 2 - 2 * small, small, small]
    return make_circles(3, sizes=sizes, noise=noise, random_state=seed).data


def maker(name: str) -> object:
    """What makes a detector: "PIF" the paper's algorithm, else the default."""
    import piforest

    if name == "PIF":
        # Commits before version 0.1 have a class of this name; bench-compare runs them too.
        return getattr(piforest, "PIF", None) or piforest.PreferenceIsolationForest.paper
    return piforest.PreferenceIsolationForest


def detector(name: str, family: str = "circle", **changes: object) -> object:
    """PIF with the true noise, or the default without it; one thread by default."""
    known = {"sigma": 0.0107} if name == "PIF" else {}
    params = {"n_models": 10_000, "random_state": 0, "n_jobs": 1, **known, **changes}
    return maker(name)(family, **params)
