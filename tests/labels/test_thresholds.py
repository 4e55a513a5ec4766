from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piforest.labels import thresholds

# Few different values, so that ties are frequent.
scores = st.lists(st.integers(1, 12).map(lambda k: k / 13), min_size=2, max_size=40).map(np.array)


def flagged(values, threshold):
    return int(np.sum(values > threshold))


@given(scores, st.floats(0.001, 0.999))
def test_a_share_flags_as_many_scores_as_allowed(values, contamination):
    threshold = thresholds.share(values, contamination)
    n = flagged(values, threshold)
    allowed = np.floor(contamination * len(values) + 1e-9)
    top = np.sum(values == values.max())
    if top == len(values) or allowed == 0:
        assert n == 0
    elif top > allowed:
        assert n == top
    else:
        assert n <= allowed
        # The next block of ties would exceed the share.
        kept = values[values <= threshold]
        if len(kept):
            assert n + np.sum(kept == kept.max()) > allowed or n + np.sum(
                kept == kept.max()
            ) == len(values)


@pytest.mark.slow
@given(scores, st.floats(0.001, 0.999))
def test_thresholds_are_midway_between_adjacent_scores(values, contamination):
    for threshold in (thresholds.share(values, contamination), thresholds.otsu(values)):
        above, below = values[values > threshold], values[values <= threshold]
        if len(above):
            assert threshold == pytest.approx((above.min() + below.max()) / 2)


@pytest.mark.slow
@given(scores)
def test_otsu_minimises_the_variance_within_the_classes(values):
    def within(t):
        above, below = values[values > t], values[values <= t]
        return len(above) * above.var() + len(below) * below.var()

    cuts = np.unique(values)[:-1]
    if len(cuts):
        best = min(within(t) for t in cuts)
        assert within(thresholds.otsu(values)) == pytest.approx(best, abs=1e-9)
    else:
        assert flagged(values, thresholds.otsu(values)) == 0


def test_a_share_of_scores_without_ties_is_exact():
    values = np.random.default_rng(0).permutation(300) / 300
    for k in (1, 30, 299):
        assert flagged(values, thresholds.share(values, k / 300)) == k


def test_a_share_is_not_lost_to_rounding():
    assert 0.29 * 100 < 29
    values = np.arange(100.0)
    assert flagged(values, thresholds.share(values, 0.29)) == 29


def test_midway_of_neighbouring_floats_still_separates():
    low = 0.5
    high = np.nextafter(low, 1)
    assert low <= thresholds.midway(low, high) < high
