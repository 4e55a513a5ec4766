"""The page of the evaluation, from the rows of the results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..page import Block, Heading, Picture, Text
from ..tables import Grid
from .evaluate import Row
from .parts import PARTS
from .pictures import PICTURES
from .summary import mean_of, outcomes, rows_of

TITLE = "Real data"
FOLDER = Path("images") / "real"
"""The folder of the pictures, relative to the page."""

_SHARES = ("flagged", "flagged normal", "flagged clean", "explained", "found", "agreement",
           "warned")  # fmt: skip
_COUNTS = ("models", "true kept", "true kept by MAGSAC", "false kept", "false kept by MAGSAC",
           "more true", "more false")  # fmt: skip
# What the mean of a value counts, where its name does not say it.
_UNITS = {
    "flagged normal": "{} of the normal points",
    "flagged clean": "{} of the points",
    "flagged": "{} of the rows",
    "found": "{} of the runs",
    "structures": "{} structures",
    "sigma": "{} times the sigma compared with",
    "narrowest": "{} steps",
    "rank correlation": "correlation {}",
    "counted loss": "AUC lost: {}",
    "scaled loss": "AUC lost: {}",
    "more true": "{} matches",
    "more false": "{} matches",
    "auc": "AUC {}",
    "f1 ratio": "ratio {}",
}
_INTRO = (
    "How the default, `PreferenceIsolationForest(family)` without sigma, does on ordinary data: "
    "noise of any size, rounded values, columns in different units, photos without anything in "
    "common, tables, scans, and anomalies that are not spread evenly. The targets were set before "
    "the measurements. A target that holds for each run is met only if all of them meet it; what "
    "is missed is shown as well. `sigma` is the ratio of `sigma_` to the true noise, `structures` "
    "the number of structures found, `surplus` that number minus the true one, `flagged` the share "
    "of flagged rows."
)


def content(rows: Sequence[Row], pictures: dict[str, Picture], seed: int) -> list[Block]:
    parts = [part for part in PARTS if rows_of(part, rows)]
    cpu = sum(row["values"]["cpu_s"] for row in rows)
    size = (
        f"`piforest reproduce --real --seed {seed}` computes everything on this page: "
        f"{len(rows):,} runs, which took {cpu / 60:.1f} CPU minutes."
    )
    blocks: list[Block] = [Text(_INTRO), Text(size), _summary(parts, rows)]
    for part in parts:
        blocks += [Heading(PARTS[part].title), Text(PARTS[part].about)]
        blocks += [pictures[part]] if part in pictures else []
        blocks.append(_groups(part, rows_of(part, rows)))
    return blocks


def pictures_in(folder: Path) -> dict[str, Picture]:
    """The pictures of the page that exist in a folder."""
    found = {
        part: Picture(FOLDER / f"{part}.{suffix}", caption)
        for part, (_, suffix, caption) in PICTURES.items()
    }
    return {part: each for part, each in found.items() if (folder / each.path).is_file()}


def _summary(parts: Sequence[str], rows: Sequence[Row]) -> Grid:
    """A row for each target."""
    lines = []
    for part in parts:
        for outcome in outcomes(part, rows):
            each = outcome.target.each
            if each == "part":
                verdict = "met" if outcome.is_met else "**not met**"
            else:
                verdict = f"met in {outcome.met} of {outcome.of} {each}s"
                verdict = verdict if outcome.is_met else f"**not in all**: {verdict}"
            name = outcome.target.value
            mean = _UNITS.get(name, "{}").format(_text(name, outcome.mean))
            lines.append([PARTS[part].title, outcome.target.text, mean, verdict])
    return Grid("Targets", ["part", "target", "mean", "result"], lines)


def _groups(part: str, rows: Sequence[Row]) -> Grid:
    """A row of means for each group of cells."""
    named = [target.value for target in PARTS[part].targets] + list(PARTS[part].columns)
    columns = [name for name in dict.fromkeys(named) if any(name in row["values"] for row in rows)]
    lines = []
    for group in dict.fromkeys(row["group"] for row in rows):
        own = [row for row in rows if row["group"] == group]
        values = [_text(name, mean_of(own, name)) for name in columns]
        lines.append([group, str(len(own)), *values, *_met(part, own)])
    more = ["targets met"] if PARTS[part].targets else []
    return Grid("Means", ["", "runs", *columns, *more], lines)


def _met(part: str, rows: Sequence[Row]) -> list[str]:
    """How many of the targets for runs and cells the rows of a group meet."""
    if not PARTS[part].targets:
        return []
    found = [each for each in outcomes(part, rows) if each.target.each != "part"]
    if not found:
        return [""]
    met, of = sum(each.met for each in found), sum(each.of for each in found)
    return [f"{met} of {of}" if met == of else f"**{met} of {of}**"]


def _text(name: str, value: float) -> str:
    if np.isnan(value):
        return ""
    if name in _SHARES:
        return f"{100 * value:.1f} %"
    if name in _COUNTS:
        return f"{value:,.0f}"
    return f"{value:.1f}" if name in ("structures", "surplus") else f"{value:.3f}"
