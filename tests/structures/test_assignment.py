"""Rows to structures."""

from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines
from piforest.structures import assignment
from piforest.structures.assignment import assign_rows

SCENE = make_lines(3, noise=0.01, anomaly_share=0.3, random_state=0)


@pytest.fixture(scope="module")
def detector():
    return PreferenceIsolationForest("line", n_models=1000, random_state=0).fit(SCENE.data)


def naive(X, normal, structures):
    """Row by row, as the documentation says."""
    labels, sigmas = [], []
    for row, is_normal in zip(X, normal):
        residuals = [float(each.residuals(row[None])[0]) for each in structures]
        relative = [r / each.half_width for r, each in zip(residuals, structures)]
        k = int(np.argmin(relative))
        labels.append(k if is_normal and relative[k] <= 3 else -1)
        sigmas.append(residuals[k] / structures[k].sigma)
    return labels, sigmas


@pytest.mark.slow
def test_rows_belong_to_the_nearest_structure_within_reach(detector, monkeypatch):
    fresh = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    for X in (SCENE.data, fresh):
        labels, sigmas = detector.assign(X, return_distance=True)
        expected = naive(X, detector.predict(X) == 1, detector.structures_)
        assert labels.tolist() == expected[0]
        assert sigmas == pytest.approx(expected[1])
    monkeypatch.setattr(assignment, "_BLOCK", 7)
    assert np.array_equal(detector.assign(fresh), labels)


def test_labels_of_training_rows_agree_with_members_and_labels(detector):
    labels = detector.structure_labels_
    assert np.array_equal(labels, detector.assign(SCENE.data))
    assert (labels[detector.labels_ == -1] == -1).all()
    for k, each in enumerate(detector.structures_):
        assert np.array_equal(np.flatnonzero(labels == k), each.members)
    agree = np.mean([np.bincount(SCENE.target[labels == k]).max() for k in range(3)])
    assert agree > 40


def test_labels_follow_the_threshold(detector):
    before = detector.threshold_
    try:
        detector.set_threshold(0.0)
        assert (detector.structure_labels_ == -1).all()
        assert [each.support for each in detector.structures_] == [0, 0, 0]
        for change in (lambda: detector.set_threshold(0.9 * before),
                       lambda: detector.set_contamination(0.5)):  # fmt: skip
            change()
            labels = detector.structure_labels_
            assert (labels[detector.scores_ > detector.threshold_] == -1).all()
            for k, each in enumerate(detector.structures_):
                assert np.array_equal(np.flatnonzero(labels == k), each.members)
    finally:
        detector.set_contamination("auto")
    assert detector.threshold_ == before


def test_without_structures_no_row_belongs_to_one():
    X = np.zeros((3, 2))
    found = assign_rows(X, np.ones(3, bool), [])
    assert found.labels.tolist() == [-1, -1, -1]
    assert np.isinf(found.distances).all()


def test_labels_of_many_training_rows_are_not_kept(detector, monkeypatch):
    def lost(backend):
        raise AttributeError("not kept")

    monkeypatch.setattr(detector.findings_, "scores", lost)
    with pytest.raises(AttributeError, match="not kept"):
        _ = detector.structure_labels_
    assert len(detector.assign(SCENE.data)) == len(SCENE.data)


def test_a_memory_map_is_assigned_in_parts(detector, tmp_path):
    np.save(tmp_path / "X.npy", SCENE.data)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    labels, sigmas = detector.assign(mapped, return_distance=True)
    expected = detector.assign(SCENE.data, return_distance=True)
    assert np.array_equal(labels, expected[0])
    assert np.array_equal(sigmas, expected[1])
