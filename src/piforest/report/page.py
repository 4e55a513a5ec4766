"""The page: a template, its style and script inside, and what they may load: nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

from .content import Content
from .parts import anomalous_rows, escaped, headline, settings, structures, tiles
from .payload import payload

# In the order in which they build on one another.
SCRIPTS = (
    "data", "state", "theme", "camera", "looks", "draw", "axes", "scene", "rows", "view",
    "histogram", "threshold", "download", "main",
)  # fmt: skip


def page_of(
    content: Content, title: str, source: str, command: str, seconds: float | None, date: str
) -> str:
    """The whole text of the page."""
    fields = fields_of(content, title, source, command, seconds, date)
    return re.sub(r"\{\{(\w+)\}\}", lambda match: fields[match[1]], static("page.html"))


def fields_of(
    content: Content, title: str, source: str, command: str, seconds: float | None, date: str
) -> dict[str, str]:
    """Name to text: what the template leaves open."""
    style, script = static("report.css"), _script()
    origin = [part for part in (source, date) if part]
    return {
        "policy": _policy(style, script),
        "title": escaped(title or "Anomaly report"),
        "origin": escaped(" · ".join(origin)),
        "style": style,
        "layout": "matches" if content.are_matches else "points",
        "headline": headline(content),
        "tiles": tiles(content, seconds),
        "left_out": _left_out(content),
        "downloaded": _downloaded(content),
        "structures": structures(content),
        "rows": anomalous_rows(content),
        "settings": settings(content, command),
        "data": payload(content, source),
        "script": script,
    }


@cache
def static(name: str) -> str:
    """A file of the page's own."""
    return files(__package__).joinpath("static", name).read_text("utf-8")


@cache
def _script() -> str:
    """All scripts as one, in a scope of their own."""
    parts = "\n".join(static(f"{name}.js") for name in SCRIPTS)
    return f'\n(() => {{\n"use strict";\n{parts}}})();\n'


def _policy(style: str, script: str) -> str:
    """Only this style and this script, and pictures that are in the page."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _left_out(content: Content) -> str:
    """Which rows the view shows, where it does not show all."""
    shown, total = len(content.shown), len(content.X)
    if shown == total:
        return ""
    return (
        f'<p class="note" id="left-out">The view shows {shown:,} of {total:,} {content.noun}: the '
        f"most anomalous {shown // 2:,} and a random choice of the others. Counts and histogram "
        "are those of all.</p>"
    )


def _downloaded(content: Content) -> str:
    if len(content.shown) == len(content.X):
        return ""
    return f" Only the {len(content.shown):,} rows that are on this page."
