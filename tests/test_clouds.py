"""Normals, thinning and surfaces of point clouds."""

from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest, clouds
from piforest.clouds import (
    describe_surfaces,
    estimate_normals,
    structure_labels,
    voxel_sample,
)
from piforest.datasets import make_cylinders
from piforest.families import get_family
from piforest.structures import assignment
from piforest.structures.greedy import Structure

RNG = np.random.default_rng(0)


def sphere(n=800, centre=(0, 0, 0), radius=1.0):
    X = RNG.normal(size=(n, 3))
    return radius * X / np.linalg.norm(X, axis=1, keepdims=True) + centre


def naive_normals(X, k):
    """By the singular value decomposition of each neighbourhood."""
    found = []
    for x in X:
        near = X[np.argsort(np.linalg.norm(X - x, axis=1), kind="stable")[:k]]
        found.append(np.linalg.svd(near - near.mean(axis=0))[2][2])
    return np.array(found)


def test_normals_are_those_of_the_naive_twin_up_to_sign():
    X = np.concatenate([sphere(200), RNG.uniform(-1, 1, (100, 3))])
    for k in (3, 10, 500):
        found = estimate_normals(X, k)
        assert np.allclose(np.linalg.norm(found, axis=1), 1)
        cosine = np.abs(np.sum(found * naive_normals(X, k), axis=1))
        assert np.allclose(cosine, 1, atol=1e-6)


def test_signs_are_consistent_on_each_part_and_towards_the_viewpoint():
    one, two = sphere(), sphere(centre=(10, 0, 0))
    X = np.concatenate([one, two])
    out = np.concatenate([one, two - (10, 0, 0)])
    assert np.mean(np.sum(estimate_normals(X) * out, axis=1) > 0.9) > 0.98
    towards = estimate_normals(X, viewpoint=(5, 0, 50))
    assert (np.sum(towards * ((5, 0, 50) - X), axis=1) >= 0).all()


def test_signs_do_not_depend_on_the_size_of_blocks(monkeypatch):
    X = sphere(300)
    whole = estimate_normals(X)
    monkeypatch.setattr(clouds, "_BLOCK", 7)
    assert np.array_equal(estimate_normals(X), whole)
    monkeypatch.setattr(clouds, "_MOST_SIGNED", 100)
    found = estimate_normals(X)
    assert (np.take_along_axis(found, np.abs(found).argmax(1)[:, None], 1) > 0).all()
    assert np.allclose(np.abs(found), np.abs(whole))


def test_normals_of_coordinates_of_maps_are_as_good():
    X = sphere(300)
    assert np.allclose(
        estimate_normals(X + np.array([4e5, 5e6, 100])), estimate_normals(X), atol=1e-5
    )


def test_the_first_point_of_each_cell_is_kept():
    X = RNG.uniform(-3, 5, (500, 3))
    cells, low = {}, X.min(axis=0)
    for k, cell in enumerate(map(tuple, np.floor((X - low) / 0.7).astype(int).tolist())):
        cells.setdefault(cell, k)
    assert voxel_sample(X, 0.7).tolist() == sorted(cells.values())
    assert voxel_sample(X, 100.0).tolist() == [0]
    assert len(voxel_sample(X, 1e-5)) == 500


def test_wrong_arguments_are_named():
    X = RNG.uniform(size=(10, 3))
    for call, said in (
        (lambda: voxel_sample(X, 0), r"size must be a number above 0, got 0"),
        (lambda: voxel_sample(X, float("nan")), r"size must be a number above 0, got nan"),
        (lambda: voxel_sample(X, 1e-12), r"size must be at least .* for points that extend over"),
        (lambda: estimate_normals(X[:2]), r"normals need at least 3 points, got 2"),
        (lambda: estimate_normals(X, 2), r"n_neighbors must be an integer of at least 3, got 2"),
        (lambda: estimate_normals(X[:, :2]), r"points must have the shape \(n, 3\).*got \(10, 2\)"),
        (lambda: estimate_normals(X * np.nan), r"points must be finite numbers"),
        (lambda: estimate_normals(X, viewpoint=(1, 2)), r"viewpoint must be three finite numbers"),
    ):
        with pytest.raises(ValueError, match=said):
            call()


def structure(name, params):
    return Structure(
        get_family(name), np.array(params, float), 0.1, 50.0, np.empty(0, np.int64), 0.05
    )


def test_surfaces_have_equations_and_bounds():
    square = np.array([[0, 0, 2], [4, 0, 2], [4, 1, 2], [0, 1, 2], [2, 0.5, 2.01]])
    tube = np.array([[1, 0, -1.0], [0, 1, 0], [-1, 0, 3]])
    X, labels = np.concatenate([square, tube]), np.array([0] * 5 + [1] * 3)
    found = describe_surfaces(
        [
            structure("plane", [0, 0, 2, 0, 0, 1]),
            structure("cylinder", [0, 0, 9, 0, 0, 1, 1]),
            structure("sphere", [1, 2, 3, 4]),
            structure("cone", [0, 0, 0, 0, 0, 1, np.cos(0.5), np.sin(0.5)]),
            structure("subspace", [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ],
        X,
        labels,
    )
    plane, cylinder, ball, cone, other = found
    assert (plane["equation"], plane["normal"], plane["offset"]) == ("z = 2", [0, 0, 1], 2)
    assert plane["bounds"] == {"min": [0, 0, 2], "max": [4, 1, 2.01]}
    assert np.allclose(plane["centre"], [2, 0.5, 2])
    assert np.allclose(sorted(plane["corners"]), sorted(square[:4].tolist()))
    assert (cylinder["ends"], cylinder["length"]) == ([[0, 0, -1], [0, 0, 3]], 4)
    assert (cylinder["radius"], cylinder["points"]) == (1, 3)
    assert (ball["centre"], ball["radius"], ball["bounds"]) == ([1, 2, 3], 4, None)
    assert cone["angle"] == pytest.approx(np.degrees(0.5))
    assert "from" not in cone
    assert (other["point"], other["directions"]) == ([1, 2, 3], [[4, 5, 6], [7, 8, 9]])


def test_labels_are_those_of_the_detector_in_blocks_of_any_size(monkeypatch):
    scene = make_cylinders(2, sizes=200, normals=True, anomaly_share=0.2, random_state=0)
    family = get_family("cylinder", normals=True)
    detector = PreferenceIsolationForest(family, n_models=2000, random_state=0).fit(scene.data)
    normal, found = detector.predict(scene.data) == 1, detector.structures_
    labels = structure_labels(scene.data, normal, found)
    for k, each in enumerate(found):
        assert np.array_equal(np.flatnonzero(labels == k), each.members)
    monkeypatch.setattr(assignment, "_BLOCK", 11)
    assert np.array_equal(structure_labels(scene.data, normal, found), labels)
    estimated = np.hstack([scene.data[:, :3], estimate_normals(scene.data[:, :3])])
    true = np.abs(np.sum(estimated[:, 3:] * scene.data[:, 3:], axis=1))
    assert np.median(true[scene.target > 0]) > 0.95
