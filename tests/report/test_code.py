"""The Python that a report prints repeats the run."""

from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest, VoronoiForest
from piforest.datasets import make_lines, make_regressions
from piforest.families import from_functions, get_family
from piforest.report.code import code_of

X = make_lines(2, random_state=0).data
TABLE = make_regressions(random_state=0).data


def ran(detector, data):
    names = {"X": data}
    exec(code_of(detector, float(detector.threshold_)), names)
    return names["detector"]


@pytest.mark.parametrize(
    ("detector", "data"),
    [
        (PreferenceIsolationForest("line", n_models=300, random_state=0), X),
        (PreferenceIsolationForest(get_family("linear_regression", target=0), n_models=300,
                                   random_state=0, n_jobs=1), TABLE),
        (PreferenceIsolationForest([get_family("line"), "circle"], n_models=300,
                                   contamination=0.1, random_state=3), X),
        (PreferenceIsolationForest.paper("line", sigma=0.02, n_models=300, random_state=0), X),
        (VoronoiForest(metric="euclidean", random_state=0), X),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_the_code_that_is_printed_gives_the_same_scores(detector, data):
    detector.fit(data)
    again = ran(detector, data)
    assert np.array_equal(again.scores_, detector.scores_)
    assert again.threshold_ == detector.threshold_
    moved = ran(detector.set_threshold(0.61), data)
    assert moved.threshold_ == 0.61
    assert np.array_equal(moved.labels_, detector.labels_)


@pytest.mark.slow
def test_what_is_not_in_the_code_is_named_above_it():
    family = from_functions(
        lambda points: points[0], lambda X, p: np.linalg.norm(X - p, axis=1), sample_size=1,
        name="mine",
    )  # fmt: skip
    groups = np.arange(len(X)) % 3
    detector = PreferenceIsolationForest(family, sampler="grouped", n_models=300, random_state=0)
    detector.fit(X, groups=groups)
    code = code_of(detector, 0.5)
    assert "# Given: X, groups, family\n" in code
    names = {"X": X, "groups": groups, "family": family}
    exec(code, names)
    assert np.array_equal(names["detector"].scores_, detector.scores_)
    assert "# Given: X\n" in code_of(PreferenceIsolationForest("line").fit(X), 0.5)
