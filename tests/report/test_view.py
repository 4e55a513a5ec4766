"""The report's view in a real browser: what is drawn, under the pointer and the keys."""

from __future__ import annotations

import re

import numpy as np
import pytest

from report_pages import HOSTILE, drawn, picture, some_point, until


def test_a_point_is_named_under_the_pointer_and_pinned_by_a_click(visit, pages):
    page = visit("lines")
    _, X, scores, _ = pages["lines"]
    page.focus("#view")
    page.keyboard.press("n")
    worst = int(np.argmax(scores))
    text = page.inner_text("#pinned")
    assert text.startswith(f"{worst + 1} score {scores[worst]:.4f}, anomaly")
    assert HOSTILE in text, "names are shown as they are"
    assert f"{X[worst, 1]:.5g}".replace("-", "\N{MINUS SIGN}") in text
    page.keyboard.press("n")
    assert page.inner_text("#pinned").startswith(f"{np.argsort(-scores, kind='stable')[1] + 1} ")
    page.keyboard.press("p")
    assert page.inner_text("#pinned").startswith(f"{worst + 1} ")
    page.keyboard.press("Escape")
    assert page.inner_text("#pinned").startswith("Click a point")
    x, y = some_point(page)
    tip = page.inner_text("#tip")
    row = int(re.match(r"Row (\d+) · score", tip)[1])
    assert f"{scores[row - 1]:.4f}" in tip
    page.mouse.click(x, y)
    assert page.inner_text("#pinned").startswith(f"{row} score")
    page.mouse.click(x, y)
    assert page.inner_text("#pinned").startswith("Click a point")


def test_the_view_pans_to_a_row_that_is_out_of_sight(visit, pages):
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
    page.evaluate("addEventListener('scrollend', () => { window.scrolled = scrollY; })")
    page.mouse.wheel(0, 200)
    until(page, "window.scrolled > 0")
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
    until(page, "before => document.getElementById('view').toDataURL() !== before", dragged)
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
def test_a_structure_is_drawn_while_it_is_checked(visit, name):
    page = visit(name)
    drawn_all = picture(page)
    page.uncheck("[data-structure='0']")
    assert picture(page) != drawn_all
    page.check("[data-structure='0']")
    assert picture(page) == drawn_all


def test_matches_lie_over_both_images(visit, pages):
    page = visit("matches")
    page.select_option("#lines", "none")
    # Two textured pictures have many colours, once they are decoded.
    until(
        page,
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
          return colours(0.1, 0.4) > 1000 && colours(0.6, 0.9) > 1000;
        }""",
    )
    pictures = {picture(page)}
    for lines in ("flagged", "all"):
        page.select_option("#lines", lines)
        pictures.add(picture(page))
    page.select_option("#mode", "2d")
    pictures.add(picture(page))
    assert len(pictures) == 4


def test_a_row_of_the_table_is_shown_in_the_view(visit, pages):
    page = visit("matches")
    before = picture(page)
    button = page.locator("[data-show]").nth(3)
    row = button.inner_text()
    button.click()
    assert page.inner_text("#pinned").startswith(f"{row} score")
    assert page.evaluate("document.activeElement.id") == "view"
    assert picture(page) != before


def test_rows_are_filtered_by_label_and_by_structure(visit, pages):
    page = visit("lines")
    everything = picture(page)
    seen = {everything}
    for value in ("flagged", "kept", "none", "0", "1"):
        page.select_option("#only", value)
        drawn(page)
        seen.add(picture(page))
    assert len(seen) >= 5, "each shows other rows"
    page.select_option("#only", "all")
    drawn(page)
    assert picture(page) == everything
