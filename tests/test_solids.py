"""Flats and solids: what is special to each, beside the laws that every family obeys."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import naive
from piforest.checks import check_family
from piforest.families import get_family
from scenes import flat_points, line_points, sphere_points


def minimal(family, X, n=40, seed=0):
    rng = np.random.default_rng(seed)
    k = family.sample_size(X.shape[1])
    return X[np.array([rng.choice(len(X), k, replace=False) for _ in range(n)])]


def noise_of(X, scale=1e-9):
    return X + np.random.default_rng(5).normal(0, scale, X.shape)


@pytest.mark.parametrize("d", [2, 3, 4, 7])
def test_flats_of_any_dimension_obey_their_laws(d):
    check_family("hyperplane", flat_points(d=d, r=d - 1))
    check_family("sphere", sphere_points(d=d))
    for r in range(1, d):
        check_family(get_family("subspace", dimension=r), flat_points(d=d, r=r))
        through_origin = flat_points(d=d, r=r) - np.random.default_rng(0).normal(size=d)
        check_family(get_family("subspace", dimension=r, affine=False), through_origin)


@pytest.mark.parametrize("d", [2, 4, 6])
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
    from piforest import PIF

    with pytest.raises(ValueError, match="family 'subspace' needs at least 4 columns"):
        PIF(get_family("subspace", dimension=3), sigma=1).fit(np.zeros((30, 3)))
    with pytest.raises(ValueError, match="family 'sphere' needs at least 2 columns"):
        PIF("sphere", sigma=1).fit(np.zeros((30, 1)))
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
