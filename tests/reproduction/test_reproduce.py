from __future__ import annotations

import json
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")

import matplotlib.pyplot as plt

from piforest.apps import cli
from piforest.apps.cli import reproduce as reproduce_command
from piforest.reproduction import reproduce as reproducing
from piforest.reproduction import run
from piforest.reproduction.curves import share_curves, share_grids, variants_grid
from piforest.reproduction.differences import (
    conclusions,
    far_from_published,
    kernels,
    reversed_rankings,
    shortfalls,
)
from piforest.reproduction.figures import FIGURES
from piforest.reproduction.figures import share as draw_share
from piforest.reproduction.page import Heading, Picture, Text, to_html, to_markdown
from piforest.reproduction.reproduce import PARTS, reproduce
from piforest.reproduction.run import read_cell, run_jobs
from piforest.reproduction.settings import (
    NEIGHBOURS,
    TABLES,
    VARIANTS,
    WIDTHS,
    candidates,
    share_jobs,
    table_jobs,
    variant_jobs,
)
from piforest.reproduction.tables import (
    Grid,
    auc_grid,
    best_settings,
    entries,
    row_entries,
    settings_grid,
    widths_grid,
)
from research_data import adelaidermf, synthetic2d

SYNTHETIC, HOMOGRAPHY = TABLES["synthetic"], TABLES["homography"]


def cell_of(job, aucs, rng):
    """An artificial cell: the given AUC of each method with a little noise."""
    values = {}
    for _, methods in job.spaces:
        for method in methods:
            if method.startswith("lof"):
                length = len(job.neighbours)
            else:
                length = len(job.widths) if method.endswith(("_bin", "_pref")) else 1
            values[method] = [aucs[method] + rng.normal(0, 0.001)] * length
    return {"settings": job.settings(), "auc": values, "cpu_s": 1.0}


def artificial(table, aucs, runs=6):
    rng = np.random.default_rng(0)
    return [
        cell_of(job, row, rng)
        for name, row in aucs.items()
        for job in table_jobs(table.name, [name], runs, 0)
    ]


def test_marks_follow_the_paired_test():
    clear = dict(zip(HOMOGRAPHY.methods, (0.8, 0.5, 0.6, 0.9)))
    close = dict(zip(HOMOGRAPHY.methods, (0.9, 0.5, 0.6, 0.9)))
    table = entries(HOMOGRAPHY, artificial(HOMOGRAPHY, {"physics": clear, "hartley": close}))
    assert list(table) == ["hartley", "physics", "Mean"]
    assert table["physics"]["pif"].best
    assert table["physics"]["pif"].significant
    assert not table["physics"]["lof_tani"].best
    means = {method: round(entry.mean, 3) for method, entry in table["hartley"].items()}
    for method, entry in table["hartley"].items():
        assert entry.best == (means[method] == max(means.values()))
    assert not any(entry.significant for entry in table["hartley"].values())
    assert table["Mean"]["pif"].significant
    assert table["Mean"]["pif"].mean == pytest.approx(0.9, abs=0.002)
    assert table["Mean"]["pif"].published == pytest.approx((0.989 + 1.0) / 2)
    every = entries(HOMOGRAPHY, artificial(HOMOGRAPHY, dict.fromkeys(HOMOGRAPHY.sets, clear)))
    assert every["Mean"]["pif"].published == 0.983
    far = far_from_published(artificial(HOMOGRAPHY, {"physics": clear}))
    assert "physics" in [row[0] for row in far.rows]
    assert (
        "PIF has the highest mean, significantly ahead"
        in conclusions(artificial(HOMOGRAPHY, {"physics": clear}))[0]
    )


def test_few_runs_have_no_marks_and_one_has_no_deviation():
    clear = dict(zip(HOMOGRAPHY.methods, (0.8, 0.5, 0.6, 0.9)))
    for runs in (1, 2):
        cells = artificial(HOMOGRAPHY, {"physics": clear}, runs=runs)
        assert not any(
            entry.significant for entry in entries(HOMOGRAPHY, cells)["physics"].values()
        )
    text = auc_grid(HOMOGRAPHY, artificial(HOMOGRAPHY, {"physics": clear}, runs=1)).markdown()
    assert "±" not in text
    assert "nan" not in text


def test_marks_compare_only_within_an_embedding():
    row = {method: np.array([0.5, 0.52, 0.51]) for method in SYNTHETIC.methods}
    row["pif"] = np.array([0.9, 0.91, 0.9])
    row["pif_jac"] = np.array([0.9, 0.9, 0.905])
    published = dict.fromkeys(SYNTHETIC.methods, 0.5)
    result = row_entries(row, SYNTHETIC, published)
    assert result["pif"].significant
    assert not result["pif_jac"].best
    same = {**row, "pif": np.full(3, 0.9), "lof_tani": np.full(3, 0.8)}
    assert row_entries(same, SYNTHETIC, published)["pif"].std == 0


def test_lof_has_its_best_k_for_each_family():
    aucs = dict.fromkeys(SYNTHETIC.methods, 0.5)
    cells = artificial(SYNTHETIC, {"star5": aucs, "circle3": aucs})
    for cell in cells:
        at = 3 if cell["settings"]["dataset"] == "circle3" else 1
        cell["auc"]["lof_l2"][at] = 0.7
    best = best_settings(SYNTHETIC, cells)
    assert best["circle", "lof_l2"] == NEIGHBOURS[3]
    assert best["line", "lof_l2"] == NEIGHBOURS[1]
    assert entries(SYNTHETIC, cells)["star5"]["lof_l2"].mean == pytest.approx(0.7)
    assert "<u>0.700</u>" in auc_grid(SYNTHETIC, cells).markdown()


def test_isolation_forests_have_their_best_sigma_on_preferences_only():
    aucs = dict.fromkeys(SYNTHETIC.methods, 0.4)
    cells = artificial(SYNTHETIC, {"star5": aucs})
    for cell in cells:
        cell["auc"]["ifor_pref"][2] = 0.8
        cell["auc"]["eifor_bin"][1] = 0.9
    table = entries(SYNTHETIC, cells)["star5"]
    assert table["ifor_pref"].mean == pytest.approx(0.8)
    assert table["eifor_bin"].mean == pytest.approx(0.9)
    assert table["eifor_bin"].best
    assert candidates("ifor_l2") == (1,)
    _, of_binary, of_preferences = settings_grid(cells).rows
    assert of_preferences[3] == str(WIDTHS[2])
    assert of_binary[4] == str(WIDTHS[1])
    assert widths_grid(cells).rows[2][4] == "0.800"


def test_published_numbers_are_those_of_the_paper():
    assert SYNTHETIC.published()["stair3"]["pif"] == 0.971
    assert SYNTHETIC.published()["Mean"]["eifor_l2"] == 0.747
    assert HOMOGRAPHY.published()["Mean"]["pif"] == 0.983
    assert TABLES["fundamental"].published()["toycubecar"]["eifor_pref"] == 0.192
    for table in TABLES.values():
        assert set(table.published()) == {*table.sets, "Mean"}


def test_the_command_line_knows_the_same_parts():
    assert reproduce_command._PARTS == PARTS
    assert cli.make_parser().parse_args(["reproduce", "--beyond"]).beyond
    assert not cli.make_parser().parse_args(["reproduce"]).beyond


def quickly(jobs):
    return [replace(job, n_estimators=5) for job in jobs]


JOBS = quickly(table_jobs("homography", ["physics"], 3, 7))


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.data
def test_processes_give_the_same_numbers(tmp_path):
    adelaidermf("physics")
    one, two = (run_jobs(JOBS, tmp_path / str(n), n) for n in (1, 2))
    assert [cell["auc"] for cell in one] == [cell["auc"] for cell in two]


def test_damaged_cells_and_other_settings_are_reported_and_not_used(tmp_path, capsys):
    job = JOBS[0]
    path = tmp_path / f"{job.key}.json"
    assert read_cell(tmp_path, job) is None
    assert capsys.readouterr().err == ""
    cell = cell_of(job, dict.fromkeys(HOMOGRAPHY.methods, 0.5), np.random.default_rng(0))
    cell = json.loads(json.dumps(cell))
    path.write_text(json.dumps(cell))
    assert read_cell(tmp_path, job) == cell
    for content, message in (
        ("{", "is damaged"),
        ("[]", "is damaged"),
        (json.dumps({**cell, "auc": {}}), "is damaged"),
        (json.dumps({**cell, "auc": {**cell["auc"], "pif": []}}), "is damaged"),
        (json.dumps({**cell, "auc": {**cell["auc"], "pif": [None]}}), "is damaged"),
        (json.dumps({**cell, "auc": {**cell["auc"], "pif": [2.5]}}), "is damaged"),
        (json.dumps({k: v for k, v in cell.items() if k != "cpu_s"}), "is damaged"),
        (json.dumps({**cell, "settings": {**cell["settings"], "data": "?"}}), "other settings"),
        (json.dumps({**cell, "settings": {**cell["settings"], "sigma": 9}}), "other settings"),
    ):
        path.write_text(content)
        assert read_cell(tmp_path, job) is None
        assert message in capsys.readouterr().err


def test_the_share_figure_has_the_three_best_k_of_each_set():
    rng = np.random.default_rng(0)
    cells = []
    for job in share_jobs(["stair3", "circle5"], (0.1, 0.9), 3, 0):
        cell = cell_of(job, dict.fromkeys(("lof_tani", "ifor_pref", "eifor_pref", "pif"), 0.5), rng)
        for at, auc in ((4, 0.9), (2, 0.8), (7, 0.7)):
            cell["auc"]["lof_tani"][at] = auc
        cell["auc"]["ifor_pref"] = [0.1, 0.6]
        cells.append(cell)
    curves = share_curves(cells)
    assert list(curves) == ["stair3", "circle5"]
    labels = list(curves["stair3"])
    assert labels[:4] == ["PIF", "LOF 1 (k = 80)", "LOF 2 (k = 50)", "LOF 3 (k = 150)"]
    assert labels[4] == "iFor (sigma x 32)"
    np.testing.assert_allclose(curves["stair3"]["LOF 1 (k = 80)"].mean, 0.9)
    np.testing.assert_allclose(curves["stair3"]["PIF"].shares, [0.1, 0.9])
    assert len(share_grids(cells)) == 2
    lines = draw_share(curves).axes[0].get_lines()
    assert len([line for line in lines if len(line.get_xdata()) == 2]) >= 6
    plt.close("all")


def variant_cells(best):
    rng = np.random.default_rng(0)
    jobs = variant_jobs(["star5", "circle5"], 2, 0)
    return [
        cell_of(job, {"lof_tani": 0.5, "pif": 0.8 if job.label == best else 0.6}, rng)
        for job in jobs
    ]


def test_variants_differ_in_their_settings():
    jobs = {job.label: job for job in variant_jobs(["circle5"], 1, 0)}
    assert list(jobs) == [variant.name for variant in VARIANTS]
    assert len({job.key for job in jobs.values()}) == len(VARIANTS)
    assert len({job.random_state for job in jobs.values()}) == 1
    table = table_jobs("synthetic", ["circle5"], 1, 0)[0]
    assert jobs["as in the tables"].random_state == table.random_state
    assert jobs["sigma x 2"].sigma == 2 * table.sigma
    assert jobs["models x 5"].models_per_point == 50
    assert jobs["the paper's kernel"].kernel == "paper"
    grid = variants_grid(SYNTHETIC, variant_cells("models x 5"), "pif", "PIF")
    assert grid.head == ["", "star5", "circle5", "Mean"]
    assert grid.rows[-2][0] == "models x 5"
    assert float(grid.rows[-2][2]) == pytest.approx(0.8, abs=0.003)
    assert grid.rows[-1] == ["published", "0.910", "0.780", "0.845"]


@pytest.mark.data
def test_the_differences_list_exactly_the_sets_that_are_lower():
    synthetic2d("circle5")
    published = SYNTHETIC.published()
    cells = artificial(
        SYNTHETIC,
        {name: {**published[name], "pif": 0.7 if name == "circle5" else published[name]["pif"]}
         for name in ("star5", "circle5")},
    )  # fmt: skip
    (line,) = shortfalls(cells + variant_cells("models x 5"))
    assert line.startswith("**PIF on circle5**: 0.700")
    assert "`models x 5` is the best for this set: 0.80" in line
    assert ", higher than published." in line
    assert "lower than published." in shortfalls(cells + variant_cells("none"))[0]
    stair = {**published["stair3"], "lof_tani": 0.5}
    (line,) = shortfalls(artificial(SYNTHETIC, {"stair3": stair}))
    assert "with the best k for this set" in line
    assert "50 50 300 on the structures, not 272 64 64" in line


def test_the_texts_on_kernels_and_reversed_rankings_follow_the_numbers():
    published = SYNTHETIC.published()
    assert "The Gaussian reproduces" in kernels(variant_cells("as in the tables"))
    assert "The literal kernel reproduces" in kernels(variant_cells("the paper's kernel"))
    assert "does not tell them apart" in kernels(variant_cells("none"))
    assert kernels([]) == ""
    assert reversed_rankings([]) == ""
    reversed_ = artificial(
        SYNTHETIC, {"star5": {method: 1 - auc for method, auc in published["star5"].items()}}
    )
    assert "lines and circles in the plane 0.00" in reversed_rankings(reversed_)
    assert ["star5", "iFor bin", "0.25"] in [
        [*row[:2], row[2][:4]] for row in far_from_published(reversed_).rows
    ]
    assert "are 0 of 4." in reversed_rankings(artificial(SYNTHETIC, {"star5": published["star5"]}))


def test_pages_embed_their_figures_and_escape_text(tmp_path):
    (tmp_path / "a.png").write_bytes(b"png")
    (tmp_path / "b.jpg").write_bytes(b"jpg")
    blocks = [
        Heading("One & two"),
        Text("**bold** `code` <script>"),
        Text("- first\n- second"),
        Grid("Numbers", ["", "PIF"], [["star5", "**<u>0.914</u>** ± 0.016 (0.950, -0.036)"]]),
        Picture(tmp_path / "a.png", "a figure"),
        Picture(tmp_path / "b.jpg", "a pair"),
        Picture(tmp_path / "b.jpg", "another"),
    ]
    page = to_html("Title", blocks, tmp_path)
    assert "<script>" not in page
    assert '<h2 id="one-two">One &amp; two</h2>' in page
    assert "<b>bold</b> <code>code</code>" in page
    assert "<li>second</li>" in page
    assert "<b><u>0.914</u></b><small>± 0.016</small>" in page
    assert '<small class="down">-0.036</small>' in page
    assert page.count("data:image/jpeg;base64") == 2
    assert page.count('<div class="pairs">') == 1
    assert "http" not in page
    text = to_markdown("Title", blocks)
    assert "| star5 | **<u>0.914</u>** ± 0.016 (0.950, -0.036) |" in text


TINY = ["synthetic", "homography", "share", "variants", "figures", "pairs"]


def tiny(monkeypatch):
    """A few sets, five trees, one share: every part of the pipeline, in seconds."""
    monkeypatch.setattr(reproducing, "QUICK", ("circle4", "physics"))
    monkeypatch.setattr(reproducing, "QUICK_SHARES", (0.5,))
    monkeypatch.setattr(reproducing, "SHARE_SETS", ("circle5",))
    for name in ("table_jobs", "share_jobs", "variant_jobs"):
        real = getattr(reproducing, name)
        monkeypatch.setattr(reproducing, name, lambda *args, real=real: quickly(real(*args)))


def reproduce_tiny(out, **options):
    return reproduce(out, only=TINY, quick=True, seed=3, n_jobs=1, log=lambda text: None, **options)


@pytest.mark.slow
@pytest.mark.data
def test_the_whole_pipeline_goes_on_after_an_interruption_with_the_same_numbers(
    tmp_path, monkeypatch
):
    synthetic2d("circle4")
    adelaidermf("physics")
    tiny(monkeypatch)
    reproduce_tiny(tmp_path / "whole")
    real, computed = run.compute, []

    def interrupted(job):
        if len(computed) == 5:
            raise KeyboardInterrupt
        computed.append(job)
        return real(job)

    monkeypatch.setattr(run, "compute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduce_tiny(tmp_path / "part")
    assert not (tmp_path / "part" / "index.html").exists()
    damaged = next((tmp_path / "part" / "cells").iterdir())
    damaged.write_text("{")
    monkeypatch.setattr(run, "compute", lambda job: computed.append(job) or real(job))
    page = reproduce_tiny(tmp_path / "part")
    cells = list((tmp_path / "whole" / "cells").iterdir())
    assert len(computed) == len(cells) + 1
    for name in ("auc_synthetic.csv", "auc_homography.csv", "settings_synthetic.csv", "share.csv"):
        assert (tmp_path / "part" / name).read_text() == (tmp_path / "whole" / name).read_text()
    text = page.read_text()
    for part in ("Method and settings", "Share of anomalies", "Where and why the numbers differ"):
        assert part in text
    assert text.count("data:image/png;base64") == 5
    assert text.count("data:image/jpeg;base64") == 1
    assert "http" not in text
    drawn = {path.name for path in (tmp_path / "part" / "figures").iterdir()}
    assert {"tree.png", "tree.svg", "density.svg", "share.png", "pairs"} <= drawn
    # Running one part again keeps the others on the page.
    out = tmp_path / "part"
    again = reproduce(out, only=["figures"], quick=True, seed=3, n_jobs=1, log=lambda text: None)
    assert again.read_text() == text
    with pytest.raises(ValueError, match="holds results of seed 3, not 4"):
        reproduce(out, only=["figures"], quick=True, seed=4, log=lambda text: None)


@pytest.mark.slow
@pytest.mark.data
def test_the_command_writes_tables(tmp_path, capsys):
    adelaidermf("physics")
    arguments = ["--quick", "--only", "fundamental", "--out", str(tmp_path), "--jobs", "1"]
    assert cli.main(["reproduce", *arguments]) == 0
    assert str(tmp_path / "index.html") in capsys.readouterr().out
    text = (tmp_path / "index.md").read_text()
    assert "### Fundamental matrices" in text
    assert "biscuit" in text
    lines = (tmp_path / "auc_fundamental.csv").read_text().splitlines()
    assert len(lines) == 1 + 2 * 4 + 4
    tried = len((tmp_path / "settings_fundamental.csv").read_text().splitlines())
    assert tried == 1 + len(NEIGHBOURS) + 2 * len(WIDTHS) + 1


@pytest.mark.slow
def test_without_any_data_only_what_needs_none_is_made(tmp_path, monkeypatch):
    monkeypatch.setenv("PIFOREST_DATA", str(tmp_path))
    for only in (["synthetic"], ["pairs"], list(reproducing.PARTS)):
        with pytest.raises(FileNotFoundError, match="no data are available"):
            reproduce(tmp_path / "out", only=only)
    assert not (tmp_path / "out").exists()
    page = reproduce(tmp_path / "out", only=["figures"], n_jobs=1, log=lambda text: None)
    assert page.read_text().count("data:image/png;base64") == len(FIGURES) - 1


def test_without_data_the_command_fails_with_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PIFOREST_DATA", str(tmp_path))
    assert cli.main(["reproduce", "--out", str(tmp_path / "out")]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith(f"piforest: no data are available: {tmp_path} has none of")
    assert "--scenes" in captured.err
    assert not (tmp_path / "out").exists()


def test_missing_sets_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PIFOREST_DATA", str(tmp_path))
    logged = []
    reproducing._log_missing(["stair3"], logged.append)
    reproducing._log_missing(["physics"], logged.append)
    assert "stair3" in logged[0]
    assert "PIFOREST_DATA" in logged[0]
    assert "fetch_adelaidermf" not in logged[0]
    assert "fetch_adelaidermf(base_url=" in logged[1]


def test_bad_arguments_exit_with_two(capsys):
    for arguments in (
        ["--only", "tables"], ["--runs", "0"], ["--seed", "-1"], ["--jobs", "0"], ["--out", ""],
    ):  # fmt: skip
        with pytest.raises(SystemExit) as stopped:
            cli.main(["reproduce", *arguments])
        assert stopped.value.code == 2
    assert "'tables' must be one of synthetic, homography, fundamental" in capsys.readouterr().err


def test_an_output_folder_that_is_a_file_is_an_error(tmp_path, capsys):
    (tmp_path / "taken").write_text("")
    out = str(tmp_path / "taken")
    assert cli.main(["reproduce", "--only", "figures", "--out", out]) == 1
    assert "is a file; select a folder with --out" in capsys.readouterr().err
