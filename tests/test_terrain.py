from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piforest import terrain
from piforest.terrain import find_ground


def scan(n=6000, seed=0, slope=0.1, roof=5.0, side=80.0):
    """A slope with a flat roof, trees and three points far below; and which points are ground."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(0, side, (2, n))
    z = slope * x + rng.normal(scale=0.03, size=n)
    house = (abs(x - side / 3) < 8) & (abs(y - side / 2) < 12)
    z[house] = slope * side / 3 + roof + rng.normal(scale=0.03, size=house.sum())
    tree = ~house & (rng.random(n) < 0.1)
    z[tree] += rng.uniform(1.5, 8, tree.sum())
    z[:3] -= 30
    truth = ~house & ~tree
    truth[:3] = False
    return np.column_stack([x, y, z]), truth


@pytest.mark.parametrize("slope", [0.0, 0.2, 0.5])
def test_roofs_trees_and_points_far_below_are_not_ground(slope):
    # On a slope the uphill side of a house is lower above the ground.
    X, truth = scan(slope=slope, roof=5 + 10 * slope)
    ground = find_ground(X)
    assert np.mean(ground.is_ground != truth) < 0.03
    assert abs(ground.height[truth]).mean() < 0.3
    assert not ground.is_ground[:3].any()


def test_a_gabled_roof_is_not_ground_but_a_hill_is():
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0, 80, (2, 6000))
    hill = 8 * np.exp(-((x - 60) ** 2 + (y - 60) ** 2) / 150)
    house = (abs(x - 25) < 7) & (abs(y - 30) < 10)
    z = np.where(house, 9 - 0.6 * abs(x - 25), hill) + rng.normal(scale=0.03, size=6000)
    ground = find_ground(np.column_stack([x, y, z]))
    assert ground.is_ground[house].mean() < 0.02
    assert ground.is_ground[(hill > 3) & ~house].mean() > 0.95


def test_a_plateau_above_cliffs_is_ground_though_it_lies_above_the_rest():
    rng = np.random.default_rng(2)
    x, y = rng.uniform(0, 80, (2, 6000))
    z = 12.0 * ((abs(x - 40) < 20) & (abs(y - 40) < 20)) + rng.normal(scale=0.03, size=6000)
    assert find_ground(np.column_stack([x, y, z])).is_ground.mean() > 0.95


def test_points_below_a_surface_that_was_taken_for_ground_are_ground():
    rng = np.random.default_rng(3)
    x, y = rng.uniform(0, 80, (2, 6000))
    # A hall with a tenth of the scan is taken for ground; a yard in it is too small for a surface.
    hall = (abs(x - 40) < 15) & (abs(y - 40) < 15)
    yard = (abs(x - 40) < 2) & (abs(y - 40) < 2)
    z = 10.0 * (hall & ~yard) + rng.normal(scale=0.03, size=6000)
    ground = find_ground(np.column_stack([x, y, z]))
    assert ground.is_ground[yard].mean() > 0.9


@pytest.mark.slow
@settings(max_examples=15)
@given(st.floats(0.01, 100), st.floats(-1e6, 1e6), st.integers(0, 50))
def test_unit_place_and_order_of_the_points_do_not_matter(unit, shift, seed):
    X, _ = scan(1500, seed)
    expected = find_ground(X).is_ground
    order = np.random.default_rng(seed).permutation(len(X))
    moved = find_ground((X[order] + [round(shift), 0, 0]) * 2.0 ** round(np.log2(unit)))
    # A shift rounds coordinates, which moves few points to another cell.
    assert np.mean(moved.is_ground != expected[order]) < 0.01
    assert np.array_equal(find_ground(X[order]).is_ground, expected[order])


def test_planes_are_those_of_least_squares():
    z = np.random.default_rng(0).normal(size=(6, 7))
    level, along_y, along_x, residual = terrain._planes(z)
    for i, j in ((1, 1), (3, 4), (4, 5)):
        dy, dx = np.mgrid[-1:2, -1:2].reshape(2, 9)
        A = np.column_stack([np.ones(9), dy, dx])
        b = z[i - 1 : i + 2, j - 1 : j + 2].ravel()
        c, rest, *_ = np.linalg.lstsq(A, b, rcond=None)
        found = [level[i, j], along_y[i, j], along_x[i, j]]
        np.testing.assert_allclose(found, c, atol=1e-12)
        assert residual[i, j] == pytest.approx(rest[0])


def test_surfaces_are_those_of_a_search_cell_by_cell():
    X, _ = scan(1500)
    grid = terrain._Grid.over(X, "auto", "auto")
    rise_y, rise_x = rises = terrain._slopes(grid)
    h, w = grid.z.shape
    naive = np.full((h, w), -1)

    def linked(a, b):
        d = np.array(b) - a
        step = grid.z[b] - grid.z[a]
        return all(
            abs(step - d[0] * rise_y[each] - d[1] * rise_x[each]) <= grid.tolerance
            for each in (a, b)
        )

    for start in np.ndindex(h, w):
        stack = [start] if naive[start] < 0 else []
        while stack:
            i, j = stack.pop()
            naive[i, j] = start[0] * w + start[1]
            around = [(i + dy, j + dx) for dy, dx in terrain._WINDOW]
            stack += [
                b
                for b in around
                if 0 <= b[0] < h and 0 <= b[1] < w and naive[b] < 0 and linked((i, j), b)
            ]
    pairs = np.unique(
        np.column_stack([naive.ravel(), terrain._surfaces(grid, rises).ravel()]), axis=0
    )
    assert len(pairs) == len(np.unique(pairs[:, 0])) == len(np.unique(pairs[:, 1]))


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.zeros((200, 2)), {}, "columns x, y and z"),
        (np.zeros((10, 3)), {}, "at least 100 points"),
        (np.full((200, 3), np.nan), {}, "NaN or infinity"),
        (np.zeros((200, 3)), {}, "the same x or y"),
        (scan(500)[0], {"cell": -1}, "cell must be a finite number above 0"),
        (scan(500)[0], {"cell": 1000}, "cell must be from"),
        (scan(500)[0], {"tolerance": 0}, "tolerance must be a finite number above 0"),
        (np.random.default_rng(0).random((400, 3)) * [9, 9, 900], {}, "no ground is seen"),
    ],
)
def test_bad_input_is_an_error_that_names_the_reason(X, options, message):
    with pytest.raises(ValueError, match=message):
        find_ground(X, **options)
