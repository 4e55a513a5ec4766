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
from ..protocols import Floats, ModelFamily
from ._namespace import prepared_params

if TYPE_CHECKING:
    from .functions import from_functions
    from .learned import LearnedFamily

__all__ = [
    "FAMILIES",
    "LearnedFamily",
    "extent",
    "from_functions",
    "get_family",
    "list_families",
    "prepared_params",
    "resolve_family",
    "spread",
]

FAMILIES = Registry(
    "family",
    {
        "affine_fundamental": "piforest.families.affine_fundamental:AffineFundamental",
        "affinity": "piforest.families.affinity:Affinity",
        "circle": "piforest.families.circle:Circle",
        "cone": "piforest.families.cone:Cone",
        "cylinder": "piforest.families.cylinder:Cylinder",
        "ellipse": "piforest.families.ellipse:Ellipse",
        "essential": "piforest.families.essential:Essential",
        "fundamental": "piforest.families.fundamental:Fundamental",
        "homography": "piforest.families.homography:Homography",
        "hyperplane": "piforest.families.hyperplane:Hyperplane",
        "line": "piforest.families.line:Line",
        "linear_regression": "piforest.families.regression:LinearRegression",
        "parabola": "piforest.families.parabola:Parabola",
        "plane": "piforest.families.hyperplane:Plane",
        "polynomial": "piforest.families.polynomial:Polynomial",
        "polynomial_regression": "piforest.families.regression:PolynomialRegression",
        "rigid": "piforest.families.rigid:Rigid",
        "rotation": "piforest.families.rotation:Rotation",
        "similarity": "piforest.families.affinity:Similarity",
        "similarity3d": "piforest.families.rigid:Similarity3D",
        "sphere": "piforest.families.sphere:Sphere",
        "subspace": "piforest.families.subspace:Subspace",
        "translation": "piforest.families.translation:Translation",
        "translation3d": "piforest.families.translation:Translation3D",
        "vanishing_point": "piforest.families.vanishing_point:VanishingPoint",
    },
)


def list_families() -> list[str]:
    """The names that `family=` takes."""
    return FAMILIES.names()


def get_family(name: str, **options: Any) -> ModelFamily:
    """A family by its name, with its own options."""
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


# What families of the user's own are made with, imported when first asked for.
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
