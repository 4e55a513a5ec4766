"""Minimal samples to models: the driver that draws, solves and drops what is degenerate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ._random import Stream, mix
from ._validation import check_distances, check_row_numbers, check_shape, nothing_valid, warn_user
from .families import FAMILIES
from .protocols import Bools, Floats, Ints, ModelFamily, Sampler

# With this many rounds, each up to 16 times as large as what is missing, all models
# are found as long as about one sample in fifty is valid.
_ROUNDS = 12
# Minimal samples that are gathered and solved at once: this many, in at most so many bytes.
# Solvers make several arrays of that size.
_CHUNK, _CHUNK_BYTES = 16384, 2**25
# A table of residuals: small enough for the cache, large enough that threads seldom wait for
# the interpreter's lock.
_TABLE_BYTES = 2560 * 1024
_MOST_ROWS = 256


@dataclass(frozen=True)
class ModelSet:
    """The models of one family: what they are, what they came from, how they are used."""

    family: ModelFamily
    params: Floats
    """(m, p)"""
    samples: Ints
    """(m, k) rows of the training data"""
    points: Floats
    """(u, d) the training rows that are in a sample, in ascending order of their numbers"""
    scale: Floats
    """(m,) the kernel's sigma for each model, in residual units"""
    weight: Floats
    """(m,) how much a preference for each model counts"""

    def __len__(self) -> int:
        return len(self.params)

    def first(self, m: int) -> ModelSet:
        """The first m models."""
        kept = np.isin(np.unique(self.samples), self.samples[:m])
        cut = {name: getattr(self, name)[:m] for name in ("params", "samples", "scale", "weight")}
        return replace(self, points=self.points[kept], **cut)


def draw_models(
    X: Floats,
    family: ModelFamily,
    sampler: Sampler,
    n_models: int,
    stream: Stream,
    *,
    quality: Floats | None = None,
    groups: Ints | None = None,
) -> tuple[ModelSet, int]:
    """`n_models` valid models, and how many minimal samples were degenerate on the way.

    Degenerate samples are drawn again, a bounded number of times. Fewer models
    than asked for are a warning, none at all is an error that says why.
    """
    size = family.sample_size(X.shape[1])
    params: list[Floats] = []
    samples: list[Ints] = []
    found = drawn = degenerate = 0
    for round_number in range(_ROUNDS):
        wanted = (n_models - found) * min(2**round_number, 16)
        rows = sampler.draw(
            X, size, wanted, stream.child(round_number), quality=quality, groups=groups
        )
        rows = check_shape(f"samples of sampler {sampler.name!r}", rows, (wanted, size))
        check_row_numbers(f"samples of sampler {sampler.name!r}", rows, len(X))
        step = max(1, min(_CHUNK, _CHUNK_BYTES // (8 * size * X.shape[1])))
        for start in range(0, wanted, step):
            chunk = rows[start : start + step]
            theta, valid = _solve(family, X[chunk])
            # Up to the model that completes the set, so that the count of degenerate
            # samples does not depend on the chunk.
            full = np.cumsum(valid.sum(axis=1)) >= n_models - found
            used = int(np.argmax(full)) + 1 if full.any() else len(chunk)
            drawn += used
            degenerate += int(np.sum(~valid[:used].any(axis=1)))
            at_sample, at_model = np.nonzero(valid[:used])
            params.append(theta[at_sample, at_model][: n_models - found])
            samples.append(chunk[at_sample][: n_models - found])
            found += len(params[-1])
            if found >= n_models:
                return _join(X, family, params, samples), degenerate
    if found == 0:
        raise nothing_valid(family, X, drawn)
    warn_user(
        f"only {found} of {n_models} models of family {family.name!r} could be drawn: "
        f"{degenerate} of {drawn} minimal samples were degenerate. "
        "Repeated rows are the usual reason."
    )
    return _join(X, family, params, samples), degenerate


def _solve(family: ModelFamily, samples: Floats) -> tuple[Floats, Any]:
    """family.solve, checked: what is wrong here would surface far away."""
    answer = family.solve(samples)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise ValueError(f"solve of family {family.name!r} must return parameters and valid.")
    theta, valid = answer
    shape = (len(samples), family.max_models)
    valid = check_shape(f"valid of family {family.name!r}", valid, shape).astype(np.bool_)
    theta = check_shape(f"parameters of family {family.name!r}", theta, (*shape, None))
    return theta.astype(np.float64, copy=False), valid


def _join(X: Floats, family: ModelFamily, params: list[Any], samples: list[Any]) -> ModelSet:
    # A family may not know how many parameters a model has before it finds one.
    params = [part for part in params if len(part)]
    rows = np.concatenate(samples)
    # By columns: residuals run over all models, parameter by parameter.
    theta = np.empty((len(rows), params[0].shape[1]), order="F")
    np.concatenate(params, out=theta)
    ones = np.ones(len(theta))
    return ModelSet(family, theta, rows, X[np.unique(rows)], ones, ones)


@dataclass(frozen=True)
class OwnModels:
    """Which models a row was itself a sample of, told by its content, not by its number.

    So equal rows are treated alike, and a training point like a new one.
    """

    words: Any
    """(c,) ascending, a word for each distinct content"""
    points: Floats
    """(c, d)"""
    starts: Ints
    """(c + 1,)"""
    columns: Ints
    """the models of each content, ascending"""

    def of(self, X: Floats) -> tuple[Ints, Ints]:
        """Where the models of each row of X begin and end in `columns`."""
        words = _words(X)
        at = np.minimum(np.searchsorted(self.words, words), len(self.words) - 1)
        known = (self.words[at] == words) & (self.points[at] == X).all(axis=1)
        return np.where(known, self.starts[at], 0), np.where(known, self.starts[at + 1], 0)


def own_models(models: Sequence[ModelSet]) -> OwnModels:
    """The index of all models; those of several families are numbered one after the other."""
    points = np.concatenate([part.points for part in models])
    words, of_content, content = np.unique(_words(points), return_index=True, return_inverse=True)
    # Of each point once: the samples together may be a thousand times as large.
    content, contents, columns, first = content.astype(np.int32), [], [], 0
    for part in models:
        rows = np.searchsorted(np.unique(part.samples), part.samples).ravel()
        contents.append(content[: len(part.points)][rows])
        columns.append(first + np.repeat(np.arange(len(part)), part.samples.shape[1]))
        content, first = content[len(part.points) :], first + len(part)
    each = np.concatenate(contents)
    # Stable: the models of a content stay in ascending order.
    order = np.argsort(each, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(each, minlength=len(words))))
    return OwnModels(words, points[of_content], starts, np.concatenate(columns)[order])


def distinct(X: Floats) -> Bools:
    """(n,) the first of the rows of each content. A point that stands five times is no sign of
    a structure five times as strong."""
    first = np.zeros(len(X), np.bool_)
    first[np.unique(_words(X), return_index=True)[1]] = True
    return first


def _words(X: Floats) -> Any:
    """A 64-bit word for the content of each row; -0 is 0."""
    words = np.zeros(len(X), np.uint64)
    for column in (X + 0.0).T:
        words = mix(words, np.ascontiguousarray(column).view(np.uint64))
    return words


def block_rows(models: Sequence[ModelSet]) -> int:
    """How many rows the families are called with, for these models. Families of the user's always
    so many: where residuals go through BLAS they would be rounded differently in blocks of
    different size. Those of the package are not."""
    if any(getattr(part.family, "slow_calls", False) for part in models):
        return _MOST_ROWS
    m = sum(len(part) for part in models)
    return max(8, min(_MOST_ROWS, _TABLE_BYTES // (8 * m)))


def residual_blocks(X: Floats, models: Sequence[ModelSet]) -> Iterator[tuple[slice, Floats]]:
    """Residuals of X to all models, a few rows at a time: which rows, and R (rows, m)."""
    n, size = len(X), block_rows(models)
    stable = all(_is_built_in(type(part.family)) for part in models)
    for start in range(0, n, size):
        block = X[start : start + size]
        if len(block) < size and not stable:  # filled up with copies of the last row
            block = X[np.minimum(np.arange(start, start + size), n - 1)]
        tables = [_residuals(part, block) for part in models]
        R = tables[0] if len(tables) == 1 else np.concatenate(tables, axis=1)
        rows = slice(start, min(start + size, n))
        yield rows, R[: rows.stop - start]


@lru_cache(maxsize=64)
def _is_built_in(kind: type) -> bool:
    return f"{kind.__module__}:{kind.__qualname__}" in FAMILIES.entries.values()


def _residuals(models: ModelSet, block: Floats) -> Floats:
    """Checked, since compiled code that reads beyond an array would crash. Not those of built-in
    families, which the tests check: looking at all residuals once more takes a twelfth of the
    time."""
    family = models.family
    R = family.residuals(block, models.params)
    if _is_built_in(type(family)):
        return R
    source = f"residuals of family {family.name!r}"
    R = check_shape(source, R, (len(block), len(models))).astype(np.float64, order="C", copy=False)
    check_distances(source, R)
    return np.asarray(R)
