"""Columns of a table that say nothing: constant ones, and those that others determine."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import piforest
from piforest import PreferenceEmbedding, PreferenceIsolationForest, propose_families
from piforest.families import get_family

SMALL = {"n_models": 1000, "n_estimators": 30, "random_state": 0}
REGRESSIONS = ["linear_regression", "polynomial_regression"]
CONSTANT = r"column 'k' of X is constant and has no effect: the regression leaves it out\."


def table(n=300):
    rng = np.random.default_rng(0)
    amount, rooms = rng.uniform(0, 50, n), rng.uniform(1, 7, n)
    cost = 20 + 3 * amount + 10 * rooms + rng.normal(0, 4, n)
    cost[:15] += rng.uniform(40, 150, 15)
    return pd.DataFrame({"amount": amount, "rooms": rooms, "cost": cost})


def with_constant():
    return table().assign(k=7.0)[["amount", "k", "rooms", "cost"]]


@pytest.mark.slow
@pytest.mark.parametrize("family", REGRESSIONS)
def test_a_constant_feature_changes_nothing(family, tmp_path):
    rows = with_constant()
    plain = PreferenceIsolationForest(family, **SMALL).fit(table())
    with pytest.warns(UserWarning, match=CONSTANT):
        found = PreferenceIsolationForest(family, **SMALL).fit(rows)
    assert found.family_.unused == (1,)
    assert np.array_equal(found.scores_, plain.scores_)
    assert found.structures_[0].equation == plain.structures_[0].equation
    assert set(plain.structures_[0].extent) == set(found.structures_[0].extent)
    assert str(found.explain(rows[:1])[0]) == str(plain.explain(table()[:1])[0])
    found.save(tmp_path / "m.pif")
    loaded = piforest.load(tmp_path / "m.pif")
    assert np.array_equal(loaded.predict(rows), plain.labels_)
    assert loaded.family_.unused == (1,)


@pytest.mark.slow
def test_the_comparison_of_families_finds_the_law_beside_a_constant():
    found = propose_families(with_constant(), random_state=0)
    assert found[0].name == "linear_regression"
    assert "Subspaces are not compared, since a column is constant" in found.reason
    with pytest.warns(UserWarning, match=CONSTANT):
        detector = PreferenceIsolationForest(random_state=0).fit(with_constant())
    assert (detector.labels_[:15] == -1).all()
    assert np.sum(detector.labels_ == -1) < 20


@pytest.mark.slow
def test_a_subspace_may_have_a_constant_column():
    family = get_family("subspace", dimension=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        found = PreferenceIsolationForest(family, random_state=0).fit(with_constant())
    assert np.isfinite(found.threshold_)


@pytest.mark.parametrize("name", REGRESSIONS)
def test_an_unused_column_is_no_feature(name):
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(40, 1)), np.full(40, 3.0), rng.normal(size=(40, 2))])
    full, plain = get_family(name, unused=(1,)), get_family(name)
    rest = X[:, [0, 2, 3]]
    size = full.sample_size(4)
    assert size == plain.sample_size(3)
    params, valid = full.solve(X[:size][None])
    expected, _ = plain.solve(rest[:size][None])
    assert valid.all()
    assert np.array_equal(params, expected)
    assert np.array_equal(full.residuals(X, params[0]), plain.residuals(rest, expected[0]))
    assert np.array_equal(full.predicted(X, params[0, 0]), plain.predicted(rest, params[0, 0]))
    assert np.array_equal(full.lift(X), plain.lift(rest))
    box, small = (X.min(axis=0), X.max(axis=0)), (rest.min(axis=0), rest.max(axis=0))
    lines, own = plain.outline(params[0, 0], *small), full.outline(params[0, 0], *box)
    assert all(np.array_equal(a[:, [0, 2, 3]], b) for a, b in zip(own, lines, strict=True))


def test_unused_columns_are_numbers():
    with pytest.raises(ValueError, match=r"unused must be a tuple of numbers of columns, got 3"):
        get_family("linear_regression", unused=3)
    with pytest.raises(ValueError, match=r"an item of unused must be an integer of at least 0"):
        get_family("linear_regression", unused=("k",))


def test_errors_name_the_column():
    rows = table().assign(pet=np.arange(300) % 2)[["amount", "pet", "cost"]]
    with pytest.raises(ValueError, match=r"column 'pet' of X has 2 distinct value\(s\)"):
        PreferenceIsolationForest("polynomial_regression").fit(rows)
    with pytest.raises(ValueError, match=r"the target, column 'cost' of X, is constant"):
        PreferenceIsolationForest("linear_regression").fit(table().assign(cost=1.0))
    with pytest.raises(ValueError, match=r"the target, column 2 of X, is constant"):
        PreferenceEmbedding("linear_regression").fit(table().assign(cost=1.0).to_numpy())


def test_columns_that_others_determine_are_named():
    kinds = pd.get_dummies(pd.Series(np.arange(300) % 3).map({0: "a", 1: "b", 2: "c"}), dtype=float)
    rows = pd.concat([table()[["amount"]], kinds, table()[["rooms", "cost"]]], axis=1)
    message = r"The columns 'a', 'b' and 'c' of X are linear functions of each other, .*: leave one"
    with pytest.raises(ValueError, match=message):
        PreferenceIsolationForest("linear_regression", n_models=50).fit(rows)
    with pytest.warns(UserWarning, match=f"'linear_regression' could not be compared. {message}"):
        propose_families(rows, random_state=0)


def test_columns_that_count_rows_are_named():
    rows = table()
    with pytest.warns(UserWarning, match=r"'Unnamed: 0' numbers the rows, as an index"):
        PreferenceIsolationForest("line", **SMALL).fit(rows.reset_index(names="Unnamed: 0"))
    with pytest.warns(UserWarning, match=r"'a' and 'b' number the rows"):
        PreferenceIsolationForest("line", **SMALL).fit(
            rows.assign(a=np.arange(300), b=np.arange(300) + 1)
        )


def test_an_id_numbers_rows_in_any_order():
    ids = np.random.default_rng(0).permutation(300) + 5000
    with pytest.warns(UserWarning, match=r"'ID' numbers the rows, as an index does"):
        PreferenceIsolationForest("line", **SMALL).fit(table().assign(ID=ids))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        PreferenceIsolationForest("line", **SMALL).fit(table().assign(ID=ids % 7))
    assert not [each for each in said if "the rows, as an" in str(each.message)]


def test_times_and_coordinates_may_count():
    t, v = np.arange(300.0), table()["cost"].to_numpy()
    for rows in (
        pd.DataFrame({"t": t, "v": v}),
        pd.DataFrame({"x": t, "y": v, "z": v}),
        np.column_stack([t, v, v]),
    ):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            PreferenceIsolationForest("line", **SMALL).fit(rows)
        assert not [each for each in said if "the rows, as an" in str(each.message)]
