"""What the view of the report opens on, and the report in a notebook."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pytest

from piforest import PreferenceIsolationForest, VoronoiForest
from piforest.datasets import make_regressions
from piforest.families import get_family
from piforest.families.scaled import ScaledFamily
from piforest.report import make_report
from piforest.report.payload import _has_one_unit
from report_pages import decoded, playwright_and_chromium


@pytest.fixture(scope="module")
def table():
    made = make_regressions(2, noise=0.01, anomaly_share=0.2, random_state=0)
    detector = PreferenceIsolationForest("linear_regression", n_models=1500, random_state=0)
    return detector.fit(made.data), made.data


def data_of(report):
    text = re.search(r'id="data">(.*?)</script>', report.page, re.S)[1]
    return json.loads(text)


@pytest.mark.slow
def test_a_regression_opens_on_actual_against_predicted(table):
    detector, X = table
    names = ["a", "b", "c", "price"]
    data = data_of(make_report(detector, X, names=names))
    assert data["view"]["mode"] == "2d"
    assert data["view"]["opening"] == [4, 3]
    assert data["view"]["law"]
    assert data["derived"][0]["name"] == "predicted price"
    assert data["unit"] == "price"
    predicted, distances = decoded(data["derived"][0]), decoded(data["distances"])
    np.testing.assert_allclose(np.abs(X[:, 3] - predicted), distances, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["linear_regression", "polynomial_regression"])
@pytest.mark.parametrize("target", [0, 1, -1])
def test_predictions_differ_from_targets_by_the_residuals(name, target):
    family = get_family(name, target=target)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    params, valid = family.solve(X[: family.sample_size(3)][None])
    assert valid.all()
    predicted = family.predicted(X, params[0, 0])
    expected = family.residuals(X, params[0])[:, 0]
    np.testing.assert_allclose(np.abs(X[:, target] - predicted), expected, rtol=1e-9, atol=1e-9)


def test_the_law_of_one_feature_is_drawn_as_its_graph():
    family = get_family("polynomial_regression", target=0)
    X = np.random.default_rng(1).normal(size=(40, 2))
    params, _ = family.solve(X[:3][None])
    (line,) = family.outline(params[0, 0], X.min(axis=0), X.max(axis=0))
    assert len(line) > 10
    assert family.residuals(line, params[0]).max() < 1e-9


def test_the_law_of_two_features_is_drawn_as_a_net():
    family = get_family("linear_regression")
    X = np.random.default_rng(1).normal(size=(40, 3))
    params, _ = family.solve(X[:3][None])
    lines = family.outline(params[0, 0], X.min(axis=0), X.max(axis=0))
    assert len(lines) > 2
    assert max(family.residuals(line, params[0]).max() for line in lines) < 1e-9
    assert family.outline(params[0, 0], np.zeros(4), np.ones(4)) == []


@pytest.mark.slow
def test_many_columns_open_on_the_two_that_matter_most():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    # A plane in columns 1 and 3; the others are free.
    X[:500, 3] = 2 * X[:500, 1] + rng.normal(scale=0.02, size=500)
    detector = PreferenceIsolationForest("hyperplane", n_models=2000, random_state=0).fit(X)
    assert set(data_of(make_report(detector, X))["view"]["opening"][:2]) == {1, 3}


def test_a_detector_without_models_opens_on_the_first_columns():
    X = np.random.default_rng(0).normal(size=(100, 5))
    detector = VoronoiForest(metric="euclidean", random_state=0).fit(X)
    data = data_of(detector.report(X))
    assert data["view"]["opening"] == [0, 1, 2, 3, 4]
    assert data["derived"] == []
    assert data["unit"] == ""


def test_a_notebook_shows_the_report_in_a_frame(table, tmp_path):
    detector, X = table
    report = detector.report(X, title='A "title" & more')
    shown = report._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert html.unescape(re.search(r'srcdoc="(.*?)" title', shown, re.S)[1]) == report.page
    report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == report.page
    assert re.fullmatch(r"Report\(\d+ kB; .*\)", repr(report))


@pytest.mark.slow
def test_the_frame_works_in_a_browser_and_repeats_the_threshold(table, tmp_path):
    sync_playwright, chromium = playwright_and_chromium()
    detector, X = table
    command = "piforest detect a.csv --family linear_regression --threshold 0.6"
    outer = f"<!doctype html><body>{make_report(detector, X, command=command)._repr_html_()}"
    (tmp_path / "notebook.html").write_text(outer)
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page, problems = browser.new_page(), []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto((tmp_path / "notebook.html").as_uri())
        inner = page.frame_locator("iframe")
        assert "target as predicted" in inner.locator("#legend").inner_text()
        assert inner.locator("#command").inner_text() == command
        inner.locator("#box").fill("0.7")
        inner.locator("#box").press("Tab")
        value = inner.locator("#box").input_value()
        repeated = f"piforest detect a.csv --family linear_regression --threshold {value}"
        assert inner.locator("#command").inner_text() == repeated
        assert inner.locator("#code").inner_text().endswith(f".fit(X).set_threshold({value})")
        inner.locator("#back").click()
        assert inner.locator("#command").inner_text() == command
        browser.close()
    assert not problems


@pytest.mark.parametrize(
    ("family", "names", "equal"),
    [
        ("line", ["x", "y"], True),
        ("line", ["weight", "volume"], False),
        ("circle", ["weight", "volume"], True),
        ("linear_regression", ["x", "y"], False),
    ],
)
def test_axes_are_equal_only_where_the_columns_may_have_one_unit(family, names, equal):
    assert _has_one_unit(get_family(family), names) == equal
    scaled = ScaledFamily(get_family(family), (1.0, 10.0))
    assert not _has_one_unit(scaled, names)
