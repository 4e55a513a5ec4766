"""Pages of the report for tests, and what they read from them, in a browser and without."""

from __future__ import annotations

import base64
import csv
import os
import shutil
import time

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines, make_plane_pair, make_planes
from piforest.io.tables import Table
from piforest.report import write_report

_KINDS = {"u8": "<u1", "u16": "<u2", "i16": "<i2", "i32": "<i4", "f32": "<f4", "f64": "<f8"}
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOSTILE = "</script><script>alert(1)</script>"


def playwright_and_chromium():
    """Playwright and the path of Chromium; skips the test where one of them is missing.

    The environment variable PIFOREST_BROWSER names another browser; if it is empty, there is none.
    """
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    named = os.environ.get("PIFOREST_BROWSER")
    names = _BROWSERS if named is None else (named,)
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"no browser: none of {list(names)} is on the path")
    return sync_api.sync_playwright, found


def decoded(entry):
    """The numbers of an array in the page's data."""
    values = np.frombuffer(base64.b64decode(entry["data"]), _KINDS[entry["kind"]])
    return values.astype(np.float64) / entry.get("divide", 1)


def scene(name):
    maker, family = {
        "lines": (make_lines, "line"),
        "planes": (make_planes, "plane"),
        "matches": (make_plane_pair, "homography"),
    }[name]
    found = maker(3, random_state=0)
    detector = PreferenceIsolationForest(family, random_state=0, n_models=1000).fit(found.data)
    return detector, found


def write_pages(folder):
    """Name to (path, X, scores, threshold)."""
    made = {}

    def put(name, detector, X, scores=None, **options):
        write_report(folder / f"{name}.html", detector, X, scores=scores, **options)
        scores = detector.anomaly_score(X) if scores is None else scores
        made[name] = folder / f"{name}.html", X, scores, detector.threshold_

    for name in ("planes", "matches"):
        detector, found = scene(name)
        put(
            name,
            detector,
            found.data,
            title=HOSTILE,
            images=found.images if name == "matches" else None,
        )
    detector, found = scene("lines")
    X = found.data
    notes = np.array([f'{HOSTILE}, "{k}"' for k in range(len(X))])
    table = Table({"note": notes, HOSTILE: X[:, 0], "y": X[:, 1]}, "a.csv")
    put("lines", detector, X, title=HOSTILE, table=table, names=[HOSTILE, "y"], source="a.csv")
    put("gaps", detector, X, table=_with_gaps(X))
    put("formulas", detector, X, table=_with_formulas(X), names=["x", "y"])
    # More points than the view holds, with different scores.
    rng = np.random.default_rng(0)
    put("many", detector, rng.normal(size=(12_000, 2)), rng.uniform(size=12_000))
    return made


def _with_gaps(X):
    """Floats, integers, booleans and text, each missing in every second row."""
    n = len(X)
    columns = {
        "old": np.full(n, 0.25),
        "count": np.full(n, 77),
        "flag": np.full(n, True),
        "word": np.full(n, "under"),
    }
    odd = np.arange(n) % 2 == 1
    masked = {name: np.ma.masked_array(values, odd) for name, values in columns.items()}
    return Table({"x": X[:, 0], "y": X[:, 1], **masked}, "a.csv")


# What stands in a table, and what is downloaded: a spreadsheet would run the first ones.
FORMULAS = {
    "=1+1": "'=1+1",
    '=HYPERLINK("http://x","y")': '\'=HYPERLINK("http://x","y")',
    "+cmd|' /C calc'!A0": "'+cmd|' /C calc'!A0",
    "-2+3": "'-2+3",
    "@SUM(A1)": "'@SUM(A1)",
    "\t=1": "'\t=1",
    "  =1": "'  =1",
    "-": "'-",
    "-1.5": "-1.5",
    "+1,5": "+1,5",
    "-1.5e-7": "-1.5e-7",
    "a=b": "a=b",
    "": "",
}


def _with_formulas(X):
    cells = np.resize(np.array(list(FORMULAS), object), len(X))
    return Table({"x": X[:, 0], "y": X[:, 1], "=note": cells}, "a.csv")


def drawn(page):
    """Two frames later what was asked for is on the canvas."""
    page.evaluate("() => new Promise(d => requestAnimationFrame(() => requestAnimationFrame(d)))")


def picture(page):
    drawn(page)
    return page.evaluate("document.getElementById('view').toDataURL()")


def until(page, condition, arg=None):
    """Wait frame by frame; Playwright's own way evaluates text, which the page forbids."""
    end = time.monotonic() + 30
    while not page.evaluate(condition, arg):
        assert time.monotonic() < end, condition
        drawn(page)


def number(page, name):
    return int(page.inner_text(f"#{name}").replace(",", ""))


def threshold_of(page):
    return float(page.input_value("#box"))


def counts_are_those_of(page, scores, threshold=None):
    above = int((scores > (threshold_of(page) if threshold is None else threshold)).sum())
    assert number(page, "count-flagged") == number(page, "flagged") == above
    assert number(page, "count-kept") == len(scores) - above
    assert page.inner_text("#share") == f"{100 * above / len(scores):.1f}"
    assert f"{above:,} anomalies" in page.get_attribute("#slider", "aria-valuetext")
    return above


def some_point(page):
    """Where the pointer finds a row."""
    box = page.locator("#view").bounding_box()
    for k in range(1, 40):
        x, y = box["x"] + box["width"] * k / 40, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        if page.is_visible("#tip"):
            return x, y
    raise AssertionError("no row under the pointer")


def downloaded(page, button):
    with page.expect_download() as waiting:
        page.click(button)
    with open(waiting.value.path(), newline="", encoding="utf-8") as file:
        return waiting.value.suggested_filename, list(csv.reader(file))
