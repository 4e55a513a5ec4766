"""What a release consists of agrees with itself: metadata, recipe, citation, workflows."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCHEMAS = {
    "vendor.citation-file-format": [ROOT / "CITATION.cff"],
    "vendor.github-workflows": WORKFLOWS,
    "vendor.dependabot": [ROOT / ".github" / "dependabot.yml"],
    "vendor.github-issue-forms": [
        path
        for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
        if path.name != "config.yml"
    ],
    "vendor.github-issue-config": [ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml"],
}


def spaced(requirement):
    """As in a recipe: `numpy >=2.0`."""
    return re.sub(r"(?<=\w)(?=[<>=])", " ", requirement, count=1)


def recipe():
    """The recipe as conda-build reads it."""
    jinja2, yaml = pytest.importorskip("jinja2"), pytest.importorskip("yaml")
    text = (ROOT / "recipe" / "meta.yaml").read_text()
    return yaml.safe_load(jinja2.Template(text).render(PYTHON="python"))


def test_the_recipe_needs_what_the_package_needs():
    made, project = recipe(), PROJECT["project"]
    python = f"python {project['requires-python']}"
    assert made["package"]["name"] == project["name"]
    assert made["requirements"]["run"] == [python, *map(spaced, project["dependencies"])]
    assert made["requirements"]["host"] == [
        python, "pip", *map(spaced, PROJECT["build-system"]["requires"]),
    ]  # fmt: skip
    scripts = [f"{name} = {place}" for name, place in project["scripts"].items()]
    assert made["build"]["entry_points"] == scripts
    assert made["about"]["license"] == project["license"]
    assert (ROOT / made["about"]["license_file"]).exists()


def test_bibtex_names_what_the_citation_file_names():
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    page = (ROOT / "docs" / "citing.md").read_text()
    paper = cited["references"][0]
    people = [f"{each['family-names']}, {each['given-names']}" for each in paper["authors"]]
    assert " and ".join(people) in page
    assert paper["title"] in page.replace("{", "").replace("}", "")
    assert f"{{{paper['year']}}}" in page
    assert cited["version"] in page


@pytest.mark.slow
@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_follow_their_published_schema(schema):
    pytest.importorskip("check_jsonschema")
    paths = [str(path) for path in SCHEMAS[schema]]
    assert paths
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *paths]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_make_targets_that_exist(path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = re.findall(r"run: make ([a-z-]+)", path.read_text())
    for target in called:
        assert target in targets, target
    assert called or ".ci/run" in path.read_text() or path.stem == "release"


def test_the_workflows_run_what_the_release_needs():
    text = "\n".join(path.read_text() for path in WORKFLOWS)
    for target in ("lint", "docs", "dist", "test-wheel", "test-oldest", "test-newest", "fuzz"):
        assert re.search(rf"make (\$\{{\{{ matrix.target \}}\}}|{target}\b)", text), target


def test_classifiers_start_at_the_lowest_python():
    project = PROJECT["project"]
    stated = [
        line.rpartition(" ")[2]
        for line in project["classifiers"]
        if re.search(r"Python :: 3\.\d+$", line)
    ]
    assert stated[0] == project["requires-python"].removeprefix(">=")
    assert stated == sorted(stated, key=lambda each: int(each.partition(".")[2]))
    page = (ROOT / "docs" / "install.md").read_text()
    for each in stated:
        assert each in page, each
