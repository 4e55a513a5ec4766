"""Means of the results, targets met and missed, and the comparison of two files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .evaluate import Row
from .parts import PARTS, Target


class Outcome(NamedTuple):
    """A target and what was measured."""

    target: Target
    mean: float
    met: int
    of: int
    worst: str
    """the cell that misses it most, empty if all meet it"""

    @property
    def is_met(self) -> bool:
        return self.met == self.of


def rows_of(part: str, rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["part"] == part]


def mean_of(rows: Sequence[Row], value: str) -> float:
    """The mean over the rows that have the value; nan if none has."""
    found = [row["values"][value] for row in rows if value in row["values"]]
    return float(np.mean(found)) if found else float("nan")


def outcomes(part: str, rows: Sequence[Row]) -> list[Outcome]:
    """Each target of a part, for the rows that have its value."""
    return [
        outcome
        for target in PARTS[part].targets
        if (outcome := _outcome(target, rows_of(part, rows))) is not None
    ]


def _outcome(target: Target, rows: Sequence[Row]) -> Outcome | None:
    by: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        name = {**row, "run": f"{row['cell']}, run {row['run']}", "part": "mean"}
        if target.value in row["values"]:
            by[name[target.each]].append(row["values"][target.value])
    if not by:
        return None
    means = {name: float(np.mean(values)) for name, values in by.items()}
    missed = {name: mean for name, mean in means.items() if not target.is_met(mean)}
    distance = {name: max(target.low - mean, mean - target.high) for name, mean in missed.items()}
    worst = max(distance, key=distance.__getitem__) if distance else ""
    text = f"{worst}: {means[worst]:.3g}" if worst else ""
    return Outcome(target, float(np.mean(list(means.values()))), len(means) - len(missed),
                   len(means), text)  # fmt: skip


def report(rows: Sequence[Row]) -> str:
    """Targets and means of every part, as text."""
    lines = []
    for part in PARTS:
        own = rows_of(part, rows)
        if not own:
            continue
        cpu = sum(row["values"]["cpu_s"] for row in own)
        lines.append(f"{part}: {len(own)} runs, {cpu:.1f} CPU seconds")
        for outcome in outcomes(part, rows):
            mark = "met   " if outcome.is_met else "MISSED"
            worst = f"; worst {outcome.worst}" if outcome.worst else ""
            lines.append(
                f"  {mark} {outcome.target.text}: {outcome.met} of {outcome.of}, mean "
                f"{outcome.mean:.3g}{worst}"
            )
        names = ("auc", "f1", "best f1", "flagged", "structures", "surplus", "sigma")
        means = [(name, mean_of(own, name)) for name in names]
        lines.append("  " + ", ".join(f"{n} {m:.4f}" for n, m in means if np.isfinite(m)))
    return "\n".join(lines)


_COMPARED = ("auc", "f1", "best f1", "flagged normal", "structures", "surplus", "sigma", "found",
             "rank correlation", "loss", "models", "cpu_s")  # fmt: skip


def compare(old: Sequence[Row], new: Sequence[Row]) -> str:
    """Means of the groups side by side, over the runs that both have."""
    before = {(row["part"], row["cell"], row["run"]): row for row in old}
    pairs = [
        (before[key], row)
        for row in new
        if (key := (row["part"], row["cell"], row["run"])) in before
    ]
    lines = [f"{len(pairs)} runs in both; old → new (difference)"]
    for part in PARTS:
        own = [pair for pair in pairs if pair[1]["part"] == part]
        groups = list(dict.fromkeys(pair[1]["group"] for pair in own))
        if own:
            lines.append(_compared(part, own))
        if len(groups) > 1:
            lines += [
                _compared(f"  {group}", [pair for pair in own if pair[1]["group"] == group])
                for group in groups
            ]
    return "\n".join(lines)


def _compared(name: str, pairs: Sequence[tuple[Row, Row]]) -> str:
    texts = []
    for value in _COMPARED:
        a, b = (mean_of([pair[at] for pair in pairs], value) for at in (0, 1))
        if np.isfinite([a, b]).all():
            texts.append(f"{value} {a:.4g} → {b:.4g} ({b - a:+.3g})")
    return f"{name}: " + ", ".join(texts)
