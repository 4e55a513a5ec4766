"""Families of structures: one file each, one line here.

>>> from piforest.families import get_family, list_families
>>> "ellipse" in list_families()
True
>>> get_family("fundamental", solver="7-point").max_models
3
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import pdist

from .._random import Stream, choose
from .._registry import Registry
from .._validation import check_positive
from ..protocols import Floats, ModelFamily, RowLayout
from ._family import Family, Scene
from ._formula import side_of as side_of
from ._null import marginal_by_layout, null_by_layout
from ._refits import Frame
from .scaled import ScaledFamily, unscaled

if TYPE_CHECKING:
    from .functions import from_functions
    from .learned import LearnedFamily

__all__ = [
    "Family",
    "Frame",
    "LearnedFamily",
    "Scene",
    "from_functions",
    "get_family",
    "layout_of",
    "list_families",
    "null_rows",
]

# From this many values on, a median is taken of those in the middle of a sample of this size.
_MANY, _SAMPLED = 16384, 2048

# In the order of the documentation.
FAMILIES = Registry(
    "family",
    {
        "line": "piforest.families.line:Line",
        "circle": "piforest.families.circle:Circle",
        "ellipse": "piforest.families.ellipse:Ellipse",
        "parabola": "piforest.families.parabola:Parabola",
        "polynomial": "piforest.families.polynomial:Polynomial",
        "plane": "piforest.families.hyperplane:Plane",
        "hyperplane": "piforest.families.hyperplane:Hyperplane",
        "sphere": "piforest.families.sphere:Sphere",
        "cylinder": "piforest.families.cylinder:Cylinder",
        "cone": "piforest.families.cone:Cone",
        "subspace": "piforest.families.subspace:Subspace",
        "homography": "piforest.families.homography:Homography",
        "fundamental": "piforest.families.fundamental:Fundamental",
        "essential": "piforest.families.essential:Essential",
        "rotation": "piforest.families.rotation:Rotation",
        "affinity": "piforest.families.affinity:Affinity",
        "similarity": "piforest.families.affinity:Similarity",
        "translation": "piforest.families.translation:Translation",
        "affine_fundamental": "piforest.families.affine_fundamental:AffineFundamental",
        "rigid": "piforest.families.rigid:Rigid",
        "similarity3d": "piforest.families.rigid:Similarity3D",
        "translation3d": "piforest.families.translation:Translation3D",
        "vanishing_point": "piforest.families.vanishing_point:VanishingPoint",
        "linear_regression": "piforest.families.regression:LinearRegression",
        "polynomial_regression": "piforest.families.regression:PolynomialRegression",
    },
)


def list_families() -> list[str]:
    """List the names that `family=` takes.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from piforest.families import list_families
    >>> "homography" in list_families()
    True
    """
    return FAMILIES.names()


def get_family(name: str, **options: Any) -> ModelFamily:
    """Get a family by its name.

    Parameters
    ----------
    name : str
        One of `list_families()`.
    **options : dict
        The options of the family, such as solver of "fundamental".

    Returns
    -------
    ModelFamily

    Examples
    --------
    >>> from piforest.families import get_family
    >>> get_family("subspace", dimension=3).sample_size(8)
    4
    """
    family: ModelFamily = FAMILIES.get(name, **options)
    return family


def resolve_family(family: Any) -> ModelFamily:
    """Return the family of a name; check an object against the protocol."""
    if isinstance(family, str):
        return get_family(family)
    missing = [
        name
        for name in ("name", "n_features", "max_models", "sample_size", "codimension", "solve",
                     "residuals")
        if not hasattr(family, name)
    ]  # fmt: skip
    if missing or isinstance(family, type):
        what = "a class; pass an instance" if isinstance(family, type) else f"without {missing}"
        raise ValueError(
            f"family must be one of {list_families()} or an object with the members of "
            f"piforest.protocols.ModelFamily, got {family!r}, {what}."
        )
    return family  # type: ignore[no-any-return]


def resolve_families(family: Any) -> list[tuple[ModelFamily, float]]:
    """Return families and their shares of the models, which sum to 1.

    `family` is a family, a list of families, or a list of (family, share) pairs.

    >>> [(each.name, share) for each, share in resolve_families(["line", ("circle", 3)])]
    [('line', 0.25), ('circle', 0.75)]
    """
    if not isinstance(family, (list, tuple)):
        return [(resolve_family(family), 1.0)]
    pairs = [each if isinstance(each, (list, tuple)) else (each, 1.0) for each in family]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise ValueError(
            "family must be a family, a list of families, or a list of (family, share) pairs, "
            f"got {family!r}."
        )
    resolved = [(resolve_family(each), share) for each, share in pairs]
    for each, share in resolved:
        check_positive(f"the share of family {each.name!r}", share)
    total = sum(share for _, share in resolved)
    return [(each, share / total) for each, share in resolved]


def extent(family: ModelFamily, X: Floats) -> float:
    """Return a robust size of the data in the units of the residuals.

    This is `family.extent(X)` if the family defines it, otherwise `robust_size(X)`.
    """
    own = getattr(family, "extent", None)
    if own is not None:
        return check_positive(f"extent of family {family.name!r}", float(own(X)))
    return robust_size(X)


def robust_size(X: Floats) -> float:
    """Return a robust size of the data.

    The median distance between two of at most 500 points is converted to the standard
    deviation of a column, as if the points were uniform in a cube. The result is robust to
    outliers and invariant under rotations. If at least half of the points coincide, the
    standard deviation of the columns is returned.
    """
    d = X.shape[1]
    some = np.ascontiguousarray(X[choose(Stream(0).child("extent"), len(X), 500)], np.float64)
    # The last factor converts the distance of two uniform points in a d-cube; its error is 1 %.
    size = _median_distance(some.tobytes(), d) / np.sqrt(2 * d) * (1 + 0.39 * d**-1.5)
    return size if size > 0 else float(np.sqrt(np.mean(np.var(X, axis=0))))


@lru_cache(maxsize=64)
def _median_distance(rows: bytes, d: int) -> float:
    """The median distance between two rows of d columns. A fit asks for the same rows again and
    again: of the widths, the null rows, the bounds and each step of the search for structures."""
    return _median(pdist(np.frombuffer(rows).reshape(-1, d)))


def _median(values: Floats) -> float:
    """`np.median`, by a partition of the values that a sample of them cannot exclude."""
    n = len(values)
    if n < _MANY:
        return float(np.median(values))
    some = np.sort(values[:: n // _SAMPLED])
    low, high = some[int(0.46 * len(some))], some[int(0.54 * len(some))]
    middle, below = values[(values >= low) & (values <= high)], int(np.sum(values < low))
    first, last = (n - 1) // 2 - below, n // 2 - below
    if not 0 <= first <= last < len(middle):
        return float(np.median(values))
    return float(np.partition(middle, [first, last])[[first, last]].mean())


def layout_of(family: ModelFamily) -> RowLayout:
    """Get the row layout of a family: the meaning of its columns.

    Parameters
    ----------
    family : ModelFamily

    Returns
    -------
    RowLayout
        Points with any number of columns if the family declares no layout.

    Examples
    --------
    >>> from piforest.families import get_family, layout_of
    >>> layout_of(get_family("homography")).columns
    ('x1', 'y1', 'x2', 'y2')
    """
    layout: RowLayout = getattr(family, "layout", None) or RowLayout()
    return layout


def null_rows(family: ModelFamily, X: Floats, n: int, stream: Stream) -> Floats:
    """Draw rows that resemble those of X, but have no structure.

    The rows come from the family's own `null_rows` if it defines one. Otherwise they depend on
    the row layout:

    - matches: the position in one image or cloud is paired with that of another row;
    - tables: the features of one row are paired with the target of another row;
    - segments: each segment is rotated about its midpoint by a random angle;
    - points: uniform in the box that holds 98 % of each column; normals have random directions.

    Parameters
    ----------
    family : ModelFamily
        The family that the rows are drawn for.
    X : array (n_samples, d)
        Rows of the data.
    n : int
        The number of rows. If they are made from rows of X, each row of X is used once before
        any is used again.
    stream : Stream
        The source of randomness.

    Returns
    -------
    rows : array (n, d)

    Examples
    --------
    >>> import numpy as np
    >>> from piforest.families import get_family, null_rows
    >>> from piforest.protocols import Stream
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> null_rows(get_family("line"), X, 5, Stream(0)).shape
    (5, 2)
    """
    own = getattr(family, "null_rows", None)
    if own is not None:
        return np.asarray(own(X, n, stream))
    return null_by_layout(layout_of(family), X, n, stream)


def has_own_null(family: ModelFamily) -> bool:
    """Return whether null rows of the family are neither uniform nor rows of X with exchanged
    columns: counts in narrow bands are then compared with them, too."""
    family = unscaled(family)
    own = getattr(type(family), "null_rows", None)
    return layout_of(family).kind == "segments" or own not in (None, Family.null_rows)


def marginal_rows(family: ModelFamily, X: Floats, n: int, stream: Stream) -> Floats:
    """Draw rows whose columns have the distributions of those of X, but are independent.

    For points, each column comes from a different row of X. If the residuals of the family do
    not change with rotations, the columns are also scaled to the largest spread of any: points
    about an axis of the data are a structure like those about any other line. Rows of all other
    layouts, and of families with `null_rows` of their own, are those of `null_rows`.
    """
    if isinstance(family, ScaledFamily):
        rows = marginal_rows(family.base, family.scaled(X), n, stream)
        return np.asarray(rows * np.array(family.units))
    own = getattr(type(family), "null_rows", None)
    if own not in (None, Family.null_rows):
        return null_rows(family, X, n, stream)
    isotropic = "rotation" in family.symmetries
    return marginal_by_layout(layout_of(family), X, n, stream, isotropic=isotropic)


def rows_with_levels(family: ModelFamily, X: Floats, n: int, stream: Stream) -> Floats:
    """Draw rows whose columns have the values of those of X, each from a different row."""
    return marginal_by_layout(layout_of(family), X, n, stream, isotropic=False)


# Constructors of custom families, imported on first use.
_MAKERS = {
    "LearnedFamily": "piforest.families.learned",
    "from_functions": "piforest.families.functions",
}


def __getattr__(name: str) -> Any:
    if name not in _MAKERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MAKERS[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_MAKERS])
