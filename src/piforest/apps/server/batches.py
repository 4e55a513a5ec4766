"""Rows of a request to an array, and results to a response: JSON, or Arrow's stream format."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from ...protocols import Floats
from .guard import Refused
from .limits import Limits

JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"


class Batch(BaseModel):
    """Rows as lists of numbers, or columns by name."""

    model_config = ConfigDict(extra="forbid")

    rows: list[list[float]] | None = None
    columns: dict[str, list[float]] | None = None


class Scores(BaseModel):
    """The scores of the rows, in their order."""

    scores: list[float]
    anomaly: list[bool]
    threshold: float


class Problem(BaseModel):
    """Why a request was refused."""

    error: str


def read_rows(body: bytes, kind: str, names: Sequence[str], d: int, limits: Limits) -> Floats:
    """(n, d) the rows of a body; names: of the columns of the model, or none."""
    rows = _arrow_rows(body, names) if kind == ARROW else _json_rows(body, names)
    if rows.ndim != 2 or rows.shape[1] != d:
        got = rows.shape[1] if rows.ndim == 2 else 0
        raise Refused(422, f"rows must have {d} columns, got {got}.")
    if len(rows) > limits.max_rows:
        raise Refused(
            413, f"a request may have at most {limits.max_rows:,} rows, got {len(rows):,}."
        )
    if not np.isfinite(rows).all():
        row = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise Refused(422, f"row {row} (from 0) has a value that is missing or not finite.")
    return rows


def _json_rows(body: bytes, names: Sequence[str]) -> Floats:
    try:
        batch = Batch.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise Refused(
            422, f"the body is no batch of rows: {place or 'it'}: {first['msg']}."
        ) from None
    if (batch.rows is None) == (batch.columns is None):
        raise Refused(422, "the body must have either 'rows' or 'columns'.")
    if batch.columns is not None:
        return _ordered(batch.columns, names)
    rows = batch.rows or []
    if len({len(row) for row in rows}) > 1:
        raise Refused(422, "all rows must have the same number of columns.")
    return np.array(rows, np.float64).reshape(len(rows), -1) if rows else np.empty((0, 0))


def _arrow_rows(body: bytes, names: Sequence[str]) -> Floats:
    try:
        import pyarrow as pa
    except ImportError:
        raise Refused(415, "this server has no pyarrow; send JSON.") from None
    try:
        table = pa.ipc.open_stream(body).read_all()
        table.validate(full=True)
        columns = {name: table[name].to_numpy().astype(np.float64) for name in table.column_names}
    except (pa.ArrowException, ValueError, TypeError, KeyError, OSError) as error:
        text = " ".join(str(error).split())[:200]
        raise Refused(422, f"the body is no Arrow stream of numbers: {text}") from None
    if names:
        return _ordered(columns, names)
    return np.column_stack(list(columns.values())) if columns else np.empty((0, 0))


def _ordered(columns: dict[str, Any], names: Sequence[str]) -> Floats:
    """The columns of the model, in its order."""
    if not names:
        raise Refused(422, "the model has no column names; send 'rows'.")
    if missing := [name for name in names if name not in columns]:
        raise Refused(422, f"the columns {missing} are missing; the model has {list(names)}.")
    if len({len(columns[name]) for name in names}) > 1:
        raise Refused(422, "all columns must have the same number of values.")
    return np.column_stack([np.asarray(columns[name], np.float64) for name in names])


def write_scores(scores: Floats, threshold: float, kind: str) -> bytes:
    """The body of a response."""
    flagged = scores > threshold
    if kind == ARROW:
        import pyarrow as pa

        table = pa.table({"score": scores, "anomaly": flagged})
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return sink.getvalue()
    found = {"scores": scores.tolist(), "anomaly": flagged.tolist(), "threshold": threshold}
    return json.dumps(found, allow_nan=False).encode()
