from __future__ import annotations

import numpy as np
import pytest

import naive
from piforest import PreferenceIsolationForest
from piforest._random import Stream
from piforest.bands.evidence import full_band_table
from piforest.bands.ladder import ladder_of, narrow_grid
from piforest.datasets import make_circles, make_lines, make_motion_pair
from piforest.families import get_family
from piforest.models.drawing import draw_models
from piforest.models.membership import sample_membership
from piforest.sampling import get_sampler
from piforest.structures.greedy import (
    BandCounts,
    Structure,
    greedy,
    greedy_structures,
    relative_distances,
    significance_limit,
    weighted_sigma,
)
from piforest.structures.search import find_structures

SCENES = {
    "line": make_lines(4, sizes=[150, 80, 60, 110], noise=0.008, anomaly_share=0.3, random_state=8),
    "circle": make_circles(3, sizes=[150, 80, 90], noise=0.01, anomaly_share=0.4, random_state=8),
    "fundamental": make_motion_pair(2, sizes=80, anomaly_share=0.3, random_state=8),
}


def band_counts(name, n_models=300):
    X = SCENES[name].data
    models, _ = draw_models(X, get_family(name), get_sampler("mixed"), n_models, Stream(1))
    return counts_of(X, models)


def counts_of(X, models):
    ladder = ladder_of(models.family, X, narrow_grid(models.family, X), Stream(2))
    table = full_band_table(X, models, sample_membership([models]), ladder)
    return BandCounts(X, models, table)


@pytest.mark.parametrize("name", SCENES)
def test_the_best_width_follows_from_comparisons_with_all_widths(name):
    bands = band_counts(name, 40)
    rows, size = np.arange(0, len(bands.X), 2), bands.models.samples.shape[1]
    R = naive.residuals(name, bands.X[rows], bands.models.params)
    inside = np.array([np.sum(w >= R, axis=0) for w in bands.widths])
    expected = bands.ladder.ratios(
        np.maximum(inside - size, 0).astype(np.int32), bands.codimension, len(rows)
    )
    width, ratio = bands.best_width(rows, bands.models.params)
    assert np.array_equal(width, np.argmax(expected, axis=0))
    assert np.array_equal(ratio, expected.max(axis=0))


@pytest.mark.slow
@pytest.mark.parametrize("reach", [2.0, 3.0])
@pytest.mark.parametrize("name", SCENES)
def test_greedy_selection_equals_the_naive_one(name, reach):
    bands = band_counts(name)
    X, models = bands.X, bands.models
    R = naive.residuals(name, X, models.params)
    in_sample = np.zeros(R.shape, bool)
    for j, sample in enumerate(models.samples):
        in_sample[sample, j] = True
    limit = significance_limit([bands])
    expected = naive.greedy(R, in_sample, bands.widths, bands.codimension, reach, limit)
    found = greedy_structures([bands], reach)
    assert len(found) == len(expected) > 0
    for structure, (model, width, ratio) in zip(found, expected):
        assert np.array_equal(structure.params, models.params[model])
        assert structure.half_width == width
        assert structure.log_ratio == pytest.approx(ratio)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
def test_the_structures_of_a_scene_are_found_with_their_points(name):
    scene = SCENES[name]
    detector = PreferenceIsolationForest(name, random_state=0).fit(scene.data)
    found = detector.structures_
    assert len(found) == scene.target.max()
    seen = set()
    for structure in found:
        truth = scene.target[structure.members]
        label = np.bincount(truth).argmax()
        assert label > 0
        assert np.mean(truth == label) > 0.8
        assert structure.support == len(truth)
        seen.add(int(label))
        distances = structure.residuals(scene.data[structure.members])
        assert (distances <= 3 * structure.half_width).all()
    assert len(seen) == len(found)
    assert detector.structures_ is found
    ratios = [structure.log_ratio for structure in found]
    assert ratios == sorted(ratios, reverse=True)
    assert f"Structure({name}, {found[0].support} points" in repr(found[0])
    if name == "fundamental":
        assert found[0].matrix.shape == (3, 3)
    else:
        assert not hasattr(found[0], "matrix")


def test_two_parallel_lines_are_not_merged():
    """The band of both lines has more evidence than either line, but less than the two together."""
    rng = np.random.default_rng(0)
    t, side = rng.uniform(0, 1, 200), np.arange(200) % 2
    X = np.column_stack([t, 0.01 * side + rng.normal(0, 0.001, 200)])
    X = np.vstack([X, rng.uniform([0, -0.5], [1, 0.5], (60, 2))])
    models, _ = draw_models(X, get_family("line"), get_sampler("mixed"), 2600, Stream(0))
    bands = counts_of(X, models)
    everything = np.ones(len(X), bool)
    ((_, _, merged, _),) = greedy([bands], everything, 3.0)
    (_, _, first, _), (_, _, second, _) = greedy([bands], everything, 3.0, look_ahead=True)
    assert merged > 0.005 > max(first, second)


@pytest.mark.slow
def test_members_are_rows_of_the_training_data_beyond_the_pool():
    scene = SCENES["line"]
    detector = PreferenceIsolationForest("line", pool_size=200, random_state=0).fit(scene.data)
    for structure in detector.structures_:
        assert (
            structure.residuals(scene.data[structure.members]) <= 3 * structure.half_width
        ).all()
    assert max(each.members.max() for each in detector.structures_) > 200


def test_random_points_have_no_structures():
    X = np.random.default_rng(0).uniform(size=(150, 2))
    detector = PreferenceIsolationForest("circle", random_state=0).fit(X)
    assert len(detector.structures_) <= 1
    assert relative_distances(X, []).shape == (150, 0)


def test_without_active_points_there_are_no_structures():
    bands = band_counts("line")
    assert greedy([bands], np.zeros(len(bands.X), bool), 3.0) == []
    assert find_structures([bands], np.zeros(len(bands.X), bool), Stream(0)) == []


@pytest.mark.slow
def test_explanations_name_the_nearest_structures():
    scene = SCENES["line"]
    detector = PreferenceIsolationForest("line", random_state=0).fit(scene.data)
    far = scene.data.max(axis=0) + np.array([3.0, 7.0])
    on, off = detector.explain(np.vstack([scene.data[:1], far]))
    assert not on.anomalous
    assert on.text.startswith("normal (score 0.")
    first = on.nearest[0]
    assert first.sigmas < 4
    assert 0 in detector.structures_[first.structure].members
    assert first.support == detector.structures_[first.structure].support
    assert str(off).startswith("anomalous (score 0.")
    assert off.nearest[0].sigmas > 10
    assert [each.sigmas for each in off.nearest] == sorted(each.sigmas for each in off.nearest)
    assert f"{off.nearest[0].sigmas:.3g} sigmas" in off.text
    assert f"threshold {detector.threshold_:.3f}" in off.text
    detector.set_threshold(0.0)
    assert "but it shares too little" in detector.explain(scene.data[:1])[0].text
    detector.set_threshold(1.0)
    assert "few normal rows score as high, but its" in detector.explain(far[None])[0].text


def test_points_are_explained_if_no_structure_is_found():
    X = np.random.default_rng(0).uniform(size=(40, 4)) * 300
    with np.errstate(all="ignore"):
        detector = PreferenceIsolationForest.paper(
            "fundamental", sigma=1.0, n_models=50, random_state=0
        ).fit(X)
    assert detector.structures_ == []
    assert "no structure was found" in detector.explain(X[:1])[0].text


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 5])
def test_repeated_points_add_no_structures(times):
    scene = make_lines(4, noise=0.01, anomaly_share=0.3, random_state=0)
    X, y = np.repeat(scene.data, times, axis=0), np.repeat(scene.target, times)
    detector = PreferenceIsolationForest("line", random_state=0).fit(X)
    assert len(detector.structures_) == 4
    flagged = detector.labels_ == -1
    assert 2 * np.sum(flagged & (y == 0)) / (flagged.sum() + (y == 0).sum()) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "scene", "sigma"),
    [
        ("line", make_lines(3, sizes=150, noise=0.008, anomaly_share=0.3, random_state=4), 0.008),
        (
            "circle",
            make_circles(2, sizes=200, noise=0.012, anomaly_share=0.3, random_state=4),
            0.012,
        ),
    ],
)
def test_sigma_is_the_noise_of_the_points_of_the_structures(family, scene, sigma):
    detector = PreferenceIsolationForest(family, random_state=0).fit(scene.data)
    assert detector.sigma_ == pytest.approx(sigma, rel=0.25)
    for structure in detector.structures_:
        assert structure.sigma == pytest.approx(sigma, rel=0.35)
    assert detector.sigma_ in [structure.sigma for structure in detector.structures_]
    given = PreferenceIsolationForest(family, sigma=2 * sigma, random_state=0).fit(scene.data)
    assert given.sigma_ == 2 * sigma


def test_the_sigma_of_several_structures_is_their_weighted_median():
    def structure(sigma, support):
        params = np.zeros(4)
        return Structure(get_family("line"), params, 1.0, 9.0, np.arange(support), sigma)

    structures = [structure(3.0, 10), structure(1.0, 4), structure(2.0, 5)]
    assert weighted_sigma(structures, 7.0) == 3.0
    assert weighted_sigma(structures[1:], 7.0) == 2.0
    assert weighted_sigma([], 7.0) == 7.0


def test_the_noise_of_points_exactly_on_a_structure_is_not_known():
    t = np.linspace(0, 1, 50)
    X = np.column_stack([t, 2 * t])
    line = Structure(get_family("line"), np.array([0, 0, 5**-0.5, 2 * 5**-0.5]), 0.1, 9.0, t[:0], 1)
    assert line.with_noise(X, np.arange(50)).sigma == 0.05
    noisy = X + np.random.default_rng(0).normal(0, 0.01, X.shape)
    assert line.with_noise(noisy, np.arange(50)).sigma == pytest.approx(0.01, rel=0.4)
