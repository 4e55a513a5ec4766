"""Protocols of families, samplers, kernels, metrics and forests.

Write a class with these members and pass an instance in place of a built-in name.
`piforest.checks` tests the requirements that signatures cannot express.

Letters in shapes, in the whole package: n points, d columns, s samples, k points in a minimal
sample, q models per sample, m models, p parameters, t trees, b branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ._random import Stream

__all__ = [
    "Bools",
    "Columns",
    "Floats",
    "Forest",
    "Ints",
    "Kernel",
    "Metric",
    "ModelFamily",
    "RowLayout",
    "Sampler",
    "Stream",
]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
# Arrays of one namespace: NumPy or torch.
Columns = Sequence[Any]


@dataclass(frozen=True)
class RowLayout:
    """The meaning of the columns of a row.

    Parameters
    ----------
    kind : {"points", "oriented points", "matches", "segments", "table"}
        Coordinates; coordinates and a normal; the positions of a point in two images or two
        clouds; the end points of a segment; or features and a target.
    columns : tuple of str or None
        The usual names of the columns. If None, the number of columns is free.
    views : tuple of tuples of int
        The columns of each group with its own coordinate system, such as the two images of a
        match. If empty, all columns form one group.
    target : int or None
        The index of the column of a table that the others predict.
    hint : str
        How to choose another layout by an option; messages append it to the columns.

    Examples
    --------
    >>> print(RowLayout("points", ("x", "y")))
    (x, y)
    """

    kind: Literal["points", "oriented points", "matches", "segments", "table"] = "points"
    columns: tuple[str, ...] | None = None
    views: tuple[tuple[int, ...], ...] = ()
    target: int | None = None
    hint: str = ""

    def __post_init__(self) -> None:
        if self.kind == "matches" and len(self.views) < 2:
            raise ValueError(
                "a layout of matches needs views, the columns of each image or cloud, such as "
                f"((0, 1), (2, 3)), got {self.views!r}."
            )

    @property
    def brief(self) -> str:
        """The columns alone."""
        if self.columns is None:
            return "features and a target" if self.kind == "table" else "coordinates"
        return f"({', '.join(self.columns)})"

    def __str__(self) -> str:
        """The text that follows "rows" in messages."""
        of = "of " if self.columns is None else ""
        ends = ", the ends of a segment" if self.kind == "segments" else ""
        return f"{of}{self.brief}{ends}{self.hint}"


@runtime_checkable
class ModelFamily(Protocol):
    """A family of parametric models: stateless, hashable, configured by `__init__` only.

    The base class `piforest.families.Family` implements most members; its use is optional. These
    members are optional, too:

    - `layout`, a `RowLayout`: the meaning of the columns. The default is points.
    - `reason_to_reject(X)`: a sentence that explains why the family cannot be used for these rows,
      or None. `fit` raises it as an error. The number of columns has been checked before.
    - `extent(X)`: a robust size of the data in the units of the residuals. The default is
      computed from distances between points.
    - `exact`: whether a model goes through its own minimal sample. The default is True; it is
      False for a family that averages over its sample, or learns from it.
    - `slow_calls`: True if a call of `residuals` has a large overhead, such as a loop over the
      models in Python. It is then called with at least 256 rows.
    - `outline(params, low, high)`: the lines that draw one model (p,), a list of arrays (., d) of
      points on it, within the box from low to high (d,); nan breaks a line.
    - `formula(x, theta, xp)`: the residuals (n, m) for arrays of any namespace. x are the d
      columns (n, 1) of the points, theta the columns (1, m) of the parameters, xp is the module
      numpy or torch. It uses elementwise operations only, in either precision: no loops over
      values, and `xp.where` instead of branches. It agrees with `residuals`.
    - `prepared(params)`: converts (m, p) to (m, p'), the columns of which `formula` receives:
      quantities that depend on the parameters only, such as an inverse, computed once in NumPy.
      The default is the parameters.
    - `null_rows(X, n, stream)`: n rows that resemble those of X, but have no structure. The
      default depends on the layout, see `piforest.families.null_rows`.
    - `lift(Z)` and `refit(S, frame)`: refit models to the points of their bands. `lift` returns the
      coordinates (n, L) of normalised rows Z (n, d) in which the models are linear; `refit`
      converts sums of weighted products of these coordinates, S (m, L, L), to parameters (m, p)
      in the units of X and a mask (m,) of the valid models. `frame`, a `piforest.families.Frame`,
      has the normalisation. The default is to keep the models of minimal samples.
    - `refits_bands`: False if models are not refitted, although there are `lift` and `refit`.
    - `chart(x, theta, xp)`: one or two coordinates (n, m) of points on models, as a tuple, by the
      operations of a formula that is compiled. Models are then bounded to where their points are.
      Only for subclasses of `piforest.families.Family`. An empty tuple, the default: no bounds.
    - `chart_wraps`: True if the first coordinate of the chart is periodic, from 0 to 4.
    - `describe(params, names, digits)`: one model (p,) for a reader, a pair of a dict of named
      parameters and an equation, one line of text with so many significant digits; names (d,): of
      the columns. The default is the parameters as they are.
    - `covered_part(params, X, names)`: the part of one model (p,) that the rows X (n, d) on it
      cover, as a dict of plain values, such as the end points of a segment. The default is the
      range of each column.
    - `scene`, a `piforest.families.Scene`: a synthetic data set with ground truth.
    """

    @property
    def name(self) -> str:
        """The name in the registry, for messages."""
        ...

    @property
    def n_features(self) -> int | None:
        """The number of columns, or None for any number with a codimension of at least 1."""
        ...

    @property
    def max_models(self) -> int:
        """The largest number q of models that one minimal sample determines."""
        ...

    @property
    def symmetries(self) -> frozenset[str]:
        """The invariances of the residuals, among "translation", "rotation" and "scale"."""
        ...

    def sample_size(self, d: int) -> int:
        """The number k of points in a minimal sample, for d columns."""
        ...

    def codimension(self, d: int) -> int:
        """Columns minus the dimension of a structure: line d - 1, homography 2, fundamental 1."""
        ...

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        """Parameters (s, q, p) and valid (s, q) of samples (s, k, d).

        A degenerate sample is not an error: its models are not valid.
        """
        ...

    def residuals(self, X: Floats, params: Floats) -> Floats:
        """Distances (n, m) >= 0 of points (n, d) to models (m, p), in the units of X, not squared.

        Row i of the result depends on row i of X only. Infinity is allowed, NaN is not.
        """
        ...


@runtime_checkable
class Sampler(Protocol):
    """A rule that draws minimal samples.

    One member is optional: `needs`, a tuple with the arguments that `draw` requires, "quality",
    "groups" or both.
    """

    @property
    def name(self) -> str:
        """The name in the registry, for messages."""
        ...

    def draw(
        self,
        X: Floats,
        size: int,
        n_samples: int,
        stream: Stream,
        *,
        quality: Floats | None = None,
        groups: Ints | None = None,
    ) -> Ints:
        """Row indices (n_samples, size), distinct in each sample; sample i depends on (stream, i)
        only."""
        ...


@runtime_checkable
class Kernel(Protocol):
    """The preference of a point for a model at distance r."""

    @property
    def cutoff(self) -> float:
        """The residual, in sigmas, beyond which the preference is 0."""
        ...

    def __call__(self, r: Floats, sigma: Floats) -> Floats:
        """Preferences in [0, 1], elementwise and not increasing in r."""
        ...


@runtime_checkable
class Metric(Protocol):
    """A distance between rows.

    Two members are optional. `rows(X)` converts a dense array, a SciPy sparse matrix or sparse
    preferences to the input of `pairwise`; the default is a dense array. `prepare(B)` computes
    once what `pairwise` needs for a pool.
    """

    @property
    def name(self) -> str:
        """The name in the registry, for messages."""
        ...

    @property
    def empty_rows(self) -> bool:
        """Whether a row of zeros means "no preference": True for tanimoto, False for euclidean."""
        ...

    def pairwise(self, A: Any, B: Any) -> Floats:
        """Distances (a, c) between rows (a, .) and (c, .); each depends on its two rows only."""
        ...


@runtime_checkable
class Forest(Protocol):
    """Trees over a pool of points that use distances only."""

    @property
    def normaliser(self) -> float:
        """The normaliser of the score: 2 ** (-mean path length / normaliser)."""
        ...

    def grow(self, D: Floats, stream: Stream, trees: range) -> Forest:
        """Grow these trees. D is (pool, pool); tree i depends on (stream, i) and D only."""
        ...

    def path_lengths(self, D: Floats) -> Floats:
        """Path lengths (rows, t) from D (rows, pool); row i depends on row i of D only."""
        ...
