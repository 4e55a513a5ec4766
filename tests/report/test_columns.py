"""Columns and cuts as the report's page holds them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piforest.report.columns import column, numbers, unmasked
from piforest.report.payload import threshold_table
from report_pages import decoded


@given(st.lists(st.floats(width=64, allow_nan=False), min_size=1, max_size=20))
def test_every_float_comes_back(values):
    values = np.array(values)
    assert np.array_equal(decoded(numbers(values)), values)
    assert np.array_equal(np.signbit(decoded(numbers(values))), np.signbit(values))


@pytest.mark.slow
@given(st.lists(st.integers(-(10**7), 10**7), min_size=1), st.integers(0, 6))
def test_decimals_take_at_most_four_bytes_where_they_are_short(values, digits):
    values = np.array(values) / 10.0**digits
    packed = numbers(values)
    assert np.array_equal(decoded(packed), values)
    assert packed["kind"] in ("u8", "u16", "i16", "i32")


def test_missing_values_and_integers_beyond_floats_are_unchanged():
    assert np.isnan(decoded(numbers(np.array([1.5, np.nan])))[1])
    assert column("id", np.array([2**60 + 1, 5]))["text"] == [str(2**60 + 1), "5"]
    assert column("flag", np.array([True, False]))["text"] == ["True", "False"]
    assert column("when", np.array(["2024-01-02"], "datetime64[D]"))["text"] == ["2024-01-02"]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([2**60 + 1, 2**60 + 2], [str(2**60 + 1), ""]),
        ([True, False], ["True", ""]),
        (["a", "b"], ["a", ""]),
        (np.array(["2024-01-02", "2024-01-03"], "M8[D]"), ["2024-01-02", ""]),
        (np.array(["2024-01-02", "2024-01-03"], "M8[ns]"), ["2024-01-02T00:00:00.000000000", ""]),
    ],
)
def test_masked_values_are_empty_text(values, texts):
    masked = np.ma.masked_array(values, [False, True])
    assert column("any", unmasked(masked))["text"] == texts


@pytest.mark.parametrize("kind", ["u1", "i4", "i8", "f4", "f8"])
def test_masked_numbers_become_nan(kind):
    masked = np.ma.masked_array([3, 7, 5], [False, True, False], kind)
    assert np.array_equal(decoded(column("any", unmasked(masked))), [3, np.nan, 5], equal_nan=True)
    nothing = np.ma.masked_array([3, 7, 5], True, kind)
    assert np.isnan(decoded(column("any", unmasked(nothing)))).all()


@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-9, 1e6, 0.0])
def test_the_counts_above_every_threshold_are_those_of_numpy(spread):
    scores = 0.5 + spread * np.random.default_rng(0).uniform(size=500)
    table = threshold_table(scores, float(np.median(scores)))
    steps = (table["first"] + np.arange(len(decoded(table["above"])))) / table["scale"]
    assert np.array_equal(decoded(table["above"]), [(scores > step).sum() for step in steps])
    assert decoded(table["above"])[0] == len(scores)
    assert decoded(table["above"])[-1] == 0
    assert table["flagged"] == (scores > np.median(scores)).sum()
    assert len(steps) <= 10_003


def test_a_threshold_outside_the_scores_is_counted_too():
    scores = np.array([0.4, 0.5, 0.6])
    for threshold, flagged in ((0.9, 0), (1e9, 0), (-5.0, 3)):
        table = threshold_table(scores, threshold)
        assert table["flagged"] == flagged
        assert len(decoded(table["above"])) <= 10_003


def test_a_threshold_on_a_step_is_the_same_on_the_page_and_in_python():
    """The page divides whole numbers; JSON must hand it the same ones."""
    table = json.loads(json.dumps(threshold_table(np.linspace(0.4, 0.8, 50), 0.6)))
    assert table["scale"] == 10_000
    assert isinstance(table["first"], int)
