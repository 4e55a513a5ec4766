"""Which families to try: by the number of columns, their names, and the kind of the rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from .._random import Stream
from ..bands.resolution import is_categorical
from ..families import get_family
from ..families._family import CLOUDS, ORIENTED, PLANE, SEGMENTS, SPACE
from ..families._null import displaced_rows, marginal_by_layout, null_by_layout
from ..families.scaled import ScaledFamily, units_of
from ..protocols import Floats, ModelFamily, RowLayout
from ..units import are_coordinates, say_nothing

_NORMALS = re.compile(r"n(ormal)?_?[xyz]", re.IGNORECASE)
# A polynomial of more terms than this, or than a twentieth of the rows, cannot be found.
_MAX_TERMS, _ROWS_PER_TERM = 30, 20
# Rank correlation of the views above which columns without names look like matches.
_CORRELATED = 0.2
_UNIT = 0.02
_SUBSPACES = (1, 2, 3)


@dataclass(frozen=True)
class Candidates:
    """The families to compare, with the reason."""

    families: tuple[ModelFamily, ...]
    """in ascending order of their freedom"""
    kind: str
    """what the rows are taken for"""
    reason: str
    """why, in one sentence"""
    layout: RowLayout | None = None
    """of the null rows; None for tables"""
    class_target: str | None = None
    """the last column of a table, if it looks like a class: its levels are no laws"""

    def null(self, X: Floats, n: int, stream: Stream) -> Floats:
        """Draw n rows like X without structure, the same for all families."""
        if self.layout is SEGMENTS:
            return displaced_rows(X, n, stream)
        if self.layout is not None:
            rows = _with_extents(X) if self.layout.kind == "points" else X
            return null_by_layout(self.layout, rows, n, stream)
        # Half of them with the target of another row, half with every column of another row: laws
        # for the target and dependences of any columns are judged by the same rows.
        target = null_by_layout(RowLayout("table", target=-1), X, n // 2, stream.child("target"))
        every = marginal_by_layout(
            RowLayout(), X, n - n // 2, stream.child("every"), isotropic=False
        )
        return np.concatenate([target, every])


def candidates_for(X: Floats, names: Sequence[str] | None) -> Candidates:
    """The candidates for rows X; names: of the columns, None if they have none."""
    known = None if names is None else [str(name).strip() for name in names]
    if known and say_nothing(known):
        known = None
    maker = {1: _one, 2: _two, 3: _three, 4: _four, 6: _six}.get(X.shape[1], _many)
    return maker(X, known)


def given_candidates(families: Sequence[ModelFamily], X: Floats) -> Candidates:
    """The candidates that a user gives; null rows are those of their common kind."""
    from ..families import layout_of

    layouts = [layout_of(each) for each in families]
    kinds = {layout.kind for layout in layouts}
    kind = " and ".join(sorted(kinds))
    four = X.shape[1] == 4 and kinds <= {"matches", "segments"}
    layout = SEGMENTS if four else None if kinds == {"table"} else layouts[0]
    if len(kinds) > 1 and not four:
        layout = RowLayout()
    return Candidates(tuple(families), kind, "These candidates are compared.", layout)


def _named(*names: str) -> tuple[ModelFamily, ...]:
    return tuple(get_family(name) for name in names)


def _one(X: Floats, names: list[str] | None) -> Candidates:
    raise ValueError(
        "family='auto' needs at least 2 columns; X has 1 feature(s), in which there is no "
        "structure such as a line. Add a column, or pass a family."
    )


def _two(X: Floats, names: list[str] | None) -> Candidates:
    if names is not None and not are_coordinates(names):
        return _table(X, _named_otherwise(names, "coordinates"), names)
    families = _named("line", "circle", "parabola", "polynomial", "ellipse")
    return Candidates(families, "points", "Two columns: taken for points in the plane.", PLANE)


def _three(X: Floats, names: list[str] | None) -> Candidates:
    if names is not None and not are_coordinates(names):
        return _table(X, _named_otherwise(names, "coordinates"), names)
    families = _named("plane", "line", "sphere", "cylinder")
    return Candidates(families, "points", "Three columns: taken for points in space.", SPACE)


def _four(X: Floats, names: list[str] | None) -> Candidates:
    if names is not None and not _is_pair(names, "xy"):
        return _table(X, _named_otherwise(names, "a pair of points"), names)
    if names is None and not _views_agree(X):
        return _table(
            X,
            "Four columns without names, of which the first two hardly depend on the last two: "
            "taken for a table, not for matches.",
            names,
        )
    families = _named(
        "translation", "vanishing_point", "rotation", "similarity", "affine_fundamental",
        "essential", "affinity", "fundamental", "homography",
    )  # fmt: skip
    what = "Four columns" if names is None else f"The columns {_listed(names)}"
    reason = f"{what}: matches or segments, whichever the rows follow more closely."
    return Candidates(families, "matches or segments", reason, SEGMENTS)


def _six(X: Floats, names: list[str] | None) -> Candidates:
    if names is None:
        length = np.sqrt(np.sum(X[:, 3:] ** 2, axis=1))
        oriented = bool(np.all(np.abs(length - 1) < _UNIT))
        pair = not oriented and _views_agree(X)
    else:
        oriented = all(_NORMALS.fullmatch(name) for name in names[3:])
        pair = not oriented and _is_pair(names, "xyz")
    if oriented:
        surfaces = (get_family("cylinder", normals=True), get_family("cone"))
        reason = "The last three columns are normals: taken for oriented points."
        return Candidates(surfaces, "oriented points", reason, ORIENTED)
    if pair:
        families = _named("translation3d", "rigid", "similarity3d")
        reason = "Six columns: taken for matches of two point clouds."
        return Candidates(families, "matches of clouds", reason, CLOUDS)
    return _many(X, names)


def _many(X: Floats, names: list[str] | None) -> Candidates:
    reason = f"{X.shape[1]} columns: taken for a table, the last column for its target."
    return _table(X, reason, names)


def _table(X: Floats, reason: str, names: list[str] | None) -> Candidates:
    found = replace(_laws_and_subspaces(X), reason=reason)
    if (X[0] == X).all(axis=0).any() and X.shape[1] >= 4:
        reason = f"{reason} Subspaces are not compared, since a column is constant."
    if not _is_class(X[:, -1]):
        return replace(found, reason=reason)
    target = "The last column" if names is None else names[-1]
    count = len(np.unique(X[:, -1]))
    reason = (
        f"{reason} {target} has only {count} different values, as a class has, and is not "
        "regressed: leave this column out, or name a family and its target."
    )
    subspaces = [each for each in found.families if each.name == "subspace"]
    # Some family has to be fitted, if only for scores.
    families = tuple(subspaces) or found.families[:1]
    return Candidates(families, "table", reason, class_target=target)


def _with_extents(X: Floats) -> Floats:
    """Rows like those of X whose columns all have an extent: a constant one that of the widest. In
    the box of points on a coordinate axis, all points are on this line."""
    sides = np.ptp(X, axis=0)
    along = np.linspace(-0.5, 0.5, len(X))[:, None] * sides.max()
    return np.where(sides > 0, X, X + along)


def _is_class(values: Floats) -> bool:
    """Whether the values of a target look like the numbers of classes."""
    return is_categorical(values) and bool((values == np.rint(values)).all())


def _laws_and_subspaces(X: Floats) -> Candidates:
    n, d = X.shape
    families = [get_family("linear_regression")]
    if comb(d + 1, 2) <= min(_MAX_TERMS, n / _ROWS_PER_TERM):
        families.append(get_family("polynomial_regression"))
    if (X[0] == X).all(axis=0).any():
        # A constant column adds a dimension that nothing can miss.
        return Candidates(tuple(families), "table", "")
    subspaces = [get_family("subspace", dimension=r) for r in _SUBSPACES if d >= 4 and r < d - 1]
    families += [_in_column_units(each, X) for each in subspaces]
    return Candidates(tuple(families), "table", "")


def _in_column_units(family: ModelFamily, X: Floats) -> ModelFamily:
    """The family with distances in units of the columns, so that none decides by its unit."""
    units = units_of([family], X)
    return family if all(unit == 1 for unit in units) else ScaledFamily(family, units)


def _named_otherwise(names: Sequence[str], what: str) -> str:
    columns = f"The columns {_listed(names)} are not {what}"
    return f"{columns}: taken for a table with the target {names[-1]}."


def _is_pair(names: list[str], axes: str) -> bool:
    """Whether the names are those of two points, such as x1, y1, x2, y2 or start_x, ..."""
    half = len(names) // 2
    plain = [re.sub(r"[a-z]{2,}", "", name.lower()) for name in names]
    letters = ["".join(c for c in name if c in axes) for name in plain]
    return letters[:half] == list(axes) and letters[half:] == list(axes)


def _views_agree(X: Floats) -> bool:
    """Whether the first half of the columns goes along with the second."""
    half = X.shape[1] // 2
    ranks = np.argsort(np.argsort(X, axis=0), axis=0)
    C = np.asarray(np.corrcoef(ranks.T))
    return bool(np.nanmean(np.abs(np.diag(C[:half, half:]))) > _CORRELATED)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
