from __future__ import annotations

import numpy as np
import pytest

import naive
from piforest import PreferenceIsolationForest
from piforest._random import Stream
from piforest.sampling import get_sampler
from piforest.sampling.local import auto_scale

RNG = np.random.default_rng(0)
SCATTERED = RNG.uniform(size=(400, 2))
POINTS = {
    "scattered": SCATTERED[:60],
    "more than a list": SCATTERED,
    "some far": np.where(np.arange(40)[:, None] % 7, RNG.normal(size=(40, 3)), 1e9),
    "a grid with ties": RNG.integers(0, 3, (40, 3)) * 1.0,
    "one point": np.ones((12, 3)),
}


def frequencies(samples, n):
    """The share of the samples that contain each row."""
    return np.bincount(samples.ravel(), minlength=n) / len(samples)


def agree(measured, expected, n_samples):
    error = np.sqrt(expected * (1 - expected) / n_samples)
    return np.all(np.abs(measured - expected) <= 5 * error + 1e-12)


# --- local


@pytest.mark.slow
@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize(("size", "share"), [(1, 1.0), (2, 0.3), (3, 1.0), (8, 1.0)])
@pytest.mark.parametrize("scale", [0.03, 0.2, "auto"])
def test_the_local_sampler_equals_the_naive_one(points, size, share, scale):
    X = POINTS[points]
    width = auto_scale(X) if scale == "auto" else scale
    drawn = get_sampler("local", scale=scale, share=share).draw(X, size, 30, Stream(5))
    assert np.array_equal(drawn, naive.local_samples(Stream(5), X, size, 30, width, share))


def test_neighbours_are_drawn_in_proportion_to_their_weights():
    X, scale, many = SCATTERED[:50], 0.1, 200_000
    pairs = get_sampler("local", scale=scale, share=1.0).draw(X, 2, many, Stream(1))
    gaps = np.linalg.norm(X[:, None] - X, axis=2)
    weights = np.where(gaps <= 3 * scale, np.exp(-(gaps**2) / (2 * scale**2)), 0)
    np.fill_diagonal(weights, 0)
    expected = weights / weights.sum(axis=1, keepdims=True) / len(X)
    measured = np.bincount(pairs @ [50, 1], minlength=2500).reshape(50, 50) / many
    assert agree(measured, expected, many)


def test_neighbours_among_many_points_are_drawn_in_proportion_to_their_weights():
    # There are more points within 3 scales than a list holds; only distances are compared.
    X, scale = np.random.default_rng(2).uniform(size=(20_000, 2)), 0.05
    drawn = get_sampler("local", scale=scale, share=1.0).draw(X, 3, 20_000, Stream(1))
    inside = (np.abs(X[drawn[:, 0]] - 0.5) < 0.35).all(axis=1)
    squares = np.sum((X[drawn[inside, 1]] - X[drawn[inside, 0]]) ** 2, axis=1) / scale**2 / 2
    # The mean of an exponential variable that is truncated at 4.5.
    cut = 4.5 * np.exp(-4.5) / (1 - np.exp(-4.5))
    assert abs(squares.mean() - (1 - cut)) < 5 / np.sqrt(inside.sum())


def test_too_few_neighbours_are_completed_with_the_nearest():
    X = np.array([[0.0], [1], [3], [7], [15], [31], [63], [127]])
    drawn = get_sampler("local", scale=1e-3, share=1.0).draw(X, 3, 200, Stream(0))
    assert np.array_equal(np.unique(drawn[:, 0]), np.arange(8))
    assert {tuple(row) for row in drawn.tolist() if row[0] > 1} == {
        (i, i - 1, i - 2) for i in range(2, 8)
    }
    lonely = get_sampler("local", scale=0.4, share=1.0).draw(X, 8, 20, Stream(0))
    assert (np.sort(lonely, axis=1) == np.arange(8)).all()


def test_the_scale_depends_on_the_units_and_not_on_far_points():
    far = np.concatenate([SCATTERED, [[1e6, 1e6], [-1e9, 0]]])
    assert auto_scale(8 * SCATTERED) == 8 * auto_scale(SCATTERED)
    assert auto_scale(far) == pytest.approx(auto_scale(SCATTERED), rel=0.1)
    assert auto_scale(np.repeat([[0.0, 0.0], [3.0, 4.0]], [9, 1], axis=0)) > 0
    assert auto_scale(np.ones((9, 2))) > 0
    sampler = get_sampler("local")
    drawn = sampler.draw(SCATTERED, 3, 100, Stream(0))
    assert np.array_equal(drawn, sampler.draw(SCATTERED * 2.0**40, 3, 100, Stream(0)))


def test_the_share_of_local_samples_is_kept():
    uniform = get_sampler("uniform").draw(SCATTERED, 3, 1000, Stream(3))
    for share, same in ((0.25, 750), (0.5, 500), (1.0, 0)):
        drawn = get_sampler("local", share=share).draw(SCATTERED, 3, 1000, Stream(3))
        assert np.sum((drawn == uniform).all(axis=1)) == same


# --- weighted


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize(
    "weights", [[1, 1, 1, 1, 1, 1], [8, 0, 1, 5, 0, 3, 1, 2], [0, 0, 1, 1, 64, 1, 1, 0]], ids=str
)
def test_the_weighted_sampler_equals_the_naive_one(weights, size, monkeypatch):
    # The naive sampler draws one lot per unit of weight, so the weights stay small integers.
    monkeypatch.setattr("piforest.sampling.weighted._to_integers", lambda q: q.astype(np.int64))
    quality = np.array(weights, float)
    drawn = get_sampler("weighted").draw(
        np.zeros((len(weights), 2)), size, 200, Stream(5), quality=quality
    )
    assert np.array_equal(drawn, naive.weighted_samples(Stream(5), weights, size, 200))


def test_points_are_drawn_in_proportion_to_their_quality():
    n, many = 30, 100_000
    quality = np.random.default_rng(0).exponential(size=n)
    quality[[3, 17]] = 0
    quality *= 1e-300  # only proportions matter
    share = quality / quality.sum()
    pairs = get_sampler("weighted").draw(np.zeros((n, 2)), 2, many, Stream(1), quality=quality)
    assert agree(frequencies(pairs[:, :1], n), share, many)
    second = np.array([sum(share[i] * share[j] / (1 - share[i]) for i in range(n) if i != j)
                       for j in range(n)])  # fmt: skip
    assert agree(frequencies(pairs[:, 1:], n), second, many)
    assert not np.isin(pairs, [3, 17]).any()


def test_points_of_very_small_quality_are_still_drawn():
    quality = np.array([1e-30, 1e200, 0, 1e-300, 5e-324])
    drawn = get_sampler("weighted").draw(np.zeros((5, 2)), 4, 500, Stream(0), quality=quality)
    assert (np.sort(drawn, axis=1) == [0, 1, 3, 4]).all()
    assert (drawn[:, 0] == 1).all()


# --- stratified


@pytest.mark.parametrize(
    ("n", "size"), [(1, 1), (3, 3), (4, 3), (5, 3), (7, 2), (8, 8), (9, 8), (40, 7)]
)
def test_the_stratified_sampler_equals_the_naive_one_and_is_balanced(n, size):
    drawn = get_sampler("stratified").draw(np.zeros((n, 2)), size, 60, Stream(5))
    assert np.array_equal(drawn, naive.stratified_samples(Stream(5), n, size, 60))
    for upto in (1, 2, 17, 60, -(-n // size)):
        counts = np.bincount(drawn[:upto].ravel(), minlength=n)
        assert counts.max() - counts.min() <= 1
    assert counts.min() >= 1


def test_stratified_pairs_are_all_equally_likely():
    n, many = 7, 70_000
    drawn = np.sort(get_sampler("stratified").draw(np.zeros((n, 2)), 2, many, Stream(1)), axis=1)
    counts = np.bincount(drawn @ [n, 1], minlength=n * n).reshape(n, n)
    assert agree(counts[np.triu_indices(n, 1)] / many, 1 / 21, many)


# --- grouped


@pytest.mark.parametrize(("size", "share"), [(1, 1.0), (2, 0.3), (4, 0.75), (6, 1.0)])
def test_the_grouped_sampler_equals_the_naive_one(size, share):
    groups = np.random.default_rng(0).permutation(np.repeat([5, -1, 2, 9, 7], [12, 6, 3, 8, 1]))
    sampler = get_sampler("grouped", share=share)
    drawn = sampler.draw(np.zeros((30, 2)), size, 300, Stream(5), groups=groups)
    assert np.array_equal(
        drawn, naive.grouped_samples(Stream(5), groups.tolist(), size, 300, share)
    )
    if share == 1:
        assert (groups[drawn] == groups[drawn[:, :1]]).all()


def test_groups_are_drawn_in_proportion_to_their_size():
    many, groups = 50_000, np.repeat([0, 1, 2, 3], [20, 10, 5, 2])
    sampler = get_sampler("grouped")
    drawn = sampler.draw(np.zeros((37, 2)), 3, many, Stream(1), groups=groups)
    assert agree(frequencies(groups[drawn[:, :1]], 4), np.array([20, 10, 5, 0]) / 35, many)
    assert agree(frequencies(drawn, 37), np.where(groups < 3, 3 / 35, 0), many)


@pytest.mark.slow
def test_groups_may_be_names():
    numbers = np.repeat([0, 1, 2], [15, 10, 5])
    fits = [
        PreferenceIsolationForest(
            sampler="grouped",
            sigma=0.1,
            n_models=50,
            n_estimators=5,
            contamination=0.1,
            random_state=0,
        ).fit(SCATTERED[:30], groups=groups)
        for groups in (numbers, np.array(["left", "middle", "right"])[numbers].tolist())
    ]
    assert np.array_equal(fits[0].scores_, fits[1].scores_)


# --- errors and model files


@pytest.mark.parametrize("name", ["uniform", "mixed", "local", "stratified", "weighted"])
def test_unused_groups_are_rejected(name):
    with pytest.raises(ValueError, match=f"sampler '{name}' does not use groups.*'grouped'"):
        get_sampler(name).draw(SCATTERED, 2, 3, Stream(0), groups=np.zeros(400, int))


@pytest.mark.parametrize("name", ["uniform", "mixed", "local", "stratified", "grouped"])
def test_an_unused_quality_is_rejected(name):
    with pytest.raises(ValueError, match=f"sampler '{name}' does not use quality.*'weighted'"):
        get_sampler(name).draw(SCATTERED, 2, 3, Stream(0), quality=np.ones(400))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("local", {"scale": 0}, "scale must be a finite number above 0, got 0. scale='auto'"),
        ("local", {"scale": "wide"}, "scale must be a finite number above 0, got 'wide'"),
        ("local", {"share": 0}, r"share of the samples must be in \(0, 1\], got 0"),
        ("grouped", {"share": 1.5}, r"share of the samples must be in \(0, 1\], got 1.5"),
        ("grouped", {"share": np.nan}, "got nan.*sampler='uniform'"),
        ("grouped", {"share": True}, "got True"),
    ],
)
def test_invalid_options_raise_an_error_that_names_them(name, options, message):
    with pytest.raises(ValueError, match=message):
        get_sampler(name, **options)


@pytest.mark.parametrize(
    ("quality", "message"),
    [
        ([1, 2, -3, 4], r"quality must be finite numbers of at least 0, got -3.0 for row 2.*1 - "),
        ([1, np.nan, 3, 4], "got nan for row 1"),
        ([1, 2, 3, np.inf], "got inf for row 3"),
        ([0, 0, 3, 4], "above 0 for at least 3 points.*it is for 2 of 4.*sampler='uniform'"),
        ([1, 2, 3], r"quality must have shape \(4,\), got \(3,\)"),
    ],
)
def test_an_invalid_quality_raises_an_error_that_names_the_row(quality, message):
    with pytest.raises(ValueError, match=message):
        get_sampler("weighted").draw(
            np.zeros((4, 2)), 3, 5, Stream(0), quality=np.array(quality, float)
        )


def test_groups_that_are_all_too_small_raise_an_error():
    sampler = get_sampler("grouped")
    with pytest.raises(ValueError, match=r"at least 3 points.*the largest of 3 has 2. Merge"):
        sampler.draw(np.zeros((5, 2)), 3, 5, Stream(0), groups=np.array([0, 0, 1, 1, 2]))
    with pytest.raises(ValueError, match=r"groups must have shape \(5,\)"):
        sampler.draw(np.zeros((5, 2)), 3, 5, Stream(0), groups=np.zeros(4))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options", "given"),
    [
        ("local", {"scale": 0.2, "share": 0.75}, {}),
        ("weighted", {}, {"quality": np.arange(60.0)}),
        ("stratified", {}, {}),
        ("grouped", {"share": 0.5}, {"groups": np.arange(60) % 4}),
    ],
)
def test_a_detector_is_saved_with_the_options_of_its_sampler(name, options, given, tmp_path):
    sampler = get_sampler(name, **options)
    detector = PreferenceIsolationForest(
        sampler=sampler, sigma=0.1, n_models=50, n_estimators=5, contamination=0.1, random_state=0
    ).fit(SCATTERED[:60], **given)
    detector.save(tmp_path / "m")
    loaded = PreferenceIsolationForest.load(tmp_path / "m")
    assert loaded.sampler == sampler
    assert np.array_equal(loaded.anomaly_score(SCATTERED), detector.anomaly_score(SCATTERED))
