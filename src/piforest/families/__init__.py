"""Families of structures: one file each, one line here.

>>> from piforest.families import get_family, list_families
>>> "ellipse" in list_families()
True
>>> get_family("fundamental", solver="7-point").max_models
3
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import pdist

from .._random import Stream, choose
from .._registry import Registry
from .._validation import check_positive
from ..protocols import Floats, ModelFamily, RowLayout
from ._family import Family, Scene
from ._null import null_by_layout

if TYPE_CHECKING:
    from .functions import from_functions
    from .learned import LearnedFamily

__all__ = [
    "Family",
    "LearnedFamily",
    "Scene",
    "from_functions",
    "get_family",
    "layout_of",
    "list_families",
    "null_rows",
]

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
    """A name, or an object that follows the protocol."""
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
    """Families and their shares of the models: one family, or a list of families, or of
    (family, share) pairs.

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
    """A robust size of the data in the units of the residuals: the family's own, or `spread`."""
    own = getattr(family, "extent", None)
    if own is not None:
        return check_positive(f"extent of family {family.name!r}", float(own(X)))
    return spread(X)


def spread(X: Floats) -> float:
    """A robust size of the data.

    From the median distance between two of at most 500 points, the standard deviation
    of a column if the points were uniform in a cube. Far points do not move it, and it
    does not depend on the axes. Where half of the points are one, the standard
    deviation itself.
    """
    d = X.shape[1]
    some = X[choose(Stream(0).child("extent"), len(X), 500)]
    # The last factor is that of two uniform points of a d-cube, to one per cent.
    size = float(np.median(pdist(some))) / np.sqrt(2 * d) * (1 + 0.39 * d**-1.5)
    return size if size > 0 else float(np.sqrt(np.mean(np.var(X, axis=0))))


def layout_of(family: ModelFamily) -> RowLayout:
    """Get the row layout of a family: what its columns are.

    Parameters
    ----------
    family : ModelFamily

    Returns
    -------
    RowLayout
        That of points in any number of columns if the family declares none.

    Examples
    --------
    >>> from piforest.families import get_family, layout_of
    >>> layout_of(get_family("homography")).columns
    ('x1', 'y1', 'x2', 'y2')
    """
    layout: RowLayout = getattr(family, "layout", None) or RowLayout()
    return layout


def null_rows(family: ModelFamily, X: Floats, n: int, stream: Stream) -> Floats:
    """Rows like those of X, but without structure: by the family's own `null_rows`, else by its
    layout.

    - matches: the place in one image or cloud with that of another row in the other;
    - tables: the features of one row with the target of another;
    - segments: turned about their midpoint by a random angle;
    - points: uniform in the box that holds 98 % of each column; normals have random directions.

    Parameters
    ----------
    family : ModelFamily
        What the rows are for.
    X : array (n_samples, d)
        Rows of the data.
    n : int
        How many rows to return. Where they are made from rows of X, each of these is taken once
        before any is taken again.
    stream : Stream
        What the result depends on besides X and n.

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


# What custom families are made with, imported when first used.
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
