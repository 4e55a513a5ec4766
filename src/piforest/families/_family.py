"""What a family declares: rows, scene, and a base class for the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, ClassVar

import numpy as np

from .._random import Stream
from ..protocols import Floats, RowLayout
from ..typing import RandomStateLike
from ._formula import compiled_formula, residuals_of
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
        A function of `piforest.datasets`, by its name, or one with the same options.
    n_structures : int
        How many structures the scene holds.
    about : str
        What they are, for captions.
    options : mapping
        Other options of the maker; 40 % of the rows are anomalies without `anomaly_share`.
    columns : tuple of int or None
        Which columns are drawn; None: all.
    spread : float
        sigma over the noise, where residuals are made of several coordinates.

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
    spread: float = 1.0

    @property
    def function(self) -> Callable[..., Any]:
        """What draws the scene."""
        if callable(self.maker):
            return self.maker
        from .. import datasets

        function: Callable[..., Any] = getattr(datasets, self.maker)
        return function

    def make(self, random_state: RandomStateLike = None, **changes: Any) -> Any:
        """The data set, a Bunch with data, target and sigma; `changes` replace options."""
        usual = {"n_structures": self.n_structures, "anomaly_share": 0.4}
        options = {**usual, **self.options, **changes}
        made = self.function(random_state=random_state, **options)
        noise = options.get("noise", signature(self.function).parameters["noise"].default)
        made.setdefault("sigma", noise)
        made["sigma"] *= self.spread
        return made

    def on_one_model(self, n: int = 40, random_state: RandomStateLike = 0) -> Floats:
        """(n, d) rows that lie exactly on one model."""
        options = {"n_structures": 1, "sizes": n, "anomaly_share": 0.0}
        parameters = signature(self.function).parameters
        noises = {name: 0.0 for name in parameters if name.endswith("noise")}
        return np.asarray(self.make(random_state, **options, **noises).data)


class Family:
    """A family whose residuals are given by one formula, for the CPU and for other devices.

    A subclass has `name`, `n_points` (of a minimal sample), `solve` and `formula`, and replaces
    what does not hold for it of the rest. See `piforest.protocols.ModelFamily`.

    On the CPU a formula of arithmetic, comparisons, `abs`, `xp.sqrt` and `xp.where` is compiled;
    one that needs more is evaluated by NumPy.
    """

    name: ClassVar[str]
    n_points: ClassVar[int]

    @property
    def layout(self) -> RowLayout:
        """What the columns of a row are."""
        return RowLayout()

    @property
    def n_features(self) -> int | None:
        """The number of columns; None for any."""
        return None if self.layout.columns is None else len(self.layout.columns)

    @property
    def max_models(self) -> int:
        """The largest number of models of one minimal sample."""
        return 1

    @property
    def symmetries(self) -> frozenset[str]:
        """What the residuals are invariant under."""
        return frozenset({"translation", "rotation", "scale"})

    @property
    def scene(self) -> Scene | None:
        """A synthetic scene that shows the family."""
        return None

    def sample_size(self, d: int) -> int:
        """Points of a minimal sample in d columns."""
        return self.n_points

    def codimension(self, d: int) -> int:
        """Columns minus the dimension of a structure."""
        return 1

    def residuals(self, X: Floats, params: Floats) -> Any:
        """(n, d), (m, p) to distances (n, m); tensors to tensors on their own device."""
        if not isinstance(X, np.ndarray):
            return residuals_of(self, X, params)
        prepared = getattr(self, "prepared", None)
        theta = np.ascontiguousarray((params if prepared is None else prepared(params)).T)
        fast = compiled_formula(self, X.shape[1], len(theta))
        if fast is None:
            return residuals_of(self, X, params)
        out = np.empty((len(X), len(params)))
        fast(np.ascontiguousarray(X, np.float64), theta, out)
        return out

    def null_rows(self, X: Floats, n: int, stream: Stream) -> Floats:
        """(n, d) rows like those of X, but without structure."""
        return null_by_layout(self.layout, X, n, stream)
