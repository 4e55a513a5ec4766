"""Columns whose units seem to differ, for families whose distances mix the columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ._validation import warn_user
from .families import layout_of
from .families.scaled import column_units
from .protocols import Floats, ModelFamily
from .structures.greedy import Structure

# Columns whose ranges differ by more than this factor are likely to have different units.
_FACTOR = 30.0
_RANGE = (1, 99)  # percentiles
# A band with this half-width, as a share of the range of a column, ignores the column. The whole
# range counts: a floor with a few points far above it is a structure, although it is thin.
_IGNORES = 0.25
_NAMED = 4
# Names that only number the columns say nothing.
_NUMBERED = re.compile(r"(column|col|c|field|f|var|v|feature|unnamed:?)?[ _]*\d*", re.IGNORECASE)
_PLANE_NAMES = (
    {"u", "v"}, {"lon", "lat"}, {"lng", "lat"}, {"longitude", "latitude"}, {"east", "north"},
    {"easting", "northing"}, {"px", "py"}, {"col", "row"}, {"column", "row"},
)  # fmt: skip
_SPACE_NAMES = {"x", "y", "z"}
_UNIT_OF_NAME = re.compile(r"[\[( _](mm|cm|m|km|px|in|ft|[^\])_ ]+(?=[\])]))[\])]?\s*$")


def say_nothing(names: Sequence[str]) -> bool:
    """Whether the names of columns only number them."""
    numbers = [f"x{k}" for k in range(len(names))]
    return [name.lower() for name in names] == numbers or all(
        _NUMBERED.fullmatch(name) for name in names
    )


def are_coordinates(names: Sequence[str]) -> bool:
    """Whether the names are those of different coordinates of the plane or of space."""
    stems = {_stem(name) for name in names}
    known = stems in _PLANE_NAMES or (len(stems) > 1 and stems <= _SPACE_NAMES)
    return known and len(stems) == len(names)


def may_share_unit(names: Sequence[str]) -> bool:
    """Whether columns of these names may have one unit: they are coordinates, or name the same
    unit, such as "length (cm)" and "width (cm)", or say nothing."""
    units = {found[1] if (found := _UNIT_OF_NAME.search(name)) else None for name in names}
    same = len(units) == 1 and None not in units
    return same or say_nothing(names) or are_coordinates(names)


def _stem(name: str) -> str:
    """A name in lower case and without a unit: "x [mm]" and "X_m" are x."""
    return re.split(r"[ _\[(]", name.strip().lower())[0]


class UnequalRanges(NamedTuple):
    """Two columns with very different ranges, which distances mix."""

    wide: int
    narrow: int
    factor: float
    scalable: bool
    """whether scale_columns=True applies"""

    def text(self, names: Sequence[str] | None) -> str:
        """A sentence with the names of the columns, or their numbers."""
        wide, narrow = (
            f"column {k}" if names is None else str(names[k]) for k in (self.wide, self.narrow)
        )
        return f"{wide} varies {self.factor:.3g} times as much as {narrow}, and distances mix both."

    @property
    def advice(self) -> str:
        if not self.scalable:
            return "If their units differ, convert the columns to one unit before the fit."
        return (
            "If their units differ, pass scale_columns=True (--scale-columns on the command line)."
        )


def unequal_ranges(
    families: Sequence[ModelFamily], X: Floats, names: Sequence[str] | None = None
) -> UnequalRanges | None:
    """The columns that differ most, if any two do that distances mix; none of a cloud, by the names
    x, y, z: a floor is flat, and its coordinates have one unit.

    Residuals that scale with the data mix the columns of each view; those of a table are in the
    unit of the target. Other families are custom and may measure columns separately. Constant
    columns do not count.
    """
    found = []
    if names is not None and [str(name).strip().lower() for name in names[:3]] == ["x", "y", "z"]:
        return None
    for family in families:
        layout = layout_of(family)
        if layout.kind == "table" or not {"rotation", "scale"} & set(family.symmetries):
            continue
        units = column_units(family, X.shape[1])
        d = 3 if layout.kind == "oriented points" else X.shape[1]
        for group in layout.views or (tuple(range(d)),):
            columns = list(group)
            low, high = np.percentile(X[:, columns], _RANGE, axis=0)
            ranges = (high - low) / units[columns]
            wide, narrow = np.argmax(ranges), np.argmin(np.where(ranges > 0, ranges, np.inf))
            if ranges[wide] > _FACTOR * ranges[narrow] > 0:
                factor = float(ranges[wide] / ranges[narrow])
                # Columns that are scaled already differ for another reason.
                scalable = layout.kind == "points" and not (units != 1).any()
                found.append(UnequalRanges(columns[wide], columns[narrow], factor, scalable))
    return max(found, key=lambda each: each.factor, default=None)


def warn_of_units(families: Sequence[ModelFamily], X: Floats, names: Sequence[str] | None) -> None:
    """Warn if the units of columns of the training rows seem to differ."""
    found = unequal_ranges(families, X, names)
    if found is not None:
        warn_user(f"{found.text(names)} {found.advice}")


def warn_of_scaling(family: ModelFamily, names: Sequence[str] | None) -> None:
    """Warn that columns are scaled although this was not asked for."""
    d = len(family.units)  # type: ignore[attr-defined]
    known = [f"column {k}" for k in range(d)] if names is None else names
    warn_user(
        f"the units of the columns differ and hid all structures. "
        f"{scaled_text(column_units(family, d), known)} Pass scale_columns=True if this is meant, "
        "or scale_columns=False."
    )


def hide_structures(
    families: Sequence[ModelFamily],
    X: Floats,
    structures: Sequence[Structure],
    names: Sequence[str] | None = None,
) -> bool:
    """Whether units seem to differ and every structure ignores the narrow column, or points show
    no structure."""
    found = unequal_ranges(families, X, names)
    if found is None or not structures:
        return found is not None and layout_of(families[0]).kind == "points"
    narrowest = min(each.half_width for each in structures)
    unit = column_units(families[0], X.shape[1])[found.narrow]
    return bool(narrowest >= _IGNORES * np.ptp(X[:, found.narrow]) / unit)


def scaled_text(units: Floats, names: Sequence[str]) -> str:
    """A sentence about scaled columns; empty if none is."""
    scaled = np.flatnonzero(units != 1).tolist()
    if not scaled:
        return ""
    reference = names[int(np.flatnonzero(units == 1)[0])]
    listed = ", ".join(f"{units[k]:g} of {names[k]}" for k in scaled[:_NAMED])
    more = f" and {len(scaled) - _NAMED} more" if len(scaled) > _NAMED else ""
    return f"Columns are scaled: in distances, {listed}{more} count as 1 of {reference}."
