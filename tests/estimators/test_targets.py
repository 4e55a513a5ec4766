"""The target of a regression: y of scikit-learn's tools, and columns that look like classes."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from piforest import PreferenceEmbedding, PreferenceIsolationForest, propose_families
from piforest.families import get_family
from piforest.proposals.candidates import candidates_for

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X @ [1.0, 2.0, 3.0]
SMALL = {"n_models": 50, "n_estimators": 5, "random_state": 0}
IGNORED = "y is ignored: the target of a regression is a column of X"


def messages(estimator, y):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        estimator.fit(X, y)
    return [str(each.message) for each in found if IGNORED in str(each.message)]


@pytest.mark.parametrize("made", [PreferenceIsolationForest, PreferenceEmbedding])
def test_a_continuous_y_is_ignored_with_a_warning(made):
    for y in (Y, pd.Series(Y), Y.tolist()):
        (said,) = messages(made("linear_regression", **small(made)), y)
        assert "Append y to X as its last column" in said
    automatic = PreferenceIsolationForest(**SMALL)
    assert len(messages(automatic, Y)) == 1


@pytest.mark.parametrize("made", [PreferenceIsolationForest, PreferenceEmbedding])
def test_labels_and_other_families_are_no_reason_to_warn(made):
    regression = made("linear_regression", **small(made))
    labels = (Y > 0).astype(int)
    for y in (None, labels, 2 * labels - 1, np.arange(60) % 10, labels.astype(str), "none"):
        assert messages(regression, y) == []
    assert messages(made("line", **small(made)), Y) == []


def small(made):
    return {k: v for k, v in SMALL.items() if made is PreferenceIsolationForest or k[2:5] != "est"}


def with_class(n_columns):
    rng = np.random.default_rng(1)
    kind = np.arange(200) % 2
    features = rng.normal(size=(200, n_columns)) + 3 * kind[:, None]
    names = [f"Size {k}" for k in range(n_columns)]
    return pd.DataFrame(features, columns=names).assign(Kind=kind)


@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_a_class_is_not_regressed_without_a_word(n_columns):
    rows = with_class(n_columns)
    tried = candidates_for(rows.to_numpy(), list(rows))
    assert tried.class_target == "Kind"
    assert "Kind has only 2 different values, as a class has" in tried.reason
    assert "Size 0" in tried.reason or n_columns == 4  # as they are written in the file
    found = propose_families(rows, random_state=0)
    assert not found.found
    detector = PreferenceIsolationForest(random_state=0, n_estimators=20)
    with pytest.warns(UserWarning, match=r"Kind has only 2 different values.*leave this column"):
        detector.fit(rows)
    assert (detector.labels_ == 1).all()
    assert detector.threshold_source_ == "no structure"
    assert detector.diagnosis_[0].code == "class_target"
    assert "Kind has few different values" in detector.diagnosis_[0].text


def test_a_named_family_regresses_a_class():
    rows = with_class(2)
    family = get_family("linear_regression", target="Kind")
    detector = PreferenceIsolationForest(family, **SMALL).fit(rows)
    assert "class_target" not in [each.code for each in detector.diagnosis_]
    assert candidates_for(rows.to_numpy()[:, ::-1], list(rows)[::-1]).class_target is None


def test_the_species_of_an_iris_is_a_class():
    found = propose_families(load_iris(as_frame=True).frame, random_state=0)
    assert found.class_target == "target"
    assert not found.found
    counts = np.column_stack([X, np.arange(60) % 9])
    assert candidates_for(counts, list("abcd")).class_target is None
    halves = np.column_stack([X, (np.arange(60) % 3) / 2])
    assert candidates_for(halves, list("abcd")).class_target is None
