"""Which columns of a table are the points, and where the answer goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._validation import warn_user
from ...protocols import Bools, Floats
from .table import Table

# What columns are called where their number leaves no doubt.
_USUAL = {
    2: ("x", "y"),
    3: ("x", "y", "z"),
    4: ("x1", "y1", "x2", "y2"),
    6: ("x1", "y1", "z1", "x2", "y2", "z2"),
}
_COUNTERS = {"id", "index", "row"}


def pick_columns(table: Table, names: Sequence[str] | None, family: Any) -> list[str]:
    """The columns of the points: those named, else those that the family can only mean.

    family: a family, or several, or how many columns a model has. Without names, the columns
    that the format says are the points; else all numeric ones, if they are as many as needed;
    else x, y (z; or x1, y1, x2, y2), if there are such. A family of any number of columns gets
    x, y (z) if there are such; else all numeric ones but what counts the rows. A warning tells
    which are left out.
    """
    needed, what = _needs(family)
    if names is not None:
        picked = list(names)
        table.check_names(picked)
        if needed not in (None, len(picked)):
            raise ValueError(
                f"{what} needs {needed} columns, got {len(picked)}: {', '.join(picked)}."
            )
        return picked
    numeric = [name for name in table.numeric() if name not in table.unnamed]
    if needed is None and numeric and not set(table.points) & set(numeric):
        return _of_any_number(table, numeric, family)
    for some in (table.points, numeric, _USUAL.get(needed or 0, ())):
        if some and needed in (None, len(some)) and set(some) <= set(numeric):
            return list(some)
    if not numeric:
        raise ValueError(
            f"{table.source} has no column of numbers; its columns: {', '.join(table.names)}."
        )
    raise ValueError(
        f"{what} needs {needed} columns, and {table.source} has {len(numeric)} of numbers: "
        f"{', '.join(numeric)}. Name those to use with --columns."
    )


def _of_any_number(table: Table, numeric: list[str], family: Any) -> list[str]:
    """Coordinates by their names; else all numeric columns but those that count rows. At least
    two stay: of a series, the count may be the time."""
    several = family if isinstance(family, (list, tuple)) else [family]
    # What a target depends on may have any name.
    named = not any(hasattr(each, "target") for each in several)
    kept: list[str]
    if named and {"x", "y"} <= set(numeric):
        kept, why = [name for name in ("x", "y", "z") if name in numeric], "x and y are there"
    else:
        counters = [name for name in numeric if _counts_rows(table, name)]
        kept, why = [name for name in numeric if name not in counters], "it numbers the rows"
        why = why if len(counters) == 1 else "they number the rows"
    left = [name for name in numeric if name not in kept]
    if len(kept) < 2:
        return numeric
    if left:
        warn_user(
            f"{table.source}: column{'s' * (len(left) > 1)} {', '.join(left)} left out, since "
            f"{why}; --columns {','.join(numeric)} takes all."
        )
    return kept


def _counts_rows(table: Table, name: str) -> bool:
    """Whole numbers under a name that says so, or that go up by one from 0 or 1."""
    values = table.numbers([name])[:, 0]
    if np.isnan(values).any() or not np.array_equal(values, np.rint(values)):
        return False
    from_one = values - table.first_row + 1
    counts = any(np.array_equal(from_one, np.arange(k, k + len(values))) for k in (0, 1))
    return counts or name.lower() in _COUNTERS


def _needs(family: Any) -> tuple[int | None, str]:
    """How many columns (None: any number), and who needs them."""
    if isinstance(family, int):
        return family, "the model"
    several = family if isinstance(family, (list, tuple)) else [family]
    for each in several:
        if each.n_features is not None:
            return int(each.n_features), f"family {each.name!r}"
    return None, "a family"


def with_scores(
    table: Table, scores: Floats, threshold: float, scored: Bools | None = None
) -> Table:
    """The table with the columns `score` and `anomaly`; where the names are taken,
    `piforest_score` and `piforest_anomaly`.

    scores: of all rows, or of those that `scored` (n,) says; the others stay empty.
    """
    if scored is None:
        scored = np.ones(len(table), bool)
    score, anomaly = np.full(len(table), np.nan), np.zeros(len(table), bool)
    score[scored], anomaly[scored] = scores, scores > threshold
    names = score_names(table)
    return table.with_columns(
        {
            names[0]: np.ma.masked_array(score, ~scored),  # type: ignore[no-untyped-call]
            names[1]: np.ma.masked_array(anomaly, ~scored),  # type: ignore[no-untyped-call]
        }
    )


def score_names(table: Table) -> tuple[str, str]:
    """What the columns of the answer are called beside those of the table."""
    taken = {"score", "anomaly"} & set(table.names)
    return ("piforest_score", "piforest_anomaly") if taken else ("score", "anomaly")
