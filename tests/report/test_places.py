"""What the report's script writes and ticks, in a real browser: numbers, bars, equal axes."""

from __future__ import annotations

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines
from piforest.report import write_report
from report_pages import drawn

X = 100 * make_lines(3, noise=0.01, random_state=0).data + [500_000, 4_000_000]
# Remembers what is written on the canvas, with where its left end lies.
LISTEN = """
window.written = [];
const original = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
  const wide = this.measureText(text).width;
  window.written.push([text, this.textAlign, x - wide]);
  return original.call(this, text, x, y);
};
"""


@pytest.fixture(scope="module")
def detector():
    return PreferenceIsolationForest("line", random_state=0, n_models=1000).fit(X)


@pytest.fixture(scope="module")
def page(browser, detector, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "map.html"
    write_report(path, detector, X)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(LISTEN)
    page.goto(path.as_uri())
    drawn(page)
    yield page
    page.close()


def number(text):
    return float(text.replace("\N{MINUS SIGN}", "-"))


@pytest.mark.parametrize("zooms", [0, 12])
def test_ticks_far_from_zero_differ_and_fit_beside_the_axes(page, zooms):
    for _ in range(zooms):
        page.click("#zoom-in")
    drawn(page)
    page.evaluate("window.written = []")
    page.click("#reset-view" if not zooms else "#zoom-in")
    drawn(page)
    written = page.evaluate("window.written")
    for align in ("center", "right"):
        # The names of the axes and the structures' numbers are shorter.
        ticks = [row for row in written if row[1] == align and len(row[0]) > 3]
        values = [number(text) for text, *_ in ticks]
        assert len(values) >= 2
        assert len(set(values)) == len(values)
        assert np.allclose(np.diff(values), values[1] - values[0], rtol=1e-3)
        if align == "right":
            assert min(left for *_, left in ticks) > 12  # beside the name of the axis
    page.click("#reset-view")


def test_a_pinned_row_shows_where_it_lies(page, detector):
    worst = int(np.argmax(detector.anomaly_score(X)))
    page.click(f'[data-show="{worst}"]')
    shown = [number(text) for text in page.locator("#pinned dd").all_inner_texts()]
    assert np.abs(np.array(shown) - X[worst]).max() < np.ptp(X, axis=0).min() / 1000


def test_bars_are_coloured_by_their_rows_for_every_threshold(page, detector):
    scores = np.sort(detector.anomaly_score(X))
    page.fill("#box", f"{scores[-1] - 2e-4:.4f}")
    page.press("#box", "Enter")
    assert int(page.inner_text("#count-flagged")) > 0
    widths = page.eval_on_selector_all("svg .flagged", "all => all.map(e => e.getBBox().width)")
    assert max(widths) > 1  # a bar is about five wide
    page.focus("#slider")
    page.keyboard.press("End")
    assert page.inner_text("#count-flagged") == "0"
    assert page.locator("svg .flagged").count() == 0
    page.click("#back")
    assert page.locator("svg .flagged").count() > 0


def test_equal_axes_is_checked_only_if_axes_are_equal(page):
    assert page.is_checked("#equal")
    page.select_option("#axis-1", label="score")
    assert not page.is_checked("#equal")
    assert page.is_disabled("#equal")
    page.select_option("#axis-1", label="y")
    assert page.is_checked("#equal")
    page.uncheck("#equal")
    page.select_option("#axis-1", label="score")
    page.select_option("#axis-1", label="y")
    assert not page.is_checked("#equal")
    page.check("#equal")
