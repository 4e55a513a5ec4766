"""Preferences as data frames."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from piforest import PreferenceEmbedding
from piforest.datasets import make_lines

X = make_lines(2, sizes=40, noise=0.01, anomaly_share=0.3, random_state=0).data


@pytest.fixture
def embedding():
    return PreferenceEmbedding("line", n_models=200, random_state=0)


def dense(frame, n_models):
    """A frame of polars as an array, entry by entry."""
    out = np.zeros((len(frame), n_models), np.float32)
    for k, (models, preferences) in enumerate(frame.iter_rows()):
        for model, preference in zip(models, preferences):
            out[k, model] = preference
    return out


def test_pandas_gets_sparse_columns(embedding):
    P = embedding.fit_transform(X)
    frame = pd.DataFrame(X, columns=["x", "y"], index=np.arange(len(X)) + 7)
    found = embedding.set_output(transform="pandas").fit_transform(frame)
    assert isinstance(found, pd.DataFrame)
    assert found.index.equals(frame.index)
    assert list(found.columns) == list(embedding.get_feature_names_out())
    assert np.array_equal(found.to_numpy(), P.toarray())
    assert found.sparse.density == pytest.approx(P.nnz / np.prod(P.shape))
    assert (found.dtypes == pd.SparseDtype(np.float32, 0)).all()


def test_polars_gets_a_list_of_models_for_each_row(embedding):
    P = embedding.fit_transform(X)
    found = embedding.set_output(transform="polars").transform(X)
    assert found.schema == {"models": pl.List(pl.UInt32), "preferences": pl.List(pl.Float32)}
    assert np.array_equal(dense(found, P.shape[1]), P.toarray())
    assert (np.diff(P.indptr) == 0).any()  # an empty row is among them
    assert found.height == len(X)


def test_default_pipelines_and_the_configuration_of_scikit_learn(embedding):
    P = embedding.fit_transform(X)
    assert (embedding.set_output(transform="default").transform(X) != P).nnz == 0
    assert embedding.set_output() is embedding
    embedding = PreferenceEmbedding("line", n_models=50, random_state=0).fit(X)
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(embedding.transform(X), pd.DataFrame)
    pipeline = make_pipeline(StandardScaler(), embedding).set_output(transform="polars")
    assert isinstance(pipeline.fit_transform(X), pl.DataFrame)
    assert isinstance(sklearn.clone(pipeline).fit_transform(X), pl.DataFrame)
    with pytest.raises(ValueError, match=r"transform must be one of .*got 'arrow'"):
        embedding.set_output(transform="arrow")
