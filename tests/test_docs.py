"""Numbers that the documents state, and that doctest does not see."""

from __future__ import annotations

import csv
import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import piforest
from piforest import LocalPreferenceIsolationForest, PreferenceIsolationForest, plots
from piforest.datasets import make_lines
from piforest.datasets.published import SYNTHETIC2D
from research_data import synthetic2d

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text()
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    if not {"project", "auto_examples"} & set(path.parts)  # includes, and what `make docs` writes
)


def test_the_readmes_example_is_as_good_as_it_says():
    X, y = make_lines(4, noise=0.01, anomaly_share=0.3, random_state=0, return_X_y=True)
    flagged = PreferenceIsolationForest("line", random_state=0).fit(X).predict(X) == -1
    stated = re.search(r"here, (\d+) % follow no line, and it finds (\d+) %", README)
    measured = [np.mean(y[flagged] == 0), np.mean(flagged[y == 0])]
    assert [float(share) / 100 for share in stated.groups()] == pytest.approx(measured, abs=0.01)


def test_the_readme_has_the_means_of_the_stored_reproduction():
    table = re.search(r"PIF l2.*\n.*\n\| here \| (.*) \|\n\| paper \| (.*) \|", README)
    columns = (("synthetic", "pif_l2"), ("synthetic", "pif_jac"), ("synthetic", "pif"),
               ("homography", "pif"), ("fundamental", "pif"))  # fmt: skip
    for at, (name, method) in enumerate(columns):
        path = ROOT / "docs" / "reproduction" / f"auc_{name}.csv"
        rows = list(csv.DictReader(path.read_text().splitlines()))
        mean = next(r for r in rows if (r["dataset"], r["method"]) == ("Mean", method))
        for text, column in zip(table.groups(), ("mean", "published")):
            assert float(text.split(" | ")[at]) == pytest.approx(float(mean[column]), abs=6e-4)


def test_the_readmes_table_has_the_stored_results():
    stored = json.loads((ROOT / "docs" / "readme_results.json").read_text())
    rows = re.findall(r"^\| ([a-z ]+) \((\d+) \w+\) \| (.*) \|$", README, re.MULTILINE)
    assert [title for title, _, _ in rows] == [title for title in stored if title != "version"]
    for title, sets, cells in rows:
        found = stored[title]
        assert int(sets) == found["sets"]
        measured = [found["best_published"], found["pif"], found["auc"]]
        assert [float(cell) for cell in cells.split(" | ")] == pytest.approx(measured, abs=6e-4)


@pytest.mark.slow
@pytest.mark.data
def test_the_stored_results_are_those_of_this_version():
    synthetic2d("circle4")
    stored = json.loads((ROOT / "docs" / "readme_results.json").read_text())
    measure = runpy.run_path(str(ROOT / "docs" / "measure_readme.py"))
    assert stored["version"] == piforest.__version__
    for title, table in measure["TABLES"].items():
        assert measure["stored"](table).items() <= stored[title].items()
    aucs = [measure["default_on"](name, seed)["auc"] for name in SYNTHETIC2D for seed in (0, 1, 2)]
    assert np.mean(aucs) == pytest.approx(stored["lines and circles"]["auc"], abs=2e-3)


def anchors(page):
    """The anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_headings_that_exist(page):
    path = ROOT / page
    for target, _, anchor in re.findall(r"\]\(([^)#:]*)(#([^)]+))?\)", path.read_text()):
        if re.search(r"(^|/)(generated|auto_examples)/", target):
            continue  # made, and then checked, by `make docs`
        linked = path.parent / target if target else path
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), f"{target}#{anchor}"


def test_the_glossary_is_linked_where_its_terms_are_used():
    guides = "accuracy command_line conventions distributed extending performance pictures report"
    pages = [ROOT / "docs" / f"{name}.md" for name in [*guides.split(), "sampling"]]
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *pages]:
        assert "glossary.md" in page.read_text(), page


def test_attributes_that_the_glossary_names_exist():
    X = make_lines(2, sizes=40, random_state=0).data
    detector = PreferenceIsolationForest("line", n_models=200, random_state=0).fit(X)
    objects = (detector, detector.embedding_, LocalPreferenceIsolationForest)
    objects += tuple(detector.structures_)
    rows = re.findall(r"^\| .* \| (.*) \|$", GLOSSARY, re.MULTILINE)
    names = {name for cell in rows for name in re.findall(r"`([a-z]\w*_)\b", cell)}
    names |= set(re.findall(r"`Structure\.(\w+)`", GLOSSARY))
    assert len(names) > 15
    for name in names:
        assert any(hasattr(each, name) for each in objects), name


def test_every_picture_on_the_page_is_made_by_the_lines_above_it_and_is_small():
    found = runpy.run_path(str(ROOT / "docs" / "make_pictures.py"))["pictures"]()
    assert len(found) >= 10
    for path, code in found:
        assert "ax = plot_" in code, path
        assert path.stat().st_size < 150_000, path
    page = (ROOT / "docs" / "pictures.md").read_text()
    for name in plots.__all__:
        assert not name.startswith("plot_") or name in page, name


def test_the_version_is_the_same_everywhere():
    for page in ("CHANGELOG.md", "CITATION.cff", "docs/citing.md", "recipe/meta.yaml"):
        assert piforest.__version__ in (ROOT / page).read_text()
