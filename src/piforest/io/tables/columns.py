"""Which columns of a table are the points, and the columns of scores."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._columns import COUNTERS
from ...protocols import Bools, Floats, ModelFamily
from .dates import is_date_column
from .table import MISSING, Table

__all__ = ["left_out", "pick_columns", "score_names", "with_scores"]

Families = ModelFamily | Sequence[ModelFamily]

# How the names of the two points of a match or a segment differ, as in point1_x and point2_x,
# start_x and end_x, or xa and xb.
_TWO = (
    ("1", "2"), ("0", "1"), ("a", "b"), ("start", "end"), ("begin", "end"), ("from", "to"),
    ("left", "right"), ("l", "r"), ("src", "dst"), ("source", "target"), ("query", "train"),
)  # fmt: skip
SCORE_NAMES = {"score", "anomaly"}
_ROW_NAMES = ("score", "anomaly", "structure", "distance", "piece")


def pick_columns(
    table: Table,
    names: Sequence[str] | None,
    family: Families | int,
    target: str | None = None,
) -> list[str]:
    """The columns of the points: those of the given names, else those that suit the family.

    family: a family, several, or the number of columns of a model. Without names: the columns of
    points in the format; else all numeric ones, if their number is right; else x, y (z), or the two
    points of a match or a segment by their names (`pair_of_points`), if they exist. A family of any
    number of columns gets x, y (z) if they exist; else all numeric columns but row numbers and
    constants. `left_out` gives the reasons.

    target: the column that the others explain, always among those that are picked.
    """
    if target is not None:
        _check_target(table, target, names)
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
    numeric = _with_flags(table, numeric, family)
    if needed is None and numeric and not set(table.points) & set(numeric):
        return _of_any_number(table, numeric, family, target)
    for some in (table.points, numeric, _usual(needed, numeric)):
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


def _usual(needed: int | None, numeric: list[str]) -> list[str]:
    """The columns with the usual names of this many coordinates, if they exist."""
    if needed in (4, 6):
        return pair_of_points(numeric, "xy" if needed == 4 else "xyz")
    usual = {2: ["x", "y"], 3: ["x", "y", "z"]}.get(needed or 0, [])
    return usual if set(usual) <= set(numeric) else []


def pair_of_points(names: Sequence[str], axes: str = "xy") -> list[str]:
    """The columns of two points by their names, x and y of the first before those of the second;
    none if there are no such, or several.

    >>> pair_of_points(["length", "point1_x", "point1_y", "point2_x", "point2_y"])
    ['point1_x', 'point1_y', 'point2_x', 'point2_y']
    """
    by_rest: dict[str, dict[str, str]] = {}
    for name in names:
        for axis, rest in _readings(name.lower(), axes):
            by_rest.setdefault(rest, {})[axis] = name
    points = {rest: found for rest, found in by_rest.items() if len(found) == len(axes)}
    pairs = [
        (points[first], points[second])
        for first in points
        for second in points
        if any(_swapped(first, one, other) == second for one, other in _TWO)
    ]
    return [point[axis] for point in pairs[0] for axis in axes] if len(pairs) == 1 else []


def _readings(name: str, axes: str) -> list[tuple[str, str]]:
    """The axis and the rest of a name that begins or ends with one: (x, point1) of point1_x."""
    parts = (
        re.fullmatch(rf"([{axes}])[_ .]?(\w+)", name),
        re.fullmatch(rf"(\w*?)[_ .]?([{axes}])(\d?)", name),
    )
    found = [] if parts[0] is None else [(parts[0][1], parts[0][2])]
    if parts[1] is not None and parts[1][1] + parts[1][3]:
        found.append((parts[1][2], parts[1][1] + parts[1][3]))
    return list(dict.fromkeys(found))


def _swapped(rest: str, one: str, other: str) -> str | None:
    """The rest of a name with `other` in place of `one`: the whole, or a part between digits,
    letters and underscores."""
    parts = re.findall(r"[a-z]+|\d+|_", rest)
    at = [k for k, part in enumerate(parts) if part == one]
    return "".join([*parts[: at[0]], other, *parts[at[0] + 1 :]]) if len(at) == 1 else None


def _with_flags(table: Table, numeric: list[str], family: Families | int) -> list[str]:
    """The columns and, for laws of a table, those of True and False before the last one: these are
    no coordinates, and no target, which another column would lose its place to."""
    if isinstance(family, int) or not all(hasattr(each, "target") for each in _as_list(family)):
        return numeric
    last = table.names.index(numeric[-1]) if numeric else 0
    flags = {name for name in table.names[:last] if name not in numeric and table.is_flag(name)}
    flags -= table.unnamed
    return [name for name in table.names if name in flags or name in numeric]


def _check_target(table: Table, target: str, names: Sequence[str] | None) -> None:
    table.check_names([target])
    table.check_numbers(target)
    if names is not None and target not in names:
        raise ValueError(
            f"the target {target!r} is not among the columns {', '.join(names)}; add it to "
            "--columns."
        )


def _of_any_number(
    table: Table, numeric: list[str], family: Families | int, target: str | None
) -> list[str]:
    """Coordinates by their names; else all numeric columns but row numbers and constants. At least
    two remain: in a series, the row number may be the time."""
    # The features of a regression may have any name.
    targets = {each.target for each in _as_list(family) if hasattr(each, "target")}
    if not targets and {"x", "y"} <= set(numeric):
        return [name for name in ("x", "y", "z") if name in numeric]
    # Without its column, another one would silently become the target.
    fixed = numeric if targets - {-1} else numeric[-1:] if targets else []
    fixed = fixed if target is None else [target]
    kept = [name for name in numeric if name in fixed or not _counts_rows(table, name)]
    if len(kept) < 2:
        return numeric
    varied = [name for name in kept if name in fixed or not is_constant(table, name)]
    return kept if len(varied) < 2 else varied


def left_out(table: Table, picked: Sequence[str]) -> dict[str, str]:
    """The columns that are not among the picked ones, with the reason."""
    numeric = set(table.numeric())
    return {
        name: _reason(table, name, name in numeric, picked)
        for name in table.names
        if name not in picked
    }


def _reason(table: Table, name: str, numeric: bool, picked: Sequence[str]) -> str:
    column = table.columns[name]
    if name in of_earlier_run(table):
        return "score of an earlier run"
    if is_date_column(table, name):
        return "dates; --dates days takes them as numbers"
    if not numeric:
        if table.is_flag(name):
            return "true or false; --columns takes it as 1 and 0"
        if column.dtype.kind in "OUS":
            return "text" if _has_text(column) else "empty"
        return "no numbers"
    if name in table.unnamed:
        return "has no name"
    if np.isnan(table.numbers([name])).all():
        return "empty"
    if _counts_rows(table, name):
        return "numbers the rows"
    if is_constant(table, name):
        return "constant"
    return f"the points are {', '.join(picked)}"


def _has_text(column: Any) -> bool:
    cells = ("" if cell is None else str(cell).strip().lower() for cell in column.tolist())
    return any(cell not in MISSING for cell in cells)


def is_constant(table: Table, name: str) -> bool:
    """Whether a column has one value throughout, missing ones aside."""
    values = table.numbers([name])[:, 0]
    values = values[~np.isnan(values)]
    return len(values) > 1 and bool((values == values[0]).all())


def _counts_rows(table: Table, name: str) -> bool:
    """Whether a column has integers and the name of a counter, or counts from 0 or 1."""
    values = table.numbers([name])[:, 0]
    if np.isnan(values).any() or not np.array_equal(values, np.rint(values)):
        return False
    from_one = values - table.first_row + 1
    counts = any(np.array_equal(from_one, np.arange(k, k + len(values))) for k in (0, 1))
    return counts or name.lower() in COUNTERS


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
    table: Table,
    scores: Floats,
    threshold: float,
    scored: Bools | None = None,
    assigned: Any = None,
) -> Table:
    """The table with the columns `score` and `anomaly`, and `structure` and `distance` if they are
    known; all with `piforest_` before the name if one of the names is taken.

    scores: of all rows, or of the rows of the mask `scored` (n,); the others are empty. assigned:
    the number of the structure of each of these rows, -1 for none, the distance to the nearest one
    in its sigmas, and the number of the connected piece or None. Rows without a score have the
    structure -1, since some formats cannot hold an integer that is missing.
    """
    if scored is None:
        scored = np.ones(len(table), bool)
    score, anomaly = np.full(len(table), np.nan), np.zeros(len(table), bool)
    score[scored], anomaly[scored] = scores, scores > threshold
    columns: list[Any] = [
        np.ma.masked_array(score, ~scored),  # type: ignore[no-untyped-call]
        np.ma.masked_array(anomaly, ~scored),  # type: ignore[no-untyped-call]
    ]
    if assigned is not None:
        structure, distance = np.full(len(table), -1, np.int32), np.full(len(table), np.nan)
        structure[scored], distance[scored] = assigned[0], assigned[1]
        columns += [structure, np.ma.masked_invalid(distance)]  # type: ignore[no-untyped-call]
        if assigned[2] is not None:
            piece = np.full(len(table), -1, np.int32)
            piece[scored] = assigned[2]
            columns.append(piece)
    return table.with_columns(dict(zip(score_names(table, len(columns)), columns)))


def score_names(table: Table, count: int = 2) -> tuple[str, ...]:
    """The names of the columns of scores: the first ones of score, anomaly, structure, distance,
    piece."""
    names = _ROW_NAMES[:count]
    taken = set(names) & set(table.names)
    return tuple(f"piforest_{name}" for name in names) if taken else names


def of_earlier_run(table: Table) -> set[str]:
    """The columns that an earlier run added, if it is the output of one."""
    return set(_ROW_NAMES) & set(table.names) if set(table.names) >= SCORE_NAMES else set()
