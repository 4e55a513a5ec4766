from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from piforest.apps import cli
from piforest.apps.cli import reproduce as command
from piforest.reproduction.page import Heading, Picture, Text, to_html, to_markdown
from piforest.reproduction.real import evaluate as runner
from piforest.reproduction.real import page, pictures, summary
from piforest.reproduction.real.cases import Case, source_digest
from piforest.reproduction.real.evaluate import evaluate, read_rows
from piforest.reproduction.real.parts import PARTS, Part, Target
from piforest.reproduction.real.summary import compare, outcomes, report


def _measured(value, seed):
    return {"auc": value, "cpu_s": 0.5}


def _part(values, targets=()):
    cases = [
        Case("small", f"g{at % 2}", f"cell {at}", run, partial(_measured, value + run))
        for at, value in enumerate(values)
        for run in range(2)
    ]
    return Part("Small", "About.", lambda: cases, tuple(targets), ("auc",))


@pytest.fixture
def small(monkeypatch):
    targets = [
        Target("every run", "auc", high=1.15),
        Target("every cell", "auc", high=0.65, each="cell"),
        Target("the mean", "auc", high=0.65, each="part"),
        Target("not measured", "f1", 0.5),
    ]
    part = _part([0.1, 0.2], targets)
    _replace_parts(monkeypatch, part)
    return part


def _replace_parts(monkeypatch, part):
    for module in (runner, summary, page):
        monkeypatch.setattr(module, "PARTS", {"small": part})


def test_finished_cases_are_stored_and_not_computed_again(tmp_path, small, monkeypatch):
    path, said = tmp_path / "new" / "real.json", []
    rows = evaluate(path, parts=["small"], n_jobs=1, log=said.append)
    assert [row["values"]["auc"] for row in rows] == [0.1, 1.1, 0.2, 1.2]
    assert json.loads(path.read_text())["code"] == source_digest()
    monkeypatch.setattr(runner, "_row", None)
    again = evaluate(path, parts=["small"], n_jobs=1, log=said.append)
    assert again == rows == read_rows(path)
    assert "4 cases, 4 of them stored" in said[-1]


def test_results_of_other_code_or_another_seed_are_computed_again(tmp_path, small, monkeypatch):
    path, said = tmp_path / "real.json", []
    evaluate(path, parts=["small"], n_jobs=1, log=said.append)
    evaluate(path, parts=["small"], seed=1, n_jobs=1, log=said.append)
    assert "other code or of another seed" in said[-2]
    monkeypatch.setattr(runner, "source_digest", lambda: "other")
    evaluate(path, parts=["small"], seed=1, n_jobs=1, log=said.append)
    assert "other code or of another seed" in said[-2]


def test_what_was_finished_before_an_error_is_stored(tmp_path, small, monkeypatch):
    def fail(seed):
        raise ZeroDivisionError

    cases = [*small.cases()[:2], Case("small", "g", "bad", 0, fail)]
    part = Part("Small", "", lambda: cases, (), ())
    _replace_parts(monkeypatch, part)
    with pytest.raises(ZeroDivisionError):
        evaluate(tmp_path / "real.json", n_jobs=1, log=lambda text: None)
    assert len(read_rows(tmp_path / "real.json")) == 2


@pytest.mark.parametrize("text", ["", "[]", '{"rows": [{"part": "a"}]}', '{"rows": 3}'])
def test_a_file_that_holds_no_results_is_an_error(tmp_path, text):
    path = tmp_path / "old.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="is not a file of results of reproduce --real"):
        read_rows(path)


def test_targets_count_runs_cells_or_the_mean(tmp_path, small):
    rows = evaluate(tmp_path / "real.json", n_jobs=1, log=lambda text: None)
    run, cell, part = outcomes("small", rows)
    assert (run.met, run.of, run.worst) == (3, 4, "cell 1, run 1: 1.2")
    assert (cell.met, cell.of) == (1, 2)
    assert (part.met, part.of, part.mean) == (1, 1, pytest.approx(0.65))
    text = report(rows)
    assert "MISSED every run: 3 of 4" in text
    assert "met    the mean: 1 of 1" in text


def test_two_files_are_compared_over_the_runs_that_both_have(tmp_path, small):
    new = evaluate(tmp_path / "real.json", n_jobs=1, log=lambda text: None)
    old = [{**row, "values": {"auc": row["values"]["auc"] - 0.1}} for row in new[:3]]
    text = compare(old, new)
    assert text.startswith("3 runs in both")
    assert "small: auc 0.3667 → 0.4667 (+0.1)" in text
    assert "  g1: auc 0.1 → 0.2 (+0.1)" in text


def test_the_command_knows_the_parts_and_says_what_needs_real(tmp_path, capsys):
    assert tuple(PARTS) == command._REAL
    assert cli.main(["reproduce", "--part", "lines", "--out", str(tmp_path)]) == 2
    assert "--part needs --real" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["reproduce", "--real", "--part", "spheres"])
    assert "'spheres' must be one of lines, tables" in capsys.readouterr().err


def test_the_command_evaluates_and_compares(tmp_path, small, capsys):
    arguments = ["reproduce", "--real", "--quick", "--jobs", "1", "--out", str(tmp_path)]
    assert cli.main(arguments) == 0
    old = tmp_path / "real.json"
    assert cli.main([*arguments, "--compare", str(old)]) == 0
    assert "2 runs in both" in capsys.readouterr().out
    text = (tmp_path / "real_data.md").read_text()
    assert "| Small | every run | AUC 0.150 | met in 2 of 2 runs |" in text
    assert "| g0 | 1 | 0.100 | 2 of 2 |" in text
    assert (tmp_path / "real_data.html").is_file()


def test_the_page_shows_what_is_missed_and_the_pictures_that_exist(tmp_path, small, monkeypatch):
    rows = evaluate(tmp_path / "real.json", n_jobs=1, log=lambda text: None)
    monkeypatch.setattr(page, "PICTURES", {"small": (None, "png", "A caption.")})
    assert page.pictures_in(tmp_path) == {}
    (tmp_path / page.FOLDER).mkdir(parents=True)
    (tmp_path / page.FOLDER / "small.png").write_bytes(b"")
    text = to_markdown(page.TITLE, page.content(rows, page.pictures_in(tmp_path), 0))
    assert "| Small | every cell | AUC 0.650 | **not in all**: met in 1 of 2 cells |" in text
    assert "| Small | the mean | AUC 0.650 | met |" in text
    assert "![small](images/real/small.png)" in text


def test_photos_between_other_blocks_leave_none_of_them_out(tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.jpg").write_bytes(b"")
    a, b, c = (Picture(Path(f"{name}.jpg"), f"caption {name}") for name in "abc")
    text = to_html("T", [a, b, Heading("between"), Text("words"), c, Text("last")], tmp_path)
    shown = ["caption a", "caption b", 'id="between"', "words", "caption c", "last"]
    places = [text.index(each, text.index("</nav>")) for each in shown]
    assert places == sorted(places)
    assert text.count('class="pairs"') == 1


@pytest.mark.slow
def test_a_picture_shows_the_first_run_of_its_cell(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    figure = pictures.draw_anomalies(0)
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[:4] == ["near", "heaped", "far", "clean"]
    assert all("flagged" in title for title in titles[4:])
    monkeypatch.setenv("PIFOREST_DATA", str(tmp_path))
    with pytest.raises(LookupError, match="the data of graf, homography are missing"):
        pictures.draw_related(0)
