"""More points than the pool, or than 50,000: the rows that fit uses, and its memory."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
import textwrap
import weakref

import numpy as np
import pytest

from piforest import PreferenceIsolationForest, VoronoiForest
from piforest._random import SUBSET
from piforest.datasets import make_lines
from piforest.engines import local
from piforest.preferences import Preferences

MANY = 60_000


@pytest.fixture(scope="module")
def many():
    return make_lines(3, sizes=MANY // 4, noise=0.01, anomaly_share=0.25, random_state=0).data


def small(**changes):
    params = {"n_models": 150, "n_estimators": 5, "max_samples": 32, "pool_size": 100}
    return {**params, "random_state": 0, **changes}


@pytest.mark.slow
@pytest.mark.parametrize("contamination", ["auto", 0.25])
def test_fit_embeds_only_the_pool_and_the_rows_of_the_threshold(many, monkeypatch, contamination):
    embedded = []

    def spy(preferences, X):
        embedded.append(len(X))
        return real(preferences, X)

    real = Preferences.rows_of
    monkeypatch.setattr(Preferences, "rows_of", spy)
    detector = PreferenceIsolationForest("line", **small(contamination=contamination)).fit(many)
    # Models are compared on at most 2,048 rows.
    others = sum(embedded) - embedded[0]
    assert embedded[0] <= 2048
    if contamination == "auto":
        assert others == 100 + 250  # the pool and the random points
    else:
        assert others == 100 + SUBSET
    labels = detector.predict(many)
    assert sum(embedded) > MANY
    assert np.array_equal(labels, detector.fit_predict(many))
    assert contamination == "auto" or abs(np.mean(labels == -1) - 0.25) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize(
    "detector", [PreferenceIsolationForest("line", **{"n_models": 50}), VoronoiForest("euclidean")]
)
def test_a_detector_of_many_rows_holds_no_reference_to_them(detector, many):
    X = many.copy()
    reference = weakref.ref(X)
    detector.set_params(n_estimators=5, pool_size=100, random_state=0).fit(X)
    del X
    gc.collect()
    assert reference() is None
    with pytest.raises(AttributeError, match="scores of the 60000 training rows are not kept"):
        detector.scores_  # noqa: B018
    assert not hasattr(detector, "labels_")
    assert len(detector.predict(many[:5])) == 5


@pytest.mark.slow
def test_bands_are_measured_on_4096_points_until_models_are_selected_then_on_50_000(
    many, monkeypatch
):
    measured = []
    real = local.measure_bands
    monkeypatch.setattr(
        local, "measure_bands", lambda X, *a, **k: measured.append(len(X)) or real(X, *a, **k)
    )
    PreferenceIsolationForest("line", **small()).fit(many)
    PreferenceIsolationForest("line", **small()).fit(many[:40_000])
    # First, after each of two refits, for heaps, and with the models that are kept.
    assert measured == [4096, 4096, 4096, 1024, SUBSET, 4096, 4096, 4096, 1024, 40_000]


@pytest.mark.slow
@pytest.mark.parametrize("make", [PreferenceIsolationForest.paper, VoronoiForest])
def test_the_contamination_of_many_points_is_met(many, make):
    first, changes = (
        ("line", {"sigma": 0.01})
        if make is not VoronoiForest
        else ("euclidean", {"n_models": None})
    )
    params = {name: value for name, value in small(**changes).items() if value is not None}
    detector = make(first, **params, contamination=0.1).set_params(n_estimators=50).fit(many)
    assert np.mean(detector.predict(many) == -1) == pytest.approx(0.1, abs=0.01)


@pytest.mark.slow
def test_members_of_structures_come_from_the_subset(many):
    detector = PreferenceIsolationForest("line", **small(pool_size=400, n_models=400)).fit(many)
    members = np.concatenate([each.members for each in detector.structures_])
    assert len(np.unique(members)) == len(members)
    assert len(members) == pytest.approx(0.75 * SUBSET, rel=0.1)
    few = PreferenceIsolationForest("line", **small(pool_size=400, n_models=400)).fit(many[::3])
    assert sum(each.support for each in few.structures_) == pytest.approx(0.25 * MANY, rel=0.1)
    labels = few.labels_
    assert all((labels[each.members] == 1).all() for each in few.structures_)


def copies(detector, tmp_path):
    # Pickled first, so that it does not contain results that saving computes.
    pickled = pickle.loads(pickle.dumps(detector))
    detector.save(tmp_path / "model.pif")
    return pickled, type(detector).load(tmp_path / "model.pif")


@pytest.mark.slow
def test_a_saved_model_of_many_points_does_not_contain_the_points(many, tmp_path):
    detector = PreferenceIsolationForest("line", **small(pool_size=400, n_models=400)).fit(many)
    some = many[::120]
    expected = detector.predict(some)
    assert len(set(expected)) == 2
    for other in copies(detector, tmp_path):
        with pytest.raises(AttributeError, match="scores of the 60000 training rows are not kept"):
            other.labels_  # noqa: B018
        assert np.array_equal(other.predict(some), expected)
        assert other.set_contamination(0.2).offset_ == detector.set_contamination(0.2).offset_
        supports = [each.support for each in detector.structures_]
        assert [each.support for each in other.structures_] == supports


@pytest.mark.slow
def test_a_fitted_model_does_not_change_if_x_changes():
    X = make_lines(3, sizes=300, noise=0.01, anomaly_share=0.25, random_state=0).data
    params = small(pool_size=300, n_models=500)
    expected = PreferenceIsolationForest("line", **params).fit(X)
    supports = [each.support for each in expected.structures_]
    changed = X.copy()
    detector = PreferenceIsolationForest("line", **params).fit(changed)
    changed[:] = 0
    assert np.array_equal(detector.scores_, expected.scores_)
    assert [each.support for each in detector.structures_] == supports


def test_precomputed_distances_are_not_pickled():
    D = np.abs(np.subtract.outer(*[np.random.default_rng(0).normal(size=400)] * 2))
    forest = VoronoiForest("precomputed", n_estimators=5, random_state=0).fit(D)
    assert len(pickle.dumps(forest)) < D.nbytes / 10


@pytest.mark.slow
def test_a_memory_map_is_scored_like_an_array(many, tmp_path):
    detector = PreferenceIsolationForest("line", **small()).fit(many[:500])
    scores = detector.anomaly_score(np.concatenate([many, many[:9000]]))
    for dtype in (np.float64, np.float32):
        X = np.concatenate([many, many[:9000]]).astype(dtype)
        np.save(tmp_path / "X.npy", X)
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        assert np.array_equal(detector.anomaly_score(mapped), detector.anomaly_score(X))
    assert np.array_equal(np.concatenate(list(detector.score_blocks(np.array_split(X, 7)))),
                          detector.anomaly_score(X))  # fmt: skip
    assert np.abs(scores - detector.anomaly_score(X)).mean() < 0.01


LIMITED = """
    import resource, sys
    import numpy as np
    from piforest import PreferenceIsolationForest
    from piforest.datasets import make_lines

    X = make_lines(3, noise=0.01, anomaly_share=0.25, random_state=0).data
    detector = PreferenceIsolationForest(
        "line", n_models=2000, n_estimators=10, pool_size=200, random_state=0
    ).fit(X)
    detector.anomaly_score(X)  # compiled before the limit
    used = int(next(l for l in open("/proc/self/status") if l.startswith("VmData")).split()[1])
    limit = 1024 * used + 48 * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    mapped = np.load(sys.argv[1], mmap_mode="r")
    try:
        np.ones((len(mapped), 200))
        sys.exit("there is no limit")
    except MemoryError:
        pass
    print(len(detector.anomaly_score(mapped)))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux's RLIMIT_DATA")
def test_the_memory_of_scoring_does_not_depend_on_the_number_of_points(tmp_path):
    """48 MB are enough for 300,000 points, whose distances to the pool would take 480 MB."""
    X = np.random.default_rng(0).uniform(-1, 1, (300_000, 2)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    command = [sys.executable, "-c", textwrap.dedent(LIMITED), str(tmp_path / "X.npy")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stdout.strip() == "300000", result.stderr
