"""Which columns of a table are the points, and the columns of scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._validation import warn_user
from ...protocols import Bools, Floats, ModelFamily
from .table import Table

__all__ = ["pick_columns", "score_names", "with_scores"]

Families = ModelFamily | Sequence[ModelFamily]

# Usual names of columns, by their number.
_USUAL = {
    2: ("x", "y"),
    3: ("x", "y", "z"),
    4: ("x1", "y1", "x2", "y2"),
    6: ("x1", "y1", "z1", "x2", "y2", "z2"),
}
_COUNTERS = {"id", "index", "row"}


def pick_columns(table: Table, names: Sequence[str] | None, family: Families | int) -> list[str]:
    """The columns of the points: those of the given names, else those that suit the family.

    family: a family, several, or the number of columns of a model. Without names: the columns of
    points in the format; else all numeric ones, if their number is right; else x, y (z; or x1,
    y1, x2, y2), if they exist. A family of any number of columns gets x, y (z) if they exist;
    else all numeric columns but row numbers. A warning names columns that are left out.
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
            f"{table.source} has no numeric column; its columns: {', '.join(table.names)}."
        )
    raise ValueError(
        f"{what} needs {needed} columns, and {table.source} has {len(numeric)} numeric ones: "
        f"{', '.join(numeric)}. Select them with --columns."
    )


def _of_any_number(table: Table, numeric: list[str], family: Families | int) -> list[str]:
    """Coordinates by their names; else all numeric columns but row numbers. At least two remain:
    in a series, the row number may be the time."""
    # The features of a regression may have any name.
    named = not any(hasattr(each, "target") for each in _as_list(family))
    kept: list[str]
    if named and {"x", "y"} <= set(numeric):
        kept, why = [name for name in ("x", "y", "z") if name in numeric], "x and y exist"
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
            f"{why}; --columns {','.join(numeric)} selects all."
        )
    return kept


def _counts_rows(table: Table, name: str) -> bool:
    """Whether a column has integers and the name of a counter, or counts from 0 or 1."""
    values = table.numbers([name])[:, 0]
    if np.isnan(values).any() or not np.array_equal(values, np.rint(values)):
        return False
    from_one = values - table.first_row + 1
    counts = any(np.array_equal(from_one, np.arange(k, k + len(values))) for k in (0, 1))
    return counts or name.lower() in _COUNTERS


def _needs(family: Families | int) -> tuple[int | None, str]:
    """The number of columns (None: any number), and what needs them."""
    if isinstance(family, int):
        return family, "the model"
    for each in _as_list(family):
        if each.n_features is not None:
            return int(each.n_features), f"family {each.name!r}"
    return None, "a family"


def _as_list(family: Families | int) -> list[ModelFamily]:
    if isinstance(family, int):
        return []
    return list(family) if isinstance(family, Sequence) else [family]


def with_scores(
    table: Table, scores: Floats, threshold: float, scored: Bools | None = None
) -> Table:
    """The table with the columns `score` and `anomaly`; `piforest_score` and `piforest_anomaly` if
    one of the names is taken.

    scores: of all rows, or of the rows of the mask `scored` (n,); the others are empty.
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
    """The names of the columns of scores."""
    taken = {"score", "anomaly"} & set(table.names)
    return ("piforest_score", "piforest_anomaly") if taken else ("score", "anomaly")
