"""Laws of tables with much noise."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from piforest import PreferenceIsolationForest, load
from piforest._random import Stream
from piforest.families import get_family, marginal_rows
from piforest.labels.choice import Distances
from piforest.reproduction.real.anomalies import with_anomalies
from piforest.structures.laws import (
    depends_much,
    description_gain,
    law_of_all,
    least_squares,
    related_columns,
)

LAW = get_family("linear_regression")


def table(n, noise, seed, slope=1.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return np.column_stack([x, slope * x + noise * rng.normal(size=n)])


def most(distances, scores, *others):
    """In place of votes: four of five rows are anomalous."""
    return np.arange(len(scores)) % 5 > 0


@pytest.mark.parametrize("noise", [0.5, 1.0])
@pytest.mark.parametrize("n", [60, 1000])
def test_a_noisy_law_has_the_slope_and_the_sigma_of_least_squares(noise, n):
    X = table(n, noise, seed=3)
    fitted = np.polynomial.polynomial.polyfit(X[:, 0], X[:, 1], 1)
    law = law_of_all(LAW, X)
    assert law is not None
    predicted = LAW.residuals(
        np.column_stack([X[:, 0], fitted[0] + fitted[1] * X[:, 0]]), law[0][None]
    )
    assert predicted.max() < 0.25 * noise
    assert law[1] == pytest.approx(noise, rel=0.3)


def test_weighted_least_squares_leave_far_rows_aside():
    X = table(400, 0.1, seed=0)
    X[:60, 1] += 5
    samples = X[np.array([[100, 200]])]
    params, sigma = least_squares(LAW, LAW.solve(samples)[0][0, 0], X, 0.5, 1)
    assert sigma == pytest.approx(0.1, rel=0.2)
    assert LAW.residuals(X[60:], params[None]).max() < 0.5


def test_unrelated_columns_have_no_law():
    found = [law_of_all(LAW, np.random.default_rng(k).normal(size=(80, 3))) for k in range(60)]
    assert sum(each is not None for each in found) == 0
    assert not related_columns(LAW, np.random.default_rng(0).uniform(size=(50, 4)))


def test_parallel_laws_are_moved_in_the_target():
    X = table(50, 0.3, seed=1)
    params = LAW.solve(X[None, :2])[0][0, 0]
    copies = LAW.parallel(params, np.array([-0.5, 0.0, 2.0]), 2)
    on = X[:2]  # the sample is on its law
    assert LAW.residuals(on, copies) == pytest.approx(np.tile([0.5, 0.0, 2.0], (2, 1)), abs=1e-9)


@pytest.mark.slow
def test_scores_of_a_noisy_table_rank_its_rows_by_their_distance():
    X = table(300, 0.7, seed=5)
    far = np.arange(300) < 15
    X[far, 1] += 4 * np.where(np.arange(15) % 2, 1, -1)
    detector = PreferenceIsolationForest("linear_regression", random_state=0).fit(X)
    assert len(detector.structures_) == 1
    assert roc_auc_score(far, detector.scores_) > 0.95
    assert np.mean(detector.labels_ == -1) < 0.12


def test_an_exact_law_flags_nothing():
    x = np.arange(100.0)
    X = np.column_stack([x, 2 * x + 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detector = PreferenceIsolationForest("linear_regression", random_state=0).fit(X)
    assert (detector.labels_ == 1).all()


@pytest.mark.slow
def test_a_trend_that_most_rows_do_not_follow_flags_nothing_and_says_so(tmp_path, monkeypatch):
    X = table(200, 0.7, seed=2)
    monkeypatch.setattr(Distances, "_anomalous", most)
    with pytest.warns(UserWarning, match="score like those beyond the structures, too many"):
        detector = PreferenceIsolationForest("linear_regression", random_state=0).fit(X)
    assert detector.threshold_source_ == "too many beyond"
    assert (detector.labels_ == 1).all()
    assert "too_many_beyond" in [each.code for each in detector.diagnosis_]
    detector.save(tmp_path / "model.pif")
    assert load(tmp_path / "model.pif").threshold_source_ == "too many beyond"


@pytest.mark.slow
def test_models_without_any_evidence_can_be_saved_and_loaded(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    y = np.where(rng.uniform(size=400) < 0.6, 0, np.exp(0.8 * x + rng.normal(size=400) * 0.4))
    X = np.column_stack([x, y])
    with pytest.warns(UserWarning, match="no structure"):
        detector = PreferenceIsolationForest("linear_regression", random_state=0).fit(X)
    assert detector.structures_ == []
    detector.save(tmp_path / "model.pif")
    assert np.array_equal(load(tmp_path / "model.pif").anomaly_score(X), detector.scores_)


def test_a_threshold_of_other_rows_leaves_that_of_the_training_rows_alone(monkeypatch):
    X = table(200, 0.7, seed=2)
    detector = PreferenceIsolationForest("linear_regression", random_state=0).fit(X)
    before = detector.threshold_, detector.threshold_source_
    with monkeypatch.context() as patch:
        patch.setattr(Distances, "_anomalous", most)
        detector.set_contamination("auto", X[:100] + 0.01)
        assert detector.threshold_source_ == "too many beyond"
    detector.set_contamination("auto")
    assert (detector.threshold_, detector.threshold_source_) == before


def true_law(slope):
    return LAW.solve(np.array([[[0.0, 0.0], [1.0, slope]]]))[0][0, 0]


def gain_one_by_one(laws, X, null):
    """`description_gain`, row by row."""

    def cell(row):
        distances = [float(LAW.residuals(row[None], p[None])[0, 0]) / s for p, s in laws]
        k = int(np.argmin(distances))
        shell = next((i for i, end in enumerate((0.5, 1, 2, 4)) if distances[k] <= end), None)
        return None if shell is None else (k, shell)

    cells, null_cells = [cell(row) for row in X], [cell(row) for row in null]
    size = 4 * len(laws) + 1
    share = {c: cells.count(c) / len(X) for c in set(cells)}
    expected = {c: (null_cells.count(c) + 0.5) / (len(null) + 0.5 * size) for c in set(cells)}
    return sum(np.log(share[c] / expected[c]) for c in cells)


def test_the_gain_of_a_description_is_that_of_its_definition():
    X = np.concatenate([table(80, 0.2, 0), table(60, 0.1, 1, slope=-2.0)])
    null = marginal_rows(LAW, X, 300, Stream(0))
    for laws in ([(true_law(1.0), 0.2)], [(true_law(1.0), 0.2), (true_law(-2.0), 0.1)]):
        assert description_gain(LAW, laws, X, null) == pytest.approx(gain_one_by_one(laws, X, null))


def test_the_true_law_describes_rows_better_than_others():
    X = table(400, 0.5, 2)
    null = marginal_rows(LAW, X, 4000, Stream(0))
    best = description_gain(LAW, [(true_law(1.0), 0.5)], X, null)
    for slope, sigma in ((0.3, 0.5), (2.0, 0.5), (1.0, 0.02), (1.0, 5.0)):
        assert description_gain(LAW, [(true_law(slope), sigma)], X, null) < best


def test_laws_of_unrelated_columns_describe_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    null = marginal_rows(LAW, X, 4000, Stream(1))
    assert abs(description_gain(LAW, [(true_law(1.0), 0.5)], X, null)) < 10


@pytest.mark.parametrize("n_levels", [4, 8])
def test_a_law_with_some_exact_levels_is_one_law(n_levels):
    rng = np.random.default_rng(n_levels)
    X = table(500, 0.6, 7)
    some = rng.uniform(size=500) < 0.3
    levels = np.quantile(X[:, 1], np.linspace(0.2, 0.8, n_levels))
    near = levels[np.argmin(np.abs(X[:, 1:] - levels), axis=1)]
    X[some, 1] = near[some]
    detector = PreferenceIsolationForest("linear_regression", random_state=0).fit(X)
    assert len(detector.structures_) == 1
    assert detector.sigma_ == pytest.approx(0.6, rel=0.4)
    assert np.mean(detector.labels_ == -1) < 0.12


@pytest.mark.parametrize("seed", [801, 802])
def test_a_heap_beside_a_law_is_no_second_law(seed):
    X, y, sigma = with_anomalies("table", "heaped", 0.1, seed)
    detector = PreferenceIsolationForest("linear_regression", random_state=0).fit(X)
    assert len(detector.structures_) == 1
    assert detector.sigma_ == pytest.approx(sigma, rel=0.3)
    assert roc_auc_score(y == 0, detector.scores_) > 0.9


def test_columns_depend_on_others_by_a_law_but_not_by_chance_or_a_law_of_few_rows():
    assert depends_much(LAW, table(300, 1.0, 0))
    rng = np.random.default_rng(0)
    anywhere = rng.uniform(-2, 2, (400, 2))
    assert not depends_much(LAW, anywhere)
    assert not depends_much(LAW, np.concatenate([anywhere, table(80, 0.05, 1)]))
    assert not depends_much(get_family("line"), table(300, 1.0, 0))


def test_a_law_of_few_of_the_related_rows_does_not_flag_most():
    rng = np.random.default_rng(5)
    x = np.exp(rng.normal(0, 1.5, 300))
    y = 5 * x * np.exp(rng.normal(0, 1.2, 300))
    X = np.column_stack([x, y])
    few = rng.uniform(size=300) < 0.15
    X[few, 1] = 0.2 * X[few, 0] + 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detector = PreferenceIsolationForest("linear_regression", random_state=0).fit(X)
    assert np.mean(detector.labels_ == -1) <= 0.5


def test_an_exact_law_of_few_rows_is_found_without_a_warning():
    amount = 1.5 * np.arange(40)
    X = np.column_stack([amount, 2 * amount + 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        detector = PreferenceIsolationForest("linear_regression", n_models=300, random_state=0)
        found = detector.fit(X).structures_
    assert [each.support for each in found] == [40]
    _, sigma = law_of_all(get_family("linear_regression"), X)
    assert 0 < sigma < 0.01 * np.ptp(X[:, 1])


def few_rows(n, explained, columns=8, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, columns - 1))
    signal = features @ rng.uniform(0.5, 1, columns - 1)
    noise = rng.normal(size=n) * signal.std() * np.sqrt((1 - explained) / explained)
    return np.column_stack([features, signal + noise])


@pytest.mark.parametrize(("n", "found"), [(15, False), (20, True), (32, True)])
def test_the_law_of_few_rows_is_that_of_least_squares(n, found):
    X, family = few_rows(n, 0.99), get_family("linear_regression")
    law = law_of_all(family, X)
    assert (law is not None) == found
    if law is not None:
        A = np.column_stack([X[:, :-1], np.ones(n)])
        params, rss, *_ = np.linalg.lstsq(A, X[:, -1], rcond=None)
        assert law[1] == pytest.approx(np.sqrt(rss[0] / (n - 8)))
        predicted = family.predicted(X, law[0])
        assert predicted == pytest.approx(A @ params)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["auto", "linear_regression"])
def test_an_obvious_law_of_few_rows_is_found_by_any_choice_of_the_family(family):
    table = pd.DataFrame(few_rows(32, 0.97), columns=[f"c{k}" for k in range(8)])
    detector = PreferenceIsolationForest(family, random_state=0).fit(table)
    assert detector.family_.name == "linear_regression"
    assert [each.support for each in detector.structures_] == [32]


def test_too_few_rows_are_not_said_to_scatter():
    X = few_rows(15, 0.99, seed=2)
    detector = PreferenceIsolationForest("linear_regression", n_models=200, random_state=0)
    with pytest.warns(UserWarning, match="no structure"):
        detector.fit(X)
    text = detector.diagnosis_[0].text
    assert "15 rows are too few to tell how much they scatter" in text
    assert "which 8 of them determine" in text


@pytest.mark.slow
def test_unrelated_columns_of_few_rows_have_no_law():
    family = get_family("linear_regression")
    tables = [np.random.default_rng(k).normal(size=(n, 8)) for k in range(100) for n in (16, 32)]
    assert sum(law_of_all(family, X) is not None for X in tables) <= 2
