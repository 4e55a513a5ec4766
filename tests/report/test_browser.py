"""The report in a real browser: the system's Chromium, driven by Playwright."""

from __future__ import annotations

import re

import numpy as np
import pytest

from report_pages import (
    FORMULAS,
    HOSTILE,
    counts_are_those_of,
    downloaded,
    number,
    picture,
    threshold_of,
)


@pytest.mark.parametrize("name", ["lines", "planes", "matches", "many"])
def test_the_page_opens_with_the_detectors_threshold(visit, pages, name):
    page = visit(name)
    _, _, scores, threshold = pages[name]
    counts_are_those_of(page, scores, threshold)
    assert page.is_disabled("#back")
    assert page.inner_text("#at") == f"{threshold:.4f}"


@pytest.mark.parametrize("name", ["lines", "many"])
def test_the_slider_moves_the_threshold_and_the_counts_of_all_points(visit, pages, name):
    page = visit(name)
    _, _, scores, threshold = pages[name]
    before, picture_before = threshold_of(page), picture(page)
    page.focus("#slider")
    seen = set()
    for key in ["ArrowRight"] * 5 + ["PageDown", "PageDown", "ArrowLeft", "Home", "End"]:
        page.keyboard.press(key)
        seen.add(counts_are_those_of(page, scores))
    assert len(seen) > 5
    assert number(page, "count-flagged") == 0
    assert threshold_of(page) > before
    assert picture(page) != picture_before
    page.click("#back")
    counts_are_those_of(page, scores, threshold)
    assert picture(page) == picture_before


def test_a_typed_number_sets_the_threshold(visit, pages):
    page = visit("lines")
    _, _, scores, _ = pages["lines"]
    middle = f"{np.median(scores):.3f}"
    page.fill("#box", middle)
    page.keyboard.press("Enter")
    assert threshold_of(page) == float(middle)
    counts_are_those_of(page, scores)
    page.fill("#box", "")
    page.keyboard.press("Tab")
    assert threshold_of(page) == float(middle), "what is no number changes nothing"
    page.fill("#box", "99")
    page.keyboard.press("Enter")
    assert counts_are_those_of(page, scores) == 0


def test_a_click_and_a_drag_in_the_histogram_move_the_threshold(visit, pages):
    page = visit("lines")
    scores = pages["lines"][2]
    box = page.locator("#histogram").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.click(box["x"] + 0.25 * box["width"], middle)
    low = threshold_of(page)
    assert low == pytest.approx(scores.min() + 0.25 * np.ptp(scores), abs=0.01 * np.ptp(scores))
    page.mouse.move(box["x"] + 0.25 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.8 * box["width"], middle, steps=4)
    page.mouse.up()
    assert threshold_of(page) > low
    counts_are_those_of(page, scores)


def test_downloads_hold_the_rows_unchanged_and_their_scores(visit, pages):
    page = visit("lines")
    _, X, scores, threshold = pages["lines"]
    for button, name, chosen in (
        ("#download-kept", "a-kept.csv", scores <= threshold),
        ("#download-flagged", "a-rejected.csv", scores > threshold),
    ):
        called, (head, *rows) = downloaded(page, button)
        assert called == name
        assert head == ["note", HOSTILE, "y", "score", "structure", "distance"]
        assert [row[0] for row in rows] == [f'{HOSTILE}, "{k}"' for k in np.flatnonzero(chosen)]
        values = np.array([row[1:] for row in rows], float)
        assert np.array_equal(values[:, :3], np.column_stack([X, scores])[chosen])
        assert (values[:, 3] == -1).all() if "rejected" in name else values[:, 3].max() > 0
        assert (values[:, 4] >= 0).all()


def test_missing_values_of_the_table_are_empty_on_the_page_and_in_downloads(visit):
    page = visit("gaps")
    for button in ("#download-kept", "#download-flagged"):
        _, (head, *rows) = downloaded(page, button)
        assert head == ["x", "y", "old", "count", "flag", "word", "score", "structure", "distance"]
        kinds = {tuple(row[2:6]) for row in rows}
        assert kinds == {("0.25", "77", "True", "under"), ("", "", "", "")}
    seen = set()
    for _ in range(20):
        page.focus("#view")
        page.keyboard.press("n")
        row = int(page.inner_text("#pinned .big"))
        values = page.locator("#pinned dd").all_inner_texts()[2:]
        assert values == ([""] * 4 if row % 2 == 0 else ["0.25", "77", "True", "under"])
        seen.add(row % 2)
    assert seen == {0, 1}


def test_formulas_are_harmless_in_downloads_and_shown_as_they_are(visit):
    page = visit("formulas")
    seen = set()
    for button in ("#download-kept", "#download-flagged"):
        _, (head, *rows) = downloaded(page, button)
        assert head == ["x", "y", "'=note", "score", "structure", "distance"]
        seen |= {row[2] for row in rows}
        assert all(float(row[0]) <= 10 for row in rows), "numbers with a sign stay numbers"
    assert seen == set(FORMULAS.values())
    page.focus("#view")
    page.keyboard.press("n")
    row = int(page.inner_text("#pinned .big"))
    shown = page.locator("#pinned dd").all_text_contents()[2]
    assert shown == list(FORMULAS)[(row - 1) % len(FORMULAS)]


def test_downloads_follow_the_threshold(visit, pages):
    page = visit("planes")
    _, X, scores, _ = pages["planes"]
    page.focus("#slider")
    page.keyboard.press("PageDown")
    _, (head, *rows) = downloaded(page, "#download-flagged")
    assert head == ["x", "y", "z", "score", "structure", "distance"]
    assert np.array_equal(np.array(rows, float)[:, :3], X[scores > threshold_of(page)])


def test_of_many_points_only_those_on_the_page_are_downloaded_and_it_says_so(visit, pages):
    page = visit("many")
    _, X, scores, _ = pages["many"]
    page.fill("#box", "0.9")
    page.keyboard.press("Enter")
    assert "10,000 of 12,000 points" in page.inner_text("#left-out")
    assert "Only the 10,000 rows" in page.inner_text(".downloads")
    _, (_, *rejected) = downloaded(page, "#download-flagged")
    assert np.array_equal(np.array(rejected, float)[:, :2], X[scores > 0.9])
    _, (_, *kept) = downloaded(page, "#download-kept")
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
        "zoom-out", "reset-view", "slider", "box", "download-kept", "download-flagged",
    ]  # fmt: skip
    assert [name for name in reached if name in order][: len(order)] == order
    assert unseen == []


def test_everything_shown_has_a_name_for_screen_readers(visit):
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


@pytest.mark.parametrize("name", ["lines", "planes", "matches"])
@pytest.mark.parametrize("width", [320, 400, 768])
def test_nothing_is_wider_than_a_narrow_window(visit, name, width):
    page = visit(name, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_print_is_light_and_has_no_controls(visit):
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
