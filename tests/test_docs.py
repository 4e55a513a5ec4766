"""Numbers in the documents that doctest does not check."""

from __future__ import annotations

import csv
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from piforest import PreferenceIsolationForest, plots
from piforest.datasets import make_lines

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/conventions.md",
    "docs/distributed.md",
    "docs/extending.md",
    "docs/reproduction/index.md",
    "docs/reproduction/beyond.md",
    "docs/accuracy.md",
    "docs/sampling.md",
    "docs/command_line.md",
    "docs/pictures.md",
]


def test_the_readme_states_the_measured_accuracy_of_its_example():
    X, y = make_lines(4, noise=0.01, anomaly_share=0.3, random_state=0, return_X_y=True)
    flagged = PreferenceIsolationForest("line", random_state=0).fit(X).predict(X) == -1
    stated = re.search(r"here, (\d+) % follow no line, and it finds (\d+) %", README)
    measured = [np.mean(y[flagged] == 0), np.mean(flagged[y == 0])]
    assert [float(share) / 100 for share in stated.groups()] == pytest.approx(measured, abs=0.01)


def test_the_readme_states_the_means_of_the_stored_reproduction():
    # The table with five columns, below the one with eleven data sets.
    table = re.search(r"PIF l2.*\n.*\n\| here \| (.*) \|\n\| paper \| (.*) \|", README)
    columns = (("synthetic", "pif_l2"), ("synthetic", "pif_jac"), ("synthetic", "pif"),
               ("homography", "pif"), ("fundamental", "pif"))  # fmt: skip
    for i, (name, method) in enumerate(columns):
        path = ROOT / "docs" / "reproduction" / f"auc_{name}.csv"
        rows = list(csv.DictReader(path.read_text().splitlines()))
        mean = next(r for r in rows if (r["dataset"], r["method"]) == ("Mean", method))
        for text, column in zip(table.groups(), ("mean", "published")):
            assert float(text.split(" | ")[i]) == pytest.approx(float(mean[column]), abs=6e-4)


@pytest.mark.parametrize("page", PAGES)
def test_links_are_not_broken(page):
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        assert (path.parent / target).exists(), target


def test_every_picture_has_its_code_above_it_and_is_small():
    found = runpy.run_path(str(ROOT / "docs" / "make_pictures.py"))["pictures"]()
    assert len(found) >= 10
    for path, code in found:
        assert "ax = plot_" in code, path
        assert path.stat().st_size < 150_000, path
    page = (ROOT / "docs" / "pictures.md").read_text()
    for name in plots.__all__:
        assert not name.startswith("plot_") or name in page, name


def test_all_files_state_the_same_version():
    import piforest

    for page in ("CHANGELOG.md", "CITATION.cff"):
        assert piforest.__version__ in (ROOT / page).read_text()
