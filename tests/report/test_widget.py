"""`detector.view(X)`: what Python sees, and the module in a browser with a model that pretends."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines
from piforest.report import widget as module
from report_pages import decoded

anywidget = pytest.importorskip("anywidget", reason="anywidget is not installed")


@pytest.fixture(scope="module")
def lines():
    X = make_lines(3, random_state=0).data
    return PreferenceIsolationForest("line", random_state=0, n_models=1000).fit(X), X


@pytest.mark.slow
def test_the_view_begins_with_the_detectors_threshold_and_no_selection(lines):
    detector, X = lines
    view = detector.view(X, names=["east", "north"])
    assert isinstance(view, anywidget.AnyWidget)
    assert view.threshold == detector.threshold_
    assert view.selection == []
    data = json.loads(view.data)
    assert [each["name"] for each in data["columns"]] == ["east", "north"]
    assert np.array_equal(decoded(data["scores"]), detector.anomaly_score(X))
    assert decoded(data["rows"]).tolist() == list(range(len(X))), "positions, as in Python"


def test_of_many_rows_the_most_anomalous_and_a_sample_are_sent(lines):
    detector, X = lines
    scores = np.random.default_rng(0).uniform(size=len(X))
    data = json.loads(detector.view(X, scores=scores, max_rows=50).data)
    sent = decoded(data["rows"]).astype(int)
    assert len(sent) == 50
    assert set(np.argsort(-scores)[:25]) <= set(sent)
    assert data["total"] == len(X)
    with pytest.raises(ValueError, match="max_rows must be at least 1, got 0"):
        detector.view(X, max_rows=0)


def test_a_selection_is_positions_of_x_each_once_ascending(lines):
    detector, X = lines
    view = detector.view(X)
    view.selection = [5, 3, 5]
    assert view.selection == [3, 5]
    for wrong in ([-1], [len(X)]):
        with pytest.raises(ValueError, match=f"from 0 to {len(X) - 1}, got {wrong[0]}"):
            view.selection = wrong
    with pytest.raises(ValueError, match="threshold must be finite"):
        view.threshold = np.nan
    assert view.selection == [3, 5]


def test_without_anywidget_the_error_names_the_extra_and_another_way(lines, monkeypatch):
    detector, X = lines
    module._widget_class.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r"pip install 'piforest\[notebook\]'.*detector\.report"):
        detector.view(X)
    module._widget_class.cache_clear()


@pytest.mark.slow
def test_piforest_does_not_import_anywidget_until_a_view_is_made():
    import subprocess

    code = "import sys, piforest.report; assert 'anywidget' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# A model as anywidget passes it, which notes what is saved.
PAGE = """<!doctype html><meta charset="utf-8"><body data-jp-theme-light="false">
<div id="here"></div><script type="module">
{esm}
const values = {values}, listeners = {{}};
window.saved = [];
window.model = {{
  get: (name) => values[name],
  set: (name, value) => {{ values[name] = value; window.saved.push([name, value]); }},
  save_changes: () => {{}},
  on: (name, listener) => {{ listeners[name] = listener; }},
  off: (name) => {{ delete listeners[name]; }},
  fromPython: (name, value) => {{ values[name] = value; listeners[`change:${{name}}`]?.(); }},
  listeners,
}};
window.cleanup = render({{ model: window.model, el: document.getElementById("here") }});
</script>"""


@pytest.fixture(scope="module")
def page(browser, lines, tmp_path_factory):
    """A page with the widget, and its errors."""
    detector, X = lines
    view = detector.view(X)
    esm = str(view._esm).replace("export default { render };", "")
    values = {name: getattr(view, name) for name in ("data", "style", "threshold", "selection")}
    text = PAGE.format(esm=esm, values=json.dumps(values).replace("</", "<\\/"))
    path = tmp_path_factory.mktemp("widget") / "page.html"
    path.write_text(text)
    found, problems = browser.new_page(), []
    found.on("pageerror", lambda error: problems.append(str(error)))
    found.goto(path.as_uri())
    yield found, problems
    found.close()


def test_the_threshold_goes_both_ways(page, lines):
    shown, problems = page
    detector, X = lines
    scores = detector.anomaly_score(X)
    shown.locator("#box").fill("0.7")
    shown.locator("#box").press("Tab")
    assert shown.evaluate("window.saved.at(-1)") == ["threshold", 0.7]
    assert int(shown.locator("#count-flagged").inner_text()) == (scores > 0.7).sum()
    shown.evaluate("model.fromPython('threshold', 0.6)")
    assert int(shown.locator("#count-flagged").inner_text()) == (scores > 0.6).sum()
    before = shown.evaluate("window.saved.length")
    shown.evaluate("value => model.fromPython('threshold', value)", detector.threshold_)
    assert shown.locator("#back").is_disabled(), "the detector's own threshold, not rounded"
    assert shown.evaluate("window.saved.length") == before, "what Python sets is not sent back"
    assert problems == []


def test_the_selection_goes_both_ways_by_rectangle_and_by_key(page, lines):
    shown, problems = page
    _, X = lines
    shown.locator("#select").click()
    box = shown.locator("#view").bounding_box()
    shown.mouse.move(box["x"] + 5, box["y"] + 5)
    shown.mouse.down()
    shown.mouse.move(box["x"] + box["width"] - 5, box["y"] + box["height"] - 5, steps=4)
    shown.mouse.up()
    assert shown.evaluate("window.saved.at(-1)") == ["selection", list(range(len(X)))]
    shown.locator("#clear").click()
    assert shown.evaluate("window.saved.at(-1)") == ["selection", []]
    shown.locator("#view").focus()
    for key in "ns":
        shown.keyboard.press(key)
    assert len(shown.evaluate("model.get('selection')")) == 1
    shown.evaluate("model.fromPython('selection', [1, 2, 3])")
    assert "3 selected" in shown.locator(".notebook").inner_text()
    assert problems == []


def test_the_widget_is_dark_as_the_notebook_and_leaves_nothing_behind(page):
    shown, problems = page
    theme = "document.getElementById('here').firstChild.dataset.theme"
    assert shown.evaluate(theme) == "dark"
    shown.evaluate("document.body.dataset.jpThemeLight = 'true'")
    assert shown.evaluate(f"new Promise(d => setTimeout(() => d({theme}), 50))") == "light"
    shown.evaluate("window.cleanup()")
    assert shown.evaluate("Object.keys(model.listeners)") == []
    assert problems == []
