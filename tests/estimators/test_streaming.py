from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import piforest
from piforest import PreferenceIsolationForest, StreamingPreferenceIsolationForest
from piforest.datasets import make_lines
from piforest.io.archive import read_archive, write_archive


def rows(n, seed=0, slope=1.0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, n)
    X = np.column_stack([x, slope * x + rng.normal(0, 0.01, n)])
    X[::10] = rng.uniform(0, 1, X[::10].shape)
    return X


def make(**params):
    params = {"window": 100, "n_estimators": 5, "n_models": 20, "random_state": 0} | params
    return StreamingPreferenceIsolationForest("line", **params)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A detector after 155 rows, and its state."""
    detector = make().partial_fit(rows(155))
    path = tmp_path_factory.mktemp("states") / "state.pif"
    detector.save(path)
    return detector, path


def test_too_few_rows_have_no_score_and_no_label():
    detector = make()
    scores, labels = detector.score_learn(rows(50), return_labels=True)
    assert np.isnan(scores[:20]).all()
    assert np.isfinite(scores[20:]).all()
    np.testing.assert_array_equal(labels == 0, np.isnan(scores))
    early = make().partial_fit(rows(5))
    assert np.isnan(early.anomaly_score(rows(3))).all()
    assert early.predict(rows(3)).tolist() == [0, 0, 0]
    assert np.isnan(early.threshold_)
    assert early.structures_ == early.drift_ == []
    assert early.models_ is None


@pytest.mark.slow
def test_labels_are_those_of_predict_when_each_row_came():
    X, one, many = rows(130), make(), make()
    _, labels = many.score_learn(X, return_labels=True)
    one.partial_fit(X[:120])
    for x, label in zip(X[120:], labels[120:]):
        assert one.predict(x[None])[0] == label
        one.partial_fit(x[None])


@pytest.mark.slow
def test_scoring_learns_nothing(saved):
    detector, path = saved
    again = StreamingPreferenceIsolationForest.load(path)
    again.anomaly_score(rows(50))
    again.predict(rows(50))
    np.testing.assert_array_equal(again.score_learn(rows(9)), _continued(path, rows(9)))
    np.testing.assert_array_equal(detector.score_samples(rows(9)), -detector.anomaly_score(rows(9)))
    expected = -detector.anomaly_score(rows(9)) + detector.threshold_
    np.testing.assert_array_equal(detector.decision_function(rows(9)), expected)


def _continued(path, X):
    return StreamingPreferenceIsolationForest.load(path).score_learn(X)


@pytest.mark.slow
def test_a_loaded_state_goes_on_exactly_there(saved, tmp_path):
    _, path = saved
    X = rows(120, seed=1, slope=-1.0)
    whole = make().partial_fit(rows(155))
    loaded = StreamingPreferenceIsolationForest.load(path)
    for start in range(0, 120, 40):
        expected = whole.score_learn(X[start : start + 40], return_labels=True)
        found = loaded.score_learn(X[start : start + 40], return_labels=True)
        for a, b in zip(expected, found):
            np.testing.assert_array_equal(a, b)
        loaded.save(tmp_path / "again.pif")
        loaded = StreamingPreferenceIsolationForest.load(tmp_path / "again.pif")
    assert loaded.n_seen_ == 275
    assert [(e.row, e.kind) for e in loaded.drift_] == [(e.row, e.kind) for e in whole.drift_]
    assert loaded.drift_
    for a, b in zip(loaded.structures_, whole.structures_):
        np.testing.assert_array_equal(a.members, b.members)
        assert repr(a) == repr(b)


def test_a_state_before_the_first_renewal_goes_on_as_well(tmp_path):
    X, whole = rows(60), make()
    expected = whole.score_learn(X)
    early = make().partial_fit(X[:7])
    early.save(tmp_path / "state.pif")
    np.testing.assert_array_equal(_continued(tmp_path / "state.pif", X[7:]), expected[7:])


@pytest.mark.slow
def test_a_state_of_another_model_is_refused(saved, tmp_path):
    path = tmp_path / "model.pif"
    PreferenceIsolationForest(n_models=50, n_estimators=2).fit(rows(50)).save(path)
    with pytest.raises(ValueError, match="holds a PreferenceIsolationForest, not the state of a"):
        StreamingPreferenceIsolationForest.load(path)
    with pytest.raises(ValueError, match=r"the state of a stream: load it with Streaming\w+\.load"):
        piforest.load(saved[1])


def test_a_custom_family_cannot_be_saved(tmp_path):
    class Mine(type(piforest.families.get_family("line"))):
        name = "mine"

    detector = make().set_params(family=Mine()).partial_fit(rows(5))
    with pytest.raises(ValueError, match="cannot be saved"):
        detector.save(tmp_path / "state.pif")


def damages():
    def change(name, function):
        def apply(header, arrays):
            arrays[name] = function(arrays[name])

        return apply

    def header(key, value):
        def apply(head, arrays):
            head["stream"][key] = value

        return apply

    return {
        "rows of another shape": change("window.rows", lambda a: a[:50]),
        "rows that are not numbers": change("window.rows", lambda a: np.full_like(a, np.nan)),
        "scores above 1": change("window.scores", lambda a: a + 5),
        "leaves of no tree": change("leaves", lambda a: a + 10**6),
        "leaves of another type": change("leaves", lambda a: a.astype(np.int64)),
        "inner nodes as leaves": change("leaves", lambda a: np.zeros_like(a)),
        "a pool that is not sorted": change("pool.numbers", lambda a: a[::-1].copy()),
        "a pool of the future": change("pool.numbers", lambda a: a + 10**6),
        "models without weight": change("models.weight", lambda a: 0 * a),
        "fewer scales than models": change("models.scale", lambda a: a[1:]),
        "bounds of another shape": change("bounds.cells", lambda a: a[:, 1:]),
        "structures of another shape": change("tracked.numbers", lambda a: a[:, 1:]),
        "members out of range": change("tracked.ends", lambda a: a + 1),
        "a length above the window": header("length", 101),
        "no number of rows": header("n_seen", None),
        "a negative key": header("key", -1),
        "a threshold of text": header("threshold", "high"),
        "a renewal of the future": header("renewed_at", 10**6),
    }


@pytest.mark.parametrize("damage", damages())
def test_a_damaged_state_is_one_clear_error(damage, saved, tmp_path):
    header, arrays = read_archive(saved[1])
    damages()[damage](header, arrays)
    version = header.pop("version")
    header.pop("format")
    write_archive(tmp_path / "bad.pif", header, arrays, version)
    with pytest.raises(ValueError, match=r"bad\.pif is not a piforest model, or it is damaged"):
        StreamingPreferenceIsolationForest.load(tmp_path / "bad.pif")


def test_a_state_of_another_version_or_without_parameters_is_refused(saved, tmp_path):
    header, arrays = read_archive(saved[1])
    del header["version"], header["format"]
    write_archive(tmp_path / "new.pif", header, arrays, 99)
    with pytest.raises(ValueError, match="version 99 of the format of states"):
        StreamingPreferenceIsolationForest.load(tmp_path / "new.pif")
    header["params"]["window"] = 10**9
    write_archive(tmp_path / "large.pif", header, arrays, 1)
    with pytest.raises(ValueError, match="damaged"):
        StreamingPreferenceIsolationForest.load(tmp_path / "large.pif")


def test_a_state_holds_no_code(saved):
    with zipfile.ZipFile(saved[1]) as archive:
        assert all(name.endswith(".npy") for name in archive.namelist())
    assert json.dumps(read_archive(saved[1])[0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"window": 10}, "window must be an integer of at least 50, got 10"),
        ({"n_models": 3}, "n_models must be an integer of at least 10, got 3"),
        ({"n_estimators": 0}, "n_estimators must be an integer of at least 1"),
        ({"max_samples": 1}, "max_samples must be an integer of at least 2"),
        ({"sigma": -1}, "sigma must be a finite number above 0"),
        ({"contamination": 5}, "contamination must be 'auto' or a share"),
        ({"sampler": "grouped"}, "sampler 'grouped' needs a value for each row, which a stream"),
        ({"family": ["line", "circle"]}, "family must be one family for a stream"),
        ({"family": "plane"}, "family 'plane' needs 3 columns"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        make().set_params(**params).partial_fit(rows(5))


def test_wrong_rows_are_refused_and_nothing_is_learned(saved):
    detector = StreamingPreferenceIsolationForest.load(saved[1])
    bad = rows(5)
    bad[4, 1] = np.nan
    for X, message in [(bad, "NaN"), (np.ones((2, 3)), "3 features"), (bad[:, 0], "2D array")]:
        with pytest.raises(ValueError, match=message):
            detector.partial_fit(X)
    with pytest.raises(ValueError, match="n must be an integer of at least 0, got -1"):
        detector.forget(-1)
    assert detector.n_seen_ == 155
    np.testing.assert_array_equal(detector.score_learn(rows(9)), _continued(saved[1], rows(9)))


def test_before_the_first_row_there_is_nothing():
    for method in ("predict", "anomaly_score"):
        with pytest.raises(NotFittedError):
            getattr(make(), method)(rows(3))
    with pytest.raises(NotFittedError):
        make().forget()
    with pytest.raises(NotFittedError):
        _ = make().drift_


@pytest.mark.slow
def test_a_target_may_be_named_by_its_column(tmp_path):
    pandas = pytest.importorskip("pandas")
    x = rows(60)
    frame = pandas.DataFrame({"load": x[:, 1], "speed": x[:, 0]})
    family = piforest.families.get_family("linear_regression", target="load")
    detector = make().set_params(family=family).partial_fit(frame)
    detector.save(tmp_path / "state.pif")
    again = StreamingPreferenceIsolationForest.load(tmp_path / "state.pif")
    np.testing.assert_array_equal(again.score_learn(frame), detector.score_learn(frame))


@pytest.mark.slow
def test_the_threshold_follows_the_stream_and_drift_tells_what_changed():
    data = make_lines(3, sizes=300, noise=0.01, anomaly_share=0.2, random_state=1)
    order = np.random.default_rng(0).permutation(len(data.data))
    X, y = data.data[order], data.target[order] == 0
    moved = X[:, ::-1] + 3
    detector = StreamingPreferenceIsolationForest("line", window=500, random_state=0)
    detector.score_learn(X)
    _, labels = detector.score_learn(np.concatenate([moved, moved]), return_labels=True)
    late = np.arange(2 * len(X)) > len(X)
    assert np.mean((labels == -1)[late] == np.concatenate([y, y])[late]) > 0.85
    kinds = [event.kind for event in detector.drift_]
    assert kinds.count("left") == kinds.count("came") == 3
    assert all(row > len(X) for row in (event.row for event in detector.drift_))


@pytest.mark.slow
def test_structures_of_a_stream_have_equations_with_the_names_of_its_columns():
    pd = pytest.importorskip("pandas")
    X = rows(600)
    frame = pd.DataFrame(X, columns=["load", "power"])
    plain = StreamingPreferenceIsolationForest("line", window=200, random_state=0)
    named = StreamingPreferenceIsolationForest("line", window=200, random_state=0)
    plain.score_learn(X)
    named.score_learn(frame)
    assert {"x", "y"} <= set(plain.structures_[0].equation)
    assert plain.structures_[0].equation.replace("x", "load").replace("y", "power") == (
        named.structures_[0].equation
    )
