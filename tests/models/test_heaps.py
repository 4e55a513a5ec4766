from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest._kernels.heaps import variance_ratios
from piforest.datasets import make_lines
from piforest.families import get_family
from piforest.models.heaps import filled_cells, fills_little, is_heap

LINE, LAW = get_family("line"), get_family("linear_regression")


def through(family, a, b):
    params, valid = family.solve(np.array([[a, b]], float))
    assert valid.all()
    return params[0]


def line(rng, n=300):
    return np.column_stack([rng.uniform(-1, 1, n), rng.normal(0, 0.02, n)])


def naive_ratio(places, r, width, c):
    """The variance across over that along, point by point; for codimension 0 of a table."""
    core = np.flatnonzero(r <= width)
    if len(core) < 5:
        return 0.0
    ratios = []
    for at in core[:: -(-len(core) // 32)]:
        squared = np.sum((places - places[at]) ** 2, axis=1)
        ball = [
            k
            for k in range(len(r))
            if k != at and r[k] <= 3 * width and squared[k] <= (3 * width) ** 2
        ]
        if len(ball) < 4:
            continue
        across = np.mean(r[ball] ** 2)
        along = np.mean(squared[ball])
        d = places.shape[1]
        if c:
            along, across, d = along - across - r[at] ** 2, across / c, d - c
        ratios.append(across / max(along / d, 1e-9 * width**2))
    return (
        np.median(ratios) if len(ratios) >= max(5, len(core[:: -(-len(core) // 32)]) / 2) else 0.0
    )


@pytest.mark.parametrize("spread", [0.03, 0.05, 0.08])
def test_a_model_through_a_heap_is_told_from_a_structure(spread):
    rng = np.random.default_rng(0)
    heap = rng.normal([0.3, 0.7], spread, (150, 2))
    X = np.vstack([line(rng), heap, rng.uniform(-1, 1, (100, 2))])
    models = np.vstack([through(LINE, [-1, 0], [1, 0]), through(LINE, [0.2, 0.7], [0.4, 0.72])])
    R, widths = LINE.residuals(X, models), np.array([0.04, spread])
    assert is_heap(LINE, X, R, widths).tolist() == [False, True]
    ratios = [naive_ratio(X, r, w, 1) for r, w in zip(R.T, widths)]
    assert ratios[0] < 0.6 < ratios[1]


@pytest.mark.parametrize("family", [LINE, LAW], ids=["line", "law"])
def test_compiled_ratios_are_those_of_one_point_after_the_other(family):
    rng = np.random.default_rng(3)
    X = rng.normal(0, 1, (120, 2))
    models = np.vstack([through(family, *X[rng.permutation(120)[:2]]) for _ in range(40)])
    R, widths, c = family.residuals(X, models), rng.uniform(0.05, 0.6, 40), int(family is LINE)
    R[rng.random(R.shape) < 0.2] = np.inf
    places, found = X if c else X[:, :1], np.full(40, np.nan)
    rows, ratios = np.empty((2, 120), np.int64), np.empty(32)
    variance_ratios(R, widths, 3.0, places, c, 5, 4, rows, ratios, found)
    expected = [naive_ratio(places, r, w, c) for r, w in zip(R.T, widths)]
    assert 5 < np.count_nonzero(found) < 40
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_sparse_structure_with_a_crowded_crossing_is_no_heap():
    rng = np.random.default_rng(0)
    crossing = np.column_stack([rng.normal(0, 0.02, 60), rng.uniform(-0.3, 0.3, 60)])
    X = np.vstack([line(rng, 60), crossing])
    R = LINE.residuals(X, through(LINE, [-1, 0], [1, 0]))
    assert not is_heap(LINE, X, R, np.array([0.04])).any()


def test_a_heap_of_records_is_no_law():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 100, 300)
    heap = np.column_stack([rng.normal(20, 3, 150), rng.normal(0.8, 0.03, 150)])
    X = np.vstack([np.column_stack([x, x / 100 + rng.normal(0, 0.01, 300)]), heap])
    models = np.vstack([through(LAW, [0, 0], [100, 1]), through(LAW, [15, 0.8], [25, 0.8])])
    found = is_heap(LAW, X, LAW.residuals(X, models), np.array([0.02, 0.04]))
    assert found.tolist() == [False, True]


def test_points_that_do_not_count_have_infinite_residuals():
    rng = np.random.default_rng(0)
    heap = rng.normal([0.0, 0.0], 0.05, (150, 2))
    X = np.vstack([line(rng), heap])
    R = LINE.residuals(X, through(LINE, [-1, 0], [1, 0]))
    R[:300] = np.inf
    assert is_heap(LINE, X, R, np.array([0.04])).all()
    assert not is_heap(LINE, X, np.full_like(R, np.inf), np.array([0.04])).any()


@pytest.mark.slow
def test_a_line_as_noisy_as_the_data_are_wide_is_no_heap():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(-1, 1, 900), rng.normal(0, 0.3, 900)])
    X = np.vstack([X, rng.uniform(-1, 1, (100, 2))])
    detector = PreferenceIsolationForest("line", random_state=0).fit(X)
    assert len(detector.structures_) == 1
    R = LINE.residuals(X, through(LINE, [-1, 0], [1, 0]))
    assert not is_heap(LINE, X, R, np.array([0.6])).any()


def test_families_of_matches_have_no_heaps():
    family = get_family("translation")
    X = np.random.default_rng(0).uniform(size=(50, 4))
    params, valid = family.solve(X[:1][None])
    R = family.residuals(X, params[valid])
    assert not is_heap(family, X, R, np.array([10.0])).any()
    assert not fills_little(family, X, R[:, 0], 10.0)


def test_heaps_fill_few_cells():
    rng = np.random.default_rng(0)
    assert filled_cells(np.zeros((5, 2)), 1.0) == 1.0
    assert filled_cells(np.zeros((1, 2)), 1.0) == 0.0
    even = np.repeat(np.arange(10.0), 200)[:, None]
    assert filled_cells(even, 1.0) == pytest.approx(10, rel=0.01)
    X = np.vstack([line(rng), rng.normal([0.3, 0.7], 0.05, (150, 2))])
    flat, heap = (LINE.residuals(X, through(LINE, [-1, y], [1, y]))[:, 0] for y in (0, 0.7))
    assert not fills_little(LINE, X, flat, 0.04)
    assert fills_little(LINE, X, heap, 0.1)


def test_points_of_heaps_score_high():
    rng = np.random.default_rng(1)
    X = make_lines(4, sizes=150, noise=0.01, anomaly_share=0.0, random_state=3).data
    low, high = X.min(axis=0), X.max(axis=0)
    heaps = rng.uniform(low, high, (2, 2))[np.arange(200) % 2] + rng.normal(0, 0.05, (200, 2))
    detector = PreferenceIsolationForest("line", random_state=0).fit(np.vstack([X, heaps]))
    flagged = detector.labels_ == -1
    assert flagged[:600].mean() < 0.1
    assert flagged[600:].mean() > 0.5
