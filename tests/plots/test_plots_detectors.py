"""The plots that take a detector: heat maps, preferences, thresholds, explanations."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")

import matplotlib.pyplot as plt
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError

from piforest import PreferenceIsolationForest, VoronoiForest
from piforest.datasets import make_lines, make_plane_pair, make_planes, make_regressions
from piforest.families import get_family
from piforest.plots import (
    SCORES,
    plot_explanation,
    plot_heatmap,
    plot_preferences,
    plot_threshold,
)
from piforest.plots._mds import mds, torgerson
from piforest.plots.preferences import _pixels, evenly_by_score

SCENE = make_lines(3, sizes=60, noise=0.01, anomaly_share=0.3, random_state=0)
X, Y = SCENE.data, SCENE.target
SMALL = {"n_estimators": 20, "random_state": 0}


@pytest.fixture(scope="module")
def detector():
    return PreferenceIsolationForest("line", **SMALL).fit(X)


@pytest.fixture(scope="module")
def paper():
    return PreferenceIsolationForest.paper("line", sigma=0.01, **SMALL).fit(X)


@pytest.fixture(scope="module")
def points():
    return VoronoiForest("euclidean", **SMALL).fit(X)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


DRAWN = [
    plot_heatmap,
    plot_threshold,
    lambda detector, **options: plot_preferences(detector, X, **options),
    lambda detector, **options: plot_preferences(detector, X, kind="map", **options),
    lambda detector, **options: plot_explanation(detector, X, 3, **options),
]


@pytest.mark.slow
@pytest.mark.parametrize("draw", DRAWN)
@pytest.mark.parametrize("which", ["detector", "paper"])
def test_a_plot_is_drawn_into_the_given_axes_with_labels_and_a_title(draw, which, request):
    ax = plt.subplots()[1]
    assert draw(request.getfixturevalue(which), ax=ax, title="title") is ax
    assert ax.get_title() == "title"
    assert ax.get_xlabel()
    assert ax.get_ylabel()


@pytest.mark.parametrize("draw", DRAWN)
def test_only_fitted_detectors_are_drawn(draw):
    with pytest.raises(ValueError, match=r"takes a fitted detector .* got ndarray"):
        draw(X)
    with pytest.raises(NotFittedError):
        draw(PreferenceIsolationForest("line"))


def test_a_heat_map_has_the_score_of_every_grid_point(detector):
    ax = plot_heatmap(detector, resolution=20)
    image = ax.images[0]
    left, right, low, high = image.get_extent()
    scores = np.asarray(image.get_array())
    corner = detector.anomaly_score([[left, low], [right, low], [right, high]])
    assert [scores[0, 0], scores[0, -1], scores[-1, -1]] == pytest.approx(corner)
    assert max(scores.shape) == 20
    assert left < X[:, 0].min() < X[:, 0].max() < right
    assert ax.figure.axes[1].get_ylabel() == "anomaly score"


@pytest.mark.slow
def test_a_heat_map_shows_points_structures_and_threshold_on_demand(detector, points):
    plain = plot_heatmap(detector, X[:9], resolution=20, threshold=False, colorbar=False)
    assert len(plain.figure.axes) == 1
    assert len(plain.lines) == 0
    assert [len(each.get_offsets()) for each in plain.collections] == [9]
    full = plot_heatmap(detector, resolution=20, structures=True)
    assert len(full.lines) == len(detector.structures_) == 3
    assert len(full.collections) == 2
    with pytest.raises(ValueError, match="needs a detector with models, VoronoiForest has none"):
        plot_heatmap(points, resolution=20, structures=True)
    assert len(plot_heatmap(points, resolution=20).images) == 1


def test_a_heat_map_draws_at_most_two_thousand_points(points):
    many = np.random.default_rng(0).normal(size=(9_000, 2))
    dots = plot_heatmap(points, many, resolution=5, threshold=False).collections[0]
    assert len(dots.get_offsets()) == 2_000


def test_a_heat_map_of_a_data_frame_has_its_names_and_does_not_warn(recwarn):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["east", "north"])
    ax = plot_heatmap(VoronoiForest("euclidean", **SMALL).fit(frame), resolution=20)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("east", "north")
    assert not [each for each in recwarn if "feature names" in str(each.message)]


def test_a_heat_map_needs_a_detector_fitted_on_two_columns(detector):
    space = VoronoiForest("euclidean", **SMALL).fit(np.column_stack([X, X]))
    with pytest.raises(ValueError, match=r"fitted on 4 columns\. plot_scores\(X, detector"):
        plot_heatmap(space)
    table = VoronoiForest("precomputed", **SMALL).fit(cdist(X[:2], X[:2]))
    with pytest.raises(ValueError, match="needs a detector fitted on 2 columns"):
        plot_heatmap(table)
    with pytest.raises(ValueError, match=r"takes X \(n, 2\), got shape \(5, 3\)"):
        plot_heatmap(detector, np.zeros((5, 3)))
    with pytest.raises(ValueError, match="resolution must be an integer of at least 2, got 1"):
        plot_heatmap(detector, resolution=1)
    sparse = VoronoiForest("tanimoto", **SMALL).fit(np.abs(X))
    with pytest.raises(ValueError, match="does not store its training points: pass X"):
        plot_heatmap(sparse)


@pytest.mark.slow
def test_the_legend_of_a_threshold_counts_kept_and_flagged_rows(detector):
    ax = plot_threshold(detector)
    flagged = int((detector.labels_ == -1).sum())
    kept = len(X) - flagged
    assert texts(ax)[:2] == [f"kept: {kept}", f"flagged: {flagged}"]
    assert texts(ax)[2:4] == ["null points, scaled", f"threshold {detector.threshold_:.3f}"]
    heights = sum(bar.get_height() for bar in ax.patches if hasattr(bar, "get_height"))
    assert heights == len(X)


def test_bars_of_kept_rows_are_blue_and_of_flagged_rows_red(detector):
    bars = [bar for bar in plot_threshold(detector).patches if hasattr(bar, "get_height")]
    bars = [bar for bar in bars if bar.get_height() > 0]
    for bar in bars:
        red, _, blue, _ = bar.get_facecolor()
        assert (red > blue) == (bar.get_x() >= detector.threshold_ - 1e-9)
    red, _, blue, _ = mpl.colormaps[SCORES](1.0)
    assert red > blue


@pytest.mark.slow
def test_no_bar_of_a_threshold_is_both_kept_and_flagged(detector):
    ax = plot_threshold(detector)
    threshold = detector.threshold_
    bars = [bar for bar in ax.patches if hasattr(bar, "get_height") and bar.get_height() > 0]
    for bar in bars:
        below = bar.get_x() + bar.get_width() <= threshold + 1e-9
        assert below or bar.get_x() >= threshold - 1e-9


@pytest.mark.slow
def test_the_curve_of_a_threshold_counts_the_rows_above(detector):
    ax = plot_threshold(detector)
    other = next(each for each in ax.figure.axes if each is not ax)
    places, counts = other.lines[0].get_data()
    scores = detector.scores_
    for place, count in list(zip(places, counts))[1:-1:10]:
        assert count == (scores > place).sum()
    assert other.lines[1].get_data()[1][0] == (scores > detector.threshold_).sum()
    assert other.get_ylabel() == "rows flagged"


def test_a_threshold_that_was_set_is_drawn_where_it_is(paper):
    moved = PreferenceIsolationForest.paper("line", sigma=0.01, **SMALL).fit(X).set_threshold(2.0)
    ax = plot_threshold(moved, X)
    assert texts(ax)[:3] == [f"kept: {len(X)}", "flagged: 0", "threshold 2.000"]
    assert ax.get_xlim()[1] > 2
    assert "null points, scaled" not in texts(plot_threshold(paper))


def test_known_scores_are_drawn_as_they_are(detector):
    ax = plot_threshold(detector, scores=[0.1, 0.2, 0.99])
    assert texts(ax)[:2] == ["kept: 2", "flagged: 1"]
    with pytest.raises(ValueError, match=r"scores must be \(n,\), one for each of the .* rows"):
        plot_threshold(detector, X, scores=[0.1])
    with pytest.raises(ValueError, match="bins must be an integer of at least 2, got 1"):
        plot_threshold(detector, bins=1)


def test_pixels_are_means_of_the_ordered_matrix():
    import scipy.sparse

    groups = np.repeat([0, 1], [300, 500])
    dense = np.zeros((800, 1_000), np.float32)
    dense[:300, ::2] = 0.8  # every other model is of the first group
    dense[300:, 1::2] = 0.4
    pixels = _pixels(scipy.sparse.csr_array(dense), groups)
    assert pixels.shape == (300, 400)
    first = 300 * 300 // 800
    np.testing.assert_allclose(pixels[:first, :200], 0.8, rtol=1e-6)
    np.testing.assert_allclose(pixels[first + 1 :, 200:], 0.4, rtol=1e-6)
    assert pixels[:first, 200:].max() == 0
    assert pixels.mean() == pytest.approx(dense.mean(), rel=0.01)


def test_the_matrix_of_preferences_is_ordered_by_structure_and_score(detector):
    ax = plot_preferences(detector, X)
    names = [label.get_text().split("\n")[0] for label in ax.get_yticklabels()]
    assert names == ["line 0", "line 1", "line 2", "on none"]
    side = next(each for each in ax.child_axes if each.lines)
    curve = side.lines[0].get_xdata()
    assert sorted(curve) == pytest.approx(np.sort(detector.scores_))
    flagged = int((detector.labels_ == -1).sum())
    assert (np.diff(curve[-flagged:]) >= 0).all()
    assert ax.figure.axes[-1].get_ylabel() == "preference"


@pytest.mark.slow
def test_labels_order_the_matrix_and_name_the_map(paper):
    ax = plot_preferences(paper, X, y=Y)
    names = [label.get_text() for label in ax.get_yticklabels()]
    wrong = int((Y == 0).sum())
    assert names == ["label 1\n60", "label 2\n60", "label 3\n60", f"anomalous\n{wrong}"]
    ax = plot_preferences(paper, X, y=Y, kind="map")
    assert texts(ax) == ["label 1: 60", "label 2: 60", "label 3: 60", f"anomalous: {wrong}"]


def test_points_of_one_structure_lie_together_on_the_map(detector):
    ax = plot_preferences(detector, X, kind="map", y=Y)
    lines = [np.asarray(each.get_offsets()) for each in ax.collections[:3]]
    spreads = [np.median(cdist(each, each)) for each in lines]
    between = np.median(cdist(lines[0], lines[1]))
    assert max(spreads) < between / 2


def test_a_map_is_the_same_every_time_and_takes_a_voronoi_forest(points):
    one, two = (plot_preferences(points, X, kind="map").collections[0] for _ in range(2))
    assert np.array_equal(one.get_offsets(), two.get_offsets())
    np.testing.assert_allclose(cdist(X, X), cdist(mds(cdist(X, X)), mds(cdist(X, X))), atol=1e-6)


def test_a_map_of_points_in_the_plane_has_their_distances():
    D = cdist(X, X)
    np.testing.assert_allclose(cdist(torgerson(D), torgerson(D)), D, atol=1e-9)
    worse = np.sum((cdist(torgerson(np.sqrt(D)), torgerson(np.sqrt(D))) - np.sqrt(D)) ** 2)
    better = np.sum((cdist(mds(np.sqrt(D)), mds(np.sqrt(D))) - np.sqrt(D)) ** 2)
    assert better < worse


def test_rows_are_chosen_evenly_over_the_scores():
    scores = np.random.default_rng(0).uniform(size=5_000)
    rows = evenly_by_score(scores, 100)
    assert len(np.unique(rows)) == 100
    assert {int(scores.argmin()), int(scores.argmax())} <= set(rows.tolist())
    assert np.sort(scores[rows]) == pytest.approx(np.linspace(0, 1, 100), abs=0.03)
    assert np.array_equal(evenly_by_score(scores[:7], 100), np.arange(7))


@pytest.mark.slow
def test_a_part_of_large_data_is_drawn_and_the_title_says_so(points):
    many = np.random.default_rng(0).normal(size=(1_500, 2))
    ax = plot_preferences(points, many, kind="map")
    assert "(1,000 of 1,500)" in ax.get_title()
    assert len(ax.collections[0].get_offsets()) == 1_000


@pytest.mark.slow
def test_rows_may_be_a_list_a_data_frame_or_objects(detector):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(X, schema=["east", "north"])
    named = PreferenceIsolationForest("line", **SMALL).fit(frame)
    for kind in ("matrix", "map"):
        assert plot_preferences(named, frame, kind=kind)
        assert plot_preferences(detector, X.tolist(), kind=kind)
    assert plot_explanation(named, frame, 3).get_xlabel() == "east"
    assert plot_explanation(detector, X.tolist(), 3).get_xlabel() == "x"
    words = ["cat", "bat", "rat", "mat", "hat", "zeppelin"]
    forest = VoronoiForest(lambda a, b: abs(len(a) - len(b)), **SMALL).fit(words)
    ax = plot_preferences(forest, words, kind="map")
    assert ax.get_title() == "Distances between rows, as a map"


def test_preferences_that_cannot_be_drawn_raise_an_error(detector, points):
    with pytest.raises(ValueError, match="VoronoiForest has none; kind='map' draws its distances"):
        plot_preferences(points, X)
    with pytest.raises(ValueError, match="kind must be one of 'map', 'matrix'; got 'tree'"):
        plot_preferences(detector, X, kind="tree")
    with pytest.raises(
        ValueError, match=r"y must have a label for each of \d+ rows, got shape \(2,\)"
    ):
        plot_preferences(detector, X, y=[0, 1])
    with pytest.raises(ValueError, match="a map needs at least 3 rows, got 2"):
        plot_preferences(detector, X[:2], kind="map")
    table = VoronoiForest("precomputed", **SMALL).fit(cdist(X, X))
    with pytest.raises(ValueError, match="metric='precomputed' has no rows"):
        plot_preferences(table, cdist(X, X), kind="map")


def test_an_explanation_names_the_nearest_structures_with_sigmas_and_support(detector):
    row = int(detector.scores_.argmax())
    ax = plot_explanation(detector, X, row)
    reason = detector.explain(X[row : row + 1])[0]
    for near, name in zip(reason.nearest, texts(ax)):
        expected = f"line {near.structure}: {near.sigmas:.3g} sigmas, {near.support} points"
        assert name == expected
    assert texts(ax)[-1] == f"row {row}"
    assert ax.get_title().startswith(f"row {row} is anomalous: score {reason.score:.3f} > ")
    place = np.column_stack(ax.lines[-1].get_data())[0]
    assert np.array_equal(place, X[row])
    normal = plot_explanation(detector, X, int(detector.scores_.argmin()))
    assert " is normal: score " in normal.get_title()


def test_the_name_of_an_explained_row_stands_in_legend_and_title(detector):
    ax = plot_explanation(detector, X, 3, row_name="row 4", labels=["east", "north"])
    assert texts(ax)[-1] == "row 4"
    assert ax.get_title().startswith("row 4 is ")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("east", "north")


def test_rows_that_were_not_trained_on_are_explained_without_members(detector):
    ax = plot_explanation(detector, X[:5], 2)
    assert len(ax.collections) == 1
    assert len(ax.lines) == 4


@pytest.mark.slow
def test_explanations_are_drawn_in_3d_and_between_images():
    planes = make_planes(2, sizes=80, random_state=0).data
    ax = plot_explanation(PreferenceIsolationForest("plane", **SMALL).fit(planes), planes, 0)
    assert ax.name == "3d"
    pair = make_plane_pair(2, sizes=60, random_state=0).data
    ax = plot_explanation(PreferenceIsolationForest("homography", **SMALL).fit(pair), pair, 1)
    assert np.array_equal(np.column_stack(ax.lines[-1].get_data()).ravel(), pair[1])
    assert texts(ax)[0].startswith("homography ")


@pytest.mark.slow
def test_two_columns_of_a_wide_table_are_chosen_by_name_or_index():
    pandas = pytest.importorskip("pandas")
    rows = make_regressions(1, n_features=4, sizes=150, random_state=0).data
    frame = pandas.DataFrame(rows, columns=["a", "b", "c", "d", "target"])
    detector = PreferenceIsolationForest("linear_regression", **SMALL).fit(frame)
    ax = plot_explanation(detector, frame, 0, columns=("a", "target"))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "target")
    ax = plot_explanation(detector, frame, 0, columns=[0, 4])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "target")
    with pytest.raises(ValueError, match=r"two or three of \['a', .*, got \['e', 'a'\]"):
        plot_explanation(detector, frame, 0, columns=["e", "a"])


@pytest.mark.slow
@pytest.mark.parametrize("n_features", [3, 4])
def test_a_regression_of_several_features_is_drawn_as_actual_over_predicted(n_features):
    rows = make_regressions(2, n_features=n_features, sizes=150, random_state=0).data
    detector = PreferenceIsolationForest("linear_regression", **SMALL).fit(rows)
    ax = plot_explanation(detector, rows, 7)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted target", "target")
    nearest = min(detector.structures_, key=lambda each: each.residuals(rows[7:8])[0])
    predicted = nearest.family.predicted(rows[7:8], nearest.params)[0]
    assert np.ravel(ax.lines[-1].get_data()) == pytest.approx([predicted, rows[7, -1]])
    subspace = PreferenceIsolationForest(get_family("subspace", dimension=1), **SMALL).fit(rows)
    if n_features == 4:
        with pytest.raises(ValueError, match=r"X has 5 columns: .* as columns=\(0, 1\)"):
            plot_explanation(subspace, rows, 0)


def test_rows_that_cannot_be_explained_raise_an_error(detector, points):
    with pytest.raises(ValueError, match=f"row must be from 0 to {len(X) - 1}, got {len(X)}"):
        plot_explanation(detector, X, len(X))
    with pytest.raises(ValueError, match=r"row must be an integer, got 1\.5"):
        plot_explanation(detector, X, 1.5)
    with pytest.raises(ValueError, match="with structures, VoronoiForest has none"):
        plot_explanation(points, X, 0)
