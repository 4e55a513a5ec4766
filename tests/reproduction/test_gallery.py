"""Every family is shown, and found, on its scene."""

from __future__ import annotations

from pathlib import Path

import pytest

from piforest.apps.cli import main
from piforest.families import get_family, list_families
from piforest.reproduction.gallery import gallery, scenes, tried

PAGE = Path(__file__).parents[2] / "docs" / "families" / "index.md"


def test_every_family_has_a_scene():
    assert set(scenes()) == set(list_families())


def test_the_page_of_the_docs_has_every_family_with_its_rows():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| [")]
    expected = [f"| [{name}](#{name}) | {get_family(name).layout.brief} |" for name in scenes()]
    assert [row[: len(start)] for row, start in zip(rows, expected)] == expected
    assert len(rows) == len(expected)
    assert all((PAGE.parent / f"{name}.png").is_file() for name in scenes())


@pytest.mark.slow
@pytest.mark.parametrize("name", list(scenes()))
def test_every_family_finds_the_anomalies_of_its_scene(name):
    """At the true noise .95, as promised; without any, hardly less; always beyond iFor and LOF."""
    aucs = tried(name).aucs
    assert aucs["PIF"] >= 0.95
    assert aucs["default"] >= 0.95
    assert min(aucs["PIF"], aucs["default"]) > max(aucs["iFor"], aucs["LOF"])


@pytest.mark.slow
def test_the_page_shows_the_pictures(tmp_path, monkeypatch):
    few = {name: scene for name, scene in scenes().items() if name in ("line", "plane")}
    monkeypatch.setattr("piforest.reproduction.gallery.scenes", lambda: few)
    shown = gallery(tmp_path / "families", say=lambda _: None)
    page = (tmp_path / "families" / "index.md").read_text()
    for each in shown:
        assert f"| {each.aucs['PIF']:.3f} | {each.aucs['default']:.3f} |" in page
        picture = tmp_path / "families" / f"{each.name}.png"
        assert picture.read_bytes()[:4] == b"\x89PNG"
        assert f"]({picture.name})" in page


def test_the_command_names_what_it_does_not_know(tmp_path, capsys):
    assert main(["gallery", "--only", "lime", "--out", str(tmp_path)]) == 1
    assert "the gallery has no scene of 'lime'" in capsys.readouterr().err
