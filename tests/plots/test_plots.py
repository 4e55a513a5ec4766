from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")

import matplotlib.pyplot as plt
from matplotlib.path import Path
from sklearn.exceptions import NotFittedError

from piforest import PreferenceIsolationForest, VoronoiForest
from piforest.datasets import make_circles, make_cylinders, make_lines
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
from piforest.structures.greedy import Structure

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
    assert ax.get_aspect() == 1
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    assert len(figure.axes) == 2  # the colour bar


def test_a_figure_is_made_where_none_is_given():
    assert plot_scores(X, SCORES).figure is plt.gcf()
    legend = plot_truth(X, Y).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["anomalous", "normal"]
    assert plot_truth(X, Y, legend=False).get_legend() is None


def test_a_comparison_has_a_panel_for_each_method_and_one_for_the_truth():
    figure = plot_comparison(X, Y, {"a": SCORES, "b": -SCORES}, {"a": 0.7, "b": 0.3})
    titles = [ax.get_title() for ax in figure.axes[:3]]
    assert titles == ["input", "a\nAUC 0.700", "b\nAUC 0.300"]


def test_data_that_cannot_be_drawn_raise_a_clear_error():
    with pytest.raises(
        ValueError, match=r"2 or 3 columns .* and scores one value .* got shapes \(50, 5\)"
    ):
        plot_scores(np.zeros((50, 5)), SCORES)
    with pytest.raises(ValueError, match="X has 3 columns, so ax must be 3D"):
        plot_scores(np.zeros((50, 3)), SCORES, plt.subplots()[1])
    with pytest.raises(ValueError, match="this plot is 2D, so ax must be 2D too"):
        plot_scores(X, SCORES, plt.subplots(subplot_kw={"projection": "3d"})[1])
    with pytest.raises(ValueError, match="ax must be one matplotlib Axes, got ndarray"):
        plot_scores(X, SCORES, plt.subplots(1, 2)[1])
    with pytest.raises(ValueError, match="X has no rows, so there is nothing to draw"):
        plot_scores(X[:0], SCORES[:0])
    with pytest.raises(ValueError, match="scores must be finite, row 7 is not"):
        plot_scores(X, np.where(np.arange(50) == 7, np.nan, SCORES))
    with pytest.raises(ValueError, match="y must be numeric, got dtype <U4"):
        plot_truth(X, np.full(50, "good"))


def test_columns_of_data_frames_label_the_axes():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    flat = pandas.DataFrame(X, columns=["east", "north"])
    ax = plot_scores(flat, SCORES)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("east", "north")
    space = polars.DataFrame(np.column_stack([X, SCORES]), schema=["east", "north", "up"])
    ax = plot_truth(space, Y)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()) == ("east", "north", "up")


def test_labels_replace_the_names_of_columns():
    pandas = pytest.importorskip("pandas")
    flat = pandas.DataFrame(X, columns=["east", "north"])
    ax = plot_scores(flat, SCORES, labels=["a", "b"])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    ax = plot_structures(flat, [], labels=["a", "b"])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")


@pytest.mark.parametrize("columns", [2, 3, 4, 6])
def test_colours_change_from_blue_to_red_at_a_threshold(columns):
    rows, threshold = np.random.default_rng(0).normal(size=(50, columns)), 0.6
    ax = plot_scores(rows, SCORES, threshold=threshold)
    drawn = ax.collections[0]
    low, high = drawn.get_clim()
    assert (low + high) / 2 == pytest.approx(threshold)
    red, _, blue, _ = drawn.cmap(drawn.norm(np.sort(SCORES))).T
    flagged = np.sort(SCORES) > threshold
    assert np.array_equal(red > blue, flagged)
    bar = ax.figure.axes[1]
    assert bar.get_ylabel() == "anomaly score; the line is the threshold"
    assert bar.lines[0].get_ydata()[0] == threshold
    if columns == 3:  # anomalies are drawn again, above the others
        assert len(ax.collections[1].get_offsets()) == flagged.sum()
        assert ax.collections[1].get_zorder() > drawn.get_zorder()


def test_columns_of_different_units_have_no_equal_aspect():
    assert plot_scores(X * [1, 1000], SCORES).get_aspect() == "auto"
    for names, aspect in ((["weight", "volume"], "auto"), (["x", "y"], 1.0)):
        assert plot_scores(X, SCORES, labels=names).get_aspect() == aspect


def test_equal_scores_have_a_colour_and_a_bar():
    ax = plot_scores(X, np.full(50, 0.5))
    low, high = ax.collections[0].get_clim()
    assert low < 0.5 < high


def test_the_colour_bar_ends_at_1_where_nothing_is_flagged():
    ax = plot_scores([[0.0, 0.0], [1.0, 1.0]], [0.5, 0.9], threshold=1.0)
    assert ax.figure.axes[1].get_ylim()[1] == 1.0


def test_the_ends_of_a_colour_bar_are_pointed_where_scores_lie_beyond_it():
    assert plot_scores(X, SCORES).figure.axes[1]._colorbar.extend == "both"
    ax = plot_scores(X, SCORES > 0.5)
    assert ax.figure.axes[1]._colorbar.extend == "neither"
    assert ax.collections[0].get_clim() == (0, 1)


def test_many_points_are_small_and_few_are_large():
    sizes = []
    for n in (5, 1_000, 50_000):
        rows = np.random.default_rng(0).normal(size=(n, 2))
        drawn = plot_scores(rows, np.arange(n)).collections[0]
        sizes.append(float(drawn.get_sizes()[0]))
        assert drawn.get_rasterized() == (n > 5_000)
    assert sizes[0] > 20 > sizes[1] > 5 > 2 > sizes[2]


@pytest.mark.parametrize("columns", [2, 3, 4, 6])
def test_points_and_lines_are_drawn_in_2d_and_3d(columns):
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
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    rest = f"no structure: {sizes[0]} points"
    assert names == [rest, *(f"circle {k}: {n} points" for k, n in enumerate(supports))]
    for line, each in zip(ax.lines, detector.structures_):
        points = np.column_stack(line.get_data())
        points = points[~np.isnan(points).any(axis=1)]
        assert each.residuals(points).max() < 1e-9


@pytest.mark.slow
def test_a_legend_of_many_structures_stays_short():
    scene = make_lines(10, sizes=60, noise=0.003, anomaly_share=0.1, random_state=0)
    detector = PreferenceIsolationForest("line", random_state=0).fit(scene.data)
    ax = plot_structures(scene.data, detector.structures_)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(names) == 9
    assert names[-1] == f"and {len(detector.structures_) - 7} more"


@pytest.mark.slow
def test_structures_of_other_data_raise_an_error():
    scene = make_circles(2, random_state=0)
    structures = PreferenceIsolationForest("circle", random_state=0).fit(scene.data).structures_
    with pytest.raises(ValueError, match="but X has 20 rows; pass all rows of the training data"):
        plot_structures(scene.data[:20], structures)
    assert plot_structures(scene.data, []).get_legend() is None


# Parameters of a model through the middle of the unit box.
MODELS = {
    "line": ([0.5, 0.5, 0.6, 0.8], 2),
    "circle": ([0.5, 0.5, 0.3], 2),
    "hyperplane": ([0.5, 0.5, 0.6, 0.8], 2),
    "plane": ([0.5, 0.5, 0.5, 0.6, 0.0, 0.8], 3),
    "sphere": ([0.5, 0.5, 0.5, 0.3], 3),
    "cylinder": ([0.5, 0.5, 0.5, 0.0, 0.0, 1.0, 0.3], 3),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_outline_of_a_model_lies_on_it_and_within_the_points(name):
    params, d = MODELS[name]
    rows = np.random.default_rng(0).uniform(size=(60, d))
    model = Structure(get_family(name), np.array(params), 0.1, 9.0, np.arange(7), 0.05)
    ax = plot_structures(rows, [model])
    assert len(ax.lines) > 0
    for line in ax.lines:
        points = np.column_stack(line.get_data_3d() if d == 3 else line.get_data())
        points = points[~np.isnan(points).any(axis=1)]
        assert np.all((points >= rows.min(axis=0) - 1e-9) & (points <= rows.max(axis=0) + 1e-9))
        assert model.residuals(points).max() < 1e-6


@pytest.mark.parametrize("branching", [2, 3])
def test_the_cells_of_a_tree_are_where_its_points_descend(branching):
    forest = VoronoiForest("euclidean", n_estimators=3, branching=branching, random_state=0).fit(X)
    points = np.random.default_rng(2).uniform(X.min(axis=0), X.max(axis=0), (200, 2))
    lengths = forest.forest_.path_lengths(points)
    for tree in range(3):
        flat = forest.forest_.trees
        leaves, _ = _cells(X, flat, tree)
        inside = np.array([Path(cell).contains_points(points) for cell, _, _ in leaves])
        assert (inside.sum(axis=0) == 1).all()
        drawn = np.array([depth + flat.depths[size] for _, depth, size in leaves])
        np.testing.assert_allclose(drawn[inside.argmax(axis=0)], lengths[:, tree])


@pytest.mark.slow
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
    with pytest.raises(ValueError, match=r"got a PreferenceIsolationForest, whose .* plot_heatmap"):
        plot_tree(PreferenceIsolationForest("line", contamination=0.1, random_state=0).fit(X))
    with pytest.raises(ValueError, match=r"got one with metric 'euclidean' on 3 columns"):
        plot_tree(VoronoiForest("euclidean", random_state=0).fit(np.c_[X, X[:, 0]]))
    with pytest.raises(ValueError, match=r"plot_tree takes a fitted detector .* got ndarray"):
        plot_tree(X)
    with pytest.raises(NotFittedError):
        plot_tree(VoronoiForest("euclidean"))


@pytest.mark.slow
def test_a_tree_of_many_leaves_has_no_letters():
    rows = np.random.default_rng(0).normal(size=(300, 2))
    ax = plot_tree(VoronoiForest("euclidean", n_estimators=1, random_state=0).fit(rows))
    assert len(ax.patches) > 60
    assert len(ax.texts) == 0


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
    assert ax.figure.axes[1].get_ylabel() == "anomaly score"
    assert len(plot_matches(images, MATCHES, SCORES, colorbar=False).figure.axes) == 1


def test_matches_above_a_threshold_are_red_and_stand_out():
    threshold, scores = 0.6, np.sort(np.tile(SCORES, 10))
    lines = plot_matches(None, np.tile(MATCHES, (10, 1)), scores, threshold=threshold).collections[
        0
    ]
    flagged = scores > threshold
    red, _, blue, _ = lines.cmap(lines.norm(scores)).T
    assert np.array_equal(red > blue, flagged)
    for values in (np.array(lines.get_linewidths()), lines.get_alpha()):
        assert values[flagged].min() > values[~flagged].max()


@pytest.mark.slow
def test_many_matches_are_points_and_lines_are_few():
    rng = np.random.default_rng(0)
    many = rng.uniform(0, 100, (10_000, 4))
    labels, scores = np.arange(10_000) % 11 - 1, rng.uniform(size=10_000)
    ax = plot_matches(None, many, scores, threshold=0.9, motions=labels)
    again = plot_matches(None, many, scores, threshold=0.9, motions=labels)
    lines = [each.get_segments() for each in ax.collections if hasattr(each, "get_segments")]
    assert sum(map(len, lines)) < 250
    for one, other in zip(lines, (e for e in again.collections if hasattr(e, "get_segments"))):
        assert np.array_equal(one, other.get_segments())
    points = sum(len(each.get_offsets()) for each in ax.collections if len(each.get_offsets()) > 1)
    assert points == 20_000
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    flagged = int((scores > 0.9).sum())
    assert names[-1] == f"anomalies: {flagged:,} (lines for 60)"
    assert names[-2] == "and 4 more"
    assert names[1].startswith("motion 0: 8")
    with pytest.raises(ValueError, match=r"motions must be integers .* with a threshold"):
        plot_matches(None, many, scores, motions=labels)


def test_colours_of_matches_span_the_scores_that_occur():
    lines = plot_matches(None, MATCHES, SCORES, threshold=0.6).collections[0]
    assert lines.get_clim() == (SCORES.min(), SCORES.max())
    kept = plot_matches(None, MATCHES, SCORES, threshold=2.0).collections[0]
    assert kept.norm.vmin < kept.norm.vcenter < kept.norm.vmax


def test_images_of_different_sizes_are_drawn_side_by_side():
    ax = plot_matches((np.zeros((60, 80)), np.zeros((150, 40, 3), np.uint8)), MATCHES, SCORES)
    left, right = (image.get_extent() for image in ax.images)
    assert list(left) == [0, 80, 60, 0]
    assert right[0] > 80
    assert right[1] - right[0] == pytest.approx(40)
    assert right[2] == 150
    assert ax.get_ylim() == (150, 0)
    assert ax.get_xlim() == (0, right[1])


def test_arrays_that_are_no_images_raise_an_error():
    with pytest.raises(ValueError, match="images must be two arrays, got 1"):
        plot_matches([np.zeros((60, 80))], MATCHES, SCORES)
    with pytest.raises(ValueError, match=r"second image must be grey .* got shape \(60, 80, 2\)"):
        plot_matches((np.zeros((60, 80)), np.zeros((60, 80, 2))), MATCHES, SCORES)


def test_the_truth_of_matches_has_anomalies_last():
    ax = plot_matches(IMAGES, MATCHES, Y, truth=True)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["right: 33 matches", "wrong: 17 matches"]
    lines = ax.collections[0]
    assert np.array_equal(np.asarray(lines.get_array()), np.sort(Y == 0))
    with pytest.raises(
        ValueError, match=r"takes X \(n, 4\) and values \(n,\), got shapes \(50, 2\)"
    ):
        plot_matches(IMAGES, X, SCORES)


@pytest.mark.slow
def test_structures_of_points_with_normals_are_drawn_as_points():
    X = make_cylinders(2, normals=True, sizes=80, random_state=0).data
    family = get_family("cylinder", normals=True)
    detector = PreferenceIsolationForest(family, random_state=0).fit(X)
    ax = plot_structures(X, detector.structures_)
    assert ax.name == "3d"
    assert len(ax.lines) > 0
    assert len(plot_structures(X[:, :3], detector.structures_).lines) == 0
    for wrong in ((X, detector), (detector, X)):
        with pytest.raises(ValueError, match=r"plot_structures\(X, detector\.structures_\)"):
            plot_structures(*wrong)
