from __future__ import annotations

import numpy as np

from piforest._random import Stream
from piforest.families import resolve_family
from piforest.models.membership import sample_membership
from piforest.models.residuals import residual_blocks
from piforest.sampling import resolve_sampler
from piforest.streams import reservoir
from piforest.streams.reservoir import ReservoirSettings, joined, renew


def rows(n, slope, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, n)
    return np.column_stack([x, slope * x + rng.normal(0, 0.01, n)])


SETTINGS = ReservoirSettings(resolve_family("line"), resolve_sampler("mixed"), 30, None)


def renewed(before, X, number):
    return renew(before, X, np.arange(len(X)), SETTINGS, Stream(number), number, Stream(0)).models


def names(models, X, q):
    """How many rows have each model among the q that they prefer most, by sorting."""
    ((_, R),) = residual_blocks(X, [models])
    value = np.log(models.weight) - (R / models.scale) ** 2 / 2
    value[3 * models.scale < R] = -np.inf
    membership = sample_membership([models])
    for i, (start, end) in enumerate(zip(*membership.of(X))):
        value[i, membership.columns[start:end]] = -np.inf
    counts = np.zeros(len(models), int)
    for row in value:
        best = np.argsort(-row, kind="stable")[:q]
        counts[best[np.isfinite(row[best])]] += 1
    return counts


def test_a_renewal_replaces_a_tenth_and_keeps_the_parameters_of_the_others():
    X = rows(120, 1)
    first = renewed(None, X, 1)
    second = renewed(first, X, 2)
    assert len(first) == len(second) == 30
    kept = {tuple(theta) for theta in first.params} & {tuple(theta) for theta in second.params}
    assert len(kept) == 27


def test_the_least_named_models_are_replaced(monkeypatch):
    """The names are counted here by sorting; a tie goes to the first."""
    X = np.concatenate([rows(60, 1), rows(60, -1, seed=1)])
    before = renewed(None, X, 1)
    seen = []
    largest = reservoir._largest

    def spy(values, n):
        seen.append((values.copy(), largest(values, n)))
        return seen[-1][1]

    measured = []
    named = reservoir._Meter.named
    monkeypatch.setattr(
        reservoir._Meter, "named", lambda self, m: measured.append((self.X, m)) or named(self, m)
    )
    monkeypatch.setattr(reservoir, "_largest", spy)
    renewed(before, X, 2)
    counts = names(measured[0][1], measured[0][0], 3)
    (old, kept), (new, fresh) = seen
    np.testing.assert_array_equal(np.concatenate([old, new]), counts)
    assert set(kept) == set(sorted(range(30), key=lambda j: (-counts[j], j))[:27])
    assert len(fresh) == 3


def test_models_follow_the_rows_to_another_structure():
    before = renewed(None, rows(200, 1), 1)
    models = before
    X = rows(200, -1, seed=3)
    for number in range(2, 14):
        models = renewed(models, X, number)
    # Residuals of the new rows to the models, in the median over the rows of the best model.
    family = SETTINGS.family
    assert np.median(family.residuals(X, models.params).min(axis=1)) < 0.01
    assert np.median(family.residuals(X, before.params).min(axis=1)) > 0.01


def test_joined_models_keep_the_points_of_their_samples():
    models = renewed(None, rows(120, 1), 1)
    both = joined([models.take(np.array([3, 5])), models.take(np.array([0]))])
    own = both.points[both.samples]
    for at, model in enumerate([3, 5, 0]):
        np.testing.assert_array_equal(own[at], models.points[models.samples[model]])
