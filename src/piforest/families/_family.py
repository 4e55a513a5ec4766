"""Row layouts, synthetic scenes and the base class of families."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, ClassVar

import numpy as np

from .._random import Stream
from ..protocols import Columns, Floats, RowLayout
from ..typing import RandomStateLike
from ._describe import Description, hull, scaled_matrix, vector, with_matrix
from ._formula import chart_dimension, compiled_coordinate, compiled_formula, residuals_of
from ._null import null_by_layout

PLANE = RowLayout("points", ("x", "y"))
SPACE = RowLayout("points", ("x", "y", "z"))
ORIENTED = RowLayout("oriented points", ("x", "y", "z", "nx", "ny", "nz"))
IMAGES = RowLayout("matches", ("x1", "y1", "x2", "y2"), views=((0, 1), (2, 3)))
CLOUDS = RowLayout("matches", ("x", "y", "z", "x'", "y'", "z'"), views=((0, 1, 2), (3, 4, 5)))
SEGMENTS = RowLayout("segments", ("x1", "y1", "x2", "y2"))


@dataclass(frozen=True)
class Scene:
    """A synthetic data set with ground truth on which a family is shown and tested.

    Parameters
    ----------
    maker : str or function
        The name of a function of `piforest.datasets`, or a function with the same options.
    n_structures : int
        The number of structures in the scene.
    about : str
        A short description of the structures, for captions.
    options : mapping
        Further options of the maker. `anomaly_share` is 0.4 if it is not given.
    columns : tuple of int or None
        The columns that plots show. If None, all columns.
    sigma_ratio : float
        The ratio of sigma to the noise, for residuals that combine several coordinates.

    Examples
    --------
    >>> from piforest.families import get_family
    >>> scene = get_family("circle").scene
    >>> scene.about, scene.make(random_state=0).data.shape
    ('three circles', (500, 2))
    """

    maker: str | Callable[..., Any]
    n_structures: int
    about: str
    options: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[int, ...] | None = None
    sigma_ratio: float = 1.0

    @property
    def function(self) -> Callable[..., Any]:
        """The function that draws the scene."""
        if callable(self.maker):
            return self.maker
        from .. import datasets

        function: Callable[..., Any] = getattr(datasets, self.maker)
        return function

    def make(self, random_state: RandomStateLike = None, **changes: Any) -> Any:
        """Draw the data set, a Bunch with data, target and sigma; `changes` override options."""
        usual = {"n_structures": self.n_structures, "anomaly_share": 0.4}
        options = {**usual, **self.options, **changes}
        made = self.function(random_state=random_state, **options)
        noise = options.get("noise", signature(self.function).parameters["noise"].default)
        made.setdefault("sigma", noise)
        made["sigma"] *= self.sigma_ratio
        return made

    def on_one_model(self, n: int = 40, random_state: RandomStateLike = 0) -> Floats:
        """Draw n rows that lie exactly on one model."""
        options = {"n_structures": 1, "sizes": n, "anomaly_share": 0.0}
        parameters = signature(self.function).parameters
        noises = {name: 0.0 for name in parameters if name.endswith("noise")}
        return np.asarray(self.make(random_state, **options, **noises).data)


class Family:
    """Base class of families whose residuals are given by one formula, for all devices.

    A subclass defines `name`, `n_points` (the size of a minimal sample), `solve` and `formula`,
    and overrides other members where necessary. See `piforest.protocols.ModelFamily`.

    On the CPU, a formula is compiled if it uses arithmetic, comparisons, `abs`, `xp.sqrt` and
    `xp.where` only; any other formula is evaluated by NumPy.
    """

    name: ClassVar[str]
    n_points: ClassVar[int]
    # Whether the first coordinate of the chart is periodic, from 0 to 4.
    chart_wraps: ClassVar[bool] = False
    # Whether models stay models of the family if columns are scaled by different factors.
    scales_by_column: ClassVar[bool] = False
    # Whether models are refitted to their bands, if there are `lift` and `refit`.
    refits_bands: ClassVar[bool] = True

    # For families with `matrices`: the name of the matrix, the equation with it, and whether it is
    # known up to a factor.
    matrix_name: ClassVar[str] = "M"
    matrix_equation: ClassVar[str] = ""
    matrix_up_to_scale: ClassVar[bool] = False

    @property
    def layout(self) -> RowLayout:
        """The meaning of the columns."""
        return RowLayout()

    @property
    def n_features(self) -> int | None:
        """The number of columns, or None if any number is allowed."""
        return None if self.layout.columns is None else len(self.layout.columns)

    @property
    def max_models(self) -> int:
        """The largest number of models of one minimal sample."""
        return 1

    @property
    def symmetries(self) -> frozenset[str]:
        """The transformations that leave the residuals unchanged."""
        return frozenset({"translation", "rotation", "scale"})

    @property
    def scene(self) -> Scene | None:
        """A synthetic scene that shows the family."""
        return None

    def sample_size(self, d: int) -> int:
        """The number of points in a minimal sample, for d columns."""
        return self.n_points

    def codimension(self, d: int) -> int:
        """Columns minus the dimension of a structure."""
        return 1

    def residuals(self, X: Floats, params: Floats) -> Any:
        """Distances (n, m) of rows (n, d) to models (m, p). Tensors stay on their device."""
        if not isinstance(X, np.ndarray):
            return residuals_of(self, X, params)
        return self._by_formula(params, X.shape[1])(X)

    def residuals_to(self, params: Floats, d: int) -> Callable[[Floats], Any]:
        """`residuals` to these models (m, p) as a function of rows of d columns: what depends on
        the models alone is computed once for many blocks of rows."""
        if type(self).residuals is not Family.residuals:
            return lambda X: self.residuals(X, params)
        return self._by_formula(params, d)

    def _by_formula(self, params: Floats, d: int) -> Callable[[Floats], Any]:
        theta = _columns_of(self, params)
        fast = compiled_formula(self, d, len(theta))
        if fast is None:
            return lambda X: residuals_of(self, X, params)
        return lambda X: _filled(fast, np.ascontiguousarray(X, np.float64), theta)

    def chart(self, x: Columns, theta: Columns, xp: Any) -> tuple[Any, ...]:
        """The position of points on models: one or two coordinates, with the operations of
        formulas. Empty if models of the family are not bounded."""
        return ()

    def coordinates(self, X: Floats, params: Floats) -> list[Floats]:
        """The coordinates of the chart, each (n, m), of rows (n, d) and models (m, p)."""
        return self._on_charts(params, X.shape[1])(X)

    def coordinates_to(self, params: Floats, d: int) -> Callable[[Floats], list[Floats]]:
        """`coordinates` on these models (m, p) as a function of rows of d columns."""
        if type(self).coordinates is not Family.coordinates:
            return lambda X: self.coordinates(X, params)
        return self._on_charts(params, d)

    def _on_charts(self, params: Floats, d: int) -> Callable[[Floats], list[Floats]]:
        theta = _columns_of(self, params)
        charts = [
            compiled_coordinate(self, d, len(theta), number)
            for number in range(chart_dimension(self, d, len(theta)))
        ]

        def coordinates(X: Floats) -> list[Floats]:
            X = np.ascontiguousarray(X, np.float64)
            return [_filled(chart, X, theta) for chart in charts]

        return coordinates

    def matrix(self, params: Floats) -> Floats:
        """The matrix of one model (p,), scaled as OpenCV does if it is known up to a factor."""
        matrices = getattr(self, "matrices", None)
        if matrices is None:
            raise AttributeError(f"family {self.name!r} has no matrix; see params.")
        M = np.asarray(matrices(params[None])[0])
        return scaled_matrix(M) if self.matrix_up_to_scale else M

    def describe(self, params: Floats, names: Sequence[str], digits: int = 4) -> Description:
        """One model (p,) as named numbers and a line of text with so many significant digits;
        names: of the columns. The default is the matrix, or the parameters as they are."""
        if hasattr(self, "matrices"):
            return with_matrix(self.matrix_name, self.matrix_equation, self.matrix(params), digits)
        return Description({"params": params.tolist()}, f"params = {vector(params, digits)}")

    def covered_part(self, params: Floats, X: Floats, names: Sequence[str]) -> dict[str, Any]:
        """The part of one model (p,) that rows X (n, d) on it cover, as named numbers. The default
        is the convex hull in each image for matches, else nothing."""
        views = [view for view in self.layout.views if len(view) == 2]
        hulls = {f"hull{k}": hull(X[:, list(view)]) for k, view in enumerate(views, 1)}
        return {name: corners for name, corners in hulls.items() if corners is not None}

    def null_rows(self, X: Floats, n: int, stream: Stream) -> Floats:
        """Draw n rows that resemble those of X, but have no structure."""
        return null_by_layout(self.layout, X, n, stream)


def _columns_of(family: Family, params: Floats) -> Floats:
    """The parameters of the formula, by columns."""
    prepared = getattr(family, "prepared", None)
    return np.ascontiguousarray((params if prepared is None else prepared(params)).T)


def _filled(function: Callable[..., None], X: Floats, theta: Floats) -> Floats:
    out = np.empty((len(X), theta.shape[1]))
    function(X, theta, out)
    return out
