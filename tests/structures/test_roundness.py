"""Clouds that are longer than wide have no line or plane; noisy lines and planes do."""

from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest, propose_families
from piforest._random import Stream
from piforest.datasets import make_lines
from piforest.families import get_family
from piforest.structures.greedy import Structure
from piforest.structures.roundness import is_shape_of_cloud

QUIET = pytest.mark.filterwarnings("ignore:no structure")


def cloud(kind, d, seed, longer=1.5, n=400):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) if kind == "Gaussian" else rng.uniform(-1, 1, (n, d))
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return X * ([longer] * (d - 1) + [1.0]) @ turn


@QUIET
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Gaussian", "box"])
@pytest.mark.parametrize(("d", "family"), [(2, "line"), (2, "circle"), (3, "plane"), (3, "sphere")])
def test_a_cloud_that_is_half_again_as_long_as_wide_has_no_structure(kind, d, family):
    X = cloud(kind, d, seed=3)
    detector = PreferenceIsolationForest(family, n_models=1500, random_state=0).fit(X)
    assert not detector.found_structure_
    assert detector.structures_ == []
    assert detector.threshold_source_ == "no structure"


@QUIET
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Gaussian", "box"])
@pytest.mark.parametrize("d", [2, 3])
def test_no_family_is_proposed_for_such_a_cloud(kind, d):
    assert not propose_families(cloud(kind, d, seed=4), random_state=0).found


def test_one_line_with_much_noise_is_a_line():
    X = make_lines(1, sizes=400, noise=0.3, anomaly_share=0.0, random_state=1).data
    detector = PreferenceIsolationForest("line", n_models=1000, random_state=0).fit(X)
    assert detector.found_structure_


def line(half_width, name="line"):
    params = np.array([0.0, 0.0, 1.0, 0.0])
    return Structure(get_family(name), params, half_width, 50.0, np.empty(0, int), half_width / 2)


def test_the_cloud_is_made_round_only_in_doubt(monkeypatch):
    def never(*args):
        raise AssertionError("the cloud is searched again")

    monkeypatch.setattr("piforest.structures.roundness._finds", never)
    flat = cloud("Gaussian", 2, seed=5)
    assert not is_shape_of_cloud(flat, [line(0.05)], 2.0, Stream(0)), "a narrow band is none"
    assert not is_shape_of_cloud(flat, [], 2.0, Stream(0))
    longer = cloud("Gaussian", 2, seed=5, longer=3.0)
    assert not is_shape_of_cloud(longer, [line(1.0)], 2.0, Stream(0)), "a long cloud is a line"
    constant = np.column_stack([flat[:, 0], np.zeros(len(flat))])
    assert not is_shape_of_cloud(constant, [line(1.0)], 2.0, Stream(0))
    with pytest.raises(AssertionError, match="searched again"):
        is_shape_of_cloud(flat, [line(1.0)], 2.0, Stream(0))


def test_lines_that_cross_in_a_round_cloud_stay_lines():
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, (2, 200))
    rows = [np.column_stack([t[0], 0.1 * t[0]]), np.column_stack([0.1 * t[1], t[1]])]
    X = np.concatenate(rows) * [1.2, 1.0] + rng.normal(0, 0.05, (400, 2))
    assert not is_shape_of_cloud(X, [line(0.12), line(0.12)], 2.0, Stream(0))
