"""The report in a real browser: the system's Chromium, driven by Playwright."""

from __future__ import annotations

import csv
import re
import shutil

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines, make_plane_pair, make_planes
from piforest.files import Table
from piforest.report import write_report

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next(filter(None, map(shutil.which, _NAMES)), None)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason=f"no browser: none of {', '.join(_NAMES)} is on the path"
)

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip
HOSTILE = "</script><script>alert(1)</script>"


def scene(name):
    maker, family = {
        "lines": (make_lines, "line"),
        "planes": (make_planes, "plane"),
        "matches": (make_plane_pair, "homography"),
    }[name]
    found = maker(3, random_state=0)
    detector = PreferenceIsolationForest(family, random_state=0, n_models=1000).fit(found.data)
    return detector, found


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Name to (path, X, scores, threshold)."""
    folder = tmp_path_factory.mktemp("report")
    made = {}
    for name in ("lines", "planes", "matches"):
        detector, found = scene(name)
        X = found.data
        options = {"images": found.images} if name == "matches" else {}
        if name == "lines":
            notes = np.array([f'{HOSTILE}, "{k}"' for k in range(len(X))])
            table = Table({"note": notes, HOSTILE: X[:, 0], "y": X[:, 1]}, "a.csv")
            options = {"table": table, "names": [HOSTILE, "y"], "source": "a.csv"}
        path = folder / f"{name}.html"
        write_report(path, detector, X, title=HOSTILE, **options)
        made[name] = path, X, detector.anomaly_score(X), -detector.offset_
    # More points than the view holds, with scores of their own.
    rng = np.random.default_rng(0)
    X, scores = rng.normal(size=(12_000, 2)), rng.uniform(size=12_000)
    detector = scene("lines")[0]
    write_report(folder / "many.html", detector, X, scores=scores)
    made["many"] = folder / "many.html", X, scores, -detector.offset_
    return made


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, pages):
    """Opens a page; at the end nothing may have gone wrong in it, or have left the machine."""
    contexts, complaints = [], []

    def opened(name, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: _local(request.url, complaints))
        page.goto(pages[name][0].as_uri())
        drawn(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def _local(address, complaints):
    if not address.startswith(("file:", "data:", "blob:")):
        complaints.append(f"request to {address}")


def drawn(page):
    """Two frames later what was asked for is on the canvas."""
    page.evaluate("() => new Promise(d => requestAnimationFrame(() => requestAnimationFrame(d)))")


def picture(page):
    drawn(page)
    return page.evaluate("document.getElementById('view').toDataURL()")


def number(page, name):
    return int(page.inner_text(f"#{name}").replace(",", ""))


def cut(page):
    return float(page.input_value("#box"))


def counts_are_those_of(page, scores, threshold=None):
    above = int((scores > (cut(page) if threshold is None else threshold)).sum())
    assert number(page, "count-odd") == number(page, "flagged") == above
    assert number(page, "count-kept") == len(scores) - above
    assert page.inner_text("#share") == f"{100 * above / len(scores):.1f}"
    assert f"{above:,} anomalies" in page.get_attribute("#slider", "aria-valuetext")
    return above


@pytest.mark.parametrize("name", ["lines", "planes", "matches", "many"])
def test_the_page_opens_with_the_detectors_threshold(visit, pages, name):
    page = visit(name)
    _, _, scores, threshold = pages[name]
    counts_are_those_of(page, scores, threshold)
    assert page.is_disabled("#back")
    assert page.inner_text("#at") == f"{threshold:.4f}"


@pytest.mark.parametrize("name", ["lines", "many"])
def test_the_slider_moves_the_cut_and_the_counts_of_all_points(visit, pages, name):
    page = visit(name)
    _, _, scores, threshold = pages[name]
    before, picture_before = cut(page), picture(page)
    page.focus("#slider")
    seen = set()
    for key in ["ArrowRight"] * 5 + ["PageDown", "PageDown", "ArrowLeft", "Home", "End"]:
        page.keyboard.press(key)
        seen.add(counts_are_those_of(page, scores))
    assert len(seen) > 5
    assert number(page, "count-odd") == 0
    assert cut(page) > before
    assert picture(page) != picture_before
    page.click("#back")
    counts_are_those_of(page, scores, threshold)
    assert picture(page) == picture_before


def test_a_number_typed_is_the_cut(visit, pages):
    page = visit("lines")
    _, _, scores, _ = pages["lines"]
    middle = f"{np.median(scores):.3f}"
    page.fill("#box", middle)
    page.keyboard.press("Enter")
    assert cut(page) == float(middle)
    counts_are_those_of(page, scores)
    page.fill("#box", "")
    page.keyboard.press("Tab")
    assert cut(page) == float(middle), "what is no number changes nothing"
    page.fill("#box", "99")
    page.keyboard.press("Enter")
    assert counts_are_those_of(page, scores) == 0


def test_a_click_and_a_drag_in_the_histogram_move_the_cut(visit, pages):
    page = visit("lines")
    scores = pages["lines"][2]
    box = page.locator("#histogram").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.click(box["x"] + 0.25 * box["width"], middle)
    low = cut(page)
    assert low == pytest.approx(scores.min() + 0.25 * np.ptp(scores), abs=0.01 * np.ptp(scores))
    page.mouse.move(box["x"] + 0.25 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.8 * box["width"], middle, steps=4)
    page.mouse.up()
    assert cut(page) > low
    counts_are_those_of(page, scores)


def test_a_point_is_named_under_the_pointer_and_pinned_by_a_click(visit, pages):
    page = visit("lines")
    _, X, scores, _ = pages["lines"]
    page.focus("#view")
    page.keyboard.press("n")
    worst = int(np.argmax(scores))
    told = page.inner_text("#pinned")
    assert told.startswith(f"{worst + 1} score {scores[worst]:.4f}, anomaly")
    assert HOSTILE in told, "names are shown as they are"
    assert f"{X[worst, 1]:.5g}".replace("-", "\N{MINUS SIGN}") in told
    page.keyboard.press("n")
    assert page.inner_text("#pinned").startswith(f"{np.argsort(-scores, kind='stable')[1] + 1} ")
    page.keyboard.press("p")
    assert page.inner_text("#pinned").startswith(f"{worst + 1} ")
    page.keyboard.press("Escape")
    assert page.inner_text("#pinned").startswith("Click a point")
    x, y = _some_point(page)
    tip = page.inner_text("#tip")
    row = int(re.match(r"Row (\d+) · score", tip)[1])
    assert f"{scores[row - 1]:.4f}" in tip
    page.mouse.click(x, y)
    assert page.inner_text("#pinned").startswith(f"{row} score")
    page.mouse.click(x, y)
    assert page.inner_text("#pinned").startswith("Click a point")


def test_a_row_that_is_out_of_sight_is_brought_into_it(visit, pages):
    page = visit("planes")
    scores = pages["planes"][2]
    page.focus("#view")
    for key in ["+"] * 6 + ["Shift+ArrowRight"] * 30:
        page.keyboard.press(key)
    drawn(page)
    page.keyboard.press("n")
    drawn(page)
    box = page.locator("#view").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert page.inner_text("#tip").startswith(f"Row {np.argmax(scores) + 1} ")


def _some_point(page):
    """Where the pointer finds a row."""
    box = page.locator("#view").bounding_box()
    for k in range(1, 40):
        x, y = box["x"] + box["width"] * k / 40, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        if page.is_visible("#tip"):
            return x, y
    raise AssertionError("no row under the pointer")


@pytest.mark.parametrize("name", ["lines", "planes", "matches"])
def test_keys_move_zoom_and_reset_the_view(visit, name):
    page = visit(name)
    page.focus("#view")
    home = picture(page)
    for keys in (["ArrowLeft"], ["ArrowUp", "ArrowUp"], ["Shift+ArrowRight"], ["+"], ["-", "-"]):
        for key in keys:
            page.keyboard.press(key)
        assert picture(page) != home, keys
        page.keyboard.press("0")
        assert picture(page) == home, keys


@pytest.mark.parametrize("name", ["lines", "planes", "matches"])
def test_the_pointer_moves_turns_and_zooms(visit, name):
    page = visit(name)
    home = picture(page)
    box = page.locator("#view").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.wheel(0, -200)
    page.wait_for_timeout(50)
    page.evaluate("window.scrollTo(0, 0)")
    page.mouse.move(5, 5)
    assert picture(page) == home, "the wheel scrolls the page until the view has the focus"
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 360, box["y"] + 240, steps=3)
    page.mouse.up()
    dragged = picture(page)
    assert dragged != home
    assert page.inner_text("#pinned").startswith("Click a point"), "a drag is no click"
    page.mouse.wheel(0, -200)
    page.wait_for_timeout(50)
    assert picture(page) != dragged
    page.click("#reset-view")
    page.mouse.move(5, 5)
    assert picture(page) == home
    page.click("#zoom-in")
    zoomed = picture(page)
    page.click("#zoom-out")
    assert zoomed not in (home, picture(page))


def test_columns_and_colours_are_picked(visit):
    page = visit("planes")
    pictures = {picture(page)}
    page.select_option("#axis-2", label="score")
    pictures.add(picture(page))
    page.select_option("#mode", "2d")
    assert not page.is_visible("#axis-2")
    pictures.add(picture(page))
    page.select_option("#axis-1", label="z")
    pictures.add(picture(page))
    page.uncheck("#equal")
    pictures.add(picture(page))
    for colour in ("score", "structure"):
        page.select_option("#colour", colour)
        pictures.add(picture(page))
    assert len(pictures) == 7
    assert "structure 0" in page.inner_text("#legend")


@pytest.mark.parametrize("name", ["lines", "planes", "matches"])
def test_a_structure_is_drawn_while_it_is_ticked(visit, name):
    page = visit(name)
    drawn_all = picture(page)
    page.uncheck("[data-structure='0']")
    assert picture(page) != drawn_all
    page.check("[data-structure='0']")
    assert picture(page) == drawn_all


def test_matches_lie_over_both_images(visit, pages):
    page = visit("matches")
    page.wait_for_timeout(200)  # pictures are decoded after the page has opened
    page.select_option("#lines", "none")
    drawn(page)
    left, right = page.evaluate(
        """() => {
          const view = document.getElementById('view'), pen = view.getContext('2d');
          const high = Math.round(view.height * 0.4);
          const all = pen.getImageData(0, view.height * 0.3, view.width, high).data;
          const pixels = new Uint32Array(all.buffer);
          const colours = (from, to) => new Set(
            pixels.filter((_, at) => {
              const share = (at % view.width) / view.width;
              return share > from && share < to;
            })).size;
          return [colours(0.1, 0.4), colours(0.6, 0.9)];
        }"""
    )
    assert min(left, right) > 1000, "two textured pictures have many colours"
    pictures = {picture(page)}
    for lines in ("flagged", "all"):
        page.select_option("#lines", lines)
        pictures.add(picture(page))
    page.select_option("#mode", "2d")
    pictures.add(picture(page))
    assert len(pictures) == 4


def _downloaded(page, button):
    with page.expect_download() as waiting:
        page.click(button)
    with open(waiting.value.path(), newline="", encoding="utf-8") as file:
        return waiting.value.suggested_filename, list(csv.reader(file))


def test_downloads_hold_the_rows_as_they_stood_and_their_scores(visit, pages):
    page = visit("lines")
    _, X, scores, threshold = pages["lines"]
    for button, name, chosen in (
        ("#download-kept", "a-kept.csv", scores <= threshold),
        ("#download-odd", "a-rejected.csv", scores > threshold),
    ):
        called, (head, *rows) = _downloaded(page, button)
        assert called == name
        assert head == ["note", HOSTILE, "y", "score"]
        assert [row[0] for row in rows] == [f'{HOSTILE}, "{k}"' for k in np.flatnonzero(chosen)]
        values = np.array([row[1:] for row in rows], float)
        assert np.array_equal(values, np.column_stack([X, scores])[chosen])


def test_downloads_follow_the_cut(visit, pages):
    page = visit("planes")
    _, X, scores, _ = pages["planes"]
    page.focus("#slider")
    page.keyboard.press("PageDown")
    _, (head, *rows) = _downloaded(page, "#download-odd")
    assert head == ["x", "y", "z", "score"]
    assert np.array_equal(np.array(rows, float)[:, :3], X[scores > cut(page)])


def test_of_many_points_only_those_on_the_page_are_downloaded_and_it_says_so(visit, pages):
    page = visit("many")
    _, X, scores, _ = pages["many"]
    page.fill("#box", "0.9")
    page.keyboard.press("Enter")
    assert "10,000 of 12,000 points" in page.inner_text("#left-out")
    assert "Only the 10,000 rows" in page.inner_text(".downloads")
    _, (_, *rejected) = _downloaded(page, "#download-odd")
    assert np.array_equal(np.array(rejected, float)[:, :2], X[scores > 0.9])
    _, (_, *kept) = _downloaded(page, "#download-kept")
    assert len(kept) + len(rejected) == 10_000


def test_every_control_is_reached_by_the_tab_key_and_shows_that_it_has_the_focus(visit):
    page = visit("planes")
    page.click("h1")
    reached, unseen = [], []
    for _ in range(60):
        page.keyboard.press("Tab")
        name, style = page.evaluate(
            """() => [document.activeElement.id || document.activeElement.className,
                      getComputedStyle(document.activeElement).outlineStyle]"""
        )
        reached.append(name)
        # Past the last control the focus is on the page itself.
        if style == "none" and name != "points":
            unseen.append(name)
    order = [
        "theme", "mode", "axis-0", "axis-1", "axis-2", "colour", "view", "equal", "zoom-in",
        "zoom-out", "reset-view", "slider", "box", "download-kept", "download-odd",
    ]  # fmt: skip
    assert [name for name in reached if name in order][: len(order)] == order
    assert unseen == []


def test_what_is_shown_has_a_name_for_screen_readers(visit):
    page = visit("planes")
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('input, select, button, canvas, svg')]
          .filter(e => e.checkVisibility() && !e.getAttribute('aria-label') &&
            !e.labels?.[0]?.textContent.trim() && !e.textContent.trim())
          .map(e => e.outerHTML)"""
    )
    assert unnamed == []
    assert page.get_attribute("#headline", "aria-live") == "polite"
    assert "points, three columns" in page.get_attribute("#view", "aria-label")


def test_dark_and_light_follow_the_system_until_the_reader_chooses(visit):
    def background(page):
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    light, dark = visit("lines", color_scheme="light"), visit("lines", color_scheme="dark")
    assert background(light) > 600
    assert background(dark) < 150
    assert picture(light) != picture(dark)
    light.click("#theme")
    assert background(light) < 150
    assert picture(light) == picture(dark)
    dark.emulate_media(color_scheme="light")
    assert background(dark) > 600
    light.click("#theme")
    assert background(light) > 600


def test_a_row_of_the_table_is_shown_in_the_view(visit, pages):
    page = visit("matches")
    before = picture(page)
    button = page.locator("[data-show]").nth(3)
    row = button.inner_text()
    button.click()
    assert page.inner_text("#pinned").startswith(f"{row} score")
    assert page.evaluate("document.activeElement.id") == "view"
    assert picture(page) != before


@pytest.mark.parametrize("name", ["lines", "planes", "matches"])
@pytest.mark.parametrize("width", [320, 400, 768])
def test_nothing_is_wider_than_a_narrow_window(visit, name, width):
    page = visit(name, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_paper_is_light_and_has_no_controls(visit):
    page = visit("lines", color_scheme="dark")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    for control in ("#theme", "#slider", "#download-kept", "#mode", "#zoom-in"):
        assert not page.is_visible(control), control
    for kept in ("#headline", "#view", "#histogram", "table"):
        assert page.locator(kept).first.is_visible(), kept
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") is None
    assert page.pdf()[:5] == b"%PDF-"


def test_without_scripts_the_summary_and_the_tables_are_there(browser, pages):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["lines"][0].as_uri())
    assert "points follow no line" in page.inner_text("#headline")
    assert "need JavaScript" in page.inner_text("main")
    assert page.locator("table").count() == 2
    assert not page.is_visible("#slider")
    context.close()
