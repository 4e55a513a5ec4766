from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")

import matplotlib.pyplot as plt
from matplotlib.path import Path

from piforest import PreferenceIsolationForest, VoronoiForest
from piforest.datasets import make_circles, make_cylinders
from piforest.families import get_family
from piforest.plots import (
    plot_comparison,
    plot_matches,
    plot_scores,
    plot_structures,
    plot_tree,
    plot_truth,
)
from piforest.plots.tree import _cells

X = np.random.default_rng(0).normal(size=(50, 2))
Y = np.arange(50) % 3
SCORES = np.random.default_rng(1).uniform(size=50)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_scores_are_drawn_into_the_given_axes_worst_last():
    figure, ax = plt.subplots()
    assert plot_scores(X, SCORES, ax, title="scores") is ax
    drawn = ax.collections[0]
    assert np.array_equal(np.asarray(drawn.get_array()), np.sort(SCORES))
    assert np.array_equal(np.asarray(drawn.get_offsets())[-1], X[SCORES.argmax()])
    assert ax.get_title() == "scores"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    assert len(figure.axes) == 2  # the colour bar


def test_a_figure_is_made_where_none_is_given():
    assert plot_scores(X, SCORES).figure is plt.gcf()
    legend = plot_truth(X, Y).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["anomalous", "normal"]


def test_a_comparison_has_a_panel_for_each_method_and_one_for_the_truth():
    figure = plot_comparison(X, Y, {"a": SCORES, "b": -SCORES}, {"a": 0.7, "b": 0.3})
    titles = [ax.get_title() for ax in figure.axes[:3]]
    assert titles == ["input", "a\nAUC 0.700", "b\nAUC 0.300"]


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(ValueError, match=r"2 or 3 columns .* and scores \(n,\), got \(50, 5\)"):
        plot_scores(np.zeros((50, 5)), SCORES)
    with pytest.raises(ValueError, match="X has 3 columns, so ax must be in space"):
        plot_scores(np.zeros((50, 3)), SCORES, plt.subplots()[1])


@pytest.mark.parametrize("columns", [2, 3, 4, 6])
def test_points_and_lines_are_drawn_in_the_plane_and_in_space(columns):
    rows = np.random.default_rng(0).normal(size=(50, columns))
    ax = plot_scores(rows, SCORES)
    assert ax.name == ("3d" if columns in (3, 6) else "rectilinear")
    assert np.array_equal(np.sort(ax.collections[0].get_array()), np.sort(SCORES))
    ax = plot_truth(rows, Y)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["anomalous", "normal"]


def test_structures_are_drawn_with_their_members_and_outlines():
    scene = make_circles(2, anomaly_share=0.3, random_state=0)
    detector = PreferenceIsolationForest("circle", random_state=0).fit(scene.data)
    assert len(detector.structures_) == 2
    ax = plot_structures(scene.data, detector.structures_, title="two")
    assert len(ax.lines) == 2
    sizes = [len(each.get_offsets()) for each in ax.collections]
    supports = [each.support for each in detector.structures_]
    assert sizes == [len(scene.data) - sum(supports), *supports]
    for line, each in zip(ax.lines, detector.structures_):
        points = np.column_stack(line.get_data())
        points = points[~np.isnan(points).any(axis=1)]
        assert each.residuals(points).max() < 1e-9


@pytest.mark.parametrize("branching", [2, 3])
def test_the_cells_of_a_tree_are_where_its_points_descend(branching):
    forest = VoronoiForest("euclidean", n_estimators=3, branching=branching, random_state=0).fit(X)
    points = np.random.default_rng(2).uniform(X.min(axis=0), X.max(axis=0), (200, 2))
    lengths = forest.forest_.path_lengths(points)
    for tree in range(3):
        flat = forest.forest_.forest
        leaves, _ = _cells(X, flat, tree)
        inside = np.array([Path(cell).contains_points(points) for cell, _, _ in leaves])
        assert (inside.sum(axis=0) == 1).all()
        drawn = np.array([depth + flat.depths[size] for _, depth, size in leaves])
        np.testing.assert_allclose(drawn[inside.argmax(axis=0)], lengths[:, tree])


def test_a_tree_is_drawn_with_a_letter_for_each_leaf():
    forest = VoronoiForest("euclidean", n_estimators=1, max_samples=27, branching=3, random_state=0)
    ax = plot_tree(forest.fit(X), title="tree")
    letters = [text.get_text() for text in ax.texts]
    assert letters[:3] == ["a", "b", "c"]
    assert len(letters) == len(ax.patches)
    with pytest.raises(ValueError, match="tree must be from 0 to 0, got 1"):
        plot_tree(forest, tree=1)
    with pytest.raises(ValueError, match=r"draws a VoronoiForest\('euclidean'\)"):
        plot_tree(VoronoiForest("manhattan", random_state=0).fit(X))


MATCHES = np.random.default_rng(3).uniform(0, 60, (50, 4))
IMAGES = (np.zeros((60, 80)), np.zeros((60, 80, 3)))


@pytest.mark.parametrize("images", [IMAGES, None], ids=["images", "none"])
def test_matches_are_lines_between_two_images_worst_last(images):
    ax = plot_matches(images, MATCHES, SCORES, title="pair")
    lines = ax.collections[0]
    segments, worst = np.array(lines.get_segments()), SCORES.argmax()
    assert segments.shape == (50, 2, 2)
    np.testing.assert_allclose(segments[-1, 0], MATCHES[worst, :2])
    np.testing.assert_allclose(segments[-1, 1, 1], MATCHES[worst, 3])
    assert segments[:, 1, 0].min() > MATCHES[:, 0].max()
    assert len(ax.images) == (0 if images is None else 2)


def test_the_truth_of_matches_has_anomalies_last():
    lines = plot_matches(IMAGES, MATCHES, Y, truth=True).collections[0]
    assert np.array_equal(np.asarray(lines.get_array()), np.sort(Y == 0))
    with pytest.raises(ValueError, match=r"takes X \(n, 4\) and values \(n,\), got \(50, 2\)"):
        plot_matches(IMAGES, X, SCORES)


def test_structures_of_points_with_normals_are_drawn_as_points():
    X = make_cylinders(2, normals=True, sizes=80, random_state=0).data
    family = get_family("cylinder", normals=True)
    detector = PreferenceIsolationForest(family, random_state=0).fit(X)
    ax = plot_structures(X, detector.structures_)
    assert ax.name == "3d"
    assert len(ax.lines) > 0
    assert len(plot_structures(X[:, :3], detector.structures_).lines) == 0
    with pytest.raises(ValueError, match=r"pass detector\.structures_"):
        plot_structures(X, detector)
