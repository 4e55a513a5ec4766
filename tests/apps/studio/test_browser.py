"""Studio in a real browser, as a person uses it: a table, a scan, two images, and what goes wrong.

The server is a process of its own, as `piforest studio` starts it.
"""

from __future__ import annotations

import csv
import re
import signal
import subprocess
import sys
import zipfile
from contextlib import contextmanager

import numpy as np
import pytest

from report_pages import playwright_and_chromium
from studio_pages import (
    WAIT,
    choose_by_hand,
    flagged,
    go,
    open_example,
    project_of,
    run_to_result,
    set_threshold,
    start_studio,
    write_circle,
    write_lines,
)

pytest.importorskip("fastapi", reason="FastAPI is not installed")


def unnamed(page):
    """Controls and pictures without a name for screen readers."""
    return page.evaluate(
        """() => [...document.querySelectorAll('input, select, button, canvas, svg, img, textarea')]
          .filter(e => e.checkVisibility() && e.getAttribute('aria-hidden') !== 'true' &&
            !e.getAttribute('aria-label') && !e.labels?.[0]?.textContent.trim() &&
            !e.textContent.trim() && !e.getAttribute('alt'))
          .map(e => e.outerHTML)"""
    )


def test_a_table_in_eight_steps(tab, studio, tmp_path):
    _, folder = studio
    write_circle(tmp_path / "readings.csv", 0)
    page = tab()
    # 1 Start: choose a file.
    page.set_input_files("#picker", tmp_path / "readings.csv")
    # 2 Columns.
    page.wait_for_selector("text=Preview of 150 rows")
    roles = page.locator("[data-role]").evaluate_all(
        "all => all.map(e => [e.dataset.role, e.value])"
    )
    assert roles == [["name", "ignore"], ["x", "coordinate"], ["y", "coordinate"]]
    assert unnamed(page) == []
    # 3 Family: the proposals with their evidence.
    page.click("text=Next: family")
    page.wait_for_selector(".evidence")
    widths = page.locator(".evidence").evaluate_all(
        "all => all.map(e => parseFloat(e.style.width))"
    )
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == 100
    page.click(".proposal:has(.evidence):has-text('circle')")
    page.wait_for_selector("text=Chosen: circle")
    # 4 Run, 5 Result.
    run_to_result(page)
    assert "follow no circle" in page.inner_text("#headline")
    assert unnamed(page) == []
    before = flagged(page)
    assert 20 <= before <= 45
    _explain_and_rename(page)
    _mark(page, before)
    _compare(page, before)
    _score_another(page, folder)
    _take_away(page, tmp_path)


def _explain_and_rename(page):
    page.focus("#view")
    page.keyboard.press("n")
    page.wait_for_selector("#reason:has-text('structure'), #reason:has-text('sigma')")
    page.fill("input.name", "the pipe")
    page.press("input.name", "Tab")
    page.wait_for_selector("#only option:has-text('the pipe')", state="attached")
    page.select_option("#colour", "structure")
    assert "the pipe" in page.inner_text("#legend")
    page.uncheck("[data-structure='0']")
    assert "the pipe" not in page.inner_text("#legend")
    page.check("[data-structure='0']")
    for colour in ("score", "distance", "label"):
        page.select_option("#colour", colour)
    page.reload()
    page.wait_for_selector("#only option:has-text('the pipe')", state="attached")


def _mark(page, before):
    """Two anomalous rows and a normal one; precision and recall follow the threshold."""
    page.focus("#view")
    for _ in range(2):
        page.keyboard.press("n")
        page.click("#mark-anomalous")
        page.wait_for_selector("text=marked as anomalous")
        page.focus("#view")
    page.wait_for_selector("#marks-summary dd:text-is('2')")
    assert page.locator("#marks-summary dd").all_inner_texts() == ["0", "2", "100 %", "100 %"]
    set_threshold(page, 5)
    assert flagged(page) == 0
    page.wait_for_selector("#marks-summary dd:text-is('0 %')")
    assert "are flagged (0.0 %) at this threshold" in page.inner_text("#headline")
    page.click("#back")
    assert flagged(page) == before


def _compare(page, before):
    page.select_option("#method", "isolation_forest")
    page.wait_for_selector("text=Scores of isolation forest")
    assert flagged(page) == before, "as many rows, other ones"
    page.select_option("#method", "piforest")
    page.wait_for_selector("#headline")


def _score_another(page, folder):
    write_circle(folder / "next.csv", 3)
    page.click("nav >> text=Score new files")
    page.click("text=Or a file by its path, or a whole folder")
    page.click(f".link:has-text('{folder.name}')")
    page.click(".link:has-text('next.csv')")
    page.wait_for_selector("#headline:has-text('by the model of the run')")


def _take_away(page, tmp_path):
    go(page, page.url.split("#")[0], f"p/{project_of(page)}/result")
    page.wait_for_selector("#headline:has-text('circle')")
    page.click("nav >> text=Take away")
    page.select_option("#take-of", label="Run 1: circle")
    page.wait_for_selector("#code-script")
    no_room = {"status": 422, "json": {"error": "no room"}}
    page.route("**/rows.parquet*", lambda route: route.fulfill(**no_room))
    page.click("a:text-is('rows.parquet')")
    page.wait_for_selector("#says:has-text('no room')")
    with page.expect_download() as waiting:
        page.click("a:text-is('rows.csv')")
    with open(waiting.value.path(), newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 150
    assert {"name", "score", "structure", "distance"} <= set(rows[0])
    # The script that is shown repeats the run.
    script = page.inner_text("#code-script")
    (tmp_path / "script.py").write_text(script)
    subprocess.run([sys.executable, "script.py"], cwd=tmp_path, check=True, capture_output=True)
    with page.expect_download() as waiting:
        page.click("text=Project file")
    saved = tmp_path / "saved.piforest.zip"
    waiting.value.save_as(saved)
    assert zipfile.is_zipfile(saved)
    first = project_of(page)
    page.click(".brand")
    page.set_input_files("#picker", saved)
    page.wait_for_selector("text=Preview of 150 rows")
    assert project_of(page) != first, "the project opens again, as a project of its own"
    page.click("nav >> text=Result")
    page.wait_for_selector("#marks-summary dd:text-is('2')")


def test_a_scan_is_turned_in_three_dimensions_and_its_comparison_cancelled(tab, studio):
    page = tab()
    open_example(page, studio[0], "room")
    page.click("text=Next: family")
    page.click("#cancel")
    page.wait_for_selector("text=The comparison was cancelled")
    page.click("text=Choose or combine families by hand")
    page.check("[data-family=plane]")
    page.wait_for_selector("text=Chosen: plane")
    run_to_result(page)
    assert page.input_value("#mode") == "3d"
    assert page.locator("[data-structure]").count() == 5
    picture = "document.getElementById('view').toDataURL()"
    page.focus("#view")
    before = page.evaluate(picture)
    page.keyboard.press("ArrowLeft")
    frames = "() => new Promise(d => requestAnimationFrame(() => requestAnimationFrame(d)))"
    page.evaluate(frames)
    assert page.evaluate(picture) != before
    assert unnamed(page) == []


def test_an_image_pair_shows_keypoints_then_matches_over_both_images(tab, studio):
    page = tab()
    open_example(page, studio[0], "photographs")
    assert page.locator("figcaption").count() == 2
    assert "keypoints" in page.inner_text("figcaption >> nth=0")
    page.click("text=Next: family")
    page.wait_for_selector("text=The one with the most evidence: homography")
    assert page.locator("[data-family=vanishing_point], [data-family=rigid]").count() == 0
    run_to_result(page)
    assert page.input_value("#mode") == "matches"
    assert "matches follow no homography" in page.inner_text("#headline")
    assert page.locator("[data-structure]").count() == 2
    loaded = (
        "performance.getEntriesByType('resource').filter(e => e.name.includes('/images/')).length"
    )
    assert page.evaluate(loaded) >= 2
    page.focus("#view")
    page.keyboard.press("n")
    page.wait_for_selector("#reason:not(:has-text('Looking'))")


def test_a_run_is_cancelled_reloaded_and_seen_in_two_tabs(tab, studio, tmp_path):
    write_lines(tmp_path / "long.csv", 240_000)
    page = tab()
    page.set_input_files("#picker", tmp_path / "long.csv")
    page.wait_for_selector("text=Next: family")
    choose_by_hand(page, "line")
    page.click("#run")
    page.wait_for_selector("#cancel")
    second = tab(page.context, f"p/{project_of(page)}/run")
    second.wait_for_selector("#cancel")
    page.reload()
    page.wait_for_selector("#cancel")
    second.click("#cancel")
    for each in (page, second):
        each.wait_for_selector("text=The run was cancelled")
        assert each.is_visible("text=Run again")


def test_a_page_goes_on_after_the_server_was_killed_in_the_middle_of_a_run(browser, tmp_path):
    """The worker lives on, the next server finds it, and the page shows its result."""
    with _restarted(browser, tmp_path, signal.SIGKILL) as page:
        page.wait_for_selector("#headline:has-text('follow no line')")
        assert "Studio answers again." in page.evaluate("said")


def test_a_run_that_ended_with_the_server_is_said_to_be_lost_and_runs_again(browser, tmp_path):
    with _restarted(browser, tmp_path, signal.SIGINT) as page:
        page.wait_for_selector("[role=alert]:has-text('Studio ended during this run')")
        page.click("text=Run again")
        page.wait_for_selector("#headline:has-text('follow no line')")


# What is said stands for four seconds, which may be over when the test looks.
KEEP_WHAT_IS_SAID = """() => {
  window.said = [];
  const place = document.getElementById("says");
  const keep = () => said.push(place.textContent);
  new MutationObserver(keep).observe(place, { childList: true });
}"""


@contextmanager
def _restarted(browser, tmp_path, number):
    """A page on a run whose server gets a signal, and is started again at the same address."""
    playwright_and_chromium()
    write_lines(tmp_path / "long.csv", 240_000)
    child, address = start_studio(tmp_path / "home", tmp_path)
    context = browser.new_context()
    try:
        page = context.new_page()
        page.set_default_timeout(WAIT)
        go(page, address, "")
        page.set_input_files("#picker", tmp_path / "long.csv")
        page.wait_for_selector("text=Next: family")
        choose_by_hand(page, "line")
        page.click("#run")
        page.wait_for_selector(".stages li >> nth=1")
        page.evaluate(KEEP_WHAT_IS_SAID)
        child.send_signal(number)
        child.communicate(timeout=60)
        page.wait_for_selector("text=Studio does not answer. This page tries again")
        port = int(re.search(r":(\d+)/", address)[1])
        child, again = start_studio(tmp_path / "home", tmp_path, port=port)
        assert again == address, "the token is kept, so that the page may go on"
        yield page
    finally:
        context.close()
        child.terminate()
        child.communicate(timeout=60)


def test_a_depth_map_and_its_defects_follow_the_slider(tab, studio, tmp_path):
    rng = np.random.default_rng(0)
    values = 0.1 * np.mgrid[:40, :50][1] + rng.normal(0, 0.05, (40, 50))
    values[10:18, 15:25] += 3
    np.save(tmp_path / "depth.npy", values)
    page = tab()
    page.set_input_files("#picker", tmp_path / "depth.npy")
    page.wait_for_selector("figcaption:has-text('50 × 40 pixels')")
    assert page.input_value("#kind") == "map", "an array of the size of an image is a map"
    page.click("text=Next: family")
    run_to_result(page)
    before = page.inner_text("#headline")
    set_threshold(page, 5)
    page.wait_for_selector("#headline:has-text('0 defects: 0 pixels')")
    assert page.is_visible("text=Nothing is off the smooth surface.")
    page.click("#back")
    page.wait_for_selector(f"#headline:has-text('{before}')")


def test_a_table_with_dates_becomes_a_series_by_one_button(tab, tmp_path):
    rng = np.random.default_rng(0)
    load = np.sin(np.arange(300) / 20)
    rows = [
        f"2024-01-01T{k // 60:02d}:{k % 60:02d}:00,{a + rng.normal(0, 0.01):.4f},"
        f"{2 * a + rng.normal(0, 0.01) + 3 * (150 <= k < 160):.4f}"
        for k, a in enumerate(load)
    ]
    (tmp_path / "pump.csv").write_text("\n".join(["when,a,b", *rows, ""]))
    page = tab()
    page.set_input_files("#picker", tmp_path / "pump.csv")
    page.click("text=Take it as the time")
    page.wait_for_selector("#says:has-text('Take it as the time: done.')")
    assert page.input_value("[data-role=when]") == "time"
    page.click("text=Next: family")
    run_to_result(page)
    assert page.input_value("#mode") == "series"
    assert "1 anomalous stretch: 10 of 300 rows" in page.inner_text("#headline")


def test_what_is_no_file_of_a_known_kind_is_refused_in_words(tab, tmp_path):
    page = tab()
    hostile = tmp_path / "<img src=x onerror=alert(1)>.csv"
    hostile.write_text("<script>alert(1)</script>,b\n1,<b>2</b>\n3,4\n")
    for name, content, words in (
        ("run.exe", b"MZ\x90\x00", "the ending of the name tells no format"),
        ("empty.csv", b"", "empty.csv is empty"),
    ):
        (tmp_path / name).write_bytes(content)
        page.set_input_files("#picker", tmp_path / name)
        page.wait_for_selector(f"#says.error:has-text('{words}')")
    (tmp_path / "noise.csv").write_bytes(np.random.default_rng(0).bytes(2000))
    page.set_input_files("#picker", tmp_path / "noise.csv")
    page.wait_for_selector("[role=alert], .banner")
    assert page.inner_text("main")
    page.click(".brand")
    page.set_input_files("#picker", hostile)
    page.wait_for_selector("text=Preview of 2 rows")
    assert "<script>alert(1)</script>" in page.inner_text("main"), "shown as it is"
    assert page.locator("main img, main script, main b >> text=2").count() == 0


def test_every_page_fits_a_narrow_window_and_twice_the_zoom(tab, studio):
    page = tab(viewport={"width": 360, "height": 800})
    key = open_example(page, studio[0], "pump")
    for route in ("", f"p/{key}/columns", f"p/{key}/run", f"p/{key}/family"):
        go(page, studio[0], route)
        page.wait_for_selector(".page h1, .drop h1")
        if route.endswith("family"):
            page.click("text=More settings")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, route
        assert unnamed(page) == []


def test_studio_is_dark_or_light_with_enough_contrast(tab):
    ratio = """() => {
      const light = (text) => {
        const parts = text.match(/[\\d.]+/g).slice(0, 3).map(Number)
          .map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
      };
      const under = (e) => {
        for (let at = e; at; at = at.parentElement) {
          const colour = getComputedStyle(at).backgroundColor;
          if (!/, 0\\)$/.test(colour) && colour !== 'transparent') return colour;
        }
        return getComputedStyle(document.body).backgroundColor;
      };
      return [...document.querySelectorAll('h1, h2, p, b, span, a, button, label')]
        .filter(e => e.checkVisibility() && e.textContent.trim())
        .map(e => {
          const [a, b] = [light(getComputedStyle(e).color), light(under(e))].sort((x, y) => y - x);
          return [(a + 0.05) / (b + 0.05), e.textContent.slice(0, 30)];
        }).filter(([value]) => value < 4.5);
    }"""
    for scheme in ("light", "dark"):
        page = tab(color_scheme=scheme)
        page.wait_for_selector(".examples")
        assert page.evaluate(ratio) == [], scheme


def test_every_step_is_reached_by_keyboard_alone(tab, studio):
    page = tab()
    page.wait_for_selector(".examples")
    page.focus("body")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.example") == "circles":
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Next: family")
    assert page.evaluate("document.activeElement.id") == "main", "the focus is on the new page"
    page.focus("text=Next: family")
    page.keyboard.press("Enter")
    page.wait_for_selector("#run")
    assert page.get_attribute("[aria-current=step]", "href").endswith("/family")
