"""The page: a template with style and script inside, and a policy that lets it load nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

from .content import Content
from .parts import anomalous_rows, diagnosis, escape, headline, settings, structures, tiles
from .payload import payload

# In the order of their dependencies.
SCRIPTS = (
    "data", "state", "theme", "camera", "styles", "draw", "axes", "scene", "rows", "view",
    "histogram", "threshold", "download", "main",
)  # fmt: skip


def render_page(
    content: Content, title: str, source: str, command: str, seconds: float | None, date: str
) -> str:
    """The text of the page."""
    fields = template_fields(content, title, source, command, seconds, date)
    return re.sub(r"\{\{(\w+)\}\}", lambda match: fields[match[1]], static("page.html"))


def template_fields(
    content: Content, title: str, source: str, command: str, seconds: float | None, date: str
) -> dict[str, str]:
    """The fields of the template, name to text."""
    style, script = static("report.css"), _script()
    origin = [part for part in (source, date) if part]
    return {
        "policy": _policy(style, script),
        "title": escape(title or "Anomaly report"),
        "origin": escape(" · ".join(origin)),
        "style": style,
        "layout": "matches" if content.are_matches else "points",
        "headline": headline(content),
        "diagnosis": diagnosis(content),
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
    """The text of a file in `static`."""
    return files(__package__).joinpath("static", name).read_text("utf-8")


@cache
def _script() -> str:
    """All scripts in one function scope."""
    parts = "\n".join(static(f"{name}.js") for name in SCRIPTS)
    return f'\n(() => {{\n"use strict";\n{parts}}})();\n'


def _policy(style: str, script: str) -> str:
    """Content security policy: only this style, this script and embedded images."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _left_out(content: Content) -> str:
    """Which rows the view shows, if not all."""
    shown, total = len(content.shown), len(content.X)
    if shown == total:
        return ""
    return (
        f'<p class="note" id="left-out">The view shows {shown:,} of {total:,} {content.noun}: the '
        f"most anomalous {shown // 2:,} and a random sample of the others. Counts and histogram "
        f"include all {content.noun}.</p>"
    )


def _downloaded(content: Content) -> str:
    if len(content.shown) == len(content.X):
        return ""
    return f" Only the {len(content.shown):,} rows that are on this page."
