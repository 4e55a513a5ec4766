from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from imblearn.pipeline import make_pipeline
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression

from piforest import PreferenceIsolationForest, RejectAnomalies, VoronoiForest
from piforest.datasets import make_lines

X, Y = make_lines(2, noise=0.01, anomaly_share=0.2, random_state=0, return_X_y=True)
DETECTOR = PreferenceIsolationForest.paper(
    "line", sigma=0.01, contamination=0.2, n_models=500, random_state=0
)


def test_rows_of_x_and_y_are_dropped_together():
    reject = RejectAnomalies(DETECTOR)
    kept, targets = reject.fit_resample(X, Y)
    labels = DETECTOR.fit(X).labels_
    assert np.array_equal(kept, X[labels == 1])
    assert np.array_equal(targets, Y[labels == 1])
    assert np.array_equal(reject.sample_indices_, np.flatnonzero(labels == 1))
    assert np.mean(targets == 0) < 0.5 * np.mean(Y == 0)
    assert np.array_equal(reject.fit_resample(X), kept)


def test_types_are_kept():
    frame, series = pd.DataFrame(X, columns=["x", "y"]), pd.Series(Y, name="target")
    kept, targets = RejectAnomalies(DETECTOR).fit_resample(frame, series)
    assert list(kept.columns) == ["x", "y"]
    assert targets.name == "target"
    assert (kept.index == targets.index).all()
    rows = scipy.sparse.csr_array(np.abs(X))
    sparse = RejectAnomalies(VoronoiForest(n_estimators=5, contamination=0.1)).fit_resample(rows)
    assert scipy.sparse.issparse(sparse)


def test_an_imbalanced_learn_pipeline_drops_rows_while_fitting_only():
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, (300, 1))
    y = 2 * t[:, 0] + rng.normal(0, 0.01, 300)
    y[:60] = rng.uniform(1, 3, 60)
    both = np.column_stack([t, y])
    plain = LinearRegression().fit(both[:, :1], both[:, 1])

    class OnBoth(RejectAnomalies):
        """Detects anomalies in (x, y), as needed for regression."""

        def fit_resample(self, X, y):
            kept = super().fit_resample(np.column_stack([X, y]))
            return kept[:, :-1], kept[:, -1]

    pipeline = make_pipeline(
        OnBoth(PreferenceIsolationForest.paper("line", sigma=0.01, random_state=0)),
        LinearRegression(),
    )
    pipeline.fit(t, y)
    assert abs(pipeline[-1].coef_[0] - 2) < 0.02 < abs(plain.coef_[0] - 2)
    assert pipeline.predict(t).shape == (300,)


@pytest.mark.slow
def test_any_detector_with_the_labels_of_scikit_learn_is_accepted():
    kept, _ = RejectAnomalies(IsolationForest(contamination=0.1, random_state=0)).fit_resample(X, Y)
    assert len(kept) == pytest.approx(0.9 * len(X), abs=1)


@pytest.mark.slow
def test_the_default_is_preference_isolation_forest_and_a_given_detector_is_cloned():
    assert isinstance(RejectAnomalies().fit(X).detector_, PreferenceIsolationForest)
    reject = RejectAnomalies(
        PreferenceIsolationForest.paper("line", sigma=0.01, n_models=100, n_estimators=5)
    )
    reject.fit(X)
    assert not hasattr(reject.detector, "forest_")


def test_x_and_y_of_different_length_raise_an_error():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RejectAnomalies(DETECTOR).fit_resample(X, Y[:-1])
