"""Checks of samplers, kernels, metrics and forests."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._random import Stream
from .._rows import as_rows
from ..metrics import resolve_metric
from ..preferences import resolve_kernel
from ..protocols import Forest
from ..sampling import resolve_sampler
from ..typing import ArrayLike, KernelLike, MetricLike, SamplerLike
from ._require import call_checked, require


def check_sampler(sampler: SamplerLike, X: ArrayLike | None = None) -> None:
    """Test a sampler.

    The arguments in its `needs` are generated: a quality above 0, groups with enough points.

    Parameters
    ----------
    sampler : str or Sampler
    X : array-like of shape (n, d) or None, default=None
        Points to draw from; random points if None.

    Raises
    ------
    CheckError
        If a requirement is not met.

    Examples
    --------
    >>> from piforest.checks import check_sampler
    >>> check_sampler("mixed")
    """
    checked = call_checked(resolve_sampler, sampler)
    X = np.random.default_rng(0).normal(size=(30, 2)) if X is None else np.asarray(X, float)
    needs = getattr(checked, "needs", ())
    require(
        isinstance(needs, tuple) and set(needs) <= {"quality", "groups"},
        f"needs must be a tuple of 'quality', 'groups', or of none of them, got {needs!r}.",
    )
    for size in (1, 2, min(8, len(X)), len(X)):
        arguments = _example_arguments(needs, len(X), size)
        rows = np.asarray(checked.draw(X, size, 50, Stream(1), **arguments))
        require(rows.dtype.kind in "iu", f"row numbers must be integers, got {rows.dtype}.")
        require(rows.shape == (50, size), f"draw must give (n_samples, size), got {rows.shape}.")
        require((rows >= 0) & (rows < len(X)), "row numbers must lie in [0, n).")
        require(
            [len(set(row)) == size for row in rows.tolist()], "a sample must not repeat a point."
        )
        require(
            np.array_equal(rows[:7], checked.draw(X, size, 7, Stream(1), **arguments)),
            "sample i must depend on (stream, i) only, not on the number of samples.",
        )
    if len(X) > 4:
        arguments = _example_arguments(needs, len(X), 2)
        other = checked.draw(X, 2, 50, Stream(2), **arguments)
        require(
            not np.array_equal(other, checked.draw(X, 2, 50, Stream(1), **arguments)),
            "another stream must give other samples.",
        )


def _example_arguments(needs: tuple[str, ...], n: int, size: int) -> dict[str, Any]:
    """A quality, and up to three groups with at least `size` points each."""
    arguments = {
        "quality": np.random.default_rng(1).uniform(0.5, 1.5, n),
        "groups": np.arange(n) % min(3, max(1, n // size)),
    }
    return {name: arguments[name] for name in needs}


def check_kernel(kernel: KernelLike) -> None:
    """Test a preference kernel.

    Parameters
    ----------
    kernel : str, Kernel or callable

    Raises
    ------
    CheckError
        If a requirement is not met.

    Examples
    --------
    >>> from piforest.checks import check_kernel
    >>> check_kernel("gaussian")
    """
    checked = call_checked(resolve_kernel, kernel)
    for sigma in (1e-3, 1.0, 50.0):
        r = np.linspace(0, checked.cutoff * sigma, 200)
        phi = np.asarray(checked(r, np.full(200, sigma)))
        require(phi.shape == r.shape, "a kernel must work elementwise.")
        require((phi >= 0) & (phi <= 1), "a kernel's values must lie in [0, 1].")
        require(np.diff(phi) <= 0, "a kernel must not increase with the distance.")
        part = np.asarray(checked(r[5:6], np.full(1, sigma)))
        require(np.allclose(part, phi[5:6]), "a kernel must evaluate each distance separately.")


def check_metric(metric: MetricLike, X: ArrayLike | None = None) -> None:
    """Test a metric.

    Parameters
    ----------
    metric : str, Metric or callable
    X : array-like of shape (n, d) or None, default=None
        Rows to compare; random rows without negative entries if None.

    Raises
    ------
    CheckError
        If a requirement is not met.

    Examples
    --------
    >>> from piforest.checks import check_metric
    >>> check_metric("ruzicka")
    """
    checked = call_checked(resolve_metric, metric)
    require(checked.name != "precomputed", "metric 'precomputed' has no rows to test.")
    if X is None:
        rng = np.random.default_rng(0)
        X = rng.uniform(0, 1, (12, 9)) * (rng.uniform(size=(12, 9)) < 0.6)
        X[3], X[4], X[5], X[7] = 0.0, 0.0, X[6], X[8] * 0.1 * 10
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    rows = as_rows(checked, X)
    D = np.asarray(call_checked(checked.pairwise, rows, rows))
    require(D.shape == (len(X), len(X)), f"pairwise must give (a, c), got {D.shape}.")
    require(~np.isnan(D) & (D >= 0), "distances must be numbers of at least 0.")
    require(np.allclose(D, D.T), "a distance must be symmetric.")
    empty = ~np.any(np.asarray(X) != 0, axis=1) if checked.empty_rows else np.zeros(len(X), bool)
    require(np.abs(np.diag(D)[~empty]) <= 1e-12, "a row's distance to itself must be 0.")
    require(D[empty] == 1, "with empty_rows, the distance from a row of zeros must be 1.")
    prepare = getattr(checked, "prepare", lambda rows: rows)
    for i in range(len(X)):
        alone = checked.pairwise(rows[i : i + 1], prepare(rows[2:]))
        require(
            np.array_equal(np.asarray(alone)[0], D[i, 2:]),
            "a distance must depend on its two rows only, to the last bit.",
        )


def check_forest(forest: Forest) -> None:
    """Test a forest.

    Parameters
    ----------
    forest : Forest
        Without any tree.

    Raises
    ------
    CheckError
        If a requirement is not met.

    Examples
    --------
    >>> from piforest.checks import check_forest
    >>> from piforest.forest import FlatForest
    >>> check_forest(FlatForest(32, branching=2))
    """
    points = np.random.default_rng(0).normal(size=(60, 2))
    D = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    lengths = forest.grow(D, Stream(1), range(12)).path_lengths(D)
    require(lengths.shape == (60, 12), f"path_lengths must be (rows, t), got {lengths.shape}.")
    require(lengths >= 0, "path lengths must not be negative.")
    part = forest.grow(D, Stream(1), range(5, 9)).path_lengths(D)
    require(np.array_equal(part, lengths[:, 5:9]), "tree i must depend on (stream, i) and D only.")
    alone = forest.grow(D, Stream(1), range(12)).path_lengths(D[7:8])
    require(np.array_equal(alone, lengths[7:8]), "a row's path lengths must depend on it only.")
    require(forest.normaliser > 0, "the normaliser must be above 0.")
