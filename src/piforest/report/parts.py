"""The parts of the page that are there without its script. All text of the user is escaped."""

from __future__ import annotations

import html
import math
import platform
import re
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from ..protocols import Floats, Ints
from ..structures import Structure
from .content import Content
from .payload import MOST_STRUCTURES

_TOP = 20
# As many colours as static/report.css has for structures.
COLOURS = 6


def escaped(value: Any) -> str:
    return html.escape(str(value), quote=True)


def number(value: float, digits: int = 4) -> str:
    """So many digits, but all those before the point; a real minus sign."""
    plain = 10**digits <= abs(value) < 1e15
    text = f"{value:.0f}" if plain else f"{value:.{digits}g}"
    return text.replace("-", "\N{MINUS SIGN}")


def digits_for(values: Floats) -> int:
    """(n, ...): how many digits tell rows apart: more than four far from zero, as on maps."""
    wide = np.ptp(values, axis=0)
    far = np.divide(np.abs(values).max(axis=0), wide, out=np.ones_like(wide), where=wide > 0)
    return 4 + min(11, max(0, math.ceil(math.log10(max(1.0, float(np.max(far))))) - 1))


def what(content: Content) -> str:
    """The kind of structure in words."""
    return " or ".join(str(family.name).replace("_", " ") for family in content.families)


def headline(content: Content) -> str:
    """What was found, in one sentence; the script keeps it true when the cut moves."""
    flagged = int(np.sum(content.scores > content.threshold))
    kind = what(content)
    rest = f"follow no {escaped(kind)}" if kind else "are easy to isolate"
    total = len(content.X)
    share = f'(<span id="share">{100 * flagged / total:.1f}</span> %)'
    return (
        f'<b id="flagged">{flagged:,}</b> of {total:,} {content.noun} {rest} {share} at a '
        f'threshold of <b id="at">{content.threshold:.4f}</b>.'
    )


def tiles(content: Content, seconds: float | None) -> str:
    """The summary."""
    detector = content.detector
    flagged = int(np.sum(content.scores > content.threshold))
    shown: list[tuple[str, str, str]] = [
        (content.noun.capitalize(), f"{len(content.X):,}", f"{content.X.shape[1]} columns"),
        ("Anomalies", f"{flagged:,}", "as the detector says"),
        ("Threshold", f"{content.threshold:.4f}", _contamination(detector)),
    ]
    if content.families:
        dropped = int(detector.n_degenerate_)
        shown += [
            ("Sigma", number(detector.sigma_), str(detector.sigma_source_)),
            ("Structures", f"{len(content.structures):,}", what(content)),
            ("Models", f"{int(detector.n_models_):,}", f"{dropped:,} degenerate"),
        ]
    else:
        shown += [("Metric", str(detector.forest_.metric.name), "of the forest")]
    if seconds is not None:
        shown += [("Time", f"{seconds:.3g} s", "to fit and score")]
    return "\n".join(
        f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}<small>{escaped(note)}</small></dd></div>"
        for name, value, note in shown
    )


def _contamination(detector: Any) -> str:
    if detector.threshold_source_ == "given":
        return "set by hand"
    if detector.threshold_source_ == "automatic":
        return "chosen automatically"
    return f"to flag {100 * detector.contamination:.3g} %"


def structures(content: Content) -> str:
    """A table of the strongest structures, each with a box to tick."""
    listed = content.structures[:MOST_STRUCTURES]
    if not content.families:
        return "<p>This detector has no models, and so no structures.</p>"
    if not listed:
        return "<p>No structure stands out from chance.</p>"
    head = "".join(
        f'<th scope="col"{" class=num" if k in (2, 3, 4) else ""}>{name}</th>'
        for k, name in enumerate(
            ["Draw", "Family", "Points", "Half-width", "Log ratio", "Parameters"]
        )
    )
    digits = digits_for(content.X)
    body = "\n".join(_structure_row(k, each, digits) for k, each in enumerate(listed))
    more = len(content.structures) - len(listed)
    note = f"<p class=note>{more} weaker structures are not listed.</p>" if more else ""
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Table of structures"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        "<p class=note>Numbers as in the view. The half-width of a band is about two sigmas; the "
        "log ratio says how much more likely its points are with the structure than without.</p>"
        f"{note}"
    )


def _structure_row(k: int, each: Structure, digits: int) -> str:
    return (
        f'<tr><td><label class="pick"><input type="checkbox" data-structure="{k}" checked '
        f'aria-label="Draw structure {k}"><span class="swatch s{k % COLOURS}">{k}</span></label>'
        "</td>"
        f"<td>{escaped(str(each.family.name).replace('_', ' '))}</td>"
        f"{_cell('Points', f'{each.support:,}')}{_cell('Half-width', number(each.half_width))}"
        f"{_cell('Log ratio', number(each.log_ratio))}"
        f'<td class="code">{escaped(_parameters(each, digits))}</td></tr>'
    )


def _parameters(each: Structure, digits: int) -> str:
    """The matrix by rows, scaled to its largest entry, where there is one; or all parameters."""
    if not hasattr(each.family, "matrices"):
        return ", ".join(number(value, digits) for value in each.params)
    matrix = each.matrix / np.abs(each.matrix).max()
    return "; ".join(" ".join(number(value, digits) for value in row) for row in matrix)


def anomalous_rows(content: Content) -> str:
    """A table of the highest scores with the detector's sentence about each."""
    top = np.argsort(-content.scores, kind="stable")[:_TOP]
    # A page that leaves rows out still has these: they are the most anomalous ones.
    place = {int(row): k for k, row in enumerate(content.shown)}
    reasons = [""] * len(top)
    if hasattr(content.detector, "explain"):
        reasons = [
            each.text for each in content.detector.explain(_safe_indexing(content.given, top))
        ]
    columns = list(content.columns.values())
    chosen = content.places[:4]
    names = list(content.columns)
    head = "".join(f'<th scope="col" class="num">{escaped(names[k])}</th>' for k in chosen)
    why = '<th scope="col">Why</th>' if any(reasons) else ""
    body = []
    digits = [digits_for(column) for column in content.X.T[:4]]
    for row, reason in zip(top, reasons):
        values = "".join(
            _cell(names[k], _value(columns[k][row], many)) for k, many in zip(chosen, digits)
        )
        told = f'<td class="why">{escaped(_sentence(reason))}</td>' if why else ""
        kept = "" if content.scores[row] > content.threshold else ' class="kept"'
        body.append(
            f'<tr{kept}><td><button type="button" class="row" data-show="{place[int(row)]}" '
            f'aria-label="Show row {content.rows[row]} in the view">{content.rows[row]}</button>'
            "</td>"
            f"{_cell('Score', f'{content.scores[row]:.4f}')}{values}{told}</tr>"
        )
    return (
        f"{_about_rows(content, top)}"
        '<div class="scroll" tabindex="0" role="region" aria-label="Table of anomalous rows">'
        "<table>"
        f'<thead><tr><th scope="col">Row</th><th scope="col" class="num">Score</th>{head}{why}</tr>'
        f"</thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _about_rows(content: Content, top: Ints) -> str:
    """Which of the rows at the top are no anomalies, and what p means."""
    flagged = int(np.sum(content.scores[top] > content.threshold))
    told = ["Sentences refer to the detector\u2019s own threshold."]
    if flagged == 0:
        told.append("None of these rows is above it: all of them are kept.")
    elif flagged < len(top):
        told.append(f"Only the first {flagged:,} are above it; the others, in grey, are kept.")
    if getattr(content.detector, "has_null_", False):
        told.append(
            "p is the chance that a point of no structure scores as low as this row: large for "
            "anomalies, near 0 for points of a structure."
        )
    return f'<p class="note">{" ".join(told)}</p>'


def _cell(name: str, value: str) -> str:
    """A number, with the name that a narrow page writes before it."""
    return f'<td class="num" data-name="{escaped(name)}">{escaped(value)}</td>'


def _value(value: Any, digits: int) -> str:
    return number(float(value), digits) if isinstance(value, (float, np.floating)) else str(value)


def _sentence(text: str) -> str:
    """A capital at the start."""
    return text[:1].upper() + text[1:]


def settings(content: Content, command: str) -> str:
    """What repeats the run: the command, the detector, its parameters, the versions."""
    from .. import __version__

    detector = content.detector
    told = f"{_stable(repr(detector))}.fit(X)"
    if detector.threshold_source_ == "given":
        told += f".set_threshold({content.threshold!r})"
    lines = [
        _code("Command", command) if command else "",
        _code("In Python", told),
        "<h3>Parameters</h3>",
        _pairs({name: _stable(repr(v)) for name, v in detector.get_params(deep=False).items()}),
        "<h3>Versions</h3>",
        _pairs(
            {
                "piforest": __version__,
                "Python": platform.python_version(),
                "NumPy": np.__version__,
            }
        ),
    ]
    return "\n".join(line for line in lines if line)


def _code(name: str, text: str) -> str:
    return f'<h3>{name}</h3><pre tabindex="0"><code>{escaped(text)}</code></pre>'


def _stable(text: str) -> str:
    """Without addresses in memory, which differ from run to run."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def _pairs(values: dict[str, str]) -> str:
    pairs = "".join(
        f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>"
        for name, value in values.items()
    )
    return f'<dl class="pairs">{pairs}</dl>'
