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


def test_a_family_of_functions_is_shown_without_its_address():
    family = from_functions(lambda x: x[0], lambda X, p: X[:, 0], sample_size=1, name="mine")
    detector = PreferenceIsolationForest(family, n_models=50, random_state=0)
    detector.threshold_source_ = "automatic"
    code = code_of(detector, 0.5)
    assert " at 0x" not in code
    assert "mine" in code
