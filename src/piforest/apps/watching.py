"""Lines of a stream: text in, the same text with a score and a verdict out."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..protocols import Floats

# Delimiters that are looked for in the first line.
_DELIMITERS = ",;\t|"


class Row(NamedTuple):
    """One line: its text, its numbers, or why it has none."""

    text: str
    values: list[float] | None
    error: str = ""
    record: dict[str, Any] | None = None


class LineFormat:
    """How lines are read and written: JSON objects, or cells of text."""

    def __init__(self, columns: Sequence[str] | None, delimiter: str | None) -> None:
        self.columns, self.delimiter = columns, delimiter
        self.is_json = False
        self.header: list[str] | None = None
        self.names: list[str] | None = None
        """the columns of the points, known after the first row"""
        self._at: list[int] = []
        self._width = 0

    @property
    def started(self) -> bool:
        """Whether the first line was seen."""
        return self.is_json or self._width > 0

    def start(self, line: str) -> str | None:
        """Look at the first line. If it is a header, return the header of the output."""
        if line.lstrip().startswith("{"):
            self.is_json = True
            return None
        if self.delimiter is None:
            counts = {each: line.count(each) for each in _DELIMITERS}
            best = max(counts, key=lambda each: counts[each])
            self.delimiter = best if counts[best] else ","
        cells = self._cells(line)
        self._width = len(cells)
        if all(_number(cell) is not None for cell in cells):
            self._choose([f"x{k}" for k in range(len(cells))])
            return None
        self.header = [cell.strip() for cell in cells]
        if self.columns is not None:
            self._choose(self.header)
        return line + self.delimiter + self.delimiter.join(("score", "anomaly"))

    def _choose(self, names: list[str]) -> None:
        wanted = names if self.columns is None else list(self.columns)
        missing = [name for name in wanted if name not in names]
        if missing:
            raise ValueError(
                f"the stream has no column {', '.join(missing)}; its columns: {', '.join(names)}. "
                "Select others with --columns."
            )
        self.names, self._at = wanted, [names.index(name) for name in wanted]

    def parse(self, line: str) -> Row:
        """The numbers of a line."""
        return self._parse_json(line) if self.is_json else self._parse_text(line)

    def _parse_text(self, line: str) -> Row:
        cells = self._cells(line)
        if len(cells) != self._width:
            return Row(line, None, f"{len(cells)} cells instead of {self._width}")
        if self.names is None:
            assert self.header is not None
            numeric = [k for k, cell in enumerate(cells) if _number(cell) is not None]
            if not numeric:
                return Row(line, None, "no number")
            self.names, self._at = [self.header[k] for k in numeric], numeric
        values = [_number(cells[k]) for k in self._at]
        return _row(line, values, self.names, [cells[k] for k in self._at])

    def _parse_json(self, line: str) -> Row:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            return Row(line, None, f"no JSON: {' '.join(str(error).split())[:100]}")
        if not isinstance(record, dict):
            return Row(line, None, "no JSON object")
        if self.names is None:
            numeric = [name for name, value in record.items() if _json_number(value) is not None]
            self.names = numeric if self.columns is None else list(self.columns)
            if not self.names:
                self.names = None
                return Row(line, None, "no number", record)
        given = [record.get(name) for name in self.names]
        row = _row(line, [_json_number(value) for value in given], self.names, given)
        return row._replace(record=record)

    def _cells(self, line: str) -> list[str]:
        try:
            return next(csv.reader([line], delimiter=self.delimiter or ","), [])
        except csv.Error:
            return []

    def write(self, row: Row, score: float, label: int) -> str:
        """The line with its score and verdict; without, if there are none."""
        known = not math.isnan(score)
        if not self.is_json:
            end = (repr(float(score)), str(int(label == -1))) if known else ("", "")
            mark = self.delimiter or ","
            return row.text + mark + mark.join(end)
        record: dict[str, Any] = {"line": row.text} if row.record is None else dict(row.record)
        record["score"] = float(score) if known else None
        record["anomaly"] = bool(label == -1) if known else None
        if row.error:
            record["error"] = row.error
        return json.dumps(record, ensure_ascii=False, allow_nan=True)


def _row(text: str, values: list[float | None], names: list[str], given: Sequence[Any]) -> Row:
    complete: list[float] = []
    for value, name, cell in zip(values, names, given):
        if value is None or not math.isfinite(value):
            return Row(text, None, f"{name} is {cell!r}, not a number")
        complete.append(value)
    return Row(text, complete)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _json_number(value: Any) -> float | None:
    real = isinstance(value, (int, float)) and not isinstance(value, bool)
    try:
        return float(value) if real else None
    except OverflowError:
        return None


_BARS = "▁▂▃▄▅▆▇█"


def bars(scores: Floats, width: int) -> str:
    """The last scores as a line of bars; a dot for none."""
    return "".join(
        "·" if math.isnan(each) else _BARS[min(7, int(8 * each))] for each in scores[-width:]
    )


def view(detector: Any, scores: Floats, counts: dict[str, int], rate: float, width: int) -> str:
    """The live view: what the stream is like now."""
    out = io.StringIO()
    threshold = detector.threshold_
    known = "after the first rows" if math.isnan(threshold) else f"{threshold:.3f}"
    out.write(
        f"rows        {detector.n_seen_:,}, {counts['anomalies']:,} anomalies, "
        f"{counts['broken']:,} broken lines; {rate:,.0f} rows a second\n"
        f"threshold   {known}\n"
        f"scores      {bars(scores, max(8, width - 13))}\n"
    )
    structures = detector.structures_
    out.write(f"structures  {len(structures)}\n")
    for each in structures[:8]:
        params = " ".join(f"{value:.4g}" for value in each.params[:6])
        out.write(f"  {each.family.name}, {each.support} rows, sigma {each.sigma:.3g}: {params}\n")
    for event in detector.drift_[-4:]:
        out.write(f"row {event.row:,}: {describe_drift(event)}\n")
    return "".join(line[:width] + "\n" for line in out.getvalue().splitlines())


def describe_drift(event: Any) -> str:
    """A change in words."""
    each = event.structure
    params = ", ".join(f"{value:.4g}" for value in each.params[:6])
    return f"a {each.family.name} {event.kind} ({each.support} rows, parameters {params})"
