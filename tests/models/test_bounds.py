"""Bounds of models: scans against loops, and where structures end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from naive import refinement as naive
from piforest import PreferenceIsolationForest
from piforest._kernels import bounds as compiled
from piforest._kernels.preferences import cell_of
from piforest._random import Stream
from piforest._threads import thread_limit
from piforest.datasets import make_arcs
from piforest.families import get_family
from piforest.models.bounds import CELLS, Bounds, find_bounds
from piforest.models.drawing import ModelSet, draw_models
from piforest.models.membership import sample_membership
from piforest.models.refit import refit_models
from piforest.models.residuals import residual_blocks
from piforest.sampling import resolve_sampler
from piforest.selection import name_counts


def model(family, params, scale=0.02):
    params = np.asfortranarray(np.array([params], float))
    ones = np.ones(1)
    points = np.zeros((1, {"line": 2, "circle": 2, "plane": 3}[family]))
    return ModelSet(get_family(family), params, np.zeros((1, 1), int), points, scale * ones, ones)


@pytest.mark.parametrize("axes", [1, 2])
def test_points_are_counted_in_the_cells_of_a_loop(axes):
    """Also at the borders of cells, beyond both ends, and where a range is not known."""
    rng, m, b = np.random.default_rng(0), 9, 6
    R, U, V = rng.uniform(0, 1, (40, m)), *rng.uniform(-1, 3, (2, 40, m))
    U[0], U[1], U[2] = np.arange(m) / 3, np.inf, np.nan
    low, size, limit = np.zeros((2, m)), np.full((2, m), 2.0), rng.uniform(0, 1, m)
    low[:, 1], size[:, 1] = 0.3, np.inf
    counts, cell = np.zeros((m, b**axes)), np.full(m, 99, np.int32)
    compiled.count_cells(R, limit, U, V if axes == 2 else U, low, size, b, cell, counts)
    expected = np.zeros_like(counts)
    for i, j in np.ndindex(40, m):
        at = 0
        for axis, W in enumerate((U, V)[:axes]):
            with np.errstate(invalid="ignore"):
                at = b * at + cell_of.py_func(W[i, j], low[axis, j], size[axis, j], b)
        expected[j, at] += R[i, j] <= limit[j]
    assert np.array_equal(counts, expected)


@pytest.mark.parametrize("wraps", [False, True])
def test_the_scan_of_intervals_equals_a_loop(wraps):
    rng = np.random.default_rng(0)
    for _ in range(20):
        counts = rng.poisson(rng.choice([0.5, 6.0], 20)).astype(float)
        shares = rng.uniform(0.5, 1.5, 20)
        out = np.zeros(4)
        compiled.crowded_interval(counts, shares, np.zeros(20, bool), wraps, out)
        ratio, first, length = naive.crowded_interval(counts, shares, wraps)
        assert out[2] == pytest.approx(ratio)
        assert (out[0], out[1]) == (first, length)


def test_the_scan_of_rectangles_equals_a_loop():
    rng = np.random.default_rng(0)
    for _ in range(5):
        counts = rng.poisson(1.0, (6, 6)).astype(float)
        counts[1:4, 2:5] += rng.poisson(4.0, (3, 3))
        shares = rng.uniform(0.5, 1.5, (6, 6))
        out = np.zeros(6)
        compiled.crowded_rectangle(counts, shares, *np.empty((2, 7, 7)), out)
        ratio, top, rows, left, columns = naive.crowded_rectangle(counts, shares)
        assert out[4] == pytest.approx(ratio)
        assert out[:4].tolist() == [top, left, rows, columns]


def bounded_residuals(models, bounds, X):
    ((_, R),) = residual_blocks(X, [replace(models, bounds=bounds)])
    return R


def segment(rng, n, first, last):
    return np.column_stack([rng.uniform(first, last, n), rng.normal(0, 0.01, n)])


def test_a_segment_ends_where_its_points_end():
    rng = np.random.default_rng(0)
    X = np.concatenate([segment(rng, 150, -0.5, 0.2), rng.uniform(-1, 1, (100, 2))])
    models = model("line", [0, 0, 1, 0])
    bounds = find_bounds(models, X, Stream(0))
    probes = np.column_stack([np.linspace(-0.95, 0.95, 39), np.zeros(39)])
    R = bounded_residuals(models, bounds, probes)
    inside = probes[np.isfinite(R[:, 0]), 0]
    assert -0.6 < inside.min() <= -0.49
    assert 0.19 <= inside.max() < 0.3


def test_two_pieces_of_one_line_are_kept():
    rng = np.random.default_rng(1)
    pieces = [segment(rng, 120, -0.9, -0.5), segment(rng, 120, 0.3, 0.8)]
    X = np.concatenate([*pieces, rng.uniform(-1, 1, (80, 2))])
    bounds = find_bounds(model("line", [0, 0, 1, 0]), X, Stream(0))
    cells = np.flatnonzero(bounds.cells[0])
    where = bounds.low[0, 0] + (cells + 0.5) / CELLS * bounds.size[0, 0]
    assert ((where < -0.4) | (where > 0.2)).all()
    assert (where < -0.5).any()
    assert (where > 0.5).any()


def test_an_uneven_line_has_no_end():
    rng = np.random.default_rng(2)
    X = np.concatenate([segment(rng, 600, -1, 0), segment(rng, 300, 0, 1)])
    assert find_bounds(model("line", [0, 0, 1, 0]), X, Stream(0)) is None


def test_a_law_does_not_end_where_records_become_rare():
    rng = np.random.default_rng(0)
    x = np.exp(rng.normal(0, 1.0, 600))  # half of the cells hold few records
    X = np.column_stack([x, 3 * x + rng.normal(0, 0.02, 600)])
    rows = (np.zeros((1, 1), int), np.zeros((1, 2)), np.full(1, 0.03), np.ones(1))
    family = get_family("linear_regression")
    params = family.solve(np.array([[[0.0, 0.0], [1.0, 3.0]]]))[0][0]
    assert find_bounds(ModelSet(family, params, *rows), X, Stream(0)) is None
    X[x > 1.5, 1] = rng.uniform(0, 30, np.sum(x > 1.5))  # and here it does
    assert find_bounds(ModelSet(family, params, *rows), X, Stream(0)) is not None


def test_an_arc_is_bounded_across_the_start_of_its_chart():
    rng = np.random.default_rng(3)
    angle = rng.uniform(-0.8, 0.8, 150)
    arc = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.01, (150, 2))
    X = np.concatenate([arc, rng.uniform(-1.2, 1.2, (100, 2))])
    models = model("circle", [0, 0, 1])
    bounds = find_bounds(models, X, Stream(0))
    probes = np.array([[1, 0], [np.cos(0.7), np.sin(0.7)], [np.cos(-0.7), np.sin(-0.7)], [-1, 0.0]])
    R = bounded_residuals(models, bounds, probes)
    assert np.isfinite(R[:, 0]).tolist() == [True, True, True, False]


def test_a_plane_is_bounded_to_patches():
    rng = np.random.default_rng(4)
    patch = np.column_stack([rng.uniform(-0.9, -0.1, (300, 2)), rng.normal(0, 0.01, 300)])
    X = np.concatenate([patch, rng.uniform(-1, 1, (200, 3))])
    models = model("plane", [0, 0, 0, 0, 0, 1])
    bounds = find_bounds(models, X, Stream(0))
    probes = np.array([[-0.5, -0.5, 0], [0.8, 0.8, 0], [-0.5, 0.8, 0.0]])
    R = bounded_residuals(models, bounds, probes)
    assert np.isfinite(R[:, 0]).tolist() == [True, False, False]


@pytest.mark.parametrize("name", ["plane", "sphere"])
def test_coordinates_of_a_chart_are_compiled_as_they_are_written(name):
    family = get_family(name)
    X = family.scene.make(random_state=0).data[:50]
    params, valid = family.solve(X[np.arange(4 * family.sample_size(3)).reshape(4, -1)])
    params = params[valid]
    theta = params.T[:, None]
    for fast, slow in zip(family.coordinates(X, params), family.chart(X.T[:, :, None], theta, np)):
        np.testing.assert_array_equal(fast, np.broadcast_to(slow, fast.shape))


def test_new_points_of_structures_are_kept_as_often_as_training_points():
    """A bound must not cut off what a new normal point needs."""
    rng = np.random.default_rng(5)

    def scene(n):
        ends = [segment(rng, n, -0.9, 0.1), segment(rng, n, -0.2, 0.8)[:, ::-1] + [0.5, 0]]
        return np.concatenate(ends), rng.uniform(-1, 1, (n // 2, 2))

    (normal, anomalies), (new, _) = scene(150), scene(150)
    detector = PreferenceIsolationForest("line", random_state=0)
    detector.fit(np.concatenate([normal, anomalies]))
    flagged = [np.mean(detector.predict(rows) == -1) for rows in (normal, new)]
    assert flagged[1] <= flagged[0] + 0.04


def bounds_of(cells, low=(0.0, 0.0), size=(64.0, np.inf)):
    return Bounds(np.array([low]), np.array([size], float), np.asarray(cells)[None])


def test_pieces_of_a_curve_are_its_intervals():
    at = np.arange(64)
    cells = ((at >= 4) & (at < 10)) | (at >= 60)
    first, last = bounds_of(cells, low=(-2.0, 0.0)).pieces(0)
    assert first.tolist() == [[2.0, 8.0]]
    assert last.tolist() == [[58.0, np.inf]], "points beyond the last cell belong to it"


def test_a_piece_across_the_start_of_a_periodic_chart_is_one():
    at = np.arange(64)
    pieces = bounds_of((at < 8) | (at >= 48), size=(4.0, np.inf)).pieces(0, wraps=True)
    assert [piece.tolist() for piece in pieces] == [[[3.0, 4.5]]]


def test_a_model_without_bounds_has_one_infinite_piece():
    assert bounds_of(np.ones(64, bool)).pieces(0)[0].tolist() == [[-np.inf, np.inf]]


@pytest.mark.parametrize("seed", range(5))
def test_pieces_of_a_surface_cover_its_cells_once(seed):
    cells = np.random.default_rng(seed).random((12, 12)) < 0.4
    pieces = bounds_of(cells.ravel(), size=(12.0, 12.0)).pieces(0)
    centres = np.arange(12) + 0.5
    covered = np.zeros((12, 12), int)
    for (top, bottom), (left, right) in pieces:
        rows, columns = (centres > top) & (centres < bottom), (centres > left) & (centres < right)
        covered += np.outer(rows, columns)
    assert np.array_equal(covered, cells.astype(int))


def test_pieces_contain_the_points_with_finite_residuals_and_no_others():
    rng = np.random.default_rng(6)
    X = np.concatenate([segment(rng, 150, -0.5, 0.2), rng.uniform(-1, 1, (100, 2))])
    models = model("line", [0, 0, 1, 0])
    bounds = find_bounds(models, X, Stream(0))
    probes = np.column_stack([rng.uniform(-1, 1, 200), np.zeros(200)])
    inside = np.isfinite(bounded_residuals(models, bounds, probes)[:, 0])
    (u,) = models.family.coordinates(probes, models.params)
    pieces = bounds.pieces(0)
    assert np.array_equal(
        inside, np.any([(u[:, 0] >= a) & (u[:, 0] < b) for ((a, b),) in pieces], axis=0)
    )


@pytest.mark.slow
@pytest.mark.parametrize("family", ["line", "circle", "plane"])
def test_bounds_from_one_half_of_the_points_hold_for_the_other(family):
    """Over all structures of several scenes, hardly a new normal point is cut off."""
    lost = []
    for seed in range(3):
        scene = get_family(family).scene.make(random_state=seed)
        half = np.random.default_rng(seed).random(len(scene.data)) < 0.5
        detector = PreferenceIsolationForest(family, n_models=2000, random_state=seed)
        detector.fit(scene.data[half])
        new = scene.data[~half & (scene.target > 0)]
        bounded, free = (
            min_residuals(new, part)
            for part in (detector.models_, [replace(p, bounds=None) for p in detector.models_])
        )
        near = free <= 3 * scene.sigma
        lost.append(np.mean(bounded[near] > 3 * scene.sigma))
    assert np.mean(lost) < 0.02


def min_residuals(X, models):
    return np.concatenate([R.min(axis=1) for _, R in residual_blocks(X, list(models))])


def test_refits_names_and_bounds_do_not_depend_on_threads():
    X = make_arcs(2, sizes=200, random_state=0).data
    drawn, _ = draw_models(X, get_family("circle"), resolve_sampler("mixed"), 600, Stream(3))
    models, members = replace(drawn, scale=np.full(600, 0.02)), sample_membership([drawn])
    results = []
    for n_jobs in (1, 3):
        with thread_limit(n_jobs):
            bounds = find_bounds(models, X, Stream(0))
            results.append(
                (
                    refit_models(models, X, members).params, bounds.cells, bounds.low,
                    name_counts([models], np.tile(X, (3, 1)), members, 3),
                )
            )  # fmt: skip
    for one, three in zip(*results):
        assert np.array_equal(one, three)


def test_residuals_within_the_limit_are_those_without_one():
    X = make_arcs(2, sizes=200, random_state=0).data
    drawn, _ = draw_models(X, get_family("circle"), resolve_sampler("mixed"), 60, Stream(3))
    models = replace(drawn, scale=np.full(60, 0.02))
    models = replace(models, bounds=find_bounds(models, X, Stream(0)))
    limits = np.full(60, 0.06)
    all_of_them = np.concatenate([R for _, R in residual_blocks(X, [models])])
    R = np.concatenate([R for _, R in residual_blocks(X, [models], limits)])
    assert np.isinf(all_of_them).any()
    near = np.minimum(R, all_of_them) <= limits
    assert np.array_equal(R[near], all_of_them[near])
