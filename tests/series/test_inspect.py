"""Series: scores in sliding windows, gaps and runs."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from piforest.series.inspect import inspect_series
from piforest.series.runs import find_runs, gaps_of, running_mean


def series(n=500, seed=0):
    """Three channels that follow one load, with a fault of the second in rows 300 to 319."""
    rng = np.random.default_rng(seed)
    t = np.arange(float(n))
    load = 3 * np.sin(t / 40)
    values = np.column_stack([load, 2 * load, -load]) + 0.05 * rng.normal(size=(n, 3))
    values[300:320, 1] += 2
    return t, values


def test_a_fault_of_one_channel_is_one_run_with_its_name():
    t, values = series()
    found = inspect_series(t, values, names=["a", "b", "c"], min_rows=5, random_state=0)
    (run,) = found.runs
    assert (run.first, run.last, run.n_rows) == (300, 319, 20)
    assert (run.start, run.end) == (300.0, 319.0)
    assert 300 <= run.peak <= 319
    assert run.score == found.scores[300:320].max()


@pytest.mark.slow
def test_units_of_the_channels_do_not_matter():
    t, values = series()
    plain = inspect_series(t, values, random_state=0)
    other = inspect_series(1024 * t, values * [64, 0.25, 8], random_state=0)
    np.testing.assert_allclose(other.scores, plain.scores, rtol=1e-6)
    assert (other.flagged == plain.flagged).all()


@pytest.mark.slow
def test_one_seed_gives_one_result_with_any_number_of_threads():
    t, values = series()
    one, two = (inspect_series(t, values, random_state=3, n_jobs=n) for n in (1, 2))
    assert (one.scores == two.scores).all()
    assert one.runs == two.runs


def test_a_lasting_fault_is_found_with_a_reference():
    t, values = series()
    values[300:, 1] += 2
    found = inspect_series(t, values, reference=200, random_state=0)
    assert found.threshold_source == "reference"
    assert found.flagged[:200].mean() <= 0.01
    assert found.flagged[320:].all()
    # The load moves each channel by more than the fault does.
    assert found.runs[-1].channel == "x1"
    assert found.runs[-1].shift == pytest.approx(2, abs=0.2)
    assert "than the other channels tell" in found.runs[-1].reason


def test_a_channel_that_starts_to_change_after_the_reference_counts():
    t, values = series()
    values[300:320, 1] -= 2
    values = np.column_stack([values, np.where(t < 350, 5.0, 7.0)])
    found = inspect_series(t, values, reference=250, smooth=1, random_state=0)
    assert found.flagged[350:].mean() > 0.9
    assert found.constant == []


@pytest.mark.slow
def test_constant_channels_are_left_out():
    t, values = series()
    found = inspect_series(t, np.column_stack([values, np.full(500, 4.0)]), random_state=0)
    assert found.constant == ["x3"]
    assert (found.scores == inspect_series(t, values, random_state=0).scores).all()


@pytest.mark.slow
@pytest.mark.parametrize("family", ["auto", "polynomial", "linear_regression"])
def test_one_channel_is_a_function_of_the_time(family):
    rng = np.random.default_rng(0)
    t = np.arange(500.0)
    level = t / 100 + 0.02 * rng.normal(size=500)
    level[250:254] += 3
    found = inspect_series(t, level, family=family, contamination=0.02, random_state=0)
    assert found.flagged[250:254].all()


def bad_cases():
    t, values = series()
    back = t.copy()
    back[100] = 3
    missing = values.copy()
    missing[7, 1] = np.nan
    return {
        r"times must not run backwards: times\[100\] is": (back, values, {}),
        r"values must be finite numbers, values\[7\] is none": (t, missing, {}),
        "all channels are constant": (t, np.ones((500, 2)), {}),
        "needs at least 20 rows to fit, got 12": (t[:12], values[:12], {}),
        "needs at least 20 rows to fit, got 15": (t, values, {"reference": 15}),
        "reference must be at most the number of rows": (t, values, {"reference": 501}),
        "reference needs at least two channels": (t, values[:, 0], {"reference": 99}),
        "cannot be used with reference": (
            t, values[:, 0], {"family": "linear_regression", "reference": 99}),
        "takes one channel, got 3": (t, values, {"family": "polynomial"}),
        "needs more channels than that, got 1": (t, values[:, 0], {"family": "subspace"}),
        "times are all equal": (0 * t, values, {}),
        "names must be 3 different names": (t, values, {"names": ["a", "a", "b"]}),
        "times must have shape": (t[:9], values, {}),
        "smooth must be": (t, values, {"smooth": 0}),
        "false_alarm_rate must be": (t, values, {"false_alarm_rate": 1}),
    }  # fmt: skip


@pytest.mark.parametrize("message", bad_cases())
def test_bad_input_is_named(message):
    t, values, options = bad_cases()[message]
    with pytest.raises(ValueError, match=message):
        inspect_series(t, values, **options)


def test_runs_and_means_end_at_gaps():
    times = np.array([0, 1, 2, 3, 100, 101, 102.0])
    gaps = gaps_of(times)
    assert gaps.tolist() == [4]
    mean = running_mean(np.array([0, 0, 0, 0, 6, 6, 6.0]), 3, gaps)
    assert mean.tolist() == [0, 0, 0, 0, 6, 6, 6]
    flagged = np.array([False, False, True, True, True, False, False])
    runs = find_runs(times, times[:, None], ["a"], np.arange(7.0), flagged, gaps, None)
    assert [(run.first, run.last, run.peak) for run in runs] == [(2, 3, 3.0), (4, 4, 100.0)]


@pytest.mark.slow
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=30), st.integers(1, 9), st.data())
def test_the_running_mean_is_the_mean_of_the_rows_around(values, width, data):
    n = len(values)
    gaps = sorted(data.draw(st.sets(st.integers(1, n - 1), max_size=3))) if n > 1 else []
    part = np.searchsorted(gaps, np.arange(n), side="right")
    found = running_mean(np.array(values, float), width, np.array(gaps, int))
    for i in range(n):
        near = [
            values[j]
            for j in range(max(0, i - (width - 1) // 2), min(n, i + width // 2 + 1))
            if part[j] == part[i]
        ]
        assert found[i] == pytest.approx(np.mean(near), abs=1e-9)


@pytest.mark.slow
@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_runs_hold_each_flagged_row_once(flags):
    flagged, n = np.array(flags), len(flags)
    runs = find_runs(
        np.arange(float(n)), np.zeros((n, 1)), ["a"], np.zeros(n), flagged, np.empty(0, int), None
    )
    rows = [row for run in runs for row in range(run.first, run.last + 1)]
    assert rows == np.flatnonzero(flagged).tolist()
    assert all(b.first > a.last + 1 for a, b in pairwise(runs))


@pytest.mark.slow
@given(st.integers(0, 4), st.integers(0, 99), st.sampled_from([-3.0, 3.0]))
def test_the_channel_with_the_fault_is_the_reason(channel, seed, size):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(200, 5))
    # Channels of which one tells the other exactly cannot be told apart.
    precision = np.linalg.inv(np.cov(rows.T))
    noise = np.sqrt(np.diag(precision))
    partial = np.abs(precision / np.outer(noise, noise))
    assume(np.max(partial - np.eye(5)) < 0.8)
    rows[150:170, channel] += size
    flagged = np.zeros(200, bool)
    flagged[150:170] = True
    names = list("abcde")
    (run,) = find_runs(
        np.arange(200.0), rows, names, np.zeros(200), flagged, np.empty(0, int), None
    )
    assert run.channel == names[channel]
    assert run.shift * size > 0
