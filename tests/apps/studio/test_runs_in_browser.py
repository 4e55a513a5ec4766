"""Several runs of one table in a real browser: their names, their comparison, what is kept."""

from __future__ import annotations

import numpy as np
import pytest

from report_pages import until
from studio_pages import (
    WAIT,
    choose_by_hand,
    flagged,
    go,
    open_example,
    project_of,
    run_to_result,
    set_threshold,
    write_circle,
)

pytest.importorskip("fastapi", reason="FastAPI is not installed")


def opened(tab, path):
    page = tab()
    page.set_input_files("#picker", path)
    page.wait_for_selector("text=Next: family")
    return page


def choose_rule(page, value):
    """A share of anomalies as the threshold, and Run before it is surely saved."""
    page.click("text=More settings")
    page.select_option("[aria-label='How the threshold is chosen']", "contamination")
    page.fill("[aria-label='Value of the rule']", value)
    page.press("[aria-label='Value of the rule']", "Tab")


@pytest.fixture
def circle(tab, tmp_path):
    write_circle(tmp_path / "readings.csv", 0)
    page = opened(tab, tmp_path / "readings.csv")
    choose_by_hand(page, "circle")
    return page


def test_runs_have_one_number_their_settings_and_a_comparison(circle, studio):
    page, key = circle, project_of(circle)
    run_to_result(page)
    first = flagged(page)
    # A run that fails counts, too.
    lost = page.evaluate(
        """key => fetch(`/api/projects/${key}/jobs`, {method: "POST",
          headers: {"content-type": "application/json"}, body: JSON.stringify({kind: "detect",
          settings: {families: ["plane"], roles: {x: "coordinate", y: "coordinate"}}})})
          .then(answer => answer.json()).then(job => job.id)""",
        key,
    )
    go(page, studio[0], f"p/{key}/run/{lost}")
    page.wait_for_selector("text=The run failed.", timeout=WAIT)
    assert page.is_visible("h2:text-is('Run 2')")
    go(page, studio[0], f"p/{key}/family")
    page.wait_for_selector("#run")
    choose_rule(page, "0.4")
    run_to_result(page)
    assert flagged(page) == 60
    names = page.locator("#result-of option").all_inner_texts()
    assert names == ["Run 1: circle", "Run 3: circle, share of anomalies 0.4"]
    page.select_option("#other-run", label="Run 1: circle")
    page.wait_for_selector("#two-runs table")
    cells = page.locator("#two-runs table >> nth=0 >> td.num").all_inner_texts()
    assert [int(each) for each in cells] == [first, 60 - first, 0, 90]
    rows = page.locator("#two-runs tbody >> nth=1 >> tr")
    assert rows.count() == min(50, 60 - first)
    page.click("#two-runs [aria-label^='Show row'] >> nth=0")
    number = page.inner_text("#two-runs [aria-label^='Show row'] >> nth=0")
    assert page.inner_text("#pinned").startswith(f"{number} score")
    go(page, studio[0], f"p/{key}/run/{lost}")
    page.wait_for_selector("a:text-is('Run 3: circle, share of anomalies 0.4')")


def test_members_are_counted_again_and_the_method_beside_it_has_no_advice_of_ours(circle):
    page = circle
    run_to_result(page)
    members = page.locator("table td[data-name=Rows]").first
    before = int(members.inner_text().replace(",", ""))
    assert before == 150 - flagged(page)
    set_threshold(page, 0.5)
    kept = 150 - flagged(page)
    assert kept < before
    assert int(members.inner_text()) <= kept
    page.click("#back")
    assert int(members.inner_text()) == before
    ours = page.locator(".banner:has-text('To know before you use the result')")
    if ours.count():
        page.select_option("#method", "isolation_forest")
        page.wait_for_selector("text=Scores of isolation forest")
        assert not ours.is_visible()
        page.select_option("#method", "piforest")
        assert ours.is_visible()


def test_a_scored_file_has_its_own_name(circle, tmp_path):
    page = circle
    run_to_result(page)
    write_circle(tmp_path / "new ones.csv", 1)
    page.click("nav >> text=Score new files")
    page.set_input_files("#score-picker", tmp_path / "new ones.csv")
    page.wait_for_selector("h1:text-is('new ones.csv')", timeout=WAIT)
    assert "by the model of the run" in page.inner_text("#headline")
    names = page.locator("#result-of option").all_inner_texts()
    assert names == ["Run 1: circle", "Scored: new ones.csv"]


def test_a_target_that_is_suggested_is_shown_and_not_chosen(tab, tmp_path):
    rng = np.random.default_rng(0)
    size = rng.integers(30, 140, 100)
    price = 100 * np.round(30 * size + 200 + rng.normal(0, 40, 100))
    rows = [f"{k % 2},{a},{b:.0f}" for k, (a, b) in enumerate(zip(size, price))]
    (tmp_path / "flats.csv").write_text("\n".join(["place,size,price", *rows, ""]))
    page = opened(tab, tmp_path / "flats.csv")
    page.wait_for_selector("[data-role=price]")
    assert page.input_value("[data-role=price]") == "target"
    page.select_option("[data-role=place]", "ignore")
    page.wait_for_selector("#says:has-text('place: ignore.')")
    until(page, "document.querySelector('[data-role=price]')?.value === 'target'")
    saved = page.evaluate(
        "key => fetch(`/api/projects/${key}`).then(a => a.json()).then(p => p.settings.roles)",
        project_of(page),
    )
    assert saved == {"place": "ignore", "size": "coordinate", "price": "coordinate"}
    page.select_option("[data-role=size]", "target")
    until(page, "document.querySelector('[data-role=price]')?.value === 'coordinate'")
    assert page.input_value("[data-role=size]") == "target"


def test_a_file_that_cannot_be_read_leaves_no_project_behind(tab, tmp_path):
    (tmp_path / "packed.csv").write_bytes(b"PK\x03\x04no table")
    page = tab()
    page.set_input_files("#picker", tmp_path / "packed.csv")
    page.wait_for_selector("[role=alert]:has-text('packed.csv')")
    key = project_of(page)
    page.click("text=Remove the project")
    page.wait_for_selector(".drop")
    status = "key => fetch(`/api/projects/${key}`).then(answer => answer.status)"
    assert page.evaluate(status, key) == 404


def test_a_series_is_called_one_and_says_why_it_scores_no_other_file(tab, studio):
    page = tab()
    key = open_example(page, studio[0], "pump")
    page.click("text=Next: family")
    run_to_result(page)
    page.click("nav >> text=Score new files")
    page.wait_for_selector("h2:text-is('Not for this result')")
    go(page, studio[0], f"p/{key}/take")
    page.wait_for_selector("text=Every row with its score and verdict, as CSV")
    page.click(".brand")
    page.wait_for_selector(f"li:has(a[href*='{key}']):has-text('a series')")


def test_dark_colours_are_kept_for_the_next_visit(tab):
    page = tab(color_scheme="light")
    page.click("text=Dark colours")
    again = tab(page.context)
    again.wait_for_selector("text=Light colours")
    assert again.evaluate("document.documentElement.dataset.theme") == "dark"
