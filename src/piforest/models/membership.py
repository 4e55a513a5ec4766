"""Which models have a point in their minimal sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import ref

import numpy as np

from .._kernels.preferences import find_contents, first_of_each
from .._random import mix
from ..protocols import Bools, Floats, Ints
from .drawing import ModelSet, sample_positions


@dataclass(frozen=True)
class SampleMembership:
    """For each distinct row in any minimal sample, the models whose samples contain it.

    Rows are identified by their content, not by their number, so that equal rows, and training
    rows and new rows, are treated alike.
    """

    hashes: Any
    """(c,) ascending, a 64-bit hash of each distinct content"""
    points: Floats
    """(c, d)"""
    starts: Ints
    """(c + 1,)"""
    columns: Ints
    """the models of each content, ascending"""

    def of(self, X: Floats) -> tuple[Ints, Ints]:
        """The start and the end of the models of each row of X in `columns`."""
        first, last = np.empty((2, len(X)), np.int64)
        find_contents(_bits(X), self.hashes, self._contents, self.starts, first, last)
        return first, last

    @cached_property
    def _contents(self) -> Any:
        return _bits(self.points)


# The index of the models with these samples, as long as the samples are in use: a fit measures the
# models of the same samples again and again.
_kept: dict[int, tuple[list[Any], SampleMembership]] = {}


def sample_membership(models: Sequence[ModelSet]) -> SampleMembership:
    """The index of all models; those of several families are numbered consecutively."""
    if len(models) > 1:
        return _index_of(models)
    of = [models[0].samples, models[0].points, models[0].excludes_sample]
    key, known = id(of[0]), _kept.get(id(of[0]))
    if known is not None and all(_is_same(*each) for each in zip(known[0], of)):
        return known[1]
    made = _index_of(models)
    refs = [ref(of[0], lambda _: _kept.pop(key, None)), ref(of[1])]
    _kept[key] = [*refs, None if of[2] is None else ref(of[2])], made
    return made


def _is_same(known: Any, array: Any) -> bool:
    """Whether a weak reference, or None, is of the array, or of None."""
    return array is None if known is None else array is not None and known() is array


def _index_of(models: Sequence[ModelSet]) -> SampleMembership:
    points = np.concatenate([part.points for part in models])
    # Of each point once: all samples together may be a thousand times as large.
    hashes, chosen, content = _distinct(_row_hashes(points))
    content, contents, columns, first = content.astype(np.int32), [], [], 0
    for part in models:
        excludes = part.excludes_sample
        excluding = np.arange(len(part)) if excludes is None else np.flatnonzero(excludes)
        rows = sample_positions(part.samples, excluding).ravel()
        contents.append(content[: len(part.points)][rows])
        columns.append(first + np.repeat(excluding, part.samples.shape[1]))
        content, first = content[len(part.points) :], first + len(part)
    each = np.concatenate(contents)
    # Stable, so that the models of a content stay in ascending order; 16 bits are sorted by radix.
    few = len(hashes) <= 2**16
    order = np.argsort(each.astype(np.uint16) if few else each, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(each, minlength=len(hashes))))
    return SampleMembership(hashes, points[chosen], starts, np.concatenate(columns)[order])


def _distinct(hashes: Any) -> tuple[Any, Ints, Ints]:
    """The distinct hashes, ascending, the first position of each, and the number of each hash among
    them: `numpy.unique`, which takes a stable sort, for hashes that are mostly distinct."""
    order = np.argsort(hashes)
    ordered = hashes[order]
    if (ordered[1:] == ordered[:-1]).any():
        return np.unique(hashes, return_index=True, return_inverse=True)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order))
    return ordered, order, numbers


def joined_memberships(
    parts: Sequence[SampleMembership], columns: Sequence[Ints]
) -> SampleMembership:
    """One index of several, for rows with one more column: the number of the part that they are
    looked up in. columns: for each part, what its columns become."""
    numbers = np.repeat(np.arange(len(parts)), [len(each.points) for each in parts])
    points = np.column_stack([np.concatenate([each.points for each in parts]), numbers])
    hashes = _row_hashes(points)
    order = np.argsort(hashes)
    counts = np.concatenate([np.diff(each.starts) for each in parts])
    first = np.cumsum(counts) - counts
    starts = np.append(0, np.cumsum(counts[order]))
    each = np.concatenate([at[part.columns] for part, at in zip(parts, columns)])
    places = np.repeat(first[order] - starts[:-1], counts[order]) + np.arange(starts[-1])
    return SampleMembership(hashes[order], points[order], starts, each[places])


def first_occurrences(X: Floats, views: Sequence[Sequence[int]], among: Bools) -> Bools:
    """(n,) True for the rows of `among` that are evidence: repeated points are none.

    Of rows that are equal in the columns of a view, only the first is: a point of one image that
    matches many of the other counts once. Without views, the first of equal rows.
    """
    first, rows = np.zeros(len(X), np.bool_), np.flatnonzero(among)
    if not views:
        first[rows[_distinct(_row_hashes(X[rows]))[1]]] = True
        return first
    points = [_row_hashes(X[rows][:, list(view)]) for view in views]
    ends = np.stack([np.unique(each, return_inverse=True)[1] for each in points])
    first_of_each(ends, rows, np.zeros(ends.shape, np.bool_), first)
    return first


def _row_hashes(X: Floats) -> Any:
    """(n,) a 64-bit hash of the content of each row."""
    hashes = np.zeros(len(X), np.uint64)
    for column in _bits(X).T:
        hashes = mix(hashes, column)
    return hashes


def _bits(X: Floats) -> Any:
    """(n, d) the bits of floats; -0 counts as 0."""
    return np.ascontiguousarray(X + 0.0).view(np.uint64)
