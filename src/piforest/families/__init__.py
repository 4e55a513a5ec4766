"""Families of structures: one file each, one line here.

>>> from piforest.families import get_family, list_families
>>> list_families()
['circle', 'fundamental', 'homography', 'line']
>>> get_family("fundamental", solver="7-point").max_models
3
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._registry import Registry
from .._validation import check_positive
from ..protocols import Floats, ModelFamily

FAMILIES = Registry(
    "family",
    {
        "circle": "piforest.families.circle:Circle",
        "fundamental": "piforest.families.fundamental:Fundamental",
        "homography": "piforest.families.homography:Homography",
        "line": "piforest.families.line:Line",
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


def extent(family: ModelFamily, X: Floats) -> float:
    """A robust size of the data in the units of the residuals.

    Without a method of the family's own: the root mean square over columns of
    IQR / sqrt(3), the standard deviation if the columns were uniform. Far points
    do not move it. Where more than half of every column is one value, the
    standard deviation itself.
    """
    own = getattr(family, "extent", None)
    if own is not None:
        return check_positive(f"extent of family {family.name!r}", float(own(X)))
    low, high = np.percentile(X, [25, 75], axis=0)
    size = float(np.sqrt(np.mean((high - low) ** 2) / 3))
    return size if size > 0 else float(np.sqrt(np.mean(np.var(X, axis=0))))
