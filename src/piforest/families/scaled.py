"""A family whose distances are measured column by column, for columns in different units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._registry import overrides_consistently
from ..protocols import Bools, Columns, Floats, ModelFamily, RowLayout
from ._describe import Description
from ._family import Family, Scene
from ._refits import Frame

# Percentiles of a column, whose difference is its spread: a tenth of the values may be anything.
_SPREAD = (10, 90)
_KINDS = ("points", "table")
# Members of a family that exist only if it defines them, and see coordinates.
_OPTIONAL = ("lift", "refit", "outline", "predicted", "reason_to_reject")


@dataclass(frozen=True)
class ScaledFamily(Family):
    """The models of `base` in coordinates that are divided by `units`.

    Rows stay in the units of the data: the family divides them, so that all that uses a family
    needs not know of it. Parameters, residuals and half-widths are in scaled coordinates;
    outlines are in those of the data.
    """

    base: ModelFamily
    units: tuple[float, ...]
    """of each column: the change of its value that counts as 1 in distances"""

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.base.name

    @property
    def layout(self) -> RowLayout:
        return getattr(self.base, "layout", None) or RowLayout()

    @property
    def n_features(self) -> int | None:
        return self.base.n_features

    @property
    def max_models(self) -> int:
        return self.base.max_models

    @property
    def symmetries(self) -> frozenset[str]:
        return self.base.symmetries

    @property
    def scene(self) -> Scene | None:
        return None

    @property
    def chart_wraps(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.base, "chart_wraps", False))

    @property
    def refits_bands(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.base, "refits_bands", True))

    def sample_size(self, d: int) -> int:
        return self.base.sample_size(d)

    def codimension(self, d: int) -> int:
        return self.base.codimension(d)

    def scaled(self, X: Any) -> Any:
        """Rows, samples or corners of a box in scaled coordinates; tensors stay on their device."""
        if isinstance(X, np.ndarray):
            return X / np.array(self.units)
        return X / X.new_tensor(self.units)

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        return self.base.solve(self.scaled(samples))

    def residuals(self, X: Floats, params: Floats) -> Any:
        return self.base.residuals(self.scaled(X), params)

    def formula(self, x: Columns, theta: Columns, xp: Any) -> Any:
        return self.base.formula(self._columns(x), theta, xp)  # type: ignore[attr-defined]

    def chart(self, x: Columns, theta: Columns, xp: Any) -> tuple[Any, ...]:
        if not isinstance(self.base, Family):
            return ()
        return self.base.chart(self._columns(x), theta, xp)

    def coordinates(self, X: Floats, params: Floats) -> list[Floats]:
        if not isinstance(self.base, Family):
            return []
        return self.base.coordinates(self.scaled(X), params)

    def residuals_to(self, params: Floats, d: int) -> Callable[[Floats], Any]:
        return self._scaling("residuals", params, d)

    def coordinates_to(self, params: Floats, d: int) -> Callable[[Floats], list[Floats]]:
        return self._scaling("coordinates", params, d)

    def _scaling(self, name: str, params: Floats, d: int) -> Callable[[Floats], Any]:
        if not isinstance(self.base, Family):
            return lambda X: getattr(self, name)(X, params)
        function = getattr(self.base, f"{name}_to")(params, d)
        return lambda X: function(self.scaled(X))

    def null_rows(self, X: Floats, n: int, stream: Any) -> Floats:
        from . import null_rows

        rows = null_rows(self.base, self.scaled(X), n, stream)
        return np.asarray(rows * np.array(self.units))

    def describe(self, params: Floats, names: Sequence[str], digits: int = 4) -> Description:
        """In the columns of the data, if the family can; else in scaled ones, which the names
        say: "y/1000"."""
        params, names = self._in_data(params, names)
        if not hasattr(self.base, "describe"):
            return super().describe(params, names, digits)
        found: Description = self.base.describe(params, names, digits)
        return found

    def covered_part(self, params: Floats, X: Floats, names: Sequence[str]) -> dict[str, Any]:
        """In the same columns."""
        own = getattr(self.base, "covered_part", super().covered_part)
        rows = X if hasattr(self.base, "unscaled_params") else self.scaled(X)
        params, names = self._in_data(params, names)
        found: dict[str, Any] = own(params, rows, names)
        return found

    def _in_data(self, params: Floats, names: Sequence[str]) -> tuple[Floats, Sequence[str]]:
        """Parameters without units, and the names of the columns that they are about."""
        if hasattr(self.base, "unscaled_params"):
            return self.base.unscaled_params(params, np.array(self.units)), names
        return params, [f"{n}/{u:.12g}" if u != 1 else n for n, u in zip(names, self.units)]

    def extent(self, X: Floats) -> float:
        """Of the scaled rows."""
        from . import extent

        return extent(self.base, self.scaled(X))

    def __getattr__(self, name: str) -> Any:
        """Members that a family may lack, or that do not depend on coordinates."""
        if name.startswith("__") or name == "base":  # not set yet while a pickle is read
            raise AttributeError(name)
        own = getattr(self.base, name)
        return getattr(self, f"_{name}") if name in _OPTIONAL else own

    def _columns(self, x: Columns) -> list[Any]:
        return [column / unit for column, unit in zip(x, self.units)]

    def _predicted(self, X: Floats, params: Floats) -> Floats:
        predicted = self.base.predicted(self.scaled(X), params)  # type: ignore[attr-defined]
        return np.asarray(predicted * self.units[self.layout.target or 0])

    def _reason_to_reject(self, X: Floats) -> str | None:
        return self.base.reason_to_reject(self.scaled(X))  # type: ignore[attr-defined, no-any-return]

    def _lift(self, Z: Floats) -> Floats:
        # The frame divides by the units, see `piforest.models.refit.normalisation`.
        return self.base.lift(Z)  # type: ignore[attr-defined, no-any-return]

    def _refit(self, S: Floats, frame: Frame) -> tuple[Floats, Bools]:
        scaled = Frame(self.scaled(frame.centre), self.scaled(frame.scale))
        return self.base.refit(S, scaled)  # type: ignore[attr-defined, no-any-return]

    def _outline(self, params: Floats, low: Floats, high: Floats) -> list[Floats]:
        lines = self.base.outline(params, self.scaled(low), self.scaled(high))  # type: ignore[attr-defined]
        units = np.array(self.units)
        return [np.asarray(line) * units[: np.shape(line)[1]] for line in lines]


def scaled_rows(family: ModelFamily, X: Floats) -> Floats:
    """Rows in the coordinates in which a family measures distances."""
    return np.asarray(family.scaled(X)) if isinstance(family, ScaledFamily) else X


def unscaled(family: ModelFamily) -> ModelFamily:
    """The family itself, without units."""
    return family.base if isinstance(family, ScaledFamily) else family


def without_constants(family: ModelFamily, X: Floats) -> ModelFamily:
    """The family without features that are constant in the rows of X, if it has features."""
    if isinstance(family, ScaledFamily):
        return replace(family, base=without_constants(family.base, X))
    known = hasattr(family, "without_constants")
    return family.without_constants(X) if known else family  # type: ignore[no-any-return, attr-defined]


def has_formula(family: ModelFamily) -> bool:
    """Whether the formula of a family agrees with its residuals, so that devices can use it."""
    return overrides_consistently(type(unscaled(family)), "formula", "residuals")


def column_units(family: ModelFamily, d: int) -> Floats:
    """(d,) the change of each column that counts as 1 in distances; 1 without scaling."""
    return np.array(family.units) if isinstance(family, ScaledFamily) else np.ones(d)


def units_of(families: Sequence[ModelFamily], X: Floats) -> tuple[float, ...]:
    """The unit of each column of X: a power of ten, near its spread relative to the spread of the
    reference, which is the target of a table, or the first column that is not constant.

    Units differ by powers of ten as a rule. Other factors would change the shape of structures:
    circles would become ellipses where one column is spread more than the other.

    Raises
    ------
    ValueError
        If the columns of a family have one unit by definition.
    """
    targets = []
    for family in families:
        layout: RowLayout = getattr(family, "layout", None) or RowLayout()
        if layout.kind not in _KINDS:
            raise ValueError(
                f"scale_columns=True does not apply to family {family.name!r}: the columns of "
                f"{layout.kind}, {layout.brief}, have one unit by definition, and scaling some of "
                "them would change angles and distances. Convert the columns to one unit instead."
            )
        targets += [] if layout.target is None else [layout.target % X.shape[1]]
    spread = _spreads(X)
    # A constant target is an error, which the family reports.
    known = [k for k in [*targets, *range(X.shape[1])] if spread[k] > 0]
    reference = spread[known[0]] if known else 1.0
    powers = np.round(np.log10(np.where(spread > 0, spread, reference) / reference))
    return tuple(10.0 ** float(power) for power in powers)


def _spreads(X: Floats) -> Floats:
    """(d,) robust; the standard deviation if most values of a column are equal."""
    low, high = np.percentile(X, _SPREAD, axis=0)
    return np.asarray(np.where(high > low, high - low, np.std(X, axis=0)))
