from __future__ import annotations

import json

import numpy as np
import pytest

from piforest import cli
from piforest.experiments import run, settings
from piforest.experiments.reproduce import reproduce
from piforest.experiments.run import read_cell, run_jobs
from piforest.experiments.settings import NEIGHBOURS, TABLES, Job
from piforest.experiments.tables import best_neighbours, entries, markdown, marked
from research_data import adelaidermf

SYNTHETIC, HOMOGRAPHY = TABLES["synthetic"], TABLES["homography"]


def made_up(table, aucs, runs=6):
    """Cells with the given AUC of each (set, method), a little noise of its own in each run."""
    rng = np.random.default_rng(0)
    cells = []
    for name, row in aucs.items():
        for number in range(runs):
            values = {}
            for method, auc in row.items():
                length = len(NEIGHBOURS) if method.startswith("lof") else 1
                values[method] = (auc + rng.normal(0, 0.001, length)).tolist()
            job = Job(table.name, name, number, 0)
            cells.append({"settings": job.settings(), "auc": values, "cpu_s": 1.0})
    return cells


def test_marks_follow_the_paired_test():
    clear = dict(zip(HOMOGRAPHY.methods, (0.8, 0.5, 0.6, 0.9)))
    close = dict(zip(HOMOGRAPHY.methods, (0.9, 0.5, 0.6, 0.9)))
    table = entries(HOMOGRAPHY, made_up(HOMOGRAPHY, {"physics": clear, "hartley": close}))
    assert list(table) == ["hartley", "physics", "Mean"]
    assert table["physics"]["pif"].best
    assert table["physics"]["pif"].significant
    assert not table["physics"]["lof_tani"].best
    assert sum(entry.best for entry in table["hartley"].values()) == 1
    assert not any(entry.significant for entry in table["hartley"].values())
    assert table["Mean"]["pif"].significant
    assert table["Mean"]["pif"].mean == pytest.approx(0.9, abs=0.002)
    assert table["Mean"]["pif"].published == pytest.approx((0.989 + 1.0) / 2)


def test_marks_look_only_at_the_same_embedding():
    row = {method: np.array([0.5, 0.52, 0.51]) for method in SYNTHETIC.methods}
    row["pif"] = np.array([0.9, 0.91, 0.9])
    row["pif_jac"] = np.array([0.9, 0.9, 0.905])
    published = dict.fromkeys(SYNTHETIC.methods, 0.5)
    result = marked(row, SYNTHETIC, published)
    assert result["pif"].significant
    assert not result["pif_jac"].best
    same = {**row, "pif": np.full(3, 0.9), "lof_tani": np.full(3, 0.8)}
    assert marked(same, SYNTHETIC, published)["pif"].std == 0


def test_lof_is_given_its_best_k_for_each_family():
    aucs = dict.fromkeys(SYNTHETIC.methods, 0.5)
    cells = made_up(SYNTHETIC, {"star5": aucs, "circle3": aucs})
    for cell in cells:
        at = 3 if cell["settings"]["dataset"] == "circle3" else 1
        cell["auc"]["lof_l2"][at] = 0.7
    best = best_neighbours(SYNTHETIC, cells)
    assert best["circle", "Euclidean"] == NEIGHBOURS[3]
    assert best["line", "Euclidean"] == NEIGHBOURS[1]
    assert entries(SYNTHETIC, cells)["star5"]["lof_l2"].mean == pytest.approx(0.7)
    assert "<u>0.700</u>" in markdown(SYNTHETIC, cells)


def test_published_numbers_are_those_of_the_paper():
    assert SYNTHETIC.published()["stair3"]["pif"] == 0.971
    assert SYNTHETIC.published()["Mean"]["eifor_l2"] == 0.747
    assert HOMOGRAPHY.published()["Mean"]["pif"] == 0.983
    assert TABLES["fundamental"].published()["toycubecar"]["eifor_pref"] == 0.192
    for table in TABLES.values():
        assert set(table.published()) == {*table.sets, "Mean"}


def test_the_command_line_knows_the_same_tables():
    assert list(cli._TABLES) == list(settings.TABLES)


JOBS = [Job("homography", "physics", number, 7, n_estimators=5) for number in range(3)]


@pytest.mark.data
def test_an_interrupted_run_goes_on_with_the_same_numbers(tmp_path, monkeypatch):
    adelaidermf("physics")
    whole = run_jobs(JOBS, tmp_path / "whole", 1)
    computed = []
    real = run.compute

    def interrupted(job):
        if len(computed) == 2:
            raise KeyboardInterrupt
        computed.append(job)
        return real(job)

    monkeypatch.setattr(run, "compute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_jobs(JOBS, tmp_path / "part", 1)
    assert len(list((tmp_path / "part").iterdir())) == 2
    monkeypatch.setattr(run, "compute", lambda job: computed.append(job) or real(job))
    again = run_jobs(JOBS, tmp_path / "part", 1)
    assert len(computed) == 3
    assert [cell["auc"] for cell in again] == [cell["auc"] for cell in whole]


@pytest.mark.data
def test_processes_give_the_same_numbers(tmp_path):
    adelaidermf("physics")
    one, two = (run_jobs(JOBS, tmp_path / str(n), n) for n in (1, 2))
    assert [cell["auc"] for cell in one] == [cell["auc"] for cell in two]


def test_damaged_and_foreign_cells_are_reported_and_not_used(tmp_path, capsys):
    job = JOBS[0]
    path = tmp_path / f"{job.key}.json"
    assert read_cell(tmp_path, job) is None
    assert capsys.readouterr().err == ""
    aucs = {m: [0.5] * (len(NEIGHBOURS) if m.startswith("lof") else 1) for m in HOMOGRAPHY.methods}
    cell = {"settings": job.settings(), "auc": aucs, "cpu_s": 1.0}
    path.write_text(json.dumps(cell))
    assert read_cell(tmp_path, job) == cell
    for content, says in (
        ("{", "is damaged"),
        ("[]", "is damaged"),
        (json.dumps({**cell, "auc": {}}), "is damaged"),
        (json.dumps({**cell, "settings": {**job.settings(), "sigma": 9}}), "other settings"),
    ):
        path.write_text(content)
        assert read_cell(tmp_path, job) is None
        assert says in capsys.readouterr().err


@pytest.mark.data
def test_the_command_writes_tables(tmp_path, capsys):
    adelaidermf("physics")
    assert (
        cli.main(
            ["reproduce", "--quick", "--only", "fundamental", "--out", str(tmp_path), "--jobs", "1"]
        )
        == 0
    )
    assert str(tmp_path / "tables.md") in capsys.readouterr().out
    text = (tmp_path / "tables.md").read_text()
    assert "### Fundamental matrices" in text
    assert "biscuit" in text
    lines = (tmp_path / "auc_fundamental.csv").read_text().splitlines()
    assert len(lines) == 1 + 3 * 4
    assert len((tmp_path / "lof_fundamental.csv").read_text().splitlines()) == 1 + len(NEIGHBOURS)


def test_missing_data_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PIFOREST_DATA", str(tmp_path))
    told = []
    with pytest.raises(FileNotFoundError, match="there are no data to run on"):
        reproduce(tmp_path / "out", only=["synthetic"], say=told.append)
    assert "stair3" in told[0]
    assert "PIFOREST_DATA" in told[0]


def test_bad_arguments_exit_with_two(capsys):
    for arguments in (["--only", "tables"], ["--runs", "0"], ["--seed", "-1"]):
        with pytest.raises(SystemExit) as stopped:
            cli.main(["reproduce", *arguments])
        assert stopped.value.code == 2
    assert "'tables' is none of synthetic, homography, fundamental" in capsys.readouterr().err
