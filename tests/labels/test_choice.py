"""The automatic threshold, and those of forests that are drawn again."""

from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest._random import Stream
from piforest.datasets import make_lines
from piforest.families import get_family
from piforest.labels import thresholds
from piforest.labels.again import scores_again
from piforest.labels.choice import Distances
from piforest.labels.votes import NOTHING_FLAGGED

X = make_lines(3, sizes=60, noise=0.01, anomaly_share=0.25, random_state=0).data
FEW = {"n_models": 200, "n_estimators": 20, "random_state": 0}


def by_distance(beyond, uneven):
    """The choice for a hundred rows, of which some are beyond all structures."""
    rows = np.random.default_rng(0).normal(size=(100, 2))
    null = np.ones(4, np.bool_)
    family = get_family("linear_regression")
    return Distances(rows, family, beyond, beyond, null, beyond, True, uneven, False)


@pytest.mark.parametrize("uneven", [False, True])
def test_where_noise_is_uneven_most_flagged_rows_must_be_anomalous(uneven):
    scores, none = np.linspace(0.9, 0.1, 100), np.empty(0)
    fifth = by_distance(np.arange(100) == 4, uneven).choose(scores, none, 1.0)
    assert (np.sum(scores > fifth.threshold) == 5) == (not uneven)
    assert (fifth.threshold == NOTHING_FLAGGED) == uneven
    assert fifth.agreement == (0.0 if uneven else pytest.approx(1 / 3))
    second = by_distance(np.arange(100) == 1, uneven).choose(scores, none, 1.0)
    assert np.sum(scores > second.threshold) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "unit"), [(4, 1.0), (0, 1000.0)])
def test_rows_far_beyond_a_law_are_flagged_whatever_the_seed_and_the_unit(seed, unit):
    rng = np.random.default_rng(3)
    x, z = rng.uniform(0, 100, 300), rng.integers(1, 6, 300)
    y = 20 + 3 * x + 10 * z + rng.normal(0, 4, 300)
    bad = rng.choice(300, 15, replace=False)
    y[bad] += rng.choice([-1, 1], 15) * rng.uniform(40, 150, 15)
    rows = np.column_stack([unit * x, z, y])
    detector = PreferenceIsolationForest("linear_regression", random_state=seed).fit(rows)
    flagged = detector.labels_ == -1
    assert flagged[bad].all()
    assert flagged.sum() <= 17


@pytest.mark.slow
@pytest.mark.parametrize("family", ["rigid", "similarity"])
def test_false_matches_far_from_the_only_motion_are_flagged(family):
    rng, width = np.random.default_rng(0), 3 if family == "rigid" else 2
    a = rng.uniform(-2, 2, (550, width))
    turn, _ = np.linalg.qr(rng.normal(size=(width, width)))
    turn[:, 0] *= np.sign(np.linalg.det(turn))
    b = a @ turn.T + 1 + rng.normal(0, 0.01, a.shape)
    b[50:] = rng.uniform(-2, 2, (500, width)) + 1
    detector = PreferenceIsolationForest(family, random_state=0).fit(np.hstack([a, b]))
    far = detector.assign(np.hstack([a, b]), return_distance=True)[1] > 12
    assert (detector.labels_[far] == -1).all()
    assert (detector.labels_[:50] == 1).mean() > 0.9


@pytest.mark.slow
def test_false_matches_far_from_a_narrow_motion_of_few_are_flagged():
    rng = np.random.default_rng(22)
    a = rng.uniform(-400, 400, (330, 2))
    b = 1.1 * a @ np.array([[0.94, 0.34], [-0.34, 0.94]]) + rng.normal(0, 0.5, a.shape)
    b[30:] = rng.uniform(-400, 400, (300, 2))
    detector = PreferenceIsolationForest("homography", random_state=0).fit(np.hstack([a, b]))
    assert (detector.labels_[30:] == -1).mean() > 0.99
    assert (detector.labels_[:30] == 1).mean() > 0.9


def test_rows_far_beyond_that_must_be_kept_are_counted():
    scores = np.array([0.9, 0.9, *np.linspace(0.5, 0.4, 97), 0.1])
    far = np.isin(np.arange(100), [0, 1, 99])
    choice = by_distance(far, False).choose(scores, np.empty(0), 1.0)
    assert np.flatnonzero(scores > choice.threshold).tolist() == [0, 1]
    assert choice.kept == 1
    assert choice.off == 0.03


def test_each_forest_that_is_drawn_again_chooses_its_threshold():
    detector = PreferenceIsolationForest("line", **FEW).fit(X)
    fitted, findings, backend = detector.fitted_, detector.findings_, detector.backend_
    trees, stream = fitted.forest.trees, Stream(fitted.key).child("stability")
    again = scores_again(detector.path_lengths(X), trees.normaliser, stream)
    assert again.mean(axis=0) == pytest.approx(detector.scores_, abs=0.05)
    found = findings.thresholds_again(backend, 0.2)
    assert found.tolist() == [thresholds.share(each, 0.2) for each in again]
    automatic = findings.thresholds_again(backend, "automatic")
    assert np.median(automatic) == pytest.approx(detector.threshold_, abs=0.1)
    stability = np.array([each.stability for each in detector.explain(X)])
    expected = np.mean(again > automatic[:, None], axis=0)
    assert stability.tolist() == expected.tolist()
    detector.set_threshold(detector.threshold_)
    given = np.array([each.stability for each in detector.explain(X)])
    assert given.tolist() == np.mean(again > detector.threshold_, axis=0).tolist()
    detector.set_contamination(0.2)
    share = np.array([each.stability for each in detector.explain(X)])
    assert share.tolist() == np.mean(again > found[:, None], axis=0).tolist()
