from __future__ import annotations

import numpy as np
import pytest

from piforest.datasets import make_arcs, make_floor_plan, make_polygons, make_room
from piforest.datasets.resample import fit_circle, fit_line


def exact(make, *args, **options):
    X, y = make(*args, noise=0.0, anomaly_share=0.0, random_state=3, return_X_y=True, **options)
    return [X[y == k] for k in range(1, y.max() + 1)]


def positions(points):
    centre, along, across = fit_line(points)
    np.testing.assert_allclose((points - centre) @ across, 0, atol=1e-9)
    return np.sort((points - centre) @ along)


def test_arcs_are_60_to_200_degrees_of_a_circle():
    for points in exact(make_arcs, 6, sizes=400):
        centre, radius = fit_circle(points)
        around = points - centre
        np.testing.assert_allclose(np.linalg.norm(around, axis=1), radius, rtol=1e-6)
        angles = np.sort(np.arctan2(*around.T[::-1]))
        widest = np.max(np.diff(np.append(angles, angles[0] + 2 * np.pi)))
        assert 55 < 360 - np.degrees(widest) <= 200


def test_the_sides_of_a_polygon_meet_and_do_not_turn_back():
    sides = exact(make_polygons, 10, n_sides=5, sizes=300)
    for polygon in (sides[:5], sides[5:]):
        middle = np.mean([points.mean(axis=0) for points in polygon], axis=0)
        for points, following in zip(polygon, polygon[1:] + polygon[:1]):
            positions(points)
            gaps = np.linalg.norm(points[:, None] - following, axis=2)
            assert gaps.min() < 0.05
            # The middle lies on the same side of every side.
            centre, _, across = fit_line(points)
            others = np.concatenate([each for each in polygon if each is not points])
            same = ((others - centre) @ across) * ((middle - centre) @ across)
            assert same.min() > -1e-9
    assert len(exact(make_polygons, 7, sizes=10)) == 7


@pytest.mark.slow
def test_walls_of_a_floor_plan_are_at_right_angles_and_inner_ones_have_a_door():
    walls = exact(make_floor_plan, 9, sizes=3000)
    first = fit_line(walls[0])[1]
    for k, points in enumerate(walls):
        at = positions(points)
        slope = abs(fit_line(points)[1] @ first)
        assert min(slope, 1 - slope) < 1e-6
        door = np.max(np.diff(at))
        assert door == pytest.approx(0.2, abs=0.02) if k >= 4 else door < 0.02
    assert len(exact(make_floor_plan, 2, sizes=10)) == 2


def test_a_room_has_its_faces_first_and_tables_between_floor_and_ceiling():
    faces = exact(make_room, 9, sizes=200)
    for k, axis, place in ((0, 2, 0), (1, 0, 0), (2, 1, 0), (4, 0, 2), (5, 1, 1.6), (6, 2, 1.2)):
        np.testing.assert_allclose(faces[k][:, axis], place)
    heights = [faces[k][0, 2] for k in (3, 7, 8)]
    assert len(set(heights)) == 3
    for k in (3, 7, 8):
        assert np.ptp(faces[k][:, 2]) == 0
        assert 0.35 <= faces[k][0, 2] <= 0.65
        assert (np.ptp(faces[k][:, :2], axis=0) < 0.8).all()
        assert (faces[k] >= 0).all()
        assert (faces[k] <= [2, 1.6, 1.2]).all()
