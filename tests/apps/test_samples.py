"""Sample files of `piforest sample`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cli_runs import rows_of, run
from piforest.apps.cli import sample
from piforest.apps.samples import _LAWS, _WRONG, SAMPLES
from piforest.io.tables import read_table


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_written_where_it_is_asked_for_and_is_small(name, tmp_path, capsys):
    code, out, _ = run(capsys, "sample", name, "--out", tmp_path)
    paths = [tmp_path / each for each in SAMPLES[name].files]
    assert code == 0
    assert SAMPLES[name].command in out
    for path in paths:
        assert path.stat().st_size < 400_000
        assert path.name in SAMPLES[name].command


def test_one_seed_writes_the_same_file_and_another_seed_another(tmp_path, capsys):
    written = []
    for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
        (tmp_path / folder).mkdir()
        run(capsys, "sample", "table", "--out", tmp_path / folder, "--seed", seed)
        written.append((tmp_path / folder / "flats.csv").read_bytes())
    assert written[0] == written[1] != written[2]


def test_a_file_that_exists_is_not_overwritten_unless_asked(tmp_path, capsys):
    (tmp_path / "flats.csv").write_text("mine")
    code, _, err = run(capsys, "sample", "table", "--out", tmp_path)
    assert code == 1
    assert "flats.csv already exists; --force overwrites it." in err
    assert (tmp_path / "flats.csv").read_text() == "mine"
    assert run(capsys, "sample", "table", "--out", tmp_path, "--force")[0] == 0


def test_wrong_prices_are_ordinary_alone_and_odd_beside_the_size(tmp_path, capsys):
    run(capsys, "sample", "table", "--out", tmp_path)
    rows = rows_of(tmp_path / "flats.csv")
    size, price = (np.array([float(row[name]) for row in rows]) for name in ("size", "price"))
    wrong = np.array([row["truth"] == "wrong price" for row in rows])
    usual = np.stack([fixed + metre * size for fixed, metre in _LAWS.values()])
    off = np.abs(price / usual - 1).min(axis=0)
    assert wrong.sum() == _WRONG
    assert off[wrong].min() > 0.11
    assert off[~wrong].max() < 0.06
    assert price[~wrong].min() <= price[wrong].min()
    assert price[wrong].max() <= price[~wrong].max()


@pytest.mark.slow
def test_the_photos_have_the_pixels_of_the_scene(tmp_path, capsys):
    cv2 = pytest.importorskip("cv2")
    from piforest.datasets import make_plane_pair

    run(capsys, "sample", "photos", "--out", tmp_path)
    images = make_plane_pair(2, random_state=0).images
    for name, image in zip(("left.png", "right.png"), images):
        assert np.array_equal(cv2.imread(str(tmp_path / name))[:, :, ::-1], image)


def test_the_scan_names_the_surface_of_each_point(tmp_path, capsys):
    run(capsys, "sample", "scan", "--out", tmp_path)
    table = read_table(tmp_path / "room.ply")
    assert set(np.unique(table.columns["truth"])) == set(range(6))
    floor = table.columns["z"][table.columns["truth"] == 1]
    assert np.abs(floor).max() < 0.1


def test_without_a_name_the_samples_are_listed(capsys):
    code, out, _ = run(capsys, "sample")
    assert code == 0
    for name, each in SAMPLES.items():
        assert f"{name:8}{', '.join(each.files)}: {each.about}" in out
    assert json.loads(run(capsys, "sample", "--json")[1])["samples"].keys() == SAMPLES.keys()


def test_the_command_knows_every_sample():
    assert tuple(SAMPLES) == sample._NAMES
