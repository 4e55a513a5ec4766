"""Labels against slow loops, and values at the limits of each rule."""

from __future__ import annotations

import numpy as np
import pytest

from naive import labels as naive
from piforest._random import Stream
from piforest.families import get_family
from piforest.labels import thresholds
from piforest.labels import votes as rules


def depths_of(seed):
    """Two or three peaks of different sizes, with far points and ties."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 60, 3)
    parts = [rng.normal(rng.uniform(0.2, 3), rng.uniform(0.02, 0.4), size) for size in sizes]
    depths = np.abs(np.concatenate([*parts, rng.uniform(0, 5, 3)]))
    return np.round(depths, 2) if seed % 3 == 0 else depths


@pytest.mark.parametrize("seed", range(6))
def test_the_density_is_that_of_a_loop(seed):
    depths = depths_of(seed)
    for first, last, width in ((1.0, 2.0, 0.1), (0.0, 0.3, 0.05), (2.0, 6.0, 0.3)):
        grid = np.arange(first, last, width / 4)
        found = rules._density(depths, grid, width)
        np.testing.assert_allclose(found, naive.density(depths, grid, width), rtol=1e-9, atol=1e-9)


def test_the_density_is_a_sum_of_gaussians():
    depths, grid = np.linspace(0, 3, 40), np.linspace(0.5, 2.5, 30)
    expected = np.exp(-(((grid[:, None] - depths) / 0.4) ** 2) / 2).sum(axis=1)
    np.testing.assert_allclose(rules._density(depths, grid, 0.4), expected, rtol=0.01)


def test_points_at_the_ends_of_the_histogram_count_or_do_not():
    """Bins are 1 wide. The first begins 40 before the grid, the last ends 41 behind it."""
    grid = np.array([0.0, 2.0, 4.0])
    for depth, counts in ((-40.01, 0), (-39.99, 1), (44.99, 1), (45.01, 0), (85.0, 0), (86.0, 0)):
        found = rules._density(np.array([depth, 85.5, -41.0]), grid, 8.0)
        expected = naive.density(np.array([depth, 85.5, -41.0]), grid, 8.0)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        assert (found.max() > 0) == bool(counts)


@pytest.mark.parametrize("seed", range(20))
def test_cuts_move_to_the_valleys_of_a_loop(seed):
    depths = depths_of(seed)
    for cut in np.random.default_rng(seed).uniform(0.1, 3, 2):
        for farthest in (0.0, 1.0, 5.0):
            expected = naive.valley(depths, cut, farthest)
            assert rules.move_to_valley(depths, cut, farthest) == pytest.approx(expected, rel=1e-12)


def test_a_peak_exactly_at_the_farthest_depth_is_one_of_anomalies():
    rng = np.random.default_rng(0)
    depths = np.concatenate([rng.normal(1, 0.1, 300), rng.normal(2, 0.1, 300)])
    moved = rules.move_to_valley(depths, 0.85, 1.3)
    width = 0.45 * naive.spread(depths) / 600**0.2
    grid = np.arange(0.85, depths.max() + width, width / 4)
    peak = grid[np.flatnonzero(np.diff(naive.density(depths, grid, width)) < 0)[0]]
    assert rules.move_to_valley(depths, 0.85, peak) == moved > 1.2
    assert rules.move_to_valley(depths, 0.85, np.nextafter(peak, 0)) == 0.85


def test_cuts_that_cannot_move():
    few = np.array([1.0, 1.0, 1.0, 1.0, 2.0])
    assert rules.move_to_valley(np.ones(10), 1.0, 1.0) == 1.0
    assert rules.move_to_valley(few, 1.9, 9.0) == pytest.approx(naive.valley(few, 1.9, 9.0))
    assert rules.move_to_valley(few, 2.3, 9.0) == 2.3
    assert rules.move_to_valley(few, 0.9, 9.0) == pytest.approx(naive.valley(few, 0.9, 9.0))


def scenes(seed):
    """Scores of normal points, of anomalies and of random points, and who is far."""
    rng = np.random.default_rng(seed)
    normal, odd = rng.integers(20, 150), rng.integers(0, 90)
    scores = np.concatenate([rng.uniform(0.2, 0.5, normal), rng.uniform(0.35, 0.9, odd)])
    null = rng.uniform(rng.uniform(0.3, 0.6), 0.95, rng.integers(20, 80))
    if seed % 2:
        scores, null = np.round(scores, 2), np.round(null, 2)
    far = rng.random(len(scores)) < np.where(np.arange(len(scores)) < normal,
                                             rng.choice([0.02, 0.3, 0.6]), 0.8)  # fmt: skip
    return scores, null, far, rng.random(50) > rng.choice([0.0, 0.01, 0.03, 0.06, 0.3, 0.9])


@pytest.mark.parametrize("seed", range(80))
def test_votes_are_those_of_a_loop(seed):
    arguments = scenes(seed)
    expected = naive.votes(*arguments, rules.best_cut, rules.move_to_valley)
    assert np.array_equal(rules.votes(*arguments), expected)


class TestVotes:
    """Ten or more points are flagged by score; the valley is at a given depth."""

    def voted(self, monkeypatch, scores, far, covered=0.0, cut=0.5, moved=None):
        null = np.linspace(0.01, 1, 249)  # p is k / 250
        monkeypatch.setattr(rules, "best_cut", lambda p: cut)
        asked = []

        def move(depths, at, farthest):
            asked.append((at, farthest))
            return at if moved is None else moved

        monkeypatch.setattr(rules, "move_to_valley", move)
        null_far = np.arange(250) >= round(250 * covered)
        return rules.votes(np.asarray(scores), null, np.asarray(far), null_far), asked

    def test_nine_flagged_points_are_too_few(self, monkeypatch):
        for flagged in (9, 10):
            scores = np.r_[np.full(20, 0.3), np.full(flagged, 0.9)]
            found, asked = self.voted(monkeypatch, scores, np.zeros(20 + flagged, bool))
            assert found.sum() == (flagged if flagged == 10 else 0)
            assert len(asked) == (flagged == 10)

    def test_the_peak_of_anomalies_is_before_a_quantile_of_random_points(self, monkeypatch):
        scores, far = np.r_[np.full(90, 0.3), np.full(10, 0.9)], np.zeros(100, bool)
        null = np.linspace(0.01, 1, 249)
        for covered, share in ((0.0, 0.05), (0.02, 0.05), (0.028, 0.056), (0.4, 0.8), (0.6, 1.0)):
            _, ((cut, farthest),) = self.voted(monkeypatch, scores, far, covered)
            assert farthest == pytest.approx(np.quantile(-np.log2(null), 1 - share))
            assert cut == pytest.approx((-np.log2(0.9) - np.log2(0.3)) / 2)

    def test_all_points_may_be_flagged(self, monkeypatch):
        found, asked = self.voted(monkeypatch, np.full(20, 0.9), np.zeros(20, bool))
        assert found.all()
        assert asked == []

    def test_a_depth_at_the_cut_is_not_flagged(self, monkeypatch):
        scores = np.r_[np.full(5, 0.25), np.full(15, 0.75)]
        found, _ = self.voted(monkeypatch, scores, np.zeros(20, bool), moved=-np.log2(0.75))
        assert not found.any()
        found, _ = self.voted(monkeypatch, scores, np.zeros(20, bool), moved=0.5)
        assert found.tolist() == (scores == 0.75).tolist()

    @pytest.mark.parametrize(
        ("covered", "limit"), [(0.0, 5), (0.008, 5), (0.02, 10), (0.04, 20), (0.06, 25), (0.5, 25)]
    )
    def test_p_values_beyond_a_limit_are_those_of_random_points(self, monkeypatch, covered, limit):
        """The first vote flags nothing; far points with p above limit / 250 have two votes."""
        null = np.linspace(0.01, 1, 249)
        scores = np.r_[null[[limit - 3, limit - 2, limit - 1, limit]], np.full(60, 0.99)]
        far = np.arange(64) < 4
        found, _ = self.voted(monkeypatch, scores, far, covered, cut=0.9, moved=-1.0)
        assert found[:4].tolist() == [False, False, True, True]
        assert not found[4:].any()

    def test_many_far_points_raise_the_limit(self, monkeypatch):
        null = np.linspace(0.01, 1, 249)
        scores = np.r_[null[[3, 4, 23]], np.full(61, 0.99)]
        for n_far, expected in ((32, [False, True, True]), (33, [False, False, False])):
            far = np.r_[[True] * 3, np.arange(61) < n_far - 3]
            found, _ = self.voted(monkeypatch, scores, far, cut=0.9, moved=-1.0)
            assert found[:3].tolist() == expected
        scores[2] = null[24]
        assert self.voted(monkeypatch, scores, far, cut=0.9, moved=-1.0)[0][:3].tolist() == [
            False, False, True]  # fmt: skip

    def test_only_a_minority_of_anomalies_may_be_a_small_structure(self, monkeypatch):
        """Ten are near a structure, where random points never are."""
        for anomalous, kept in ((29, 19), (30, 30)):
            scores = np.r_[np.full(100 - anomalous, 0.02), np.full(anomalous, 0.9)]
            far = np.arange(100) >= 110 - anomalous
            found, _ = self.voted(monkeypatch, scores, far)
            assert found.sum() == kept


def test_more_near_points_than_random_ones_would_be():
    """A fifth of random points is near: a quarter of those that are far. 25 + 3 sqrt(25) + 5."""

    def too_many(near, far, covered):
        anomalous = np.ones(near + far + 3, bool)
        anomalous[-3:] = False
        return rules._too_many_near(anomalous, np.arange(near + far + 3) >= near, covered)

    assert not too_many(45, 100, 0.2)
    assert too_many(46, 100, 0.2)
    assert not too_many(5, 40, 0.0)
    assert too_many(6, 40, 0.0)
    assert not too_many(5, 0, 1.0)
    assert too_many(6, 0, 1.0)
    assert not too_many(500, 1, 1.0)


def test_missed_points_are_added_if_they_are_many():
    def added(n, voted, beyond, both=0):
        """The number of points that were added."""
        votes, outside = np.zeros(n, bool), np.zeros(n, bool)
        votes[:voted] = True
        outside[voted - both : voted + beyond] = True
        return int(rules.with_missed(votes, outside).sum()) - voted

    assert added(1000, 2, 7) == 0
    assert added(1000, 2, 8) == 8
    assert added(1600, 2, 8) == 8
    assert added(2000, 2, 9) == 0
    assert added(2000, 2, 10) == 10
    assert added(1000, 12, 8) == 8
    assert added(1000, 13, 7) == added(1000, 26, 14) == 0  # exactly 65 %
    assert added(1000, 25, 14) == 14
    assert added(1000, 30, 14) == 0
    assert added(100, 10, 40, both=10) == 40
    assert added(100, 10, 41, both=10) == 0


def test_rows_far_beyond_count_unless_they_are_most_rows_and_hardly_voted():
    gross = np.arange(10) < 5
    voted = np.arange(10) == 7
    assert rules.with_gross(voted, gross).tolist() == (gross | voted).tolist()
    most = np.arange(10) < 6
    assert rules.with_gross(voted, most).tolist() == voted.tolist()
    four, five = (np.isin(np.arange(10), [*range(k), 7]) for k in (4, 5))
    assert rules.with_gross(four, most).tolist() == four.tolist()
    assert rules.with_gross(five, most).tolist() == (most | five).tolist()


def test_p_values_and_rates():
    null = np.array([0.2, 0.4, 0.4, 0.8])
    found = rules.chance_p_values(np.array([0.1, 0.2, 0.4, 0.9]), null)
    assert found.tolist() == [0.2, 0.4, 0.8, 1.0]
    assert rules.anomaly_rate(np.array([0.3, 0.3, 0.3, 0.31])) == pytest.approx(0.25 / 0.7)
    assert rules.anomaly_rate(np.ones(4)) == 1.0
    assert rules.anomaly_rate(np.array([0.35, 0.36, 0.1, 0.1])) == pytest.approx(0.5 / 0.7)
    assert rules.best_cut(np.full(9, 0.3)) == 1.0
    assert rules.best_cut(np.r_[np.full(9, 0.1), 0.9]) == 0.1


def test_random_points_are_drawn_from_the_box_of_98_percent():
    X = np.column_stack([np.linspace(0, 100, 101), np.linspace(-1, 1, 101)])
    low, high = rules.box(X)
    np.testing.assert_allclose(low, [1.0, -0.98])
    np.testing.assert_allclose(high, [99.0, 0.98])
    points = rules.null_points(X, get_family("line"), Stream(0))
    assert points.shape == (250, 2)
    assert ((points >= low) & (points <= high)).all()
    assert (points.max(axis=0) - points.min(axis=0) > 0.95 * (high - low)).all()


class TestScoreThreshold:
    """The deep valley, where it is sought, is at 0.125."""

    def found(self, monkeypatch, flagged, n=100, covered=0.05, ceiling=1.0, agreed=None):
        scores = np.where(np.arange(n) < flagged, 0.75, 0.25)
        anomalous = np.arange(n) < (flagged if agreed is None else agreed)
        monkeypatch.setattr(rules, "best_f1_threshold", lambda scores, anomalous: 0.5)
        seen = []

        def deep(scores, threshold):
            seen.append(scores.max())
            return 0.125

        monkeypatch.setattr(rules, "_deep_valley", deep)
        found = rules.score_threshold(scores, anomalous, ceiling, covered)
        assert seen in ([], [min(0.75, ceiling)])
        return found

    def test_for_20_anomalies_where_random_points_are_rarely_on_a_structure(self, monkeypatch):
        assert self.found(monkeypatch, 20) == 0.125
        assert self.found(monkeypatch, 19) == 0.5
        assert self.found(monkeypatch, 99) == 0.125
        assert self.found(monkeypatch, 100) == 0.5
        assert self.found(monkeypatch, 20, covered=np.nextafter(0.05, 1)) == 0.5
        assert self.found(monkeypatch, 20, covered=0.0) == 0.125

    def test_below_the_ceiling(self, monkeypatch):
        assert self.found(monkeypatch, 20, ceiling=0.5) == 0.5
        assert self.found(monkeypatch, 20, ceiling=0.501) == 0.125

    def test_a_threshold_has_to_agree_with_the_votes(self, monkeypatch):
        """30 flagged points, of which 6 are anomalous: 12 of 36; 4.85 would be too few."""
        assert self.found(monkeypatch, 30, agreed=6) == 0.125
        assert self.found(monkeypatch, 17, agreed=3) == 0.5  # 6 of 20
        assert self.found(monkeypatch, 30, agreed=5) == 1.0  # 10 of 35
        assert self.found(monkeypatch, 30, agreed=0) == 1.0
        assert self.found(monkeypatch, 0, agreed=0) == 0.5


def test_agreement_is_the_f1_score():
    flagged = np.array([True, True, False, False, True])
    anomalous = np.array([True, False, True, False, True])
    assert rules.agreement(flagged, anomalous) == pytest.approx(4 / 6)
    assert rules.agreement(flagged, ~flagged) == 0.0
    assert rules.agreement(flagged & ~flagged, flagged & ~flagged) == 1.0


@pytest.mark.parametrize("seed", range(30))
def test_thresholds_move_to_the_deep_valleys_of_a_loop(seed):
    rng = np.random.default_rng(seed)
    n, gap = rng.integers(20, 80), rng.choice([0.1, 0.3, 0.6, 1.0])
    odd = np.abs(rng.normal(0.5, rng.choice([0.0, 0.02, 0.1]), n))
    normal = rng.normal(0.9 + gap, 0.1, 150)
    between = rng.uniform(0.5, 0.9 + gap, rng.choice([0, 2, 8, 20]))
    scores = 2.0 ** -np.maximum(np.concatenate([odd, normal, between]), 0.01)
    for threshold in 2.0 ** -np.array([0.52, 0.6, 0.75]):
        if (scores > threshold).any():
            expected = naive.deep_valley(scores, threshold)
            assert rules._deep_valley(scores, threshold) == pytest.approx(expected, rel=1e-12)


class TestThresholds:
    @pytest.mark.parametrize("seed", range(40))
    def test_no_threshold_has_a_better_f1_score(self, seed):
        rng = np.random.default_rng(seed)
        scores = rng.integers(1, 9, rng.integers(1, 12)) / 9
        anomalous = rng.random(len(scores)) < rng.choice([0.0, 0.2, 0.7, 1.0])
        threshold = thresholds.best_f1_threshold(scores, anomalous)
        reached = naive.f1(scores > threshold, anomalous)
        assert reached == pytest.approx(naive.best_f1(scores, anomalous))
        above, below = scores[scores > threshold], scores[scores <= threshold]
        if not anomalous.any():
            assert threshold == scores.max()
        elif len(below):
            assert threshold == pytest.approx((above.min() + below.max()) / 2)
        else:
            assert threshold == np.nextafter(scores.min(), 0)

    def test_the_first_of_equal_f1_scores(self):
        scores, anomalous = np.array([0.9, 0.5, 0.4, 0.1]), np.array([True, False, False, True])
        assert thresholds.best_f1_threshold(scores, anomalous) == pytest.approx(0.7)

    def test_one_score_and_equal_scores_are_not_exceeded(self):
        for values in ([0.3], [0.3, 0.3]):
            assert thresholds.otsu(np.array(values)) == 0.3
            assert thresholds.share(np.array(values), 0.5) == 0.3
            assert thresholds.share(np.array(values), 0.999) == 0.3
        assert thresholds.best_f1_threshold(np.array([0.3]), np.zeros(1, bool)) == 0.3

    def test_scores_that_differ_by_the_least_are_divided(self):
        assert thresholds.otsu(np.array([0.0, 5e-324])) == 0.0

    def test_shares(self):
        values = np.array([0.1, 0.2, 0.3, 0.3, 0.5])
        for contamination, threshold in ((0.1, 0.5), (0.2, 0.4), (0.4, 0.4), (0.5, 0.4),
                                         (0.6, 0.25), (0.8, 0.15), (0.99, 0.15)):  # fmt: skip
            assert thresholds.share(values, contamination) == pytest.approx(threshold)
        assert thresholds.share(np.array([0.1, 0.5, 0.5]), 0.34) == pytest.approx(0.3)

    @pytest.mark.parametrize("low", [0.5, np.nextafter(0.5, 1), 0.1, 1e-300, 5e-324, 0.0])
    def test_midway_is_never_the_upper_one(self, low):
        high = np.nextafter(low, 1)
        assert thresholds.midway(low, high) == low
        assert thresholds.midway(low, low + 1) == pytest.approx(low + 0.5)
