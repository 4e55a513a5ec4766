"""Flats and solids: what is special to each, beside the laws that every family obeys."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from sklearn.metrics import roc_auc_score

import naive
from piforest.checks import check_family
from piforest.datasets import (
    make_cones,
    make_cylinders,
    make_planes,
    make_spheres,
    make_subspaces,
)
from piforest.families import get_family
from scenes import (
    cone_points,
    cylinder_points,
    flat_points,
    line_points,
    moved,
    rotation,
    sphere_points,
)


def minimal(family, X, n=40, seed=0):
    rng = np.random.default_rng(seed)
    k = family.sample_size(X.shape[1])
    return X[np.array([rng.choice(len(X), k, replace=False) for _ in range(n)])]


def noise_of(X, scale=1e-9):
    return X + np.random.default_rng(5).normal(0, scale, X.shape)


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 3, 4, 7])
def test_flats_of_any_dimension_obey_their_laws(d):
    check_family("hyperplane", flat_points(d=d, r=d - 1))
    check_family("sphere", sphere_points(d=d))
    for r in range(1, d):
        check_family(get_family("subspace", dimension=r), flat_points(d=d, r=r))
        through_origin = flat_points(d=d, r=r) - np.random.default_rng(0).normal(size=d)
        check_family(get_family("subspace", dimension=r, affine=False), through_origin)


@pytest.mark.parametrize("d", [2, 4, pytest.param(6, marks=pytest.mark.slow)])
def test_solvers_in_other_dimensions_equal_the_naive_ones(d):
    X = np.random.default_rng(1).uniform(-100, 100, (30, d))
    cases = [get_family("hyperplane"), get_family("sphere")]
    cases += [get_family("subspace", dimension=r) for r in range(1, d)]
    for family in cases:
        samples = minimal(family, X)
        params, valid = family.solve(samples)
        assert valid.all()
        for sample, theta in zip(samples, params[:, 0]):
            theirs = naive.residuals(family.name, X, naive.SOLVE[family.name](sample)[None])
            ours = family.residuals(X, theta[None])
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


def test_planes_are_hyperplanes_of_three_columns():
    X = np.random.default_rng(0).normal(size=(60, 3))
    samples = minimal(get_family("plane"), X)
    plane, subspace = get_family("plane"), get_family("subspace")
    theta = plane.solve(samples)[0][:, 0]
    assert np.array_equal(theta, get_family("hyperplane").solve(samples)[0][:, 0])
    np.testing.assert_allclose(
        plane.residuals(X, theta),
        subspace.residuals(X, subspace.solve(samples)[0][:, 0]),
        atol=1e-12,
    )


def test_spheres_in_the_plane_are_circles():
    X = np.random.default_rng(0).normal(size=(60, 2))
    samples = minimal(get_family("circle"), X)
    np.testing.assert_allclose(
        get_family("sphere").solve(samples)[0], get_family("circle").solve(samples)[0], rtol=1e-8
    )


@pytest.mark.parametrize("affine", [True, False])
def test_subspaces_agree_with_scipy(affine):
    X = np.random.default_rng(0).normal(size=(30, 8))
    family = get_family("subspace", dimension=3, affine=affine)
    for sample in minimal(family, X, 10):
        theta = family.solve(sample[None])[0][0]
        anchor, ways = (sample[0], sample[1:] - sample[0]) if affine else (np.zeros(8), sample)
        rest = scipy.linalg.null_space(ways)
        expected = np.linalg.norm((X - anchor) @ rest, axis=1)
        np.testing.assert_allclose(family.residuals(X, theta)[:, 0], expected, atol=1e-12)
        frame = theta[0, 8:].reshape(3, 8)
        np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-14)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_points_that_span_too_little_are_degenerate(shift):
    line, plane = line_points(60, d=3) + shift, flat_points(60) + shift
    for name in ("plane", "hyperplane", "subspace"):
        assert not get_family(name).solve(minimal(get_family(name), line))[1].any()
    assert not get_family("sphere").solve(minimal(get_family("sphere"), plane))[1].any()
    deep = flat_points(60, d=6, r=4) + shift
    for family in (get_family("hyperplane"), get_family("subspace", dimension=5)):
        assert not family.solve(minimal(family, deep))[1].any()


def test_nearly_flat_samples_have_orthonormal_frames():
    """Heights of 1e-5 of the size: single Gram-Schmidt would lose five digits."""
    flat = flat_points(60, d=6, r=2)
    family = get_family("subspace", dimension=5)
    params, valid = family.solve(minimal(family, noise_of(flat, 1e-4)))
    assert valid.any()
    for theta in params[valid]:
        frame = theta[6:].reshape(5, 6)
        np.testing.assert_allclose(frame @ frame.T, np.eye(5), atol=1e-13)


def test_subspaces_need_more_columns_than_dimensions():
    from piforest import PreferenceIsolationForest

    with pytest.raises(ValueError, match="family 'subspace' needs at least 4 columns"):
        PreferenceIsolationForest.paper(get_family("subspace", dimension=3), sigma=1).fit(
            np.zeros((30, 3))
        )
    with pytest.raises(ValueError, match="family 'sphere' needs at least 2 columns"):
        PreferenceIsolationForest.paper("sphere", sigma=1).fit(np.zeros((30, 1)))
    with pytest.raises(ValueError, match="dimension must be an integer of at least 1, got 0"):
        get_family("subspace", dimension=0)


def test_a_plane_is_drawn_as_the_polygon_in_the_box():
    plane, low, high = get_family("plane"), -np.ones(3), np.ones(3)
    (level,) = plane.outline(np.array([0, 0, 0.5, 0, 0, 1.0]), low, high)
    assert sorted(map(tuple, level[:4])) == [(-1, -1, 0.5), (-1, 1, 0.5), (1, -1, 0.5), (1, 1, 0.5)]
    (hexagon,) = plane.outline(np.array([0, 0, 0, 1, 1, 1.0]) / np.sqrt(3), low, high)
    sides = np.linalg.norm(np.diff(hexagon, axis=0), axis=1)
    assert len(hexagon) == 7
    np.testing.assert_allclose(sides, np.sqrt(2))
    assert plane.outline(np.array([0, 0, 5.0, 0, 0, 1]), low, high) == []


ORIENTED = [get_family("cylinder", normals=True), get_family("cone")]


def oriented_points(family, n=40, seed=0):
    if family.name == "cone":
        return cone_points(n, seed)
    return cylinder_points(n, seed, normals=True)


def test_cylinders_with_normals_obey_their_laws():
    check_family(ORIENTED[0], cylinder_points(normals=True))
    plain = get_family("cylinder", normals=True, normal_weight=0)
    check_family(plain, cylinder_points(normals=True))


@pytest.mark.slow
def test_cylinders_with_normals_equal_the_naive_ones():
    family = ORIENTED[0]
    X = np.random.default_rng(0).uniform(-100, 100, (40, 6))
    samples = minimal(family, X, 200)
    params, valid = family.solve(samples)
    assert 0.2 < valid.mean() < 0.8
    theta = np.array([naive.solve_cylinder_with_normals(sample) for sample in samples])
    distances = np.array([[abs(t), abs(s)] for s, t in _feet(samples)])
    agree = distances.max(axis=1) <= 3 * distances.min(axis=1)
    assert np.array_equal(valid[:, 0], agree)
    theirs = [[naive.residual_cylinder_with_normals(x, t) for t in theta[valid[:, 0]]] for x in X]
    np.testing.assert_allclose(family.residuals(X, params[valid]), theirs, rtol=1e-6, atol=1e-6)


def _feet(samples):
    for (p, q), (n, k) in zip(samples[:, :, :3], samples[:, :, 3:]):
        ways = np.column_stack([n / np.linalg.norm(n), -k / np.linalg.norm(k)])
        yield np.linalg.lstsq(ways, q - p)[0]


@pytest.mark.parametrize("family", ORIENTED, ids=str)
def test_oriented_families_move_and_turn_with_points_and_normals(family):
    X = np.random.default_rng(0).uniform(-10, 10, (40, 6))
    R = rotation([1, -2, 0.5], 0.8)
    elsewhere = np.hstack([X[:, :3] @ R.T + [1e4, -2e4, 3e4], 7 * X[:, 3:] @ R.T])
    tables = []
    for rows in (X, elsewhere):
        params, valid = family.solve(minimal(family, rows, 100))
        assert valid.any()
        tables.append(family.residuals(rows, params[valid]))
    np.testing.assert_allclose(*tables, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("family", ORIENTED, ids=str)
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_oriented_structures_are_found_exactly_near_and_far(family, shift):
    X = moved(family, oriented_points(family), shift)
    params, valid = family.solve(minimal(family, X, 200))
    assert valid.mean() > 0.95
    assert np.quantile(family.residuals(X, params[valid]).max(axis=0), 0.95) < 1e-5


@pytest.mark.parametrize("family", ORIENTED, ids=str)
def test_normals_count_and_their_signs_and_lengths_do_not(family):
    X = oriented_points(family)
    params, valid = family.solve(minimal(family, X, 20))
    theta = params[valid][:1]
    flipped, wrong = X.copy(), X.copy()
    flipped[:, 3:] *= -3
    wrong[:, 3:] = np.cross(X[:, 3:], [1.0, 2, 3])
    assert family.residuals(flipped, theta).max() < 1e-9
    assert family.residuals(wrong, theta).min() > 0.05
    without = type(family)(**{**vars(family), "normal_weight": 0.0})
    assert without.residuals(wrong, theta).max() < 1e-9
    none = X.copy()
    none[:, 3:] = 0
    np.testing.assert_allclose(
        family.residuals(none, theta), family.residuals(wrong, theta), rtol=1e-6
    )


@pytest.mark.parametrize("family", ORIENTED, ids=str)
def test_rows_without_a_normal_are_refused(family):
    from piforest import PreferenceIsolationForest

    X = oriented_points(family)
    X[[3, 5], 3:] = 0
    with pytest.raises(ValueError, match=r"normal other than 0.* 2 row\(s\), the first is row 3"):
        PreferenceIsolationForest.paper(family, sigma=1).fit(X)
    assert not family.solve(X[None, 2 : 2 + family.sample_size(6)])[1].any()
    with pytest.raises(ValueError, match=r"needs 6 columns: rows \(x, y, z, nx, ny, nz\)"):
        PreferenceIsolationForest.paper(family, sigma=1).fit(X[:, :3])


def test_normals_in_one_plane_have_no_cone_and_parallel_ones_no_cylinder():
    flat = np.hstack([flat_points(), np.tile([1.0, 2, 2], (40, 1))])
    assert not any(family.solve(minimal(family, flat))[1].any() for family in ORIENTED)
    cylinder = cylinder_points(normals=True)
    assert not ORIENTED[1].solve(minimal(ORIENTED[1], cylinder))[1].any()


def test_a_cone_of_known_shape():
    family = get_family("cone")
    params, valid = family.solve(minimal(family, cone_points()))
    assert valid.all()
    np.testing.assert_allclose(params[:, 0, 7] / params[:, 0, 6], 0.7, rtol=1e-9)
    apex, axis = params[0, 0, :3], params[0, 0, 3:6]
    behind = np.array([[*(apex - 2 * axis), *axis]])
    assert family.residuals(behind, params[0])[0, 0] == pytest.approx(2)


def test_five_points_give_every_cylinder_through_them():
    """As many as the eliminations of a computer algebra would: the roots of a sextic."""
    family = get_family("cylinder")
    samples = np.random.default_rng(0).uniform(-1, 1, (3000, 5, 3))
    params, valid = family.solve(samples)
    counts = valid.sum(axis=1)
    # Roots of a real polynomial of degree 6 come in pairs but for what rounding drops.
    assert np.mean(counts % 2 == 0) > 0.999
    assert set(counts) >= {0, 2, 4, 6}
    assert (np.diff(np.where(valid, params[:, :, 6], 1e300))[valid[:, 1:]] >= 0).all()
    for i, k in zip(*np.nonzero(valid[:300])):
        assert family.residuals(samples[i], params[i, k][None]).max() < 1e-6


def test_a_cylinder_of_points_is_among_those_through_five():
    family = get_family("cylinder")
    for shift in (0.0, 1e6):
        X = cylinder_points(60) + shift
        params, valid = family.solve(minimal(family, X, 1000))
        worst = np.full(valid.shape, np.inf)
        worst[valid] = family.residuals(X, params[valid]).max(axis=0)
        assert np.mean(worst.min(axis=1) < 1e-5) > 0.99


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_five_points_in_a_plane_have_no_cylinder(shift):
    family = get_family("cylinder")
    assert not family.solve(minimal(family, flat_points(60) + shift))[1].any()
    for a in range(5):
        for b in range(a):
            samples = minimal(family, np.random.default_rng(0).normal(size=(40, 3))) + shift
            samples[:, a] = samples[:, b]
            assert not family.solve(samples)[1].any()


def test_a_trigonometric_polynomial_has_the_roots_it_was_made_of():
    from piforest.families._five_points import _TO_COEFFICIENTS, _roots

    rng = np.random.default_rng(0)
    angles = 2 * np.pi * np.arange(7) / 7
    for gap in (0.5, 0.1, 1e-3):
        for _ in range(100):
            # Two within one step of the grid, the others apart.
            apart = np.arange(5) * 2 * np.pi / 5 + rng.uniform(-0.3, 0.3, 5)
            true = np.sort((np.array([*apart, apart[0] + gap]) + rng.uniform(0, 7)) % (2 * np.pi))
            wave = _TO_COEFFICIENTS @ np.prod(np.sin((angles[:, None] - true) / 2), axis=1)
            slope = np.zeros(7)
            slope[1::2], slope[2::2] = np.arange(1, 4) * wave[2::2], -np.arange(1, 4) * wave[1::2]
            found = np.empty(6)
            assert _roots(wave, slope, found) == 6
            np.testing.assert_allclose(np.sort(found), true, atol=1e-9)


SCENES = {
    "plane": (make_planes, get_family("plane"), {}),
    "hyperplane": (make_planes, get_family("hyperplane"), {}),
    "sphere": (make_spheres, get_family("sphere"), {"n_structures": 2}),
    "cylinder": (make_cylinders, get_family("cylinder"), {"n_structures": 2, "anomaly_share": 0.3}),
    "cylinder with normals": (make_cylinders, ORIENTED[0], {"normals": True}),
    "cone": (make_cones, ORIENTED[1], {}),
    "subspace": (make_subspaces, get_family("subspace"), {}),
    "linear subspace": (
        make_subspaces, get_family("subspace", dimension=3, affine=False),
        {"dimension": 3, "n_features": 7, "affine": False},
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("make", "family", "options"), SCENES.values(), ids=SCENES)
def test_anomalies_among_solids_are_found(make, family, options):
    from piforest import PreferenceIsolationForest

    found = []
    for seed in range(3):
        X, y = make(**options, random_state=seed, return_X_y=True)
        sigma = 0.005 * np.sqrt(family.codimension(X.shape[1]))
        scores = PreferenceIsolationForest.paper(family, sigma=sigma, random_state=0).fit(X).scores_
        found.append(roc_auc_score(y == 0, scores))
    assert np.mean(found) > 0.95


@pytest.mark.parametrize(("make", "family", "options"), SCENES.values(), ids=SCENES)
def test_solids_have_the_asked_shape_and_noise(make, family, options):
    options = {**options, "n_structures": 2, "sizes": [90, 60], "anomaly_share": 0.25}
    noisy = make(**options, noise=0.02, random_state=3)
    exact = make(**options, noise=0.0, random_state=3, **_exact_normals(make))
    assert np.bincount(noisy.target).tolist() == [50, 90, 60]
    assert noisy.data.shape[1] == len(noisy.feature_names)
    normal, anomalies = noisy.data[noisy.target > 0], noisy.data[noisy.target == 0]
    assert (anomalies[:, :3] >= normal[:, :3].min(axis=0)).all()
    assert (anomalies[:, :3] <= normal[:, :3].max(axis=0)).all()
    for structure in (1, 2):
        on = exact.data[exact.target == structure]
        params, valid = family.solve(minimal(family, on))
        theta = params[valid]
        worst = family.residuals(on, theta).max(axis=0)
        assert worst.min() < 1e-9
        off = family.residuals(noisy.data[noisy.target == structure], theta[[np.argmin(worst)]])
        expected = 0.02 * np.sqrt(family.codimension(on.shape[1]))
        assert np.sqrt(np.mean(off**2)) == pytest.approx(expected, rel=0.25)
    frame = make(**options, random_state=3, as_frame=True).frame
    assert list(frame.columns) == [*noisy.feature_names, "target"]
    X, y = make(**options, noise=0.02, random_state=3, return_X_y=True)
    assert np.array_equal(X, noisy.data)
    assert np.array_equal(y, noisy.target)


def _exact_normals(make):
    return {"normal_noise": 0.0} if make in (make_cylinders, make_cones) else {}


def test_scenes_of_solids_refuse_what_makes_no_sense():
    with pytest.raises(ValueError, match=r"dimension must be less than n_features \(3\), got 3"):
        make_subspaces(dimension=3, n_features=3)
    with pytest.raises(ValueError, match="normal_noise"):
        make_cones(normal_noise=-1)
    with pytest.raises(ValueError, match="normals"):
        make_cylinders(normals="yes")


@pytest.mark.parametrize("name", ["plane", "sphere", "cylinder with normals", "cone", "subspace"])
def test_outlines_lie_on_the_model_and_in_the_box(name):
    make, family, options = SCENES[name]
    options = {**options, "n_features": 3} if name == "subspace" else options
    X, y = make(**options, noise=0.0, random_state=0, return_X_y=True)
    low, high = X.min(axis=0) - 0.1, X.max(axis=0) + 0.1
    params, valid = family.solve(minimal(family, X[y == 1]))
    lines = family.outline(params[valid][0], low, high)
    points = np.concatenate(lines)
    shown = points[~np.isnan(points).any(axis=1)]
    assert len(shown) > 0.1 * len(points)
    assert family.residuals(shown, params[valid][:1]).max() < 1e-9
    assert ((shown >= low - 1e-9) & (shown <= high + 1e-9)).all()
