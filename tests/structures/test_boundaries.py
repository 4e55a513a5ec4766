from __future__ import annotations

import warnings

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest._random import Stream
from piforest.datasets import make_lines
from piforest.families import get_family, null_rows
from piforest.structures.boundaries import Boundaries, own_null_rows, robust_sigma
from piforest.structures.greedy import Structure

LINE = get_family("line")


def along(noise, n=400, seed=0, y=0.0):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(-1, 1, n), y + rng.normal(0, noise, n)])


def line_through(a, b, half_width):
    params, valid = LINE.solve(np.array([[a, b]], float))
    assert valid.all()
    return Structure(LINE, params[0, 0], half_width, 100.0, np.empty(0, np.int64), half_width / 2)


def horizontal(half_width, y=0.0):
    return line_through([-1, y], [1, y], half_width)


@pytest.mark.parametrize("codimension", [1, 2, 3])
def test_sigma_is_measured_from_the_core_whatever_the_half_width(codimension):
    rng = np.random.default_rng(0)
    r = np.linalg.norm(rng.normal(0, 0.01, (3000, codimension)), axis=1)
    r = np.append(r, rng.uniform(0, 1, 300))
    for start in (0.015, 0.02, 0.03):
        assert robust_sigma(r, start, codimension) == pytest.approx(0.01, rel=0.2)
    assert robust_sigma(r[:0], 0.02, codimension) == 0.01


@pytest.mark.parametrize("factor", [2.0**-20, 2.0**20])
def test_ends_scale_with_the_data(factor):
    X = np.vstack([along(0.01), np.random.default_rng(1).uniform(-1, 1, (150, 2))])
    plain = Boundaries(X, [horizontal(0.02)])
    scaled = Boundaries(X * factor, [horizontal(0.02 * factor)])
    assert np.array_equal(scaled.ends, plain.ends * factor)
    assert np.array_equal(scaled.beyond(X * factor), plain.beyond(X))


def test_a_structure_ends_where_its_points_are_as_rare_as_others():
    rng = np.random.default_rng(0)
    clean = Boundaries(along(0.01), [horizontal(0.02)])
    crowded = np.vstack([along(0.01), rng.uniform(-1, 1, (4000, 2))])
    among = Boundaries(crowded, [horizontal(0.02)])
    assert 0.02 < clean.ends[0] <= 0.06
    assert 0.015 < among.ends[0] < clean.ends[0]
    X = np.array([[0.0, 0.001], [0.0, 0.08], [0.5, -0.4]])
    assert clean.beyond(X).tolist() == clean.far(X).tolist() == [False, True, True]


def test_a_structure_as_wide_as_the_data_ends_at_four_sigmas():
    X = along(0.3, 2000)
    boundaries = Boundaries(X, [horizontal(0.6)])
    assert boundaries.ends[0] == pytest.approx(1.2, rel=0.1)
    assert boundaries.wide.all()
    assert not Boundaries(along(0.01), [horizontal(0.02)]).wide.any()
    assert boundaries.beyond(X).mean() < 0.005


def test_a_line_through_heaps_is_no_structure_beside_narrow_lines():
    rng = np.random.default_rng(0)
    heaps = np.array([[-0.5, 0.6], [0.5, 0.7]])[np.arange(200) % 2] + rng.normal(0, 0.05, (200, 2))
    X = np.vstack([along(0.01), along(0.01, y=-0.7, seed=1), heaps])
    wide = line_through([-0.5, 0.6], [0.5, 0.7], 0.08)
    narrow = [horizontal(0.02), horizontal(0.02, -0.7)]
    boundaries = Boundaries(X, [narrow[0], wide, narrow[1]])
    assert boundaries.structures == narrow
    assert boundaries.beyond(heaps).all()
    # Alone, it is a noisy line like any other; and so is one that is as long as the narrow ones.
    assert Boundaries(X, [wide]).structures == [wide]
    noisy = np.vstack([along(0.01), along(0.01, y=-0.7, seed=1), along(0.03, y=0.7, seed=2)])
    three = [*narrow, horizontal(0.06, 0.7)]
    assert Boundaries(noisy, three).structures == three


def test_a_long_line_in_a_band_narrower_than_its_noise_is_no_heap():
    X = np.vstack([along(0.02), along(0.02, y=-0.7, seed=1)])
    lines = [horizontal(0.007), horizontal(0.007, -0.7)]
    assert Boundaries(X, lines).structures == lines


def test_without_structures_every_point_is_beyond():
    boundaries = Boundaries(along(0.1), [])
    assert boundaries.structures == []
    assert boundaries.beyond(along(0.1, 5)).all()


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_anomalies_near_the_structures_are_flagged(share):
    """5 to 10 sigmas off one of three lines: they score lower than random points."""
    X = make_lines(3, sizes=250, noise=0.01, anomaly_share=0.0, random_state=3).data
    rng = np.random.default_rng(0)
    n = round(share * len(X))
    detector = PreferenceIsolationForest("line", random_state=0).fit(X)
    near = np.empty((0, 2))
    while len(near) < n:
        moved = X[rng.integers(len(X), size=8 * n)] + rng.normal(0, 0.07, (8 * n, 2))
        distance = np.min([each.residuals(moved) for each in detector.structures_], axis=0)
        near = np.vstack([near, moved[(distance > 0.05) & (distance < 0.1)]])[:n]
    flagged = (
        PreferenceIsolationForest("line", random_state=0).fit_predict(np.vstack([X, near])) < 0
    )
    hits = flagged[len(X) :].sum()
    assert 2 * hits / (flagged.sum() + n) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.0, 0.1])
@pytest.mark.parametrize("noise", [0.2, 0.3])
def test_labels_are_stable_if_one_noisy_line_fills_the_data(noise, step):
    for n in (100, 300):
        X = make_lines(
            1, sizes=n, noise=noise, anomaly_share=0.1, box=([-1, -1], [1, 1]), random_state=5
        ).data
        X = step * np.round(X / step) if step else X
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # there may be no structure
            flagged = PreferenceIsolationForest("line", random_state=5).fit(X).labels_ == -1
        assert flagged[:n].mean() <= 0.03


def towards(point, n, error, seed):
    """Segments of 20 to 80 pixels that point to a point; error: of their ends, (n,)."""
    rng = np.random.default_rng(seed)
    middle, half = rng.uniform(0, 500, (n, 2)), rng.uniform(10, 40, (n, 1))
    along = np.asarray(point) - middle
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    ends = half * along + np.column_stack([-along[:, 1], along[:, 0]]) * error(rng, n)[:, None]
    return np.hstack([middle - ends, middle + ends])


SEGMENT = get_family("vanishing_point")
POINT = Structure(
    SEGMENT, np.array([0.0, 0.0, 2000.0, 300.0, 1.0]), 1.0, 100.0, np.empty(0, np.int64), 0.5
)


def segments_with_tails(n_random):
    """300 segments with residuals of 0.5 pixels, 30 with up to 5, and random ones."""
    X = np.vstack([
        towards([2000, 300], 300, lambda rng, n: rng.normal(0, 0.5, n), 0),
        towards([2000, 300], 30, lambda rng, n: rng.uniform(0, 5, n), 1),
        towards([0, 0], n_random, lambda rng, n: rng.normal(0, 0.5, n), 2),
    ])  # fmt: skip
    X[330:] = null_rows(SEGMENT, X[330:], n_random, Stream(1))
    return X


def test_segments_end_where_they_are_as_rare_as_rotated_ones():
    few, many = segments_with_tails(10), segments_with_tails(2000)
    ends = [
        Boundaries(X, [POINT], own_null_rows(SEGMENT, X, Stream(0))).ends[0] for X in (few, many)
    ]
    # Among few random segments, those of the tail belong to the structure, beyond 4.5 sigmas.
    assert 3.5 < ends[0] < 7
    assert 1.0 <= ends[1] < 2.5


@pytest.mark.parametrize("factor", [2.0**-20, 2.0**20])
def test_ends_of_segments_scale_with_the_data(factor):
    X = segments_with_tails(50)
    null = own_null_rows(SEGMENT, X, Stream(0))
    params, k = POINT.params * np.array([factor, factor, factor, factor, 1.0]), POINT.half_width
    scaled = Structure(SEGMENT, params, k * factor, 100.0, POINT.members, POINT.sigma * factor)
    plain = Boundaries(X, [POINT], null)
    larger = Boundaries(X * factor, [scaled], null * factor)
    assert np.array_equal(larger.ends, plain.ends * factor)


def test_points_have_no_null_rows_of_their_own():
    assert own_null_rows(LINE, along(0.1), Stream(0)) is None
    assert Boundaries(along(0.1), [], along(0.1)).ends.shape == (0,)


@pytest.mark.slow
def test_rotated_segments_show_no_structure():
    X = segments_with_tails(0)
    for seed in range(5):
        rotated = null_rows(SEGMENT, X, len(X), Stream(seed))
        with pytest.warns(UserWarning, match="no structure of family 'vanishing_point'"):
            detector = PreferenceIsolationForest("vanishing_point", random_state=seed).fit(rotated)
        assert not detector.found_structure_
        assert (detector.labels_ == 1).all()


@pytest.mark.slow
def test_segments_of_a_small_vanishing_point_are_found_and_tails_are_kept():
    small = towards([250, -3000], 25, lambda rng, n: rng.normal(0, 0.5, n), 4)
    X = np.vstack([segments_with_tails(30), small])
    detector = PreferenceIsolationForest("vanishing_point", random_state=0).fit(X)
    flagged = detector.labels_ == -1
    assert len(detector.structures_) == 2
    assert flagged[:330].mean() < 0.05
    assert flagged[330:360].mean() > 0.7
    assert flagged[360:].mean() < 0.2


def test_rows_far_beyond_are_five_half_widths_from_every_structure():
    found = Boundaries(along(0.01), [horizontal(0.02)])
    X = np.array([[0.0, 0.001], [0.0, 0.095], [0.0, 0.105]])
    assert found.far_beyond(X).tolist() == [False, False, True]
    assert not Boundaries(along(0.01), []).far_beyond(X).any()
