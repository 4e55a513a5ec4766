"""Scenes that stand for the paper's seven 2D sets."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

from piforest.apps import cli
from piforest.datasets.published import SYNTHETIC2D
from piforest.reproduction.settings import published_sizes
from piforest.reproduction.stand_ins import METHODS, STAND_INS, reproduce_scenes


def test_every_set_has_a_scene_with_as_many_points_on_each_structure():
    assert STAND_INS.keys() == SYNTHETIC2D.keys()
    for name, scene in STAND_INS.items():
        y = scene.make(scene.n_structures, random_state=0, return_X_y=True)[1]
        counted = np.bincount(y)
        assert counted[1:].tolist() == [int(each) for each in published_sizes()[name].split()]
        assert counted[0] == counted[1:].sum()


@pytest.mark.slow
def test_the_page_has_the_means_of_the_table_beside_the_published_numbers(tmp_path):
    reproduce_scenes(tmp_path, runs=1, seed=1, n_jobs=1, log=lambda text: None)
    with open(tmp_path / "scenes.csv") as file:
        rows = {row["scene"]: row for row in csv.DictReader(file)}
    page = (tmp_path / "scenes.md").read_text()
    star = re.search(r"\| star5 \| ([\d.]+) \| 0.910 \| ([-+][\d.]+) \| ([\d.]+) \|", page)
    assert float(star[1]) == pytest.approx(float(rows["star5"]["PIF"]), abs=6e-4)
    assert float(star[2]) == pytest.approx(float(rows["star5"]["PIF"]) - 0.910, abs=6e-4)
    for name in STAND_INS:
        assert float(rows[name]["default"]) > float(rows[name]["LOF"]), name
    means = re.search(r"\| Mean \| ([\d.]+) ", page)
    assert float(means[1]) == pytest.approx(
        np.mean([float(row[METHODS[0]]) for row in rows.values()]), abs=6e-4
    )


def test_scenes_go_alone(capsys):
    assert cli.main(["reproduce", "--scenes", "--real"]) == 2
    assert "--scenes goes alone" in capsys.readouterr().err
