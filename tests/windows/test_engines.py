"""Windows with a Dask collection and on a device: the same results as in memory on the CPU."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from piforest import LocalPreferenceIsolationForest
from piforest.engines import CpuEngine
from piforest.families import get_family


def sheet(n=900, seed=0):
    """A curved sheet with uniform anomalies, which come first."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 3))
    X[60:, 2] = 0.5 * np.sin(X[60:, 0]) + 0.02 * rng.normal(size=n - 60)
    return X


def local(**options):
    given = {"n_models": 80, "n_estimators": 8, "coordinates": [0, 1], "random_state": 0}
    return LocalPreferenceIsolationForest(**{"family": "plane", **given, **options})


@pytest.fixture(scope="module")
def fitted():
    return local().fit(sheet())


class TestDask:
    @pytest.fixture(autouse=True)
    def _dask(self):
        pytest.importorskip("dask")

    @pytest.mark.slow
    @pytest.mark.parametrize("chunks", [900, 250, (0, 1, 899)])
    def test_arrays_give_the_same_bits(self, fitted, chunks):
        import dask.array as da

        X = da.from_array(sheet(), chunks=(chunks, 3))
        detector = clone(fitted).fit(X)
        assert detector.threshold_ == fitted.threshold_
        assert detector.sigma_ == fitted.sigma_
        scores = detector.anomaly_score(X)
        assert scores.chunks == X.chunks[:1]
        assert np.array_equal(scores.compute(), fitted.scores_)
        assert np.array_equal(detector.predict(X).compute(), fitted.labels_)
        assert np.array_equal(detector.scores_, fitted.scores_)
        assert str(detector.explain(X[:2])) == str(fitted.explain(sheet()[:2]))

    @pytest.mark.slow
    def test_frames_keep_their_names_and_partitions(self):
        import dask.dataframe as dd

        frame = pd.DataFrame(sheet(), columns=["x", "y", "z"])
        X = dd.from_pandas(frame, npartitions=3)
        lazy = local(coordinates=["x", "y"]).fit(X)
        known = local(coordinates=["x", "y"]).fit(frame)
        assert lazy.feature_names_in_.tolist() == ["x", "y", "z"]
        scores = lazy.anomaly_score(X)
        assert scores.npartitions == 3
        assert np.array_equal(scores.compute().to_numpy(), known.scores_)

    @pytest.mark.slow
    def test_only_chosen_rows_are_fetched(self, monkeypatch):
        import dask.array as da

        from piforest.engines.dask import rows as dask_rows
        from piforest.windows import fit

        monkeypatch.setattr(fit, "WINDOW_ROWS", 100)
        monkeypatch.setattr("piforest._random.SUBSET", 50)
        monkeypatch.setattr(dask_rows, "_GROUP", 2)
        fetched = []

        def fetch_rows(X, quality, groups, lengths, numbers):
            fetched.append(len(numbers))
            return known(X, quality, groups, lengths, numbers)

        known = dask_rows.fetch_rows
        monkeypatch.setattr(dask_rows, "fetch_rows", fetch_rows)
        X = sheet(2000)
        one = local(window=4.0).fit(X)
        many = local(window=4.0).fit(da.from_array(X, chunks=(300, 3)))
        assert fetched == [len(many.windows_[0].fitted.points) + 50 - _common(X, one)]
        assert many.threshold_ == one.threshold_

    def test_rows_that_are_not_finite_are_an_error_that_names_the_partition(self):
        import dask.array as da

        X = sheet()
        X[700, 1] = np.nan
        with pytest.raises(ValueError, match="contains NaN, in partition 2"):
            local().fit(da.from_array(X, chunks=(300, 3)))


def _common(X, detector):
    """The rows that are in the subset and in the only window."""
    subset = detector.fitted_.subset
    window = detector.windows_[0].fitted.points
    return len({tuple(row) for row in subset} & {tuple(row) for row in window})


class TestTorch:
    @pytest.fixture(autouse=True)
    def _torch(self):
        pytest.importorskip("torch")

    @pytest.mark.parametrize("family", ["plane", ["plane", "sphere"], "linear_regression"])
    def test_batches_of_windows_give_the_scores_of_the_cpu(self, family):
        X = sheet()
        cpu, torch = local(family=family).fit(X), local(family=family, device="torch").fit(X)
        assert np.array_equal(torch.anomaly_score(X), cpu.anomaly_score(X))
        assert torch.threshold_ == cpu.threshold_

    def test_batches_give_the_scores_of_each_forest_alone(self, fitted, monkeypatch):
        import torch

        from piforest.engines.torch import many
        from piforest.engines.torch.engine import TorchEngine

        monkeypatch.setattr(many, "_PIECE", 37)
        forests = [window.fitted for window in fitted.windows_]
        X, rng = sheet(seed=1), np.random.default_rng(0)
        # Rows of samples, too, which do not prefer the models of these samples.
        rows = [np.vstack([X[: rng.integers(1, 90)], each.points[:20]]) for each in forests]
        assert many.can_batch(forests)
        engine = TorchEngine(torch.device("cpu"))
        held = [*enumerate(rows), (0, X[:5])]
        found = list(engine.scores_in(fitted.fitted_, forests, held))
        for (k, part), scores in zip(held, found):
            assert np.array_equal(scores, engine.forest_scores(forests[k], part))
            assert scores == pytest.approx(CpuEngine(None).scores(forests[k], part), rel=1e-15)

    def test_tensors_give_tensors(self, fitted):
        import torch

        other = clone(fitted).set_params(device="torch").fit(sheet())
        scores = other.anomaly_score(torch.as_tensor(sheet()))
        assert isinstance(scores, torch.Tensor)
        assert np.array_equal(scores.numpy(), fitted.scores_)

    def test_forests_without_a_formula_are_scored_one_by_one(self):
        family = _NoFormula()
        X = sheet(300)
        cpu, torch = local(family=family).fit(X), local(family=family, device="torch").fit(X)
        assert np.array_equal(torch.anomaly_score(X), cpu.anomaly_score(X))


class _NoFormula:
    """A plane whose residuals are computed on the host."""

    def __init__(self):
        self._plane = get_family("plane")

    def __getattr__(self, name):
        if name.startswith("_") or name in ("formula", "chart", "moments"):
            raise AttributeError(name)
        return getattr(self._plane, name)

    name = "host plane"
