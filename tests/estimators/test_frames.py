"""Data frames with columns that hold no numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from piforest import (
    PreferenceEmbedding,
    PreferenceIsolationForest,
    StreamingPreferenceIsolationForest,
    propose_families,
)

RNG = np.random.default_rng(0)
NUMBERS = {"size": RNG.normal(size=40), "price": RNG.normal(size=40)}
DATES = pd.DataFrame({**NUMBERS, "day": pd.date_range("2024-01-01", periods=40)})
TEXT = pd.DataFrame({**NUMBERS, "flat": ["1", None, *(f"flat {k:03d}" for k in range(38))]})
FITS = [
    PreferenceIsolationForest().fit,
    PreferenceIsolationForest("line").fit,
    PreferenceEmbedding("line").fit,
    StreamingPreferenceIsolationForest("line").fit,
    propose_families,
]


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("frame", [lambda X: X, pl.from_pandas], ids=["pandas", "polars"])
def test_errors_name_the_column_and_the_way_out(fit, frame):
    with pytest.raises(ValueError, match=r"column 'day' of X holds .* such as to the days since"):
        fit(frame(DATES))
    with pytest.raises(ValueError, match=r"column 'flat' of X holds text: 'flat 000' in row 2\. L"):
        fit(frame(TEXT))


def test_rows_to_score_are_checked_too():
    fitted = PreferenceIsolationForest("line", n_models=50, n_estimators=5).fit(NUMBERS_ONLY)
    with pytest.raises(ValueError, match="column 'price' of X holds text: 'high' in row 3"):
        fitted.predict(NUMBERS_ONLY.assign(price=[*"123", "high", *["4"] * 36]))


def test_numbers_as_text_are_numbers():
    fitted = PreferenceIsolationForest("line", n_models=50, n_estimators=5, random_state=0)
    scores = fitted.fit(NUMBERS_ONLY).scores_
    assert np.array_equal(fitted.fit(NUMBERS_ONLY.astype(str)).scores_, scores)


def test_labels_of_score_are_numbers():
    fitted = PreferenceIsolationForest("line", n_models=50, n_estimators=5).fit(NUMBERS_ONLY)
    with pytest.raises(ValueError, match=r"y must be numbers, .* got 'ok'\. Compare text with one"):
        fitted.score(NUMBERS_ONLY, ["ok", "bad"] * 20)


def test_an_error_about_the_family_names_auto():
    with pytest.raises(
        ValueError, match=r"family must be 'auto', the name of a family .* got None"
    ):
        PreferenceIsolationForest(None).fit(NUMBERS_ONLY)


NUMBERS_ONLY = pd.DataFrame(NUMBERS)
