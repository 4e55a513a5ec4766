"""Types of the public parameters.

>>> from piforest.typing import FamilyLike, RowsLike
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from .protocols import Bools, Floats, Ints, Kernel, Metric, ModelFamily, Sampler

__all__ = [
    "ArrayLike",
    "Bools",
    "ContaminationLike",
    "FamilyLike",
    "Floats",
    "ForestKind",
    "HasShape",
    "Ints",
    "KernelLike",
    "MetricLike",
    "ModelCount",
    "Path",
    "RandomStateLike",
    "RowsLike",
    "SamplerLike",
    "Scale",
    "ScaleColumns",
    "SigmaLike",
    "Weighting",
]


@runtime_checkable
class HasShape(Protocol):
    """Data frames, sparse matrices, torch tensors and Dask collections."""

    @property
    def shape(self) -> Any:  # the lengths of a Dask collection may be unknown
        """Rows, then columns."""
        ...


RowsLike: TypeAlias = ArrayLike | HasShape
"""Rows of numbers: whatever `numpy.asarray` takes, or an object with a shape."""

RandomStateLike: TypeAlias = int | np.random.RandomState | np.random.Generator | None

_OneFamily: TypeAlias = str | ModelFamily
FamilyLike: TypeAlias = _OneFamily | Sequence[_OneFamily] | Sequence[tuple[_OneFamily, float]]
"""A name, an object with the members of `ModelFamily`, or a list, with or without shares."""

SamplerLike: TypeAlias = (
    Literal["mixed", "uniform", "local", "weighted", "stratified", "grouped"] | Sampler
)
KernelLike: TypeAlias = (
    Literal["gaussian", "paper", "binary"] | Kernel | Callable[[Floats, Floats], Floats]
)
# A metric of two objects may take anything.
MetricLike: TypeAlias = str | Metric | Callable[[Any, Any], float]

Scale: TypeAlias = Literal["adaptive", "per_model", "fixed"]
ScaleColumns: TypeAlias = bool | Literal["auto"]
Weighting: TypeAlias = Literal["gain", "none"]
Path: TypeAlias = Literal["soft", "depth"]
ForestKind: TypeAlias = Literal["voronoi", "ruzhash"]
SigmaLike: TypeAlias = float | Literal["auto"]
ModelCount: TypeAlias = int | Literal["auto", "paper"]
ContaminationLike: TypeAlias = float | Literal["auto"]
