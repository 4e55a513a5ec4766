"""How Sphinx builds the site: `make docs`, or `make docs-quick` without running the gallery.

Nothing is fetched while it builds, and a warning is an error.
"""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS / "_ext"))

from sphinx_gallery import backreferences  # noqa: E402

import piforest  # noqa: E402

project = "piforest"
author = "The piforest developers"
copyright = author
version = release = piforest.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",  # cards of the start page
    "sphinx_copybutton",  # copies examples without their prompts
    "public_names",  # the reference, from `__all__`
    "repository_links",  # links of pages to files that are not pages
]
exclude_patterns = ["api/examples.md", "auto_examples/**/*.ipynb", "**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
# Docstrings write names in single backticks.
default_role = "literal"
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"

myst_heading_anchors = 4  # links to headings, as GitHub makes them
myst_enable_extensions = ["colon_fence"]

autosummary_generate = True
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # numpydoc sections have the types in words
numpydoc_show_class_members = False  # the template of classes lists them
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# From the simple to the special; others after them.
SUBJECTS = ("basics", "plane2d", "tables", "images", "scans", "series_streams", "extending")
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "subsection_order": [f"../examples/{name}" for name in SUBJECTS] + ["*"],
    "within_subsection_order": "ExampleTitleSortKey",
    "filename_pattern": r"[\\/]plot_",
    "doc_module": ("piforest",),
    "backreferences_dir": "api/backreferences",
    "abort_on_example_error": True,
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,  # no page of times, which differ from build to build
    "write_computation_times": False,
    "show_memory": False,
}
# Thumbnails are described by the titles of their examples.
for template in ("THUMBNAIL_TEMPLATE", "BACKREF_THUMBNAIL_TEMPLATE"):
    text = getattr(backreferences, template)
    setattr(backreferences, template, text.replace(":alt:\n", ":alt: {title}\n"))
# Functions in the settings of sphinx-gallery; headings of tables on pages that commands write.
suppress_warnings = ["config.cache", "myst.header"]

html_theme = "pydata_sphinx_theme"
html_title = f"piforest {version}"
html_static_path = ["_static"]
html_css_files = ["piforest.css"]
html_show_sourcelink = False
html_context = {"default_mode": "auto"}  # light or dark, as the system says
html_theme_options = {
    "logo": {"text": "piforest"},
    "navbar_end": ["theme-switcher"],
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": []}


def drop_old_pages(app: object, config: object) -> None:
    """Delete the pages of scripts that are gone: each would be a page that no list has."""
    gallery = DOCS / "auto_examples"
    for page in gallery.glob("*/plot_*.rst"):
        if not (ROOT / "examples" / page.relative_to(gallery)).with_suffix(".py").exists():
            for old in page.parent.glob(f"{page.stem}.*"):
                old.unlink()


def setup(app: object) -> None:
    app.connect("config-inited", drop_old_pages)  # type: ignore[attr-defined]
