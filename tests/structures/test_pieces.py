"""Connected pieces of structures."""

from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest.structures.pieces import connected_cells

RNG = np.random.default_rng(5)


def naive(places, k):
    """The parts of the graph of nearest neighbours, by painting one after another."""
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    near = np.argsort(distances, axis=1, kind="stable")[:, 1 : k + 1]
    linked = np.zeros(distances.shape, bool)
    linked[np.arange(len(places))[:, None], near] = True
    linked |= linked.T
    cells, number = np.full(len(places), -1), 0
    for start in range(len(places)):
        waiting = [start] if cells[start] < 0 else []
        number += bool(waiting)
        while waiting:
            at = waiting.pop()
            if cells[at] < 0:
                cells[at] = number - 1
                waiting += np.flatnonzero(linked[at]).tolist()
    return cells


def same_parts(one, other):
    return len({*zip(one.tolist(), other.tolist())}) == len(set(one)) == len(set(other))


@pytest.mark.parametrize("gap", [0.0, 0.6])
def test_parts_are_those_of_the_graph_of_nearest_neighbours(gap):
    places = RNG.uniform(size=(200, 2))
    places[:, 0] += gap * (places[:, 0] > 0.5)
    k = int(np.ceil(np.log(200) + 4.6))
    found = connected_cells(places)
    assert same_parts(found, naive(places, k))
    assert found.max() == (1 if gap else 0)


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_points_without_a_gap_hardly_ever_fall_apart(dimension):
    """Also if their density varies, 64-fold along each axis."""
    sets = [RNG.uniform(size=(n, dimension)) ** power for n in (30, 300) for power in (1, 3)
            for _ in range(25)]  # fmt: skip
    assert np.mean([connected_cells(places).max() > 0 for places in sets]) <= 0.02


def test_a_gap_splits_a_segment_and_repeated_points_do_not():
    t = RNG.uniform(0, 1, 150)
    parts = connected_cells(np.where(t > 0.4, t + 0.5, t)[:, None])
    assert np.array_equal(parts == parts[0], (t > 0.4) == (t[0] > 0.4))
    assert connected_cells(np.repeat(RNG.uniform(size=(40, 2)), 20, axis=0)).max() == 0
    assert connected_cells(np.zeros((5, 2))).tolist() == [0] * 5


def test_lines_of_a_scanner_and_grids_are_one_piece():
    lines = [np.column_stack([RNG.uniform(0, 10, 200), np.full(200, y)]) for y in np.arange(8) / 4]
    assert connected_cells(np.concatenate(lines)).max() == 0
    grid = np.stack(np.meshgrid(np.arange(30.0), np.arange(20.0)), -1).reshape(-1, 2)
    assert connected_cells(grid).max() == 0


@pytest.fixture(scope="module")
def tables():
    """Two coplanar tables and a wall that crosses the plane of both between them."""
    rng = np.random.default_rng(3)
    flat = np.concatenate([rng.uniform(size=(400, 2)), rng.uniform((1.8, 0), (2.8, 1), (300, 2))])
    top = np.column_stack([flat, rng.normal(0.7, 0.005, 700)])
    wall = np.column_stack(
        [rng.uniform(0, 2.8, 300), rng.normal(0.5, 0.005, 300), rng.uniform(0, 1.4, 300)]
    )
    clutter = rng.uniform([0, 0, 0], [2.8, 1, 1.4], (80, 3))
    X = np.concatenate([top, wall, clutter])
    detector = PreferenceIsolationForest("plane", n_models=2000, random_state=0).fit(X)
    return X, np.repeat([0, 1, 2, 3], [400, 300, 300, 80]), detector


@pytest.mark.slow
def test_two_coplanar_tables_are_one_plane_and_two_patches(tables):
    X, truth, detector = tables
    assert len(detector.structures_) == 2
    pieces = detector.connected_structures()
    assert len(pieces) == 3
    labels, of = detector.assign(X, connected=True), detector.assign(X)
    parents = [0, 0, 1] if detector.structures_[0].support > 400 else [0, 1, 1]
    assert np.array_equal(np.array([*parents, -1])[labels], of)
    for number, piece in enumerate(pieces):
        assert np.array_equal(np.flatnonzero(labels == number), piece.members)
        assert np.bincount(truth[piece.members]).max() > 0.95 * piece.support
        assert np.ptp([corner[0] for corner in piece.extent["corners"]]) < 3
    new = np.array([[0.5, 0.2, 0.7], [2.3, 0.2, 0.7]])
    left, right = detector.assign(new, connected=True)
    assert left != right
    both, sigmas = detector.assign(new, return_distance=True, connected=True)
    assert both.tolist() == [left, right]
    assert sigmas.max() < 4
