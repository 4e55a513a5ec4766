"""Structures of three kinds."""

from __future__ import annotations

import numpy as np
import pytest

from piforest import propose_families


def _unit(rng, n, d):
    directions = rng.normal(size=(n, d))
    return directions / np.linalg.norm(directions, axis=1)[:, None]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_a_sphere_a_cylinder_and_a_plane_are_three_kinds(seed):
    rng = np.random.default_rng(seed)
    sphere = _unit(rng, 400, 3)
    pipe = np.column_stack([0.4 * _unit(rng, 500, 2) + [3, 0], rng.uniform(-1.5, 1.5, 500)])
    floor = np.column_stack([rng.uniform(-2, 4, 600), rng.uniform(-2, 2, 600), np.full(600, -1.6)])
    X = np.concatenate([sphere, pipe, floor]) + rng.normal(0, 0.01, (1500, 3))
    X = np.concatenate([X, rng.uniform(X.min(axis=0), X.max(axis=0), (640, 3))])
    best = propose_families(X, random_state=seed)[0]
    assert set(best.name.split(" + ")) == {"plane", "cylinder", "sphere"}
    assert best.n_structures == 3
