"""The API reference of the site: everything public is in it, and every page has an example."""

from __future__ import annotations

import inspect
import runpy
from pathlib import Path

import pytest

from test_public_api import members

DOCS = Path(__file__).parent.parent / "docs"
NAMES = runpy.run_path(str(DOCS / "_ext" / "public_names.py"))
PAGES = dict(NAMES["pages"]())


def test_everything_public_is_on_the_page_of_its_module():
    public = [f"piforest.{path}" for path, _ in members()]
    assert len(public) > 150
    for path in public:
        module, _, name = path.rpartition(".")
        page = PAGES[f"{module}.rst"]
        assert f"\n   {name}\n" in page or f".. py:data:: {name}\n" in page, path


def test_the_index_lists_every_module_once():
    index = (DOCS / "api" / "index.md").read_text().splitlines()
    for name in PAGES:
        assert index.count(f"generated/{name.removesuffix('.rst')}") == 1, name


def test_every_page_has_an_example():
    """If this fails for a new class: write one into its docstring, or into docs/api/examples.md."""
    examples = NAMES["examples"]()
    for path, value in members():
        if inspect.isclass(value) or inspect.isfunction(value):
            has_one = ">>>" in (value.__doc__ or "")
            assert has_one or f"piforest.{path}" in examples, path


def test_examples_are_of_public_classes_that_have_none():
    public = {f"piforest.{path}": value for path, value in members()}
    for path in NAMES["examples"]():
        assert path in public, path
        assert ">>>" not in (public[path].__doc__ or ""), f"{path} has one in its docstring"


def test_types_and_constants_are_shown_as_they_are_defined():
    assert ".. py:data:: Floats\n   :value: NDArray[np.float64]" in PAGES["piforest.protocols.rst"]
    typing = PAGES["piforest.typing.rst"]
    assert ".. py:data:: Floats\n   :value: NDArray[np.float64]" in typing
    assert ".. py:data:: Scale\n   :value: Literal['adaptive', 'per_model', 'fixed']" in typing
    assert ".. py:data:: ArrayLike\n   :value: numpy.typing.ArrayLike" in typing
    assert ".. py:data:: NORMAL\n   :value: '#E69F00'" in PAGES["piforest.plots.rst"]


LINKS = runpy.run_path(str(DOCS / "_ext" / "repository_links.py"))


@pytest.mark.parametrize(
    ("page", "target", "expected"),
    [
        ("command_line.md", "../SECURITY.md", "project/SECURITY.md"),
        ("command_line.md", "glossary.md", "glossary.md"),
        ("project/CONTRIBUTING.md", "docs/glossary.md", "../glossary.md"),
        ("project/GOVERNANCE.md", "SECURITY.md", "SECURITY.md"),
        ("start/table.md", "../faq.md", "../faq.md"),
        ("licences.md", "../LICENSE", "../LICENSE"),
        ("project/CONTRIBUTING.md", "README.md", "../index.md"),
    ],
)
def test_links_of_the_repository_lead_to_pages_of_the_site(page, target, expected):
    assert LINKS["site_link"](DOCS / page, target) == expected
