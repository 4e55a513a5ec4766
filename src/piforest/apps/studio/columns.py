"""The columns of a table as a page shows them: roles, missing values, steps. Runs in a helper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import Any

import numpy as np

from ...io.tables import Table, left_out, pick_columns, read_blocks
from ...protocols import Floats
from ...report.columns import as_text, unmasked
from .wording import plain

# Rows that are read, rows of the preview, and cells that are shown as an example of a column.
_MOST_ROWS, _PREVIEW, _SAMPLE = 50_000, 20, 5
# At most this many columns are described, the first ones.
_MOST_COLUMNS = 200
# Columns whose ranges differ by more than this factor are likely to have different units.
_FACTOR = 30.0
_LONGEST = 60
# Values are said to be rounded if they have at most so many digits; fewer levels are categories.
_DIGITS, _LEAST_LEVELS = 4, 8
# Of a quotient: 0.1 has no exact double.
_ROUND_OFF = 1e-12


def describe(path: str, kind: str, roles: dict[str, str]) -> dict[str, Any]:
    """The columns, a preview and what to know. kind: of the project; roles: chosen ones."""
    whole, ended = _beginning(path)
    if not len(whole):
        raise ValueError(f"{whole.source} has no rows.")
    names = whole.names[:_MOST_COLUMNS]
    table = whole.select(names)
    picked, reasons, problem = _picked(table, kind)
    described = [_column(table, name) for name in names]
    for each in described:
        role, reason = _role(each, picked, reasons, kind)
        each["role"] = roles.get(each["name"], role)
        each["reason"] = "chosen" if each["name"] in roles else plain(reason)
    findings = [*problem, *_findings(whole, described, ended, kind)]
    _suggest_target(table, described, kind)
    return {
        "rows": len(table) if ended else whole.total,
        "looked_at": len(table),
        "columns": described,
        "preview": [[_cell(table, name, k) for name in names] for k in range(_shown(table))],
        "findings": findings,
    }


def _suggest_target(table: Table, columns: list[dict[str, Any]], kind: str) -> None:
    """Show the target of a table of laws as such. It is not chosen: the page does not save it."""
    used = [each for each in columns if each["role"] in ("coordinate", "target")]
    roles = {each["role"] for each in columns}
    if kind == "table" and not roles & {"target", "time"} and _is_law(table, used):
        reason = "predicted from the others, unless another column is chosen"
        used[-1] |= {"role": "target", "suggested": True, "reason": reason}


def _beginning(path: str) -> tuple[Table, bool]:
    """The first rows of a file, and whether these are all: large files are not read to the end."""
    parts: list[Table] = []
    for block in read_blocks(path, _MOST_ROWS):
        if sum(map(len, parts)) >= _MOST_ROWS:
            return _joined(parts), False
        parts.append(block)
    return _joined(parts), True


def _joined(parts: list[Table]) -> Table:
    if len(parts) == 1:
        return parts[0]
    columns = {
        name: np.ma.concatenate([part.columns[name] for part in parts])  # type: ignore[no-untyped-call]
        if any(np.ma.isMaskedArray(part.columns[name]) for part in parts)  # type: ignore[no-untyped-call]
        else np.concatenate([part.columns[name] for part in parts])
        for name in parts[0].names
    }
    return replace(parts[0], columns=columns)


def _shown(table: Table) -> int:
    return min(_PREVIEW, len(table))


def _picked(table: Table, kind: str) -> tuple[list[str], dict[str, str], list[dict[str, Any]]]:
    """The columns that a command would take, why not the others, and why none if there is none."""
    pair = ["x1", "y1", "x2", "y2"]
    try:
        picked = pair if set(pair) <= set(table.numeric()) else pick_columns(table, None, [])
    except ValueError as error:
        text = plain(str(error).replace(table.source, PurePath(table.source).name))
        return [], {}, [{"code": "no_columns", "text": text,
                         "way_out": "Choose another file, or correct the columns."}]  # fmt: skip
    return picked, left_out(table, picked), []


def _column(table: Table, name: str) -> dict[str, Any]:
    values = table.columns[name]
    numbers = _numbers(table, name)
    seconds, problem = _seconds(table, name)
    kind = "date" if seconds is not None else "text" if numbers is None else "number"
    cells = as_text(unmasked(values))
    empty = sum(not cell.strip() for cell in cells)
    found: dict[str, Any] = {
        "name": name, "type": kind, "missing": empty, "distinct": len(set(cells)), "step": None,
        "coarse": False, "low": None, "high": None, "problem": problem,
        "sample": [cell[:_LONGEST] for cell in cells[:_SAMPLE]],
    }  # fmt: skip
    if numbers is not None:
        lost = np.isnan(numbers)
        found["missing"] = int(lost.sum())
        known = numbers[~lost]
        if len(known):
            found |= {"low": float(known.min()), "high": float(known.max())}
            found["distinct"] = len(np.unique(known))
            found["step"], found["coarse"] = _step(known, found["distinct"])
    return found


def _numbers(table: Table, name: str) -> Floats | None:
    try:
        found: Floats = table.numbers([name])[:, 0]
    except ValueError:
        return None
    return None if np.isnan(found).all() else found


def _seconds(table: Table, name: str) -> tuple[Floats | None, str | None]:
    """The dates of a column as numbers, None without any; and which cell is no date, if one is."""
    from ...io.tables.dates import dates_as_numbers, is_date_column

    if not is_date_column(table, name):
        return None, None
    try:
        return _numbers(dates_as_numbers(table.select([name]), "seconds"), name), None
    except ValueError as error:
        return None, str(error).removeprefix(f"{table.source}: ")


def _step(values: Floats, distinct: int) -> tuple[float | None, bool]:
    """The step that values are rounded to, None if there is none; and whether it is coarse enough
    to look like structures, by which a detector allows for it."""
    from ...bands.resolution import step_of

    step = float(step_of(values))
    if step > 0:
        return step, True
    wide = float(np.ptp(values))
    if distinct < _LEAST_LEVELS or not wide > 0:
        return None, False
    first = int(np.floor(np.log10(wide)))
    for power in range(first, first - _DIGITS, -1):
        parts = values / 10.0**power
        if (np.abs(parts - np.round(parts)) <= _ROUND_OFF * np.maximum(1, np.abs(parts))).all():
            return 10.0**power, False
    return None, False


def _cell(table: Table, name: str, row: int) -> str:
    return as_text(unmasked(table.columns[name][row : row + 1]))[0][:_LONGEST]


def _role(
    column: dict[str, Any], picked: list[str], reasons: dict[str, str], kind: str
) -> tuple[str, str]:
    """The role that a column has unless it is chosen, and why."""
    name = column["name"]
    if kind == "series" and (column["type"] == "date" or name.lower() in _TIMES):
        return "time", "its name, or its dates"
    if name in picked:
        return "coordinate", "a number"
    return "ignore", reasons.get(name, "not used")


def _is_law(table: Table, used: list[dict[str, Any]]) -> bool:
    """Whether families of laws are compared for these columns: the last one is their target."""
    from ...proposals.candidates import candidates_for

    names = [each["name"] for each in used]
    if any(each["type"] != "number" for each in used):
        return False
    return len(names) > 1 and candidates_for(table.numbers(names), names).kind == "table"


def _units(used: list[dict[str, Any]]) -> list[dict[str, Any]]:
    ranges = {each["name"]: each["high"] - each["low"] for each in used if each["high"] is not None}
    wide = max(ranges, key=ranges.__getitem__, default="")
    narrow = min((n for n in ranges if ranges[n] > 0), key=ranges.__getitem__, default="")
    if not (wide and narrow and ranges[wide] > _FACTOR * ranges[narrow]):
        return []
    return [{
        "code": "units_differ",
        "text": f"{wide} varies {ranges[wide] / ranges[narrow]:,.0f} times as much as {narrow}.",
        "way_out": "If their units differ, scale the columns.",
        "action": {"label": "Scale columns", "settings": {"scale_columns": True}},
    }]  # fmt: skip


def _times(table: Table, columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A column that rises from row to row and is a date, or is called a time."""
    for each in columns:
        if each["type"] != "date" and each["name"].lower() not in _TIMES:
            continue
        name = each["name"]
        numbers = _seconds(table, name)[0] if each["type"] == "date" else _numbers(table, name)
        if numbers is None or len(numbers) < _LEAST_TIMES or not (np.diff(numbers) > 0).all():
            continue
        roles = {other["name"]: other["role"] for other in columns} | {each["name"]: "time"}
        return [{
            "code": "times", "text": f"{each['name']} rises from row to row, as times do.",
            "way_out": "If the rows are a series, each is judged with those around it.",
            "action": {"label": "Take it as the time", "settings": {"roles": roles}},
        }]  # fmt: skip
    return []


# Fewer rows may rise by chance.
_LEAST_TIMES = 20
_TIMES = ("time", "t", "date", "datetime", "timestamp", "seconds", "minutes", "hours", "days")


def _texts(used: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Columns that are to be measured and are no numbers: a run would fail."""
    names = [each["name"] for each in used if each["type"] != "number"]
    if not names:
        return []
    return [{
        "code": "no_numbers", "text": f"No numbers are in {', '.join(names[:4])}.",
        "way_out": "A coordinate or a target is measured: choose another role, such as group.",
    }]  # fmt: skip


def _findings(
    table: Table, columns: list[dict[str, Any]], ended: bool, kind: str
) -> list[dict[str, Any]]:
    """What to know before a run: times, missing numbers, units, rounding, what is not shown."""
    used = [each for each in columns if each["role"] in ("coordinate", "target")]
    roles = {each["role"] for each in columns}
    found = _times(table, columns) if kind == "table" and "time" not in roles else []
    found += _texts(used)
    found += [
        {"code": "bad_date", "text": f"{each['problem'][:1].upper()}{each['problem'][1:]}",
         "way_out": "The column is taken as text. Correct this cell to use its dates."}
        for each in columns if each["problem"]
    ]  # fmt: skip
    lacking = [each["name"] for each in used if each["missing"]]
    if lacking:
        found.append({
            "code": "missing", "text": f"Numbers are missing in {', '.join(lacking[:4])}.",
            "way_out": "Skip such rows: they stay in the output without a score.",
            "action": {"label": "Skip rows that lack a number", "settings": {"missing": "skip"}},
        })  # fmt: skip
    # Residuals of a table are in the unit of its target, and a series scales its channels itself.
    if kind in ("table", "scan") and not roles & {"target", "time"} and not _is_law(table, used):
        found += _units(used)
    flags = [each["name"] for each in used if each["distinct"] == 2 and ended]
    if flags and len(flags) < len(used):
        roles_now = {each["name"]: each["role"] for each in columns}
        found.append({
            "code": "two_values", "text": f"Only two values are in {', '.join(flags[:4])}.",
            "way_out": "A label is no measurement: leave it out if it is one.",
            "action": {"label": "Leave out",
                       "settings": {"roles": roles_now | dict.fromkeys(flags, "ignore")}},
        })  # fmt: skip
    rounded = [f"{each['name']} to {each['step']:.3g}" for each in used if each["coarse"]]
    if rounded:
        found.append({
            "code": "rounded_columns", "text": f"Values are rounded: {', '.join(rounded[:4])}.",
            "way_out": "Use values with more digits if there are any.",
        })  # fmt: skip
    if not ended:
        found.append({
            "code": "many_rows", "text": f"The first {len(table):,} rows were looked at.",
            "way_out": "A run reads all of them.",
        })  # fmt: skip
    if len(table.names) > _MOST_COLUMNS:
        found.append({
            "code": "many_columns",
            "text": f"The first {_MOST_COLUMNS} of {len(table.names):,} columns are shown.",
            "way_out": "Columns that are not shown are used as the command chooses.",
        })  # fmt: skip
    return found
