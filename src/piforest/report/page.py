"""The page: a template with style and script inside, and a policy that lets it load nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from ..web import STATIC, bundled, static
from .content import Content
from .parts import anomalous_rows, diagnosis, escape, headline, settings, structures, tiles
from .payload import payload

_STATIC = Path(__file__).parent / "static"


def render_page(
    content: Content, title: str, source: str, command: str, seconds: float | None, date: str
) -> str:
    """The text of the page."""
    fields = template_fields(content, title, source, command, seconds, date)
    return re.sub(r"\{\{(\w+)\}\}", lambda match: fields[match[1]], template())


def template_fields(
    content: Content, title: str, source: str, command: str, seconds: float | None, date: str
) -> dict[str, str]:
    """The fields of the template, name to text."""
    style, script = _style(), _script()
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
        "structures": structures(content),
        "rows": anomalous_rows(content),
        "settings": settings(content, command),
        "data": payload(content, source),
        "script": script,
    }


def template() -> str:
    """The page with the names of its fields."""
    return static(_STATIC / "page.html")


@cache
def _style() -> str:
    return static(STATIC / "base.css") + static(_STATIC / "report.css")


@cache
def _script() -> str:
    """All modules as one."""
    return bundled(_STATIC / "report.js")


def _policy(style: str, script: str) -> str:
    """Content security policy: only this style, this script and embedded images."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
