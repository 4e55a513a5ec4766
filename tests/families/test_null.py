"""Rows without structure keep what does not depend on it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import scenes
from piforest._random import Stream
from piforest.families import (
    LearnedFamily,
    from_functions,
    get_family,
    layout_of,
    list_families,
    null_rows,
)

FAMILIES = {name: get_family(name) for name in list_families()}
BY_KIND = {
    kind: [name for name, family in FAMILIES.items() if family.layout.kind == kind]
    for kind in ("points", "oriented points", "matches", "segments", "table")
}


def scene_and_null(name, n=None, seed=3):
    X, _ = scenes.scene(name)
    return X, null_rows(FAMILIES[name], X, len(X) if n is None else n, Stream(seed))


def same_rows(A, B):
    return np.array_equal(A[np.lexsort(A.T)], B[np.lexsort(B.T)])


@pytest.mark.parametrize("name", list_families())
def test_null_rows_depend_on_the_stream_alone(name):
    X, null = scene_and_null(name)
    given = X.copy()
    assert np.array_equal(null_rows(FAMILIES[name], X, len(X), Stream(3)), null)
    assert np.array_equal(X, given)
    assert not np.array_equal(null_rows(FAMILIES[name], X, len(X), Stream(4)), null)


@pytest.mark.slow
@pytest.mark.parametrize("name", list_families())
@pytest.mark.parametrize("n", [0, 1, 77, 2000])
def test_any_number_of_null_rows_can_be_drawn(name, n):
    X, null = scene_and_null(name, n)
    assert null.shape == (n, X.shape[1])
    assert np.isfinite(null).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", list_families())
def test_null_rows_have_no_structure(name):
    """Far fewer of them than of the scene's rows lie on the structures of the scene."""
    X, truth = scenes.scene(name)
    null = null_rows(FAMILIES[name], X, len(X), Stream(3))
    family, k = FAMILIES[name], FAMILIES[name].sample_size(X.shape[1])
    rng, near = np.random.default_rng(0), []
    for structure in range(1, truth.max() + 1):
        on = np.flatnonzero(truth == structure)
        samples = X[np.array([rng.choice(on, k, replace=False) for _ in range(300)])]
        params, valid = family.solve(samples)
        R = family.residuals(X[on], params[valid])
        best = params[valid][np.argmin(np.median(R, axis=0))]
        width = 2 * np.median(family.residuals(X[on], best[None]))
        near.append(
            [np.mean(family.residuals(rows, best[None]) <= width) for rows in (X[on], null)]
        )
    there, here = np.mean(near, axis=0)
    assert here < there / 3


@pytest.mark.parametrize("name", BY_KIND["matches"])
def test_matches_get_the_partner_of_another_row(name):
    X, null = scene_and_null(name)
    views = layout_of(FAMILIES[name]).views
    assert len(views) == 2
    for view in views:
        assert same_rows(null[:, view], X[:, view])
    together = {tuple(row) for row in X}
    assert not together & {tuple(row) for row in null}


@pytest.mark.parametrize("name", BY_KIND["table"])
def test_records_get_the_target_of_another_row(name):
    X, null = scene_and_null(name)
    assert same_rows(null[:, :-1], X[:, :-1])
    assert np.array_equal(np.sort(null[:, -1]), np.sort(X[:, -1]))
    target = {tuple(row[:-1]): row[-1] for row in X}
    assert all(target[tuple(row[:-1])] != row[-1] for row in null)


def test_the_target_may_be_any_column():
    X = np.random.default_rng(0).normal(size=(50, 4))
    null = null_rows(get_family("linear_regression", target=1), X, 50, Stream(0))
    partner = [int(np.flatnonzero(X[:, 0] == row[0])[0]) for row in null]
    assert np.array_equal(null[:, [0, 2, 3]], X[partner][:, [0, 2, 3]])
    assert not (null[:, 1] == X[partner, 1]).any()


@pytest.mark.parametrize("name", [*BY_KIND["matches"], *BY_KIND["table"]])
def test_a_second_round_pairs_rows_differently(name):
    X, _ = scene_and_null(name)
    null = null_rows(FAMILIES[name], X, 3 * len(X), Stream(3))
    first = {tuple(row) for row in null[: len(X)]}
    assert len(first & {tuple(row) for row in null[len(X) :]}) < len(X) / 2


@pytest.mark.parametrize("name", BY_KIND["segments"])
def test_segments_keep_their_midpoints_and_lengths(name):
    X, null = scene_and_null(name)

    def middles_and_lengths(rows):
        ends = rows.reshape(-1, 2, 2)
        parts = [ends.mean(axis=1), np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)[:, None]]
        found = np.hstack(parts)
        return found[np.lexsort(found.round(6).T)]

    np.testing.assert_allclose(middles_and_lengths(null), middles_and_lengths(X), rtol=1e-9)
    x, y = (null[:, 2:] - null[:, :2]).T
    angles = np.arctan2(y, x)
    assert (np.histogram(angles, 6, (-np.pi, np.pi))[0] > len(X) / 12).all()


@pytest.mark.parametrize("name", BY_KIND["points"])
def test_points_are_uniform_in_the_box_that_holds_most_of_them(name):
    X, null = scene_and_null(name, 4000)
    far = np.concatenate([X, 1e6 * np.ones((1, X.shape[1]))])
    box = np.percentile(X, [1, 99], axis=0)
    assert (null >= box[0]).all()
    assert (null <= box[1]).all()
    share = (null - box[0]) / (box[1] - box[0])
    assert np.abs(share.mean(axis=0) - 0.5).max() < 0.02
    assert np.abs(np.quantile(share, 0.1, axis=0) - 0.1).max() < 0.02
    assert np.abs(null_rows(FAMILIES[name], far, 100, Stream(0))).max() < 1e3


@pytest.mark.parametrize("name", BY_KIND["oriented points"])
def test_normals_have_random_directions(name):
    _, null = scene_and_null(name, 4000)
    normals = null[:, 3:]
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, rtol=1e-12)
    # The coordinates of a random direction are uniform in [-1, 1] (Archimedes).
    assert np.abs(normals.mean(axis=0)).max() < 0.04
    assert np.abs(np.mean(np.abs(normals), axis=0) - 0.5).max() < 0.02


def test_custom_families_have_null_rows_by_their_layout():
    X = np.random.default_rng(0).normal(size=(60, 3))
    plain = from_functions(lambda p: p.mean(), lambda X, t: abs(X[:, 0] - t), sample_size=2)
    assert np.array_equal(
        null_rows(plain, X, 60, Stream(1)), null_rows(get_family("plane"), X, 60, Stream(1))
    )
    learned = LearnedFamily(LinearRegression(), sample_size=4, target=2)
    assert np.array_equal(
        null_rows(learned, X, 60, Stream(1)),
        null_rows(get_family("linear_regression", target=2), X, 60, Stream(1)),
    )

    class Sevens(type(get_family("plane"))):
        def null_rows(self, X, n, stream):
            return np.full((n, X.shape[1]), 7.0)

    assert (null_rows(Sevens(), X, 5, Stream(1)) == 7).all()
