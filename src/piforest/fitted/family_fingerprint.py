"""Recognise the custom family of a model file when it is loaded.

A file does not contain the family, but distances of some points to some models. A hash would fail
on another machine, where BLAS rounds differently.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..io.archive import ArchiveError, Arrays
from ..models.drawing import ModelSet
from ..protocols import Floats

_MODELS, _POINTS = 16, 64
_TOLERANCE = 1e-6


def fingerprint(models: ModelSet) -> tuple[Floats, Floats]:
    """Distances of the first points to the first models, and to the models that are solved again
    from their samples; inf for none."""
    family, first = models.family, models.first(_MODELS)
    points = first.points[:_POINTS]
    stored = np.asarray(family.residuals(points, first.params), np.float64)
    samples = first.points[np.searchsorted(np.unique(first.samples), first.samples)]
    params, valid = (np.asarray(part) for part in family.solve(samples))
    solved = np.full((len(points), *valid.shape), np.inf)
    solved[:, valid] = family.residuals(points, params[valid])
    # A solver may return the models of a sample in any order.
    return stored, np.sort(solved, axis=2).reshape(len(points), -1)


def check_same_family(
    path: Any, headers: Sequence[dict[str, Any]], sets: Sequence[ModelSet], arrays: Arrays
) -> None:
    """Raise if the family that was passed is not the family of the file."""
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
                "that one, with the same options and the same versions of its dependencies."
            ) from reason


def _close(given: Any, expected: Any) -> bool:
    """Whether distances agree, to `_TOLERANCE` of the median if they are close to 0."""
    finite = expected[np.isfinite(expected)]
    slack = _TOLERANCE * float(np.median(finite)) if finite.size else 0.0
    same = given.shape == expected.shape
    return same and bool(np.allclose(given, expected, rtol=_TOLERANCE, atol=slack))
