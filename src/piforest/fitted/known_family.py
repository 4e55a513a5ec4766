"""How a custom family is recognised when a model file is loaded again.

A file does not hold the family, but distances of some points to some models. A hash would not do:
on another machine BLAS rounds differently.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..io.archive import ArchiveError, Arrays
from ..models import ModelSet
from ..protocols import Floats

_MODELS, _POINTS = 16, 64
_TOLERANCE = 1e-6


def fingerprint(models: ModelSet) -> tuple[Floats, Floats]:
    """Distances of the first points to the first models, and the same for models that are solved
    again from their samples; inf for none."""
    family, few = models.family, models.first(_MODELS)
    points = few.points[:_POINTS]
    stored = np.asarray(family.residuals(points, few.params), np.float64)
    samples = few.points[np.searchsorted(np.unique(few.samples), few.samples)]
    params, valid = (np.asarray(part) for part in family.solve(samples))
    again = np.full((len(points), *valid.shape), np.inf)
    again[:, valid] = family.residuals(points, params[valid])
    # A solver may return the models of a sample in any order.
    return stored, np.sort(again, axis=2).reshape(len(points), -1)


def check_same_family(
    path: Any, headers: Sequence[dict[str, Any]], sets: Sequence[ModelSet], arrays: Arrays
) -> None:
    """Raise if the family that was passed is not the one of the file."""
    for i, (header, models) in enumerate(zip(headers, sets)):
        if "own" not in header:
            continue
        expected, reason = [arrays[f"models.{i}.known.{j}"] for j in range(2)], None
        try:
            with np.errstate(all="ignore"):
                given = fingerprint(models)
        except Exception as error:
            given, reason = None, error
        if given is None or not all(_close(*pair) for pair in zip(given, expected)):
            raise ArchiveError(
                f"family={models.family!r} is not the one that {path} was saved with, "
                f"{header['own']!r}: it does not give the same distances for the same points. Pass "
                "that one, with the same options and the same versions of what it is made with."
            ) from reason


def _close(given: Any, expected: Any) -> bool:
    """To `_TOLERANCE` of the median, so that distances of next to 0 may differ."""
    finite = expected[np.isfinite(expected)]
    slack = _TOLERANCE * float(np.median(finite)) if finite.size else 0.0
    same = given.shape == expected.shape
    return same and bool(np.allclose(given, expected, rtol=_TOLERANCE, atol=slack))
