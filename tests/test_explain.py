"""Explanations: stability and reasons by column."""

from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest._random import Stream
from piforest.datasets import make_regressions
from piforest.explain import column_changes
from piforest.families import get_family
from piforest.labels.again import flagged_again
from piforest.structures.description import Structure


def test_stability_is_the_share_of_forests_drawn_again_that_flag_a_row():
    rng = np.random.default_rng(0)
    lengths = rng.normal([[5.0], [6.0], [9.0]], 1.0, (3, 100))
    threshold = 2.0 ** (-6.0 / 8)
    found = flagged_again(lengths, 8.0, threshold, Stream(1))
    drawn = np.random.default_rng(1).integers(0, 100, (4000, 100))
    expected = [(2.0 ** (-row[drawn].mean(axis=1) / 8) > threshold).mean() for row in lengths]
    assert found == pytest.approx(expected, abs=0.15)
    assert (found[0], found[2]) == (1, 0)
    assert 0 < found[1] < 1
    assert np.array_equal(flagged_again(lengths[1:2], 8.0, threshold, Stream(1)), found[1:2])


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("hyperplane", [1, 0, 2, 0, 0.5, 0.5, 0.5, 0.5]),
        ("sphere", [0, 0, 0, 2.0]),
        ("plane", [0, 0, 1, 0.6, 0, 0.8]),
    ],
)
def test_a_changed_column_alone_brings_the_row_onto_the_structure(name, params):
    rng = np.random.default_rng(0)
    d = 3 if name != "hyperplane" else 4
    made = Structure(get_family(name), np.array(params, float), 0.02, 9.0, np.empty(0, int), 0.01)
    made = made.with_description(rng.uniform(-3, 3, (50, d)), tuple("abcd"[:d]))
    row = rng.uniform(0.3, 1, d)
    changes = column_changes(made, row)
    assert changes
    assert [each.relative for each in changes] == sorted(each.relative for each in changes)
    for each in changes:
        moved = row.copy()
        moved[made.names.index(each.column)] = each.value
        assert made.residuals(moved[None])[0] <= 1e-3 * made.sigma
    if name == "plane":
        assert "b" not in {each.column for each in changes}, "it does not matter"


def test_a_row_on_a_structure_but_far_from_its_rows_is_an_extrapolation():
    rng = np.random.default_rng(0)
    power = rng.uniform(50, 200, 300)
    weight = 15 * power + rng.normal(0, 150, 300)
    X = np.column_stack([power, weight, 46 - 0.1 * power - 0.005 * weight])
    X[:, 2] += rng.normal(0, 0.5, 300)
    detector = PreferenceIsolationForest("linear_regression", n_models=500, random_state=0).fit(X)
    light = np.array([190.0, 900.0, 46 - 0.1 * 190 - 0.005 * 900])
    detector.set_threshold(0.0)  # flags all: the sentence says why a flagged row is one
    alone, among = detector.explain(np.vstack([light, X[:1]]))
    assert alone.extrapolated
    assert not among.extrapolated
    assert alone.text.endswith("no other row is near here on this structure (extrapolation).")
    assert "shares too little" in among.text
    assert not detector.set_threshold(1.0).explain(light[None])[0].extrapolated


def test_an_anomalous_record_is_explained_by_the_column_to_change():
    scene = make_regressions(1, n_features=2, sizes=200, noise=0.01, anomaly_share=0.1,
                             random_state=0)  # fmt: skip
    detector = PreferenceIsolationForest("linear_regression", n_models=500, random_state=0)
    detector.fit(scene.data)
    worst = int(np.argmax(np.where(scene.target == 0, detector.scores_, 0)))
    [found] = detector.explain(scene.data[worst : worst + 1])
    assert found.anomalous
    assert found.stability > 0.5
    assert found.p_value < 0.05 < found.probability
    assert found.chance_p_value > found.p_value
    assert {each.column for each in found.changes} <= {"x", "y", "z"}
    assert found.nearest[0].equation.startswith("z = ")
    if found.changes[0].relative <= 1:
        assert f"{found.changes[0].column} alone would have to be" in found.text


def test_a_kept_row_is_on_the_structure_that_assign_gives_it():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, 300)
    X = np.column_stack([x, 2 * x + rng.standard_t(4, 300)])
    detector = PreferenceIsolationForest("linear_regression", n_models=300, random_state=0).fit(X)
    detector.set_threshold(1.0)  # keeps all
    half = detector.structures_[0].half_width
    beside = np.column_stack([np.full(60, 5.0), 10 + np.linspace(0, 5, 60) * half])
    labels, sigmas = detector.assign(beside, return_distance=True)
    assert ((sigmas > 4) & (labels == 0)).any()
    assert (labels == -1).any()
    for label, away, each in zip(labels, sigmas, detector.explain(beside)):
        assert each.nearest[0].sigmas == pytest.approx(away)
        assert ("): on structure 0" in each.text) == (label == 0)
        assert ("on no structure" in each.text) == (label == -1)


@pytest.mark.parametrize("as_frame", [False, True])
def test_no_rows_have_no_explanations(as_frame):
    table = make_regressions(1, sizes=60, random_state=0, as_frame=as_frame).data
    detector = PreferenceIsolationForest("linear_regression", n_models=100, random_state=0)
    assert detector.fit(table).explain(table[:0]) == []
