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
    """What the columns of a row are.

    Parameters
    ----------
    kind : {"points", "oriented points", "matches", "segments", "table"}
        Coordinates; coordinates and a normal; the places of one point in two images or two
        clouds; the two ends of a segment; or features and a target.
    columns : tuple of str or None
        Their usual names; None: any number of columns.
    views : tuple of tuples of int
        The columns of each group that moves on its own, as the two images of a match do. Empty:
        all columns are one group.
    target : int or None
        The number of the column that the others explain, in a table.
    hint : str
        How to ask the family for other rows; follows the columns in messages.

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
        """What follows "rows" in a sentence."""
        of = "of " if self.columns is None else ""
        ends = ", the ends of a segment" if self.kind == "segments" else ""
        return f"{of}{self.brief}{ends}{self.hint}"


@runtime_checkable
class ModelFamily(Protocol):
    """A family of parametric models: stateless, hashable, configured by `__init__` alone.

    `piforest.families.Family` is a base class that has most of them; nobody has to use it. These
    members are optional:

    - `layout`, a `RowLayout`: what the columns of a row are. Points without it.
    - `complaint(X)`: None, or a sentence that says why these rows, though there are enough
      columns, are not what the family takes. It becomes the error that `fit` raises.
    - `extent(X)`: a robust size of the data in the units of the residuals;
      `piforest.families.extent` is used without it.
    - `exact`: does a model go through its own minimal sample? True without it; False for a
      family that averages over its sample, or learns from it.
    - `slow_calls`: True where a call of `residuals` costs much however few the rows are, a loop
      over the models in Python say; it is then called with 256 rows at once, not fewer.
    - `outline(params, low, high)`: one model (p,) as lines to draw, a list of arrays (., d) of
      points on it, within the box from low to high (d,); nan breaks a line.
    - `formula(x, theta, xp)`: the residuals (n, m) for arrays of any namespace: x are the d
      columns (n, 1) of the points, theta the columns (1, m) of the parameters, xp the namespace,
      the module numpy or torch. Elementwise operations only, in either precision: no loops over
      values, no decisions but by `xp.where`. Agrees with `residuals`.
    - `prepared(params)`: (m, p) to (m, p'), what depends on the parameters alone (an inverse),
      computed once in NumPy; `formula` gets the columns of this. The parameters without it.
    - `null_rows(X, n, stream)`: n rows like those of X but without structure;
      `piforest.families.null_rows` is used without it.
    - `scene`, a `piforest.families.Scene`: a synthetic data set with ground truth.
    """

    @property
    def name(self) -> str:
        """As in the registry, for messages."""
        ...

    @property
    def n_features(self) -> int | None:
        """Columns it needs; None: any number that leaves a codimension of at least 1."""
        ...

    @property
    def max_models(self) -> int:
        """q: the most models that one minimal sample can give."""
        ...

    @property
    def symmetries(self) -> frozenset[str]:
        """Of "translation", "rotation", "scale": what the residuals are invariant under."""
        ...

    def sample_size(self, d: int) -> int:
        """k, the points in a minimal sample when X has d columns."""
        ...

    def codimension(self, d: int) -> int:
        """Columns minus the dimension of a structure: line d - 1, homography 2, fundamental 1."""
        ...

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        """(s, k, d) to parameters (s, q, p) and valid (s, q); bad geometry is never an error."""
        ...

    def residuals(self, X: Floats, params: Floats) -> Floats:
        """(n, d), (m, p) to distances (n, m) >= 0, in the units of X, not squared.

        Row i depends on row i alone. Infinity is a distance, NaN is not.
        """
        ...


@runtime_checkable
class Sampler(Protocol):
    """Chooses the points of minimal samples.

    One member is optional: `needs`, a tuple of "quality", "groups" or both, the arguments that
    `draw` requires.
    """

    @property
    def name(self) -> str:
        """As in the registry, for messages."""
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
        """(n_samples, size) row numbers, distinct in each; sample i from (stream, i) alone."""
        ...


@runtime_checkable
class Kernel(Protocol):
    """The preference of a point for a model at distance r."""

    @property
    def cutoff(self) -> float:
        """In sigmas; beyond it the preference is 0."""
        ...

    def __call__(self, r: Floats, sigma: Floats) -> Floats:
        """Elementwise, in [0, 1], not increasing in r."""
        ...


@runtime_checkable
class Metric(Protocol):
    """A distance between rows.

    Two members are optional. `rows(X)` converts a dense array, a SciPy sparse matrix or sparse
    preferences to the input of `pairwise`, which is a dense array without it. `prepare(B)`
    computes once what `pairwise` needs of a pool.
    """

    @property
    def name(self) -> str:
        """As in the registry, for messages."""
        ...

    @property
    def empty_rows(self) -> bool:
        """Whether a row of zeros means "no preference": True for tanimoto, False for euclidean."""
        ...

    def pairwise(self, A: Any, B: Any) -> Floats:
        """(a, .), (c, .) to distances (a, c); each entry depends on its two rows alone."""
        ...


@runtime_checkable
class Forest(Protocol):
    """Trees over a pool of points, which use distances only."""

    @property
    def normaliser(self) -> float:
        """score = 2 ** (-mean path length / normaliser)."""
        ...

    def grow(self, D: Floats, stream: Stream, trees: range) -> Forest:
        """Grow these trees. D is (pool, pool); tree i depends on (stream, i) and D alone."""
        ...

    def path_lengths(self, D: Floats) -> Floats:
        """(rows, t) from D (rows, pool); row i depends on row i alone."""
        ...
