"""Structures are denser than what is beside them; bands in filled clouds are not."""

from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest, propose_families
from piforest._random import Stream
from piforest.families import get_family, side_of
from piforest.structures.greedy import Structure
from piforest.structures.ridges import stand_out

STREAM = Stream(0)


def structure(name, params, half_width):
    params = np.asarray(params, float)
    empty = np.empty(0, int)
    return Structure(get_family(name), params, half_width, 50.0, empty, half_width / 2)


def disc(n, radius=1.0, seed=0):
    rng = np.random.default_rng(seed)
    angle, r = rng.uniform(0, 2 * np.pi, n), radius * np.sqrt(rng.random(n))
    return np.column_stack([r * np.cos(angle), r * np.sin(angle)])


def ring(n, noise, seed=0):
    rng = np.random.default_rng(seed)
    angle, r = rng.uniform(0, 2 * np.pi, n), 1 + noise(rng, n)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle)])


NOISE = {
    "Gaussian": lambda rng, n: rng.normal(size=n),
    "Laplace": lambda rng, n: rng.laplace(size=n) / np.sqrt(2),
    "uniform": lambda rng, n: rng.uniform(-np.sqrt(3), np.sqrt(3), n),
}
CIRCLE = [0.0, 0.0, 1.0]
FIVE = 2 * np.pi * np.arange(5) / 5
X_AXIS = [0.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("kind", NOISE)
# Half-widths in sigmas: narrow ones may be smaller than two, wide ones are two.
@pytest.mark.parametrize(
    ("sigma", "half_width"), [(0.005, 1.2), (0.005, 2.0), (0.05, 1.2), (0.05, 2.0), (0.2, 2.0)]
)
def test_a_ring_stands_out_at_any_noise(kind, sigma, half_width):
    X = ring(400, lambda rng, n: sigma * NOISE[kind](rng, n))
    X = np.concatenate([X, np.random.default_rng(1).uniform(-1.5, 1.5, (100, 2))])
    assert stand_out(X, [structure("circle", CIRCLE, half_width * sigma)], STREAM)[0]


@pytest.mark.parametrize("half_width", [0.05, 0.2, 0.5])
def test_a_circle_through_a_filled_disc_does_not(half_width):
    params = [0.0, 0.0, 0.6]
    assert not stand_out(disc(2000), [structure("circle", params, half_width)], STREAM)[0]


def test_a_band_at_the_edge_of_a_filled_square_does_not():
    X = np.random.default_rng(0).uniform(-1, 1, (4000, 2))
    edge = structure("line", [0.0, 0.95, 1.0, 0.0], 0.05)
    assert not stand_out(X, [edge], STREAM)[0]


def test_a_wall_at_the_end_of_the_data_stands_out():
    rng = np.random.default_rng(0)
    wall = np.column_stack([rng.uniform(-1, 1, 300), 1 + 0.01 * rng.normal(size=300)])
    X = np.concatenate([wall, rng.uniform(-1, 1, (300, 2))])
    assert stand_out(X, [structure("line", [0.0, 1.0, 1.0, 0.0], 0.02)], STREAM)[0]


def test_the_points_of_other_structures_do_not_count():
    rng = np.random.default_rng(0)
    lines = [structure("line", [0.0, y, 1.0, 0.0], 0.02) for y in (0.0, 0.04, 0.08)]
    X = np.concatenate([
        np.column_stack([rng.uniform(-1, 1, 300), each.params[1] + 0.01 * rng.normal(size=300)])
        for each in lines
    ])  # fmt: skip
    X = np.concatenate([X, rng.uniform(-1, 1, (100, 2))])
    assert stand_out(X, lines, STREAM).all()


def test_a_line_in_space_is_compared_with_what_is_around_it():
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(3000, 3))
    ball *= rng.random((3000, 1)) ** (1 / 3) / np.linalg.norm(ball, axis=1)[:, None]
    axis = structure("line", [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], 0.4)
    assert not stand_out(ball, [axis], STREAM)[0]
    along = np.column_stack([rng.uniform(-1, 1, 300), 0.2 * rng.normal(size=(300, 2))])
    assert stand_out(np.concatenate([ball, along]), [axis], STREAM)[0]


def test_structures_in_many_dimensions_are_not_looked_at():
    rng = np.random.default_rng(0)
    X = np.concatenate([np.zeros((300, 2)), rng.normal(size=(300, 4))], axis=1)
    assert stand_out(X, [structure("line", [0.0] * 5 + [1.0] + [0.0] * 5 + [1.0], 1.0)], STREAM)[0]


def test_other_rows_than_points_always_stand_out():
    X = np.random.default_rng(0).uniform(size=(50, 4))
    H = structure("homography", np.eye(3).ravel(), 0.1)
    assert stand_out(X, [H], STREAM).all()
    assert len(stand_out(X, [], STREAM)) == 0


@pytest.mark.parametrize("name", ["circle", "ellipse", "sphere", "cylinder"])
def test_a_closed_structure_has_an_inner_and_an_outer_side(name):
    family = get_family(name)
    X = family.scene.on_one_model(60)
    params = family.solve(X[None, : family.sample_size(X.shape[1])])[0][0, 0]
    centre = X.mean(axis=0)
    inner, outer = centre + 0.9 * (X - centre), centre + 1.1 * (X - centre)
    if name == "cylinder":
        inner, outer = (_across(points, X, params) for points in (inner, outer))
    sides = side_of(family, inner, params), side_of(family, outer, params)
    assert (sides[0] == sides[0][0]).all()
    assert (sides[1] == -sides[0][0]).all()


def _across(points, X, params):
    """Moved across the axis of a cylinder alone."""
    axis = params[3:6]
    moved = points - X
    return X + moved - (moved @ axis)[:, None] * axis


def test_a_line_has_two_sides_and_a_line_in_space_has_one():
    points = np.array([[0.0, 1.0], [3.0, 0.5], [0.0, -1.0], [-2.0, -0.1]])
    sides = side_of(get_family("line"), points, np.array(X_AXIS))
    assert sides.tolist() in ([1, 1, -1, -1], [-1, -1, 1, 1])
    space = np.column_stack([points, [0.0] * 4])
    assert (side_of(get_family("line"), space, np.array([0.0, 0, 0, 1, 0, 0])) == 1).all()


class Unsigned:
    """A formula of which no absolute value tells the side."""

    def formula(self, x, theta, xp):
        return xp.sqrt((x[0] - abs(theta[0])) ** 2 + x[1] ** 2)


def test_without_an_absolute_value_of_rows_there_is_one_side():
    X = np.random.default_rng(0).normal(size=(5, 2))
    assert (side_of(Unsigned(), X, np.array([-1.0])) == 1).all()
    assert (side_of(object(), X, np.array([-1.0])) == 1).all()


def filled(kind, n):
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (6 * n, 2))
    x, y = X.T
    inside = {
        "disc": x**2 + y**2 < 1,
        "half disc": (x**2 + y**2 < 1) & (y > 0),
        "pentagon": np.max([x * np.cos(a) + y * np.sin(a) for a in FIVE], axis=0) < 0.7,
    }[kind]
    return X[inside][:n]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:no structure")
@pytest.mark.parametrize("kind", ["disc", "half disc", "pentagon"])
def test_filled_shapes_have_no_structure(kind):
    X = filled(kind, 1000)
    assert not propose_families(X, random_state=0).found
    for family in ("line", "circle"):
        assert not PreferenceIsolationForest(family, random_state=0).fit(X).found_structure_
