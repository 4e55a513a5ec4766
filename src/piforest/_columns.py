"""Columns of the input in messages: their names, what they hold, which depend on others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Names of columns that number the rows.
COUNTERS = frozenset(("id", "index", "row"))


@contextmanager
def naming_columns(names: Sequence[str] | None) -> Iterator[None]:
    """Errors that are raised here say names in place of the numbers of columns, if there are
    names."""
    try:
        yield
    except ValueError as error:
        if error.args:
            error.args = (with_column_names(str(error.args[0]), names), *error.args[1:])
        raise


def with_column_names(text: str, names: Sequence[str] | None) -> str:
    """A text with the names of the columns, if they have any, in "column 1 of X" and "columns 1, 2
    and 3 of X"."""
    if names is None:
        return text

    def named(found: re.Match[str]) -> str:
        return re.sub(r"\d+", lambda number: repr(str(names[int(number[0])])), found[0])

    return re.sub(r"columns? \d+(, \d+)*( and \d+)? of X", named, text)


@contextmanager
def explaining_frames(X: Any) -> Iterator[None]:
    """Errors that are raised here name the first column of a data frame that holds no numbers. A
    column of dates, which some data frames convert to nanoseconds, is one."""
    for name in _names_of_frame(X):
        kind = str(getattr(X[name], "dtype", ""))
        if kind.lower().startswith(("date", "time", "duration")):
            raise ValueError(
                f"column {str(name)!r} of X holds {kind}, no numbers. Leave it out, or convert it, "
                "such as to the days since the first date."
            )
    try:
        yield
    except (TypeError, ValueError) as error:
        reason = _column_of_text(X)
        if not reason:
            raise
        raise ValueError(reason) from error


def _names_of_frame(X: Any) -> Sequence[Any]:
    """The names of the columns of a data frame of pandas or polars."""
    return X.columns if hasattr(X, "dtypes") and hasattr(X, "__array__") else ()


def _column_of_text(X: Any) -> str:
    """Which column of a data frame holds text, with the way out; empty if none does."""
    for name in _names_of_frame(X):
        column = np.asarray(X[name])
        if column.dtype.kind in "OUSTV":
            bad = next((k for k, cell in enumerate(column.tolist()) if not _is_float(cell)), None)
            if bad is not None:
                return (
                    f"column {str(name)!r} of X holds text: {str(column[bad])!r} in row {bad}. "
                    "Leave it out, or encode it as numbers."
                )
    return ""


def _is_float(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return cell is None or type(cell).__name__ == "NAType"
    return True


def dependent_columns(X: NDArray[np.float64]) -> str:
    """Which columns are linear functions of each other, with the way out; empty if none are, or if
    all rows are on a line."""
    spread = X.std(axis=0)
    varied = np.flatnonzero(spread > 0)
    Z = (X[:, varied] - X[:, varied].mean(axis=0)) / spread[varied]
    _, values, directions = np.linalg.svd(Z, full_matrices=False)
    free = values > 1e-10 * values[0]
    count, n_free = int(np.sum(~free)), int(np.sum(free))
    if not count or n_free < 2:
        return ""
    *most, last = varied[(np.abs(directions[~free]) > 1e-6).any(axis=0)].tolist()
    out = "one of them" if count == 1 else f"{count} of them"
    return (
        f"The columns {', '.join(map(str, most))} and {last} of X are linear functions of each "
        f"other, such as 0/1 columns of all categories, which add up to 1: leave {out} out."
    )
