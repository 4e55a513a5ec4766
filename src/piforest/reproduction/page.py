"""Pages as Markdown with links to the figures, and as HTML with embedded figures; figures."""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from ..io.atomic import atomic_write
from .tables import Grid


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph with `code` and **bold** text; lines that start with "- " are a list."""

    text: str


@dataclass(frozen=True)
class Picture:
    path: Path
    """relative to the folder of the page"""
    caption: str


Block = Heading | Text | Grid | Picture


def write_page(out: Path, name: str, title: str, blocks: Sequence[Block]) -> None:
    """Write a page as Markdown and as HTML."""
    for suffix, text in (("md", to_markdown(title, blocks)), ("html", to_html(title, blocks, out))):
        with atomic_write(out / f"{name}.{suffix}") as file:
            file.write(text.encode())


def save_figure(figure: Any, *paths: Path, dpi: int = 110) -> None:
    """Write a figure in the formats of the suffixes, and close it."""
    import matplotlib.pyplot as plt

    for path in paths:
        content, kind = io.BytesIO(), path.suffix[1:]
        more = {"pil_kwargs": {"quality": 80}} if kind == "jpg" else {}
        # Without the date, one seed gives one file.
        metadata = {"Date": None} if kind == "svg" else None
        figure.savefig(
            content, format=kind, dpi=dpi, bbox_inches="tight", metadata=metadata, **more
        )
        with atomic_write(path) as file:
            file.write(content.getvalue())
    plt.close(figure)


_STYLE = """
:root { color-scheme: light dark; --line: #c8c8c8; --dim: #666; --good: #1a7f37; --bad: #b35900;
  --page: #fff; --ink: #1c1c1c; --head: #f3f3f3 }
@media (prefers-color-scheme: dark) { :root { --line: #444; --dim: #aaa; --good: #56d364;
  --bad: #f0a35e; --page: #161616; --ink: #e6e6e6; --head: #242424 } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--page);
  max-width: 76rem; margin: 2rem auto; padding: 0 1.2rem }
p, ul { max-width: 50rem } h1 { line-height: 1.2 } h2 { margin-top: 3rem }
nav a { margin-right: 1rem } a { color: inherit }
.wide { overflow-x: auto; margin: 1rem 0 2rem }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums }
caption { text-align: left; font-weight: 600; padding: .4rem 0; white-space: nowrap }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right;
  vertical-align: top; white-space: nowrap }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0;
  background: var(--page) }
thead th, thead th:first-child { background: var(--head) }
@media (max-width: 40rem) { th:first-child, td:first-child { position: static;
  white-space: normal } } tbody tr:last-child td {
  border-bottom: 2px solid var(--line) }
small { display: block; color: var(--dim) } .up { color: var(--good) } .down { color: var(--bad) }
figure { margin: 1.5rem 0 2.5rem } figcaption { max-width: 50rem; color: var(--dim) }
img { max-width: 100%; height: auto; background: #fff; border-radius: 4px }
.pairs { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(26rem, 100%), 1fr)) }
.pairs figure { margin: 0 } code { background: var(--head); padding: 0 .2rem; border-radius: 3px }
"""


def to_markdown(title: str, blocks: Sequence[Block]) -> str:
    parts = [f"# {title}\n"]
    for block in blocks:
        if isinstance(block, Heading):
            parts.append(f"## {block.text}\n")
        elif isinstance(block, Text):
            parts.append(f"{block.text}\n")
        elif isinstance(block, Grid):
            parts.append(block.markdown())
        else:
            parts.append(f"![{block.path.stem}]({block.path.as_posix()})\n\n*{block.caption}*\n")
    return "\n".join(parts)


def to_html(title: str, blocks: Sequence[Block], folder: Path) -> str:
    """One self-contained file; figures are read from `folder` and embedded."""
    headings = [block.text for block in blocks if isinstance(block, Heading)]
    links = "".join(f'<a href="#{_anchor(text)}">{_inline(text)}</a>' for text in headings)
    body = [f"<h1>{_inline(title)}</h1>", f"<nav>{links}</nav>"]
    at = 0
    while at < len(blocks):
        block = blocks[at]
        if _is_photo(block):
            pairs = list(takewhile(_is_photo, blocks[at:]))
            shown = "".join(_block(pair, folder) for pair in pairs)
            body.append(f'<div class="pairs">{shown}</div>' if len(pairs) > 1 else shown)
            at += len(pairs)
            continue
        body.append(_block(block, folder))
        at += 1
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _is_photo(block: Block) -> bool:
    return isinstance(block, Picture) and block.path.suffix == ".jpg"


def _block(block: Block, folder: Path) -> str:
    if isinstance(block, Heading):
        return f'<h2 id="{_anchor(block.text)}">{_inline(block.text)}</h2>'
    if isinstance(block, Grid):
        return _table(block)
    if isinstance(block, Picture):
        return _picture(block, folder)
    lines = block.text.splitlines()
    if lines and all(line.startswith("- ") for line in lines):
        return "<ul>" + "".join(f"<li>{_inline(line[2:])}</li>" for line in lines) + "</ul>"
    return f"<p>{_inline(block.text)}</p>"


def _table(grid: Grid) -> str:
    head = "".join(f'<th scope="col">{_inline(text)}</th>' for text in grid.head)
    rows = "".join(
        "<tr>" + "".join(f"<td>{_cell(text)}</td>" for text in row) + "</tr>" for row in grid.rows
    )
    return (
        f'<div class="wide"><table><caption>{_inline(grid.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _cell(text: str) -> str:
    """ "mean ± deviation (published, difference)" on three lines; other text unchanged."""
    found = re.fullmatch(r"(\S+)(?: ± (\S+))? \((\S+), ([+-]\S+)\)", text)
    if not found:
        return _inline(text)
    mean, deviation, published, gap = found.groups()
    shade = "up" if float(gap) > 0.02 else "down" if float(gap) < -0.02 else ""
    spread = f"<small>± {deviation}</small>" if deviation else ""
    return (
        f"{_inline(mean)}{spread}<small>published {published}</small>"
        f'<small class="{shade}">{gap}</small>'
    )


def _picture(picture: Picture, folder: Path) -> str:
    content = base64.b64encode((folder / picture.path).read_bytes()).decode()
    kind = "jpeg" if picture.path.suffix == ".jpg" else "png"
    text = html.escape(picture.caption)
    return (
        f'<figure><img loading="lazy" alt="{text}" src="data:image/{kind};base64,{content}">'
        f"<figcaption>{_inline(picture.caption)}</figcaption></figure>"
    )


def _inline(text: str) -> str:
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    return text.replace("&lt;u&gt;", "<u>").replace("&lt;/u&gt;", "</u>")


def _anchor(text: str) -> str:
    return re.sub(r"\W+", "-", text.lower()).strip("-")
