from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest._random import Stream
from piforest.datasets import make_circles, make_lines
from piforest.engines import CpuEngine
from piforest.fitted import FittedEmbedding
from piforest.fitted.training_rows import TrainingRows
from piforest.fitting import EmbeddingParameters, fit_embedding
from scenes import RAW

X = make_lines(3, sizes=60, noise=0.01, anomaly_share=0.3, random_state=0).data


def fitted(X=X, numbers=None, **params) -> tuple[FittedEmbedding, list]:
    rows = X if isinstance(X, TrainingRows) else TrainingRows(X)
    params = {"family": "line", "n_models": 80, **params}
    parameters = EmbeddingParameters.from_estimator(PreferenceIsolationForest(**params))
    numbers = np.arange(len(rows)) if numbers is None else numbers
    return fit_embedding(rows, parameters, CpuEngine(None), Stream(1), numbers, keep=True)


@pytest.mark.parametrize(
    ("n_models", "n", "expected"),
    [("auto", 10, 5000), ("auto", 800, 8000), ("auto", 10**6, 10_000), ("paper", 10, 100),
     ("paper", 10**6, 10_000), (7, 10**6, 7)],
)  # fmt: skip
def test_the_number_of_models_follows_from_the_number_of_points(n_models, n, expected):
    parameters = EmbeddingParameters.from_estimator(
        PreferenceIsolationForest("line", n_models=n_models)
    )
    assert parameters.model_count(n) == expected


def test_models_are_drawn_from_the_given_rows_and_numbered_among_all():
    numbers = np.arange(0, len(X), 2)
    embedding, tables = fitted(numbers=numbers)
    models = embedding.models[0]
    assert np.isin(models.samples, numbers).all()
    assert np.array_equal(models.points, X[np.unique(models.samples)])
    assert tables == [None], "bands of a part of the rows are not those of the pool"


def test_rows_of_a_collection_are_numbered_among_all_rows():
    numbers = np.arange(100, 100 + len(X))
    few, _ = fitted(TrainingRows(X, numbers=numbers, n_all=10_000), numbers)
    here, _ = fitted()
    assert np.array_equal(few.models[0].samples, here.models[0].samples + 100)
    assert np.array_equal(few.models[0].params, here.models[0].params)


def test_a_table_of_bands_is_kept_for_all_rows():
    embedding, tables = fitted()
    assert tables[0].bins.shape == (len(X), embedding.n_models)
    embedding, tables = fitted(**RAW)
    assert tables[0].bins.shape == (len(X), 80)
    assert embedding.bands[0].sigma == embedding.sigma
    assert embedding.sigma_source == "estimated"


def test_one_scale_for_all_models_needs_no_bands():
    embedding, tables = fitted(sigma=0.5, scale="fixed", weighting="none", **RAW)
    assert embedding.bands is None
    assert tables == [None]
    assert (embedding.models[0].scale == 0.5).all()
    assert embedding.sigma_source == "given"


def test_each_family_gets_its_share_and_one_model_at_least():
    circles = make_circles(2, sizes=60, random_state=0).data
    embedding, _ = fitted(circles, family=[("line", 1e-9), ("circle", 1.0)], n_models=50)
    assert [models.n_candidates for models in embedding.models] == [1, 49]


def test_in_sample_preferences_need_no_membership():
    assert fitted(in_sample_preferences=True)[0].membership is None
    assert fitted()[0].membership is not None
