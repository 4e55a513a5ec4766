"""Dask collections: results equal those in memory, for any partitions and workers."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pandas as pd
import pytest

dask = pytest.importorskip("dask")
import cloudpickle  # noqa: E402
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
from distributed import Client, LocalCluster, wait  # noqa: E402
from joblib import parallel_config  # noqa: E402

from dask_clusters import FORKED, forking  # noqa: E402
from piforest import (  # noqa: E402
    PreferenceIsolationForest,
    VoronoiForest,
    _random,
)
from piforest._random import SUBSET, Stream, choose, subset  # noqa: E402
from piforest.datasets import make_lines  # noqa: E402
from piforest.engines.dask import connect, packed  # noqa: E402
from piforest.engines.dask import engine as dask_engine  # noqa: E402
from piforest.engines.dask.rows import lengths_of, with_fixed_partitions  # noqa: E402

MANY = 60_000
MODELS = {"n_models": 150}
SMALL = {"n_estimators": 5, "max_samples": 32, "pool_size": 100, "random_state": 0}
METHODS = ["anomaly_score", "score_samples", "decision_function", "predict"]
METHODS += ["p_values", "chance_p_values", "anomaly_probability", "assign"]


@pytest.fixture(scope="module")
def many():
    X = make_lines(3, sizes=MANY // 4, noise=0.01, anomaly_share=0.25, random_state=0).data
    return X[np.random.default_rng(0).permutation(MANY)]


@pytest.fixture(scope="module")
def few(many):
    return many[:2000]


@pytest.fixture(scope="module")
def fitted(few):
    return PreferenceIsolationForest("line", **MODELS, **SMALL).fit(few)


@pytest.fixture(scope="module")
def client():
    """Three worker processes on this machine."""
    forking()
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "120s", **FORKED}),
        LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster, timeout="120s", set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def here():
    """Dask in this thread only, for tests that need no cluster."""
    with dask.config.set(scheduler="synchronous"):
        yield


def frame(X, **index):
    return pd.DataFrame(X, columns=["a", "b"], **index)


def same_model(one, other):
    assert one.offset_ == other.offset_
    assert np.array_equal(one.fitted_.pool_numbers, other.fitted_.pool_numbers)
    assert one.fitted_.n_training == other.fitted_.n_training
    if hasattr(one, "embedding_"):
        assert one.sigma_ == other.sigma_
        for ours, theirs in zip(one.models_, other.models_, strict=True):
            for name in ("params", "samples", "points", "scale", "weight"):
                assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name


DETECTORS = {
    "default": lambda: PreferenceIsolationForest("line", **MODELS, **SMALL),
    "PIF": lambda: PreferenceIsolationForest.paper("line", sigma=0.01, **MODELS, **SMALL),
    "VoronoiForest": lambda: VoronoiForest("euclidean", **SMALL),
}


@pytest.mark.slow
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("kind", DETECTORS)
@pytest.mark.parametrize("n", [2000, MANY])
def test_a_fit_to_partitions_equals_the_fit_in_memory(many, kind, n):
    X = many[:n]
    expected = DETECTORS[kind]().fit(X)
    uneven = tuple(np.diff([0, 1, 1, 800, n]))
    for chunks in [(n // 3, 1), (uneven, 2)] if n < MANY else [(uneven, 1)]:
        same_model(DETECTORS[kind]().fit(da.from_array(X, chunks=chunks)), expected)
    detector = DETECTORS[kind]().fit(dd.from_pandas(frame(X), npartitions=7))
    same_model(detector, expected)
    assert detector.feature_names_in_.tolist() == ["a", "b"]


@pytest.mark.slow
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("sampler", ["uniform", "local", "stratified", "weighted", "grouped"])
def test_every_sampler_draws_the_same_models_from_partitions(many, sampler):
    X, rng = many, np.random.default_rng(1)
    column = {
        "weighted": {"quality": rng.random(MANY)},
        "grouped": {"groups": rng.integers(0, 5, MANY)},
    }.get(sampler, {})
    make = DETECTORS["default"]
    expected = make().set_params(sampler=sampler).fit(X, **column)
    array = da.from_array(X, chunks=(9000, 2))
    same_model(make().set_params(sampler=sampler).fit(array, **column), expected)
    if column:
        lazy = {name: da.from_array(values, chunks=7000) for name, values in column.items()}
        same_model(make().set_params(sampler=sampler).fit(array, **lazy), expected)
        short = {name: values[1:] for name, values in lazy.items()}
        with pytest.raises(ValueError, match="must have one value for each of the 60000 rows"):
            make().set_params(sampler=sampler).fit(array, **short)


@pytest.mark.slow
def test_models_of_more_than_50_000_points_are_drawn_from_the_subset(many):
    detector = DETECTORS["default"]().fit(many)
    assert len(detector.fitted_.subset) == SUBSET
    rows = subset(Stream(detector.fitted_.key), MANY)
    samples = detector.models_[0].samples
    assert np.isin(samples, rows).all()
    assert np.array_equal(many[np.unique(samples)], detector.models_[0].points)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_scores_do_not_depend_on_the_number_of_workers(client, fitted, few, workers):
    some = list(client.scheduler_info(n_workers=-1)["workers"])[:workers]
    for chunks in (2000, 333, (1, 0, 999, 1000)):
        lazy = fitted.anomaly_score(da.from_array(few, chunks=(chunks, 2)))
        scores = client.compute(lazy, workers=some, allow_other_workers=False).result(300)
        assert np.array_equal(scores, fitted.anomaly_score(few))


def test_a_fit_on_a_cluster_equals_the_fit_in_memory(client, many):
    with client.as_current():
        detector = DETECTORS["default"]().fit(da.from_array(many, chunks=(7000, 2)))
    same_model(detector, DETECTORS["default"]().fit(many))


@pytest.mark.parametrize("method", METHODS)
def test_results_have_the_partitions_and_the_index_of_the_input(here, fitted, few, method):
    table = frame(few, index=np.arange(2000) * 3)
    lazy = dd.from_pandas(table, npartitions=5)
    with_names = PreferenceIsolationForest("line", **MODELS, **SMALL).fit(table)
    result = getattr(with_names, method)(lazy)
    assert result.divisions == lazy.divisions
    series = result.compute()
    assert series.name == ("structure" if method == "assign" else method)
    assert series.index.equals(table.index)
    expected = getattr(fitted, method)(few)
    assert np.array_equal(series, expected)
    assert result.dtype == series.dtype == expected.dtype
    array = da.from_array(few, chunks=(600, 1))
    result = getattr(fitted, method)(array)
    assert result.chunks == array.chunks[:1]
    assert result.dtype == expected.dtype
    assert np.array_equal(result.compute(), expected)


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_a_folder_of_parquet_files_gets_a_column_of_scores(few, tmp_path):
    table = frame(few).assign(name=[f"row {i}" for i in range(len(few))])
    for k, part in enumerate(np.array_split(np.arange(len(few)), 4)):
        table.iloc[part].to_parquet(tmp_path / f"part{k}.parquet", row_group_size=150)
    lazy = dd.read_parquet(tmp_path, split_row_groups=True)
    assert not lazy.known_divisions
    detector = DETECTORS["default"]().fit(lazy[["a", "b"]])
    lazy["score"] = detector.anomaly_score(lazy[["a", "b"]])
    expected = DETECTORS["default"]().fit(table[["a", "b"]]).anomaly_score(table[["a", "b"]])
    found = lazy.compute()
    assert np.array_equal(found["score"], expected)
    assert found["name"].tolist() == table["name"].tolist()
    array = lazy[["a", "b"]].to_dask_array()
    detector = DETECTORS["default"]().fit(array)
    assert np.array_equal(detector.anomaly_score(array).compute(), expected)


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_unknown_lengths_are_counted_and_empty_partitions_are_accepted(few):
    lazy = dd.from_pandas(frame(few), npartitions=6)
    lazy = lazy[lazy["a"] > few[:, 0].mean()]
    lazy = dd.concat([lazy, lazy[lazy["a"] > 1e9]])
    unknown = lazy.to_dask_array()
    kept = few[few[:, 0] > few[:, 0].mean()]
    assert np.isnan(unknown.chunks[0]).all()
    assert lengths_of(unknown).tolist() == lengths_of(with_fixed_partitions(lazy)).tolist()
    assert lengths_of(unknown).sum() == len(kept)
    expected = DETECTORS["default"]().fit(kept)
    for X in (unknown, lazy):
        detector = DETECTORS["default"]().fit(X)
        same_model(detector, expected)
        assert np.array_equal(detector.anomaly_score(X).compute(), expected.anomaly_score(kept))


@pytest.mark.usefixtures("here")
def test_large_chunks_are_split_into_tasks_and_joined_again(monkeypatch, fitted, few):
    calls = []
    real = packed.score

    def spy(*args):
        calls.append(1)
        return real(*args)

    monkeypatch.setattr(dask_engine, "TASK_ROWS", 300)
    monkeypatch.setattr(dask_engine, "score", spy)
    scores = fitted.anomaly_score(da.from_array(few, chunks=((1000, 100, 900), 2)))
    assert scores.chunks == ((1000, 100, 900),)
    assert np.array_equal(scores.compute(), fitted.anomaly_score(few))
    assert len(calls) == 4 + 1 + 3


def test_nothing_is_read_before_it_is_computed(fitted):
    def unreadable():
        raise AssertionError("read")

    array = da.from_delayed(dask.delayed(unreadable)(), shape=(100, 2), dtype=float)
    lazy = fitted.predict(array)
    with pytest.raises(AssertionError, match="read"):
        lazy.compute(scheduler="synchronous")


@pytest.mark.usefixtures("here")
def test_errors_are_raised_at_once_or_name_the_partition(fitted, few, many):
    with pytest.raises(ValueError, match="X has 3 features, but PreferenceIsolationForest"):
        fitted.predict(da.zeros((10, 3), chunks=5))
    named = DETECTORS["default"]().fit(frame(few))
    with pytest.raises(ValueError, match="feature names should match"):
        named.predict(dd.from_pandas(frame(few).rename(columns={"a": "c"}), npartitions=2))
    with pytest.raises(
        ValueError, match="p_values needs a detector with in_sample_preferences=False"
    ):
        DETECTORS["PIF"]().fit(few).p_values(da.from_array(few))
    for call in (fitted.predict, DETECTORS["default"]().fit):
        with pytest.raises(ValueError, match="rows with columns, got one of 1 axes"):
            call(da.zeros(10))
        with pytest.raises(ValueError, match="rows with columns, got a Delayed"):
            call(dask.delayed(few))
    for invalid, name in ((np.nan, "NaN"), (np.inf, "infinity")):
        X = many.copy()
        X[45_000, 1] = invalid
        with pytest.raises(ValueError, match=f"contains {name}, in partition 4"):
            DETECTORS["default"]().fit(da.from_array(X, chunks=(10_000, 2)))


@pytest.mark.usefixtures("here")
def test_scores_of_many_lazy_points_are_not_kept(many):
    array = da.from_array(many, chunks=(20_000, 2))
    detector = DETECTORS["VoronoiForest"]()
    labels = detector.fit_predict(array)
    assert labels.chunks == array.chunks[:1]
    expected = DETECTORS["VoronoiForest"]().fit(many)
    assert np.array_equal(labels[:20_000].compute(), expected.predict(many[:20_000]))
    with pytest.raises(AttributeError, match=r"are not kept.*anomaly_score\(X\)"):
        detector.scores_  # noqa: B018
    held_out = array[:5000]
    moved = detector.set_contamination(0.3, held_out).offset_
    assert moved == expected.set_contamination(0.3, many[:5000]).offset_
    assert detector.set_contamination(0.1).offset_ == expected.set_contamination(0.1).offset_


@pytest.mark.slow
def test_a_lazily_fitted_detector_saves_and_explains_like_any_other(here, many, tmp_path):
    array = da.from_array(many, chunks=(20_000, 2))
    detector = DETECTORS["default"]().fit(array)
    expected = DETECTORS["default"]().fit(many)
    detector.save(tmp_path / "model.pif")
    loaded = PreferenceIsolationForest.load(tmp_path / "model.pif")
    assert np.array_equal(loaded.anomaly_score(many[:50]), expected.anomaly_score(many[:50]))
    members = [each.members.tolist() for each in detector.structures_]
    assert members == [each.members.tolist() for each in expected.structures_]
    assert str(detector.explain(array[:3])[0]) == str(expected.explain(many[:3])[0])


def test_the_model_is_sent_once_to_each_worker(client, few):
    # A model that no other test sends.
    detector = DETECTORS["default"]().set_params(random_state=77).fit(few)
    array = da.from_array(few, chunks=(40, 2))
    for lazy in (detector.anomaly_score(array), detector.anomaly_score(array + 0.0)):
        client.compute(lazy).result(300)
    token = packed.PackedModel(detector.fitted_, "cpu", None).token

    def fetched(dask_worker):
        return [key for each in dask_worker.transfer_incoming_log for key in each["keys"]]

    for keys in client.run(fetched).values():
        # At most once for each of the two computations, of 50 tasks each.
        assert sum(token in str(key) for key in keys) <= 2
    workers = client.run(lambda: token in packed._UNPACKED)
    assert any(workers.values())
    models = [
        key for key, task in dict(lazy.__dask_graph__()).items()
        if "PackedModel" in repr(getattr(task, "args", task)) or "piforest-model" in str(key)
    ]  # fmt: skip
    assert len(models) == 1


def packed_model(detector):
    return packed.PackedModel(detector.fitted_, detector.device, detector.n_jobs)


def test_a_process_unpacks_a_model_once(fitted, few):
    model = packed_model(fitted)
    packed._UNPACKED.clear()
    first, second = (packed.unpack(model) for _ in range(2))
    assert first.fitted is second.fitted
    for seed in range(packed._MAX_UNPACKED):
        other = DETECTORS["default"]().set_params(random_state=seed + 1, n_models=20)
        packed.unpack(packed_model(other.fit(few[:100])))
    assert model.token not in packed._UNPACKED
    assert len(packed._UNPACKED) == packed._MAX_UNPACKED


def test_a_model_is_sent_without_data_that_scoring_does_not_need(few):
    detector = DETECTORS["default"]().fit(few)
    fitted = packed.unpack(packed_model(detector)).fitted
    assert fitted.subset is None
    assert fitted.pool_points is None
    assert fitted.embedding.bands is None
    lazy = detector.predict(da.from_array(few, chunks=(250, 2)))
    graph = cloudpickle.dumps(dict(lazy.__dask_graph__()))
    assert b"findings" not in graph


def test_a_process_copies_a_model_to_its_device_once(few, monkeypatch):
    pytest.importorskip("torch")
    from piforest.engines.torch import engine

    calls, real = [], engine.PreferenceScorer

    def counted(*args):
        calls.append(1)
        return real(*args)

    detector = DETECTORS["default"]().fit(few).set_params(device="torch")
    expected = detector.anomaly_score(few)
    packed._UNPACKED.clear()
    monkeypatch.setattr(engine, "PreferenceScorer", counted)
    lazy = detector.anomaly_score(da.from_array(few, chunks=(250, 2)))
    with dask.config.set(scheduler="threads", num_workers=4):
        for _ in range(2):
            assert np.array_equal(lazy.compute(), expected)
    assert len(calls) == 1


def test_a_task_uses_the_threads_of_its_worker(client):
    assert client.submit(packed._worker_threads, 7, pure=False).result(300) == 1
    assert packed._worker_threads(7) == 7


def test_scores_are_correct_if_a_worker_is_killed(client, fitted, few, tmp_path):
    def wait_for_go(block, block_id):
        """Return a block; for the second half of the blocks, write the process id and wait."""
        while block_id[0] >= 20 and not (tmp_path / "go").exists():
            (tmp_path / str(os.getpid())).touch()
            time.sleep(0.02)
        return block

    array = da.from_array(few, chunks=(50, 2)).map_blocks(wait_for_go, dtype=float)
    lazy = fitted.anomaly_score(array)
    # The worker loses finished results and the task that it runs.
    done = client.compute([lazy.blocks[k] for k in range(20)])
    with client.as_current():
        wait(done, timeout=300)
    begun = client.compute([lazy.blocks[k] for k in range(20, 40)])
    limit = time.monotonic() + 300
    while not (waiting := os.listdir(tmp_path)):
        assert time.monotonic() < limit, "no worker has begun"
        time.sleep(0.02)
    os.kill(int(waiting[0]), signal.SIGKILL)
    (tmp_path / "go").touch()
    scores = np.concatenate([future.result(300) for future in done + begun])
    assert np.array_equal(scores, fitted.anomaly_score(few))
    client.wait_for_workers(3, timeout=300)


def test_trees_grow_on_the_cluster_through_joblib(client, few):
    expected = DETECTORS["default"]().fit(few)
    with client.as_current(), parallel_config(backend="dask", n_jobs=3):
        same_model(DETECTORS["default"]().fit(few), expected)


def test_a_missing_scheduler_gives_an_error_of_one_line():
    with (
        pytest.raises(OSError, match=r"no Dask scheduler answers at 'tcp://127\.") as error,
        connect("tcp://127.0.0.1:9", timeout=1),
    ):
        pass
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_chosen_rows_do_not_depend_on_the_chunk(monkeypatch):
    stream = Stream(5)
    hashes = _random.mix(stream.key, np.arange(5000))
    expected = np.sort(np.argsort(hashes)[:300])
    for chunk in (100, 299, 300, 4999, 5000, 10**6):
        monkeypatch.setattr(_random, "_CHUNK", chunk)
        assert np.array_equal(choose(stream, 5000, 300), expected)
