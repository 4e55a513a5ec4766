"""Arrow's C interface, in and out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from piforest import PreferenceEmbedding, PreferenceIsolationForest
from piforest.datasets import make_lines
from piforest.io.tables import from_arrow, read_table, with_scores, write_table

X = make_lines(2, sizes=40, noise=0.01, anomaly_share=0.3, random_state=0).data
SMALL = {"n_models": 200, "n_estimators": 10, "random_state": 0}


class Stream:
    """Nothing but the interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def arrow_table():
    return pa.table({"x": X[:, 0], "y": X[:, 1]})


def relation():
    duckdb = pytest.importorskip("duckdb")
    rows = arrow_table()
    return duckdb.from_arrow(rows)  # a connection of its own would be closed here


KINDS = {
    "pyarrow": arrow_table,
    "pandas": lambda: arrow_table().to_pandas(),
    "polars": lambda: pl.DataFrame({"x": X[:, 0], "y": X[:, 1]}),
    "duckdb": relation,
    "any": lambda: Stream(arrow_table()),
    "reader": lambda: arrow_table().to_reader(),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_detectors_take_rows_of_any_library(kind):
    detector = PreferenceIsolationForest("line", **SMALL)
    expected = detector.fit(X).anomaly_score(X)
    detector.fit(KINDS[kind]())
    assert detector.feature_names_in_.tolist() == ["x", "y"]
    assert np.array_equal(detector.anomaly_score(KINDS[kind]()), expected)
    assert np.array_equal(
        detector.fit_predict(KINDS[kind]()), np.where(expected > detector.threshold_, -1, 1)
    )
    embedding = PreferenceEmbedding("line", n_models=100, random_state=0)
    P = embedding.fit(KINDS[kind]()).transform(KINDS[kind]())
    assert (embedding.fit(X).transform(X) != P).nnz == 0


def test_a_stream_is_read_once_for_labels_of_more_rows_than_the_pool():
    detector = PreferenceIsolationForest("line", pool_size=64, **SMALL)
    labels = detector.fit_predict(arrow_table().to_reader())
    assert np.array_equal(labels, detector.predict(X))


@pytest.mark.parametrize("kind", KINDS)
def test_tables_come_from_any_library_and_go_to_it(kind, tmp_path):
    table = from_arrow(KINDS[kind](), "scene")
    assert table.names == ["x", "y"]
    assert np.array_equal(table.numbers(), X)
    scored = with_scores(table, np.linspace(0, 1, len(X)), 0.5)
    assert pa.table(scored).column_names == ["x", "y", "score", "anomaly"]
    assert np.array_equal(pl.DataFrame(scored)["score"].to_numpy(), np.linspace(0, 1, len(X)))
    write_table(tmp_path / "a.csv", scored)
    text = read_table(tmp_path / "a.csv")
    assert pl.DataFrame(text).schema["x"] == pl.Float64  # cells of text get their types
    if hasattr(pd.DataFrame, "from_arrow"):
        assert pd.DataFrame.from_arrow(text).shape == (len(X), 4)


def test_what_is_no_table_is_refused():
    with pytest.raises(TypeError, match=r"must have Arrow's C interface .*, got list"):
        from_arrow([1, 2])
    with pytest.raises(ValueError, match=r"mine has no rows"):
        from_arrow(arrow_table().slice(0, 0), "mine")
    with pytest.raises(ValueError, match=r"mine has two columns named 'x'"):
        from_arrow(pa.Table.from_arrays([pa.array([1.0])] * 2, ["x", "x"]), "mine")
