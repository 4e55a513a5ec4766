"""Fit, save, load, score, change the threshold, pickle and Dask, in any order.

The reference of a detector is plain data: the results of a new detector that was fitted once and
never used otherwise, and a threshold that the machine sets itself. After any steps a detector must
give the same bits.
"""

from __future__ import annotations

import copy
import pickle
import tempfile
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cloudpickle
import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
)
from sklearn.base import clone

import naive
import piforest
from piforest import PreferenceIsolationForest, VoronoiForest
from piforest.datasets import make_lines

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("dask")

SMALL = {"n_estimators": 4, "max_samples": 16, "random_state": 0}
DETECTORS = {
    "default": PreferenceIsolationForest("line", n_models=40, **SMALL),
    "paper": PreferenceIsolationForest.paper("line", sigma=0.02, n_models=40, **SMALL),
    "pool": PreferenceIsolationForest("line", n_models=40, pool_size=40, **SMALL),
    "share": PreferenceIsolationForest(["line", "circle"], n_models=40, contamination=0.2, **SMALL),
    "voronoi": VoronoiForest("euclidean", branching=3, **SMALL),
}
DATA = [
    make_lines(2, sizes=25, noise=0.01, anomaly_share=0.3, random_state=seed).data
    for seed in (0, 1)
]
NEW = np.concatenate([DATA[0][:9], DATA[1][:9], np.random.default_rng(0).uniform(-1, 1, (9, 2))])


@dataclass(frozen=True)
class Results:
    """Of a detector that was fitted and not used since."""

    scores: np.ndarray
    new: np.ndarray
    threshold: float
    source: str
    null: np.ndarray | None
    structures: str


@cache
def reference(name, data):
    detector = quiet(clone(DETECTORS[name]).fit, DATA[data])
    structured = isinstance(detector, PreferenceIsolationForest)
    new = detector.anomaly_score(NEW)
    if name == "voronoi":
        np.testing.assert_allclose(new, naive_scores(detector), rtol=1e-12)
    return Results(
        detector.scores_.copy(), new, detector.threshold_, detector.threshold_source_,
        detector.null_scores_.copy() if structured else None,
        str(quiet(structures_of, detector)) if structured else "",
    )  # fmt: skip


def naive_scores(detector):
    """From distances of NumPy, and trees grown by the naive code."""
    pool, trees = detector.forest_.pool, detector.forest_.trees
    D = np.sqrt(((NEW[:, None] - pool) ** 2).sum(axis=2))
    nested = [nodes(trees, tree, 0) for tree in range(len(trees))]
    empty = np.zeros(len(NEW), bool)
    return naive.scores(D, empty, nested, trees.max_samples, trees.branching)[1]


def nodes(trees, tree, node):
    at = trees.roots[tree] + node
    if trees.first_child[at] < 0:
        return int(trees.size[at])
    children = [int(trees.first_child[at]) + k for k in range(trees.branching)]
    seeds = [int(trees.seed[trees.roots[tree] + child]) for child in children]
    return seeds, [nodes(trees, tree, child) for child in children]


def structures_of(detector):
    """Those of the automatic threshold; `structures_` has the members of the one that is set."""
    return detector.findings_.structures(detector.backend_)


def quiet(function, *args):
    """Some of these small sets have no significant structure, which is a warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no structure of family")
        return function(*args)


@dataclass
class State:
    """A detector, and what is known of it."""

    detector: object
    name: str
    data: int
    threshold: float
    source: str

    @property
    def expected(self):
        return reference(self.name, self.data)

    def copied(self, detector):
        return State(detector, self.name, self.data, self.threshold, self.source)


def fitted(detector, name, data):
    expected = reference(name, data)
    return State(detector, name, data, expected.threshold, expected.source)


COPIES = {
    "pickle": lambda detector: pickle.loads(pickle.dumps(detector)),
    "cloudpickle": lambda detector: cloudpickle.loads(cloudpickle.dumps(detector)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


class DetectorMachine(RuleBasedStateMachine):
    states = Bundle("states")

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.known = []

    def teardown(self):
        self.folder.cleanup()
        for state in self.known:
            self.score(state, list(range(len(NEW))), len(NEW))

    def remember(self, state):
        self.known.append(state)
        return state

    @initialize(target=states, name=st.sampled_from(sorted(DETECTORS)))
    def start(self, name):
        return self.fit(name, 0, "array")

    @rule(
        target=states,
        name=st.sampled_from(sorted(DETECTORS)),
        data=st.sampled_from([0, 1]),
        layout=st.sampled_from(["array", "list", "dask"]),
    )
    def fit(self, name, data, layout):
        X = DATA[data]
        X = {"array": X, "list": X.tolist(), "dask": da.from_array(X, chunks=(20, 2))}[layout]
        detector = quiet(clone(DETECTORS[name]).fit, X)
        return self.remember(fitted(detector, name, data))

    @rule(target=states, state=consumes(states), data=st.sampled_from([0, 1]))
    def fit_again(self, state, data):
        """A detector that was loaded, copied or changed fits like a new one."""
        self.known = [each for each in self.known if each is not state]
        detector = state.detector.set_params(contamination=DETECTORS[state.name].contamination)
        return self.remember(fitted(quiet(detector.fit, DATA[data]), state.name, data))

    @rule(target=states, state=states, general=st.booleans())
    def save_and_load(self, state, general):
        path = Path(self.folder.name) / "model.pif"
        state.detector.save(path)
        load = piforest.load if general else type(state.detector).load
        return self.remember(state.copied(load(path)))

    @rule(target=states, state=states, way=st.sampled_from(sorted(COPIES)))
    def copied(self, state, way):
        return self.remember(state.copied(COPIES[way](state.detector)))

    @rule(target=states, state=states)
    def dumped(self, state):
        path = Path(self.folder.name) / "model.joblib"
        joblib.dump(state.detector, path)
        return self.remember(state.copied(joblib.load(path)))

    @rule(state=states, at=st.integers(0, len(NEW) - 1))
    def set_threshold(self, state, at):
        state.threshold, state.source = float(state.expected.new[at]), "given"
        assert state.detector.set_threshold(state.threshold) is state.detector

    @rule(state=states, share=st.sampled_from([0.05, 0.3]))
    def set_contamination(self, state, share):
        state.detector.set_contamination(share)
        state.threshold, state.source = state.detector.threshold_, "contamination"
        scores = state.expected.scores
        # Equal scores stay together, also where the largest are too many.
        counts = [(scores >= score).sum() for score in np.unique(scores)[1:]]
        fitting = [count for count in counts if count <= share * len(scores)]
        assert (scores > state.threshold).sum() == max(fitting, default=counts[-1])

    @rule(state=states)
    def choose_the_threshold_again(self, state):
        """The automatic threshold follows from the fitted value alone."""
        quiet(state.detector.set_contamination, "auto")
        state.threshold, state.source = state.detector.threshold_, "automatic"
        if DETECTORS[state.name].contamination == "auto":
            assert state.threshold == state.expected.threshold

    @rule(state=states, order=st.permutations(range(len(NEW))), n=st.integers(1, len(NEW)))
    def score(self, state, order, n):
        rows = order[:n]
        scores = state.detector.anomaly_score(NEW[rows])
        assert np.array_equal(scores, state.expected.new[rows])
        assert np.array_equal(state.detector.predict(NEW[rows]), labels(scores, state))
        assert np.array_equal(state.detector.decision_function(NEW[rows]), state.threshold - scores)

    # Every partition costs as much as any other step.
    @rule(state=states, n=st.sampled_from([5, 11, len(NEW)]), table=st.booleans())
    def score_with_dask(self, state, n, table):
        if table:
            rows = dd.from_pandas(pd.DataFrame(NEW), npartitions=-(-len(NEW) // n))
        else:
            rows = da.from_array(NEW, chunks=(n, 2))
        with dask.config.set(scheduler="synchronous"):
            scores = np.asarray(state.detector.anomaly_score(rows))
            found = np.asarray(state.detector.predict(rows))
        assert np.array_equal(scores, state.expected.new)
        assert np.array_equal(found, labels(scores, state))

    @rule(state=states)
    def training_rows(self, state):
        assert np.array_equal(state.detector.scores_, state.expected.scores)
        assert np.array_equal(state.detector.labels_, labels(state.expected.scores, state))

    @rule(state=states)
    def findings(self, state):
        if state.expected.null is not None:
            assert np.array_equal(state.detector.null_scores_, state.expected.null)
            assert str(quiet(structures_of, state.detector)) == state.expected.structures
            found, rows = state.detector.structures_, state.detector.structure_labels_
            if state.source in ("given", "contamination"):
                for k, each in enumerate(found):
                    assert np.array_equal(each.members, np.flatnonzero(rows == k))

    @rule(state=states)
    def a_step_that_fails_changes_nothing(self, state):
        with pytest.raises(ValueError, match="NaN"):
            state.detector.predict([[np.nan, 0.0]])
        with pytest.raises(ValueError, match="features"):
            state.detector.predict([[0.0, 0.0, 0.0]])
        with pytest.raises(ValueError, match="threshold must be"):
            state.detector.set_threshold(np.nan)
        with pytest.raises(ValueError, match="contamination must be"):
            state.detector.set_contamination(2.0)
        with pytest.raises(FileNotFoundError):
            state.detector.save(Path(self.folder.name) / "absent" / "model.pif")

    @invariant()
    def no_step_changes_another_detector(self):
        for state in self.known:
            assert state.detector.threshold_ == state.threshold
            assert state.detector.threshold_source_ == state.source


def labels(scores, state):
    return np.where(scores > state.threshold, -1, 1)


@pytest.mark.slow
class TestStates(DetectorMachine.TestCase):
    settings = settings(max_examples=40, stateful_step_count=25, deadline=None, derandomize=True)
