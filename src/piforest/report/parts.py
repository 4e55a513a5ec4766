"""The static parts of the page. All text of the user is escaped."""

from __future__ import annotations

import html
import math
import platform
import re
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._numbers import first_with
from .._ranges import outside_sentence
from ..families import layout_of
from ..protocols import Floats, Ints
from ..structures.greedy import Structure
from .code import code_of, stable
from .content import Content
from .payload import MAX_STRUCTURES

_TOP = 20
# Columns of the table of anomalous rows.
_COLUMNS = 4
# As many colours as static/report.css has for structures.
COLOURS = 6


def escape(value: Any) -> str:
    return html.escape(str(value), quote=True)


def number(value: float, digits: int = 4) -> str:
    """A number with significant digits, at least all before the point; a real minus sign."""
    large = 10**digits <= abs(value) < 1e15
    text = f"{value:.0f}" if large else f"{value:.{digits}g}"
    return text.replace("-", "\N{MINUS SIGN}")


def digits_for(values: Floats) -> int:
    """Digits that distinguish the rows of (n, ...): more than four far from zero, as on maps."""
    wide = np.ptp(values, axis=0)
    far = np.divide(np.abs(values).max(axis=0), wide, out=np.ones_like(wide), where=wide > 0)
    return 4 + min(11, max(0, math.ceil(math.log10(max(1.0, float(np.max(far))))) - 1))


def family_names(content: Content) -> str:
    """The names of the families."""
    return " or ".join(str(family.name).replace("_", " ") for family in content.families)


def headline(content: Content) -> str:
    """The result in one sentence, which the script updates with the threshold."""
    flagged = int(np.sum(content.scores > content.threshold))
    kind = family_names(content)
    none = "" if content.found_structure else f"No {escape(kind)} was found. "
    if getattr(content.detector, "threshold_source_", None) == "too many beyond":
        none = "Too many points are beyond the structures to flag any. "
    rest = f"follow no {escape(kind)}" if kind else "are easy to isolate"
    if none:
        rest = "are flagged"
    total = len(content.X)
    share = f'(<span id="share">{100 * flagged / total:.1f}</span> %)'
    return (
        f'{none}<span class="together"><b id="flagged">{flagged:,}</b> of {total:,}</span> '
        f"{content.noun} {rest} {share} at a "
        f'threshold of <b id="at">{content.threshold:.4f}</b>.'
    )


def tiles(content: Content, seconds: float | None) -> str:
    """The summary as a list of terms and values."""
    detector = content.detector
    flagged = int(np.sum(content.scores > content.threshold))
    shown: list[tuple[str, str, str]] = [
        (content.noun.capitalize(), f"{len(content.X):,}", f"{content.X.shape[1]} columns"),
        ("Anomalies", f"{flagged:,}", f"above {content.threshold:.4f}"),
        ("Threshold", f"{content.threshold:.4f}", _contamination(detector)),
    ]
    if content.families:
        dropped = int(detector.n_degenerate_)
        shown += [
            ("Sigma", number(detector.sigma_), str(detector.sigma_source_)),
            ("Structures", f"{len(content.structures):,}", family_names(content)),
            (
                "Models",
                f"{int(detector.n_models_):,}",
                f"of {int(detector.n_drawn_):,} drawn; {dropped:,} degenerate",
            ),
        ]
    else:
        shown += [("Metric", str(detector.forest_.metric.name), "of the forest")]
    if seconds is not None:
        shown += [("Time", f"{seconds:.3g} s", "to fit and score")]
    return "\n".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(note)}</small></dd></div>"
        for name, value, note in shown
    )


def _contamination(detector: Any) -> str:
    if detector.threshold_source_ == "given":
        return "set by hand"
    if detector.threshold_source_ == "false alarm rate":
        return f"at most {100 * detector.false_alarm_rate:.3g} % of the flagged are normal"
    if detector.threshold_source_ == "automatic":
        return "chosen automatically"
    if detector.threshold_source_ == "no structure":
        return "flags nothing: no structure was found"
    if detector.threshold_source_ == "units differ":
        return "flags nothing: the units of the columns differ"
    if detector.threshold_source_ == "too many beyond":
        return "flags nothing: too many points are beyond the structures"
    return f"contamination {100 * detector.contamination:.3g} %"


def diagnosis(content: Content) -> str:
    """A banner with the findings about the data and the result; empty without any."""
    items = "".join(
        f"<li>{_with_code(each.text)} <span>{_with_code(each.advice)}</span></li>"
        for each in getattr(content.detector, "diagnosis_", [])
    )
    ranges = getattr(content.detector.fitted_, "ranges", None)  # windows have none
    outside = 0 if ranges is None else ranges.count(content.X)
    if ranges is not None and outside and ranges.matters(outside, len(content.X)):
        items = f"<li>{escape(outside_sentence(outside, len(content.X)))}</li>{items}"
    if not items:
        return ""
    return (
        '<section class="banner" aria-labelledby="diagnosis-title">'
        f'<h2 id="diagnosis-title">To know before you use the result</h2><ul>{items}</ul></section>'
    )


def _with_code(text: str) -> str:
    """Escaped text; what stands in backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def structures(content: Content) -> str:
    """A table of the strongest structures, each with a check box."""
    listed = content.structures[:MAX_STRUCTURES]
    if not content.families:
        return "<p>This detector has no models, hence no structures.</p>"
    if not listed:
        return "<p>No structure stands out from chance.</p>"
    head = "".join(
        f'<th scope="col"{" class=num" if k in (2, 3, 4, 5) else ""}>{name}</th>'
        for k, name in enumerate(
            ["Draw", "Family", "Points", "Sigma", "Half-width", "Log ratio", "Equation"]
        )
    )
    body = "\n".join(_structure_row(k, each) for k, each in enumerate(listed))
    more = len(content.structures) - len(listed)
    note = f"<p class=note>{more} weaker structures are not listed.</p>" if more else ""
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Table of structures"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        "<p class=note>Numbers as in the view. The half-width of a band is about two sigmas. The "
        "log ratio is the log-likelihood ratio of the points with and without the structure.</p>"
        f"{note}"
    )


def _structure_row(k: int, each: Structure) -> str:
    return (
        f'<tr><td><label class="pick"><input type="checkbox" data-structure="{k}" checked '
        f'aria-label="Draw structure {k}"><span class="swatch s{k % COLOURS}">{k}</span></label>'
        "</td>"
        f"<td>{escape(str(each.family.name).replace('_', ' '))}</td>"
        f"{_cell('Points', f'{each.support:,}')}{_cell('Sigma', number(each.sigma))}"
        f"{_cell('Half-width', number(each.half_width))}"
        f"{_cell('Log ratio', number(each.log_ratio))}"
        f'<td class="code">{escape(each.equation)}</td></tr>'
    )


def anomalous_rows(content: Content) -> str:
    """A table of the highest scores, with the explanation of each."""
    top = np.argsort(-content.scores, kind="stable")[:_TOP]
    # The page always holds these rows: they are the most anomalous ones.
    place = {int(row): k for k, row in enumerate(content.shown)}
    reasons = [""] * len(top)
    if hasattr(content.detector, "explain"):
        reasons = [
            each.text for each in content.detector.explain(_safe_indexing(content.input, top))
        ]
    columns = list(content.columns.values())
    targets = [layout_of(family).target for family in content.families]
    target = next((k for k in targets if k is not None), 0) % len(content.places)
    order = first_with(range(len(content.places)), _COLUMNS, target)
    chosen = [content.places[k] for k in order]
    names = list(content.columns)
    head = "".join(f'<th scope="col" class="num">{escape(names[k])}</th>' for k in chosen)
    why = '<th scope="col">Why</th>' if any(reasons) else ""
    body = []
    digits = [digits_for(content.X[:, k]) for k in order]
    for row, reason in zip(top, reasons):
        values = "".join(
            _cell(names[k], _value(columns[k][row], many)) for k, many in zip(chosen, digits)
        )
        cell = f'<td class="why">{escape(_sentence(reason))}</td>' if why else ""
        kept = "" if content.scores[row] > content.threshold else ' class="kept"'
        body.append(
            f'<tr{kept}><td><button type="button" class="row" data-show="{place[int(row)]}" '
            f'aria-label="Show row {content.rows[row]} in the view">{content.rows[row]}</button>'
            "</td>"
            f"{_cell('Score', f'{content.scores[row]:.4f}')}{values}{cell}</tr>"
        )
    return (
        f"{_about_rows(content, top)}"
        '<div class="scroll" tabindex="0" role="region" aria-label="Table of anomalous rows">'
        "<table>"
        f'<thead><tr><th scope="col">Row</th><th scope="col" class="num">Score</th>{head}{why}</tr>'
        f"</thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _about_rows(content: Content, top: Ints) -> str:
    """Which of the listed rows are not anomalies, and what p means."""
    flagged = int(np.sum(content.scores[top] > content.threshold))
    notes = [f"Explanations refer to the threshold {content.threshold:.4f}."]
    if flagged == 0:
        notes.append("None of these rows is above it: all of them are kept.")
    elif flagged < len(top):
        first = "one is" if flagged == 1 else f"{flagged:,} are"
        notes.append(f"Only the first {first} above it; the others, in grey, are kept.")
    if getattr(content.detector, "has_null_", False):
        notes.append(
            "p is the probability that a normal row scores as high as this row: small for "
            f"anomalies. {smallest_p(content.detector)}"
        )
    return f'<p class="note">{" ".join(notes)}</p>'


def smallest_p(detector: Any) -> str:
    """The p of a row that scores above all normal ones, which cannot be smaller, in words."""
    weight = detector.findings_.calibration(detector.backend_).weight
    rows = round(weight)
    return (
        f"p is at least {1 / (1 + weight):.3g}, 1 in {rows + 1:,}: {rows:,} normal rows can show "
        "no less."
    )


def _cell(name: str, value: str) -> str:
    """A cell with a number, and the name that a narrow page shows before it."""
    return f'<td class="num" data-name="{escape(name)}">{escape(value)}</td>'


def _value(value: Any, digits: int) -> str:
    return number(float(value), digits) if isinstance(value, (float, np.floating)) else str(value)


def _sentence(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def settings(content: Content, command: str) -> str:
    """What is needed to repeat the run: command, detector, parameters, versions."""
    from .. import __version__

    detector = content.detector
    code = code_of(detector, content.threshold)
    lines = [
        _code("Command", command, "command") if command else "",
        _code("In Python", code, "code"),
        "<h3>Parameters</h3>",
        _pairs({name: stable(repr(v)) for name, v in detector.get_params(deep=False).items()}),
        "<h3>Versions</h3>",
        _pairs(
            {"piforest": __version__, "Python": platform.python_version(), "NumPy": np.__version__}
        ),
    ]
    return "\n".join(line for line in lines if line)


def _code(name: str, text: str, identifier: str) -> str:
    """A block of code, which the script keeps in step with the threshold."""
    return f'<h3>{name}</h3><pre tabindex="0"><code id="{identifier}">{escape(text)}</code></pre>'


def _pairs(values: dict[str, str]) -> str:
    pairs = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in values.items()
    )
    return f'<dl class="pairs">{pairs}</dl>'
