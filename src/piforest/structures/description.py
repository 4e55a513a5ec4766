"""A structure and what it is for a reader: named parameters, an equation, the part that points
cover."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._numbers import readable
from ..bands.noise import CORE, in_sigmas, robust_sigma
from ..families import layout_of
from ..families._describe import Description, vector
from ..protocols import Floats, Ints, ModelFamily

# A sigma below this share of the half-width is due to rounding errors.
EXACT = 1e-6
# Significant digits of an equation.
_DIGITS, _MOST_DIGITS = 4, 15


@dataclass(frozen=True, repr=False)
class Structure:
    """One structure of the data.

    Attributes
    ----------
    family : ModelFamily
        The family of the structure.
    params : ndarray of shape (p,)
        The parameters of the model, as the family defines them.
    half_width : float
        Half the width of its band, in the units of the data; about two sigmas.
    log_ratio : float
        The log-likelihood ratio of its points with and without the structure.
    members : ndarray of int
        The training rows that belong to it (of a random 50,000, if there are more).
    sigma : float
        The noise: the standard deviation of its points about it, estimated robustly from the median
        of their residuals.
    names : tuple of str
        The names of the columns.
    extent : dict
        The part of the model that its members cover: "bounds", the range of each column, and by
        family "ends" and "length" of a segment, "angles" of an arc in degrees, "hull" and
        "corners" of a patch, or the hull in each image. It is empty if there are no members.
    """

    family: ModelFamily
    params: Floats
    half_width: float
    log_ratio: float
    members: Ints
    sigma: float
    names: tuple[str, ...] = ()
    extent: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"Structure({self.family.name}, {self.support} points, half-width "
            f"{readable(self.half_width)}, log ratio {self.log_ratio:.4g})"
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name: centre and radius, normal and offset, coefficients by column."""
        return self._description().parameters

    @property
    def equation(self) -> str:
        """The model as a line of text, with enough digits for the noise."""
        return self._description().equation

    @property
    def matrix(self) -> Floats:
        """The homography, the fundamental matrix or another matrix of the family.

        It is scaled as in OpenCV: the last entry of a homography or a fundamental matrix is 1.
        """
        found = self.matrix_or_none
        if found is None:
            raise AttributeError(f"family {self.family.name!r} has no matrix; see params.")
        return found

    @property
    def matrix_or_none(self) -> Floats | None:
        """`matrix`, or None if the family has none."""
        if not hasattr(self.family, "matrices"):
            return None
        own = getattr(self.family, "matrix", None)
        if own is None:
            return np.asarray(self.family.matrices(self.params[None])[0])
        return np.asarray(own(self.params))

    def _description(self) -> Description:
        params, d = np.asarray(self.params), getattr(self.family, "n_features", None)
        names = self.names or (() if d is None else column_names(self.family, d))
        if not names:  # the number of columns is not known
            return _as_they_are(params, _DIGITS)
        return describe(self.family, params, names, digits_for(self.extent, self.sigma))

    def as_dict(self) -> dict[str, Any]:
        """The structure as plain values, the same in JSON, reports and explanations.

        Returns
        -------
        dict
            family, equation, parameters, matrix if there is one, extent, members (their number),
            sigma, half_width, log_ratio and params.

        Examples
        --------
        >>> from piforest import PreferenceIsolationForest
        >>> from piforest.datasets import make_lines
        >>> X = make_lines(1, noise=0.01, anomaly_share=0.3, random_state=0).data
        >>> line = PreferenceIsolationForest("line", random_state=0).fit(X).structures_[0].as_dict()
        >>> line["equation"]
        '0.9067 x + 0.4217 y = 0.05332'
        """
        matrix = {} if self.matrix_or_none is None else {"matrix": self.matrix.tolist()}
        return {
            "family": self.family.name,
            "equation": self.equation,
            "parameters": self.parameters,
            **matrix,
            "extent": self.extent,
            "members": self.support,
            "sigma": float(self.sigma),
            "half_width": float(self.half_width),
            "log_ratio": float(self.log_ratio),
            "params": [float(value) for value in self.params],
        }

    def with_description(self, X: Floats, names: tuple[str, ...]) -> Structure:
        """The same structure with names of its columns and the extent of its members X."""
        extent = extent_of(self.family, np.asarray(self.params), X, names)
        return replace(self, names=names, extent=extent)

    def with_members(self, members: Ints) -> Structure:
        """The same structure with other members."""
        return replace(self, members=members)

    def with_noise(self, X: Floats, members: Ints, raw: Floats | None = None) -> Structure:
        """The same structure with these rows of X as members, and their noise; raw: the rows
        without dither, if they are rounded."""
        r, c = self.residuals(X[members]), self.family.codimension(X.shape[1])
        sigma = robust_sigma(r, self.half_width, c)
        if raw is not None:
            # The median of rounded values is one of few levels, their mean square is not.
            core = raw[members][r <= in_sigmas(CORE, c) * sigma]
            sigma = float(np.sqrt(np.mean(self.residuals(core) ** 2) / c)) if len(core) else sigma
        # Of points that lie exactly on it, the noise is not known.
        known = sigma > EXACT * self.half_width
        return replace(self, members=members, sigma=sigma if known else self.half_width / 2)

    @property
    def support(self) -> int:
        """The number of members."""
        return len(self.members)

    def residuals(self, X: Floats) -> Floats:
        """(n,) the distances of the rows of X to the structure."""
        return np.asarray(self.family.residuals(X, self.params[None])[:, 0])


def column_names(family: ModelFamily, d: int) -> tuple[str, ...]:
    """The usual names of d columns: those of the family's layout, x, y, z, or numbered ones."""
    usual = layout_of(family).columns
    if usual is not None and len(usual) == d:
        return usual
    return ("x", "y", "z")[:d] if d <= 3 else tuple(f"x{k}" for k in range(d))


def describe(family: ModelFamily, params: Floats, names: Sequence[str], digits: int) -> Description:
    """Named parameters and an equation, by the family's own `describe` if it has one."""
    own = getattr(family, "describe", None)
    if own is not None:
        return Description(*own(params, names, digits))
    return _as_they_are(params, digits)


def _as_they_are(params: Floats, digits: int) -> Description:
    return Description({"params": params.tolist()}, f"params = {vector(params, digits)}")


def extent_of(
    family: ModelFamily, params: Floats, X: Floats, names: Sequence[str]
) -> dict[str, Any]:
    """The part of a model that the rows X cover: by the family's own `covered_part`, and the range
    of each column."""
    own = getattr(family, "covered_part", None)
    part: dict[str, Any] = {} if own is None or not len(X) else dict(own(params, X, names))
    if len(X):
        low, high = X.min(axis=0).tolist(), X.max(axis=0).tolist()
        part["bounds"] = {name: [a, b] for name, a, b in zip(names, low, high)}
    return part


def digits_for(extent: Mapping[str, Any], sigma: float) -> int:
    """Significant digits that keep an equation's rounding below the noise: more than four far from
    the origin, as on maps."""
    bounds = extent.get("bounds", {})
    largest = max((abs(end) for ends in bounds.values() for end in ends), default=0.0)
    if not (largest > 0 and sigma > 0):
        return _DIGITS
    # Half a unit of the last digit, times the largest coordinate, is below a fifth of sigma.
    return min(max(_DIGITS, math.ceil(1.4 + math.log10(largest / sigma))), _MOST_DIGITS)
