"""The pages for a newcomer: the commands print what they show, and what they say is true."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import console_pages
from cli_runs import rows_of
from piforest.io.tables import read_table

START = Path(__file__).parent.parent / "docs" / "start"


def follow(name, monkeypatch, tmp_path, capsys):
    """Do what a page says in an empty folder; what its Python made."""
    page = (START / f"{name}.md").read_text()
    monkeypatch.chdir(tmp_path)
    assert console_pages.check(page, capsys) >= 2
    made = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(code, made)
    return page, made


@pytest.mark.slow
def test_the_page_of_the_table(monkeypatch, tmp_path, capsys):
    page, made = follow("table", monkeypatch, tmp_path, capsys)
    rows = rows_of("checked.csv")
    flagged = [row for row in rows if row["anomaly"] == "1"]
    wrong = [row for row in flagged if row["truth"] == "wrong price"]
    found = re.search(r"All (\d+) wrong prices are among the (\d+)", page)
    assert [int(each) for each in found.groups()] == [len(wrong), len(flagged)]
    assert len(wrong) == sum(row["truth"] == "wrong price" for row in rows)
    assert len(made["suspect"]) == len(flagged)
    assert len(made["laws"]) == 2
    assert len(rows_of("scores.csv")) == len(rows)


@pytest.mark.slow
def test_the_page_of_the_photos(monkeypatch, tmp_path, capsys):
    pytest.importorskip("cv2")
    _, made = follow("photos", monkeypatch, tmp_path, capsys)
    assert len(made["homographies"]) == 2
    kept = [row for row in rows_of("matches.csv") if row["anomaly"] == "0"]
    assert len(made["kept"]) == pytest.approx(len(kept), abs=3)


@pytest.mark.slow
def test_the_page_of_the_scan(monkeypatch, tmp_path, capsys):
    page, made = follow("scan", monkeypatch, tmp_path, capsys)
    scan = read_table("cleaned.ply").columns
    stray = scan["truth"] == 0
    found = re.search(r"holds ([\d,]+) points in metres, (\d+) of them stray", page)
    assert [int(each.replace(",", "")) for each in found.groups()] == [len(stray), stray.sum()]
    assert np.mean(scan["anomaly"][stray] == 1) > 0.85
    assert np.mean(scan["anomaly"][~stray] == 1) < 0.01
    assert made["surface"].max() == 4
    assert len(made["kept"]) == np.sum(scan["anomaly"] == 0)
