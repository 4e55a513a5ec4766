"""Pages of the repository's root on the site, and the links between both.

A file of `docs/project` that has the name of a file of the root, such as CHANGELOG.md, is that file
on the site. Pages are also read in the repository, so links are written for its folders; here they
are turned to the pages of the site. A link to a file that is no page, such as the licence, becomes
a download.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent
ROOT = DOCS.parent
PROJECT = DOCS / "project"
_LINK = re.compile(r"(\]\()(?!\w+:)([^)#\s]+)")


def source_of(page: Path) -> Path:
    """The file that a page of the site shows."""
    shown = ROOT / page.name
    return shown if page.parent == PROJECT and shown.exists() else page


def site_link(page: Path, target: str) -> str:
    """Where a link of a page leads on the site."""
    path = (source_of(page).parent / target).resolve()
    if path == ROOT / "README.md":
        path = DOCS / "index.md"
    elif path.parent == ROOT and (PROJECT / path.name).exists():
        path = PROJECT / path.name
    return Path(os.path.relpath(path, page.parent)).as_posix()


def read_page(app: Any, name: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(name))
    if page.suffix != ".md" or DOCS not in page.parents:
        return
    text = source_of(page).read_text()
    source[0] = _LINK.sub(lambda link: link[1] + site_link(page, link[2]), text)


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", read_page)
    return {"parallel_read_safe": True}
