"""The target of a regression by its name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import piforest
from piforest import PreferenceEmbedding, PreferenceIsolationForest
from piforest.families import get_family

RNG = np.random.default_rng(0)
SIZE = RNG.uniform(0, 10, 200)
X = np.column_stack([3 * SIZE + RNG.normal(0, 0.05, 200), SIZE])
X[:40, 0] = RNG.uniform(0, 30, 40)
SMALL = {"n_models": 500, "n_estimators": 20, "random_state": 0}


def detector(target, name="linear_regression"):
    return PreferenceIsolationForest(get_family(name, target=target), **SMALL)


@pytest.mark.parametrize("name", ["linear_regression", "polynomial_regression"])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_name_is_the_number_of_its_column(name, frame):
    rows = frame({"price": X[:, 0], "size": X[:, 1]})
    found = detector("price", name).fit(rows)
    assert np.array_equal(found.scores_, detector(0, name).fit(X).scores_)
    assert found.models_[0].family.target == 0
    assert found.family.target == "price"  # the parameter stays as it was given
    embedding = PreferenceEmbedding(get_family(name, target="price"), n_models=50, random_state=0)
    plain = PreferenceEmbedding(get_family(name, target=0), n_models=50, random_state=0)
    assert (embedding.fit(rows).transform(rows) != plain.fit(X).transform(X)).nnz == 0


def test_a_model_with_a_named_target_is_saved(tmp_path):
    frame = pd.DataFrame(X, columns=["price", "size"])
    found = detector("price").fit(frame)
    found.save(tmp_path / "m.pif")
    loaded = piforest.load(tmp_path / "m.pif")
    assert np.array_equal(loaded.anomaly_score(frame), found.anomaly_score(frame))
    assert loaded.family.target == "price"


def test_names_that_are_not_there_are_errors():
    frame = pd.DataFrame(X, columns=["price", "size"])
    with pytest.raises(ValueError, match=r"target must be a column of X, got 'cost'; its columns"):
        detector("cost").fit(frame)
    with pytest.raises(ValueError, match=r"target='price' is a name, and the columns of X have no"):
        detector("price").fit(X)
    with pytest.raises(ValueError, match=r"target must be an integer of at least -1, got 1\.5"):
        get_family("linear_regression", target=1.5)
