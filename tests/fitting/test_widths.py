"""The choice between narrow and wide bands does not depend on the seed of a fit of a table."""

from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest.bands.ladder import Grid
from piforest.fitting import widths

NARROW, WIDE = Grid(np.ones(2)), Grid(np.ones(2), 2)


def table(noise, n=150):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 2))
    return np.column_stack([x, x.sum(axis=1) + noise * rng.normal(size=n)])


@pytest.mark.parametrize(
    ("votes", "chosen", "asked"),
    [([NARROW, NARROW, WIDE], NARROW, 2), ([NARROW, WIDE, WIDE], WIDE, 3),
     ([WIDE, NARROW, WIDE], WIDE, 3)],
)  # fmt: skip
def test_most_of_three_draws_decide(monkeypatch, votes, chosen, asked):
    given = []

    def own(family, resolution, n_jobs, raw, stream):
        given.append(stream.key)
        return votes[len(given) - 1]

    monkeypatch.setattr(widths, "_own_choice", own)
    detector = PreferenceIsolationForest(
        "linear_regression", n_models=200, n_estimators=5, random_state=0
    ).fit(table(0.3))
    assert detector.fitted_.embedding.measuring[0].grid.n_wide == chosen.n_wide
    assert len(set(given)) == asked


def test_every_seed_draws_the_same_for_a_table(monkeypatch):
    seen, choose = [], widths.choose_grid

    def recorded(X, models, *rest):
        seen.append(models.params.copy())
        return choose(X, models, *rest)

    monkeypatch.setattr(widths, "choose_grid", recorded)
    for seed in range(2):
        PreferenceIsolationForest(
            "linear_regression", n_models=200, n_estimators=5, random_state=seed
        ).fit(table(0.3))
    half = len(seen) // 2
    assert half >= 2
    for one, other in zip(seen[:half], seen[half:]):
        assert np.array_equal(one, other)
