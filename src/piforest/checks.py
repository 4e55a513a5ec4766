"""Checks of the requirements of each protocol, for testing custom classes.

>>> from piforest.checks import check_family
>>> from piforest.families import get_family
>>> for note in check_family(get_family("circle")):
...     print(note)
rows are stable: a row's residuals do not depend on its block
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ._random import Stream
from .families import Scene, extent, layout_of, null_rows, resolve_family
from .families._formula import residuals_of
from .metrics import as_rows, resolve_metric
from .preferences import resolve_kernel
from .protocols import Floats, Forest, ModelFamily, RowLayout
from .sampling import resolve_sampler
from .typing import ArrayLike, KernelLike, MetricLike, SamplerLike

__all__ = [
    "BrokenLaw",
    "check_family",
    "check_forest",
    "check_kernel",
    "check_metric",
    "check_sampler",
]

_ROTATION = 0.7  # radians, nothing special


class BrokenLaw(AssertionError):
    """A law that a class breaks, in words."""


def _require(holds: Any, law: str) -> None:
    if not np.all(holds):
        raise BrokenLaw(law)


def check_family(family: str | ModelFamily, X: ArrayLike | None = None) -> list[str]:
    """Test the laws of model families.

    Parameters
    ----------
    family : str or ModelFamily
        A name, or an instance of a custom family.
    X : array (n, d), optional
        Rows that lie on one model, more than a minimal sample. None: rows of the family's
        `scene`; without one random rows, which do where a model goes through any minimal
        sample. A family with `exact = False` need not go through its samples, and X is then any
        rows that it can learn from.

    Returns
    -------
    remarks : list of str
        What is worth knowing and breaks no law.

    Raises
    ------
    BrokenLaw
        At the first law that does not hold.

    Examples
    --------
    >>> from piforest.checks import check_family
    >>> check_family("line")
    ["rows are stable: a row's residuals do not depend on its block"]
    """
    return [_check_family(_lawful(resolve_family, family), X)]


def _check_family(family: ModelFamily, rows: ArrayLike | None) -> str:
    rng = np.random.default_rng(0)
    _check_layout(family)
    X = _points(family, rows, rng)
    k = _check_members(family, *X.shape)
    _check_words(family, X)
    samples = X[np.array([rng.choice(len(X), k, replace=False) for _ in range(60)])]
    params, valid = _solved(family, samples)
    _require(
        valid.any(),
        "solve calls every one of 60 random samples degenerate; pass X, rows that lie on a model.",
    )
    size = _lawful(extent, family, X)
    theta, own = params[valid], samples[np.nonzero(valid)[0]]
    # On the model every distance is 0 and no law could fail, so the others are looked at too.
    probes = np.concatenate([X, X + rng.normal(0, 0.3 * size, X.shape)])
    R = _residuals(family, probes, theta)
    if _is_exact(family):
        _check_own_samples(family, own, theta, size)
    _check_degenerate(family, samples)
    _check_repeated(family, probes, samples, size, rng)
    _require(
        np.median(R[len(X) :]) > 1e-6 * size,
        "residuals must tell points off a model from points on it; these are all about 0.",
    )
    remark = _check_rows(family, probes, theta, R, size)
    _check_noise(family, probes, samples, size, rng)
    _check_symmetries(family, probes, samples, size)
    _check_outline(family, X, theta, size)
    _check_formula(family, probes, theta, R, size)
    _check_null(family, X)
    _require(
        np.array_equal(family.residuals(probes, theta), R),
        "residuals must not depend on what was solved before: keep no state.",
    )
    return remark


def _lawful(function: Any, *arguments: Any) -> Any:
    """What the package itself refuses is a broken law too; an unknown name is not one."""
    try:
        return function(*arguments)
    except ValueError as error:
        if isinstance(arguments[0], str):
            raise
        raise BrokenLaw(str(error)) from error


def _called(member: str, method: Any, *arguments: Floats) -> Any:
    """What a method gives; an error in it is a broken law, whatever it is."""
    try:
        return method(*arguments)
    except Exception as error:
        raise BrokenLaw(
            f"{member} must not raise an error for any rows, a sample that determines no model is "
            f"told by `valid`; it raised {type(error).__name__}: {error}"
        ) from error


def _is_exact(family: ModelFamily) -> bool:
    return bool(getattr(family, "exact", True))


def _check_layout(family: ModelFamily) -> None:
    layout = layout_of(family)
    _require(isinstance(layout, RowLayout), f"layout must be a RowLayout, got {layout!r}.")
    if layout.columns is not None:
        d = len(layout.columns)
        _require(family.n_features == d, f"n_features is {family.n_features}, layout has {d}.")
        fits = all(0 <= column < d for view in layout.views for column in view)
        _require(fits, f"views of layout must name columns from 0 to {d - 1}, got {layout.views}.")


def _points(family: ModelFamily, X: Any, rng: np.random.Generator) -> Floats:
    d = family.n_features
    _require(
        d is None or isinstance(d, numbers.Integral),
        f"n_features must be an integer or None, got {d!r}.",
    )
    scene = getattr(family, "scene", None)
    _require(scene is None or isinstance(scene, Scene), f"scene must be a Scene, got {scene!r}.")
    if X is None:
        X = rng.uniform(-1, 1, (40, d or 3)) if scene is None else scene.on_one_model()
    X = np.asarray(X, np.float64)
    _require(X.ndim == 2, f"X must be a table of rows, got shape {X.shape}.")
    _require(d in (None, X.shape[1]), f"n_features is {d}, X has {X.shape[1]} columns.")
    return np.asarray(X)


def _check_members(family: ModelFamily, n: int, d: int) -> int:
    """The members other than solve and residuals; returns k."""
    symmetries = getattr(family, "symmetries", None)
    _require(
        isinstance(symmetries, frozenset) and symmetries <= {"translation", "rotation", "scale"},
        "symmetries must be a frozenset of 'translation', 'rotation', 'scale', or of none of "
        f"them, got {symmetries!r}.",
    )
    for member in ("sample_size", "codimension", "solve", "residuals"):
        _require(callable(getattr(family, member)), f"{member} must be a method.")
    k, codimension = family.sample_size(d), family.codimension(d)
    _require(
        isinstance(k, numbers.Integral) and 1 <= k < n,
        f"sample_size({d}) must be an integer from 1 to less than the {n} rows of X, got {k!r}.",
    )
    _require(
        isinstance(codimension, numbers.Integral) and 1 <= codimension <= d,
        f"codimension({d}) must be an integer from 1 to {d}, got {codimension!r}.",
    )
    exact = getattr(family, "exact", True)
    _require(isinstance(exact, (bool, np.bool_)), f"exact must be True or False, got {exact!r}.")
    _require(
        type(family).__hash__ is not None, "a family must be hashable: do not define __eq__ alone."
    )
    return int(k)


def _solved(family: ModelFamily, samples: Floats) -> tuple[Floats, Any]:
    given = samples.copy()
    answer = _called("solve", family.solve, given)
    _require(np.array_equal(given, samples), "solve must not write into its input.")
    _require(
        isinstance(answer, tuple) and len(answer) == 2,
        "solve must return two arrays, parameters and valid.",
    )
    params, valid = np.asarray(answer[0], np.float64), np.asarray(answer[1])
    s, q = len(samples), family.max_models
    _require(
        params.ndim == 3 and params.shape[:2] == (s, q) and valid.shape == (s, q),
        f"solve must give params ({s}, {q}, p) and valid ({s}, {q}), "
        f"got {params.shape} and {valid.shape}.",
    )
    _require(valid.dtype == np.bool_, f"valid must be boolean, got {valid.dtype}.")
    _require(np.isfinite(params[valid]), "parameters of valid models must be finite.")
    again, _ = family.solve(samples[:1])
    _require(
        np.allclose(again[0][valid[0]], params[0][valid[0]], rtol=1e-9),
        "the models of a sample must not depend on the other samples.",
    )
    return params, valid


def _residuals(family: ModelFamily, X: Floats, theta: Floats) -> Floats:
    given = X.copy()
    R = np.asarray(_called("residuals", family.residuals, given, theta))
    _require(np.array_equal(given, X), "residuals must not write into its input.")
    _require(
        R.shape == (len(X), len(theta)),
        f"residuals must have shape (n, m) = ({len(X)}, {len(theta)}), got {R.shape}.",
    )
    _require(~np.isnan(R), "residuals must not be NaN; a point that no model can reach is inf.")
    _require(R >= 0, "residuals must not be negative: a distance, not signed.")
    return R


def _check_rows(family: ModelFamily, X: Floats, theta: Floats, R: Floats, size: float) -> str:
    """Row i depends on row i alone: a broken law if not, a remark if the last bits do not."""
    alone = np.concatenate([family.residuals(X[i : i + 1], theta) for i in range(len(X))])
    turned = np.asarray(family.residuals(X[::-1].copy(), theta))[::-1]
    for other in (alone, turned):
        _require(
            np.isclose(other, R, rtol=1e-6, atol=1e-9 * size),
            "the residuals of a row must depend on that row alone, not on the others.",
        )
    if np.array_equal(alone, R) and np.array_equal(turned, R):
        return "rows are stable: a row's residuals do not depend on its block"
    return (
        "rows are not stable: the last bits of a row's residuals depend on its block "
        "(a matrix product does this); piforest always calls with blocks of one size"
    )


def _check_own_samples(family: ModelFamily, own: Floats, theta: Floats, size: float) -> None:
    worst = max(float(np.max(family.residuals(own[j], theta[j : j + 1]))) for j in range(len(own)))
    _require(
        worst <= 1e-5 * size,
        f"a model must go through its own minimal sample; the worst residual is {worst:.3g} for "
        f"data of size {size:.3g}. If the solver averages, pass X, rows that lie on one model, or "
        "give the family exact = False.",
    )


def _check_degenerate(family: ModelFamily, samples: Floats) -> None:
    if samples.shape[1] == 1:
        return
    with np.errstate(all="ignore"):
        one = np.repeat(samples[:5, :1], samples.shape[1], axis=1)
        _, valid = _called("solve", family.solve, one)
    _require(~np.asarray(valid), "a sample of one point repeated must be called degenerate.")


def _check_repeated(
    family: ModelFamily, X: Floats, samples: Floats, size: float, rng: np.random.Generator
) -> None:
    """A point that stands twice in a sample: no model, or one that does not hang on rounding."""
    if samples.shape[1] == 1:
        return
    twice = samples.copy()
    twice[:, 1] = twice[:, 0]
    with np.errstate(all="ignore"):
        params, valid = (np.asarray(part) for part in family.solve(twice))
        own = twice[np.nonzero(valid)[0]]
        here = _table(family, X, twice)
        there = _table(family, X, twice + rng.normal(0, 1e-9 * size, twice.shape))
    both = np.isfinite(here) & np.isfinite(there)
    _require(
        not both.any() or np.median(np.abs(here[both] - there[both])) <= 1e-3 * size,
        "a sample in which a point stands twice does not determine its model; call it degenerate.",
    )
    if valid.any() and _is_exact(family):
        _check_own_samples(family, own, params[valid], size)


def _table(family: ModelFamily, X: Floats, samples: Floats) -> Floats:
    """Residuals (n, s, q), infinite where there is no model. The models of a sample stand in
    the order of their total residuals, since a solver may number them as it likes."""
    params, valid = (np.asarray(part) for part in family.solve(samples))
    R = np.full((len(X), *valid.shape), np.inf)
    R[:, valid] = family.residuals(X, params[valid])
    order = np.argsort(np.sum(np.minimum(R, 1e300), axis=0), axis=-1)
    return np.take_along_axis(R, order[None], axis=-1)


def _check_noise(family: ModelFamily, X: Floats, samples: Floats, size: float, rng: Any) -> None:
    here = _table(family, X, samples)
    there = _table(family, X, samples + rng.normal(0, 1e-9 * size, samples.shape))
    both = np.isfinite(here) & np.isfinite(there)
    _require(
        both.any() and np.median(np.abs(here[both] - there[both])) <= 1e-5 * size,
        "noise of a billionth of the data's size must not change a typical residual.",
    )


def _check_symmetries(family: ModelFamily, X: Floats, samples: Floats, size: float) -> None:
    d = X.shape[1]
    views = layout_of(family).views or (tuple(range(d)),)
    here = _table(family, X, samples)
    for symmetry in sorted(family.symmetries):
        shift, turn, factor = np.zeros(d), np.eye(d), 1.0
        if symmetry == "translation":
            shift = size * np.linspace(1e3, 2e3, d)
        elif symmetry == "scale":
            factor = 3.0
        else:
            for number, view in enumerate(views):
                c, s = np.cos(_ROTATION + number), np.sin(_ROTATION + number)
                turn[np.ix_(view[:2], view[:2])] = [[c, -s], [s, c]]
        moved = [factor * (points @ turn.T) + shift for points in (X, samples)]
        there = _table(family, moved[0], moved[1]) / factor
        close = np.isclose(there, here, rtol=1e-4, atol=1e-5 * size)
        _require(
            close.mean() > 0.98,
            f"residuals must be invariant under {symmetry}, as `symmetries` says.",
        )


def _check_words(family: ModelFamily, X: Floats) -> None:
    if hasattr(family, "complaint"):
        complaint = family.complaint(X)
        _require(
            complaint is None,
            f"complaint must give None for rows that lie on a model, got {complaint!r}.",
        )


def _check_outline(family: ModelFamily, X: Floats, theta: Floats, size: float) -> None:
    if not hasattr(family, "outline"):
        return
    low, high = X.min(axis=0) - size, X.max(axis=0) + size
    drawn = [family.outline(params, low, high) for params in theta[:20]]
    _require(all(isinstance(lines, list) for lines in drawn), "outline must give a list of arrays.")
    # Beyond space a family may have nothing to draw.
    _require(any(drawn) or X.shape[1] > 3, "outline draws nothing of 20 models near the data.")
    for params, lines in zip(theta, drawn):
        for line in lines:
            line = np.asarray(line, np.float64)
            _require(
                line.ndim == 2 and line.shape[1] == X.shape[1],
                f"outline must give arrays of shape (., {X.shape[1]}), got {line.shape}.",
            )
            line = line[~np.isnan(line).any(axis=1)]
            slack = 1e-6 * (high - low)
            _require(
                (line >= low - slack) & (line <= high + slack), "outline must stay within the box."
            )
            _require(
                len(line) == 0 or family.residuals(line, params[None]).max() <= 1e-4 * size,
                "outline must give points on the model.",
            )


def _check_formula(family: ModelFamily, X: Floats, theta: Floats, R: Floats, size: float) -> None:
    if not hasattr(family, "formula"):
        return
    try:
        formula = np.asarray(residuals_of(family, X, theta))
    except Exception as error:
        raise BrokenLaw(
            "formula must take columns (n, 1) and (1, m) and the module numpy as its namespace; it "
            f"raised {type(error).__name__}: {error}"
        ) from error
    _require(
        formula.shape == R.shape,
        f"formula must give shape (n, m) = {R.shape}, got {formula.shape}.",
    )
    _require(
        np.isclose(formula, R, rtol=1e-9, atol=1e-9 * size),
        "formula must give what residuals gives, to a billionth of the data's size.",
    )


def _check_null(family: ModelFamily, X: Floats) -> None:
    given, n = X.copy(), len(X) + 3
    rows = np.asarray(_lawful(null_rows, family, given, n, Stream(1)))
    _require(np.array_equal(given, X), "null_rows must not write into its input.")
    _require(
        rows.shape == (n, X.shape[1]) and np.isfinite(rows).all(),
        f"null_rows must give finite rows of shape ({n}, {X.shape[1]}), got {rows.shape}.",
    )
    again = null_rows(family, X, n, Stream(1))
    _require(np.array_equal(again, rows), "null_rows must depend on X, n and the stream alone.")


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
    BrokenLaw
        If a requirement is not met.

    Examples
    --------
    >>> from piforest.checks import check_sampler
    >>> check_sampler("mixed")
    """
    checked = _lawful(resolve_sampler, sampler)
    X = np.random.default_rng(0).normal(size=(30, 2)) if X is None else np.asarray(X, float)
    needs = getattr(checked, "needs", ())
    _require(
        isinstance(needs, tuple) and set(needs) <= {"quality", "groups"},
        f"needs must be a tuple of 'quality', 'groups', or of none of them, got {needs!r}.",
    )
    for size in (1, 2, min(8, len(X)), len(X)):
        arguments = _example_arguments(needs, len(X), size)
        rows = np.asarray(checked.draw(X, size, 50, Stream(1), **arguments))
        _require(rows.dtype.kind in "iu", f"row numbers must be integers, got {rows.dtype}.")
        _require(rows.shape == (50, size), f"draw must give (n_samples, size), got {rows.shape}.")
        _require((rows >= 0) & (rows < len(X)), "row numbers must lie in [0, n).")
        _require(
            [len(set(row)) == size for row in rows.tolist()], "a sample must not repeat a point."
        )
        _require(
            np.array_equal(rows[:7], checked.draw(X, size, 7, Stream(1), **arguments)),
            "sample i must depend on (stream, i) alone, not on the number of samples.",
        )
    if len(X) > 4:
        arguments = _example_arguments(needs, len(X), 2)
        other = checked.draw(X, 2, 50, Stream(2), **arguments)
        _require(
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
    BrokenLaw
        If a requirement is not met.

    Examples
    --------
    >>> from piforest.checks import check_kernel
    >>> check_kernel("gaussian")
    """
    checked = _lawful(resolve_kernel, kernel)
    for sigma in (1e-3, 1.0, 50.0):
        r = np.linspace(0, checked.cutoff * sigma, 200)
        phi = np.asarray(checked(r, np.full(200, sigma)))
        _require(phi.shape == r.shape, "a kernel must work elementwise.")
        _require((phi >= 0) & (phi <= 1), "a kernel's values must lie in [0, 1].")
        _require(np.diff(phi) <= 0, "a kernel must not increase with the distance.")
        part = np.asarray(checked(r[5:6], np.full(1, sigma)))
        _require(np.allclose(part, phi[5:6]), "a kernel must evaluate each distance alone.")


def check_metric(metric: MetricLike, X: ArrayLike | None = None) -> None:
    """Test a metric.

    Parameters
    ----------
    metric : str, Metric or callable
    X : array-like of shape (n, d) or None, default=None
        Rows to compare; random rows without negative entries if None.

    Raises
    ------
    BrokenLaw
        If a requirement is not met.

    Examples
    --------
    >>> from piforest.checks import check_metric
    >>> check_metric("ruzicka")
    """
    checked = _lawful(resolve_metric, metric)
    _require(checked.name != "precomputed", "metric 'precomputed' has no rows to test.")
    if X is None:
        rng = np.random.default_rng(0)
        X = rng.uniform(0, 1, (12, 9)) * (rng.uniform(size=(12, 9)) < 0.6)
        X[3], X[4], X[5], X[7] = 0.0, 0.0, X[6], X[8] * 0.1 * 10
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    rows = as_rows(checked, X)
    D = np.asarray(_lawful(checked.pairwise, rows, rows))
    _require(D.shape == (len(X), len(X)), f"pairwise must give (a, c), got {D.shape}.")
    _require(~np.isnan(D) & (D >= 0), "distances must be numbers of at least 0.")
    _require(np.allclose(D, D.T), "a distance must be symmetric.")
    empty = ~np.any(np.asarray(X) != 0, axis=1) if checked.empty_rows else np.zeros(len(X), bool)
    _require(np.abs(np.diag(D)[~empty]) <= 1e-12, "a row's distance to itself must be 0.")
    _require(D[empty] == 1, "with empty_rows, the distance from a row of zeros must be 1.")
    prepare = getattr(checked, "prepare", lambda rows: rows)
    for i in range(len(X)):
        alone = checked.pairwise(rows[i : i + 1], prepare(rows[2:]))
        _require(
            np.array_equal(np.asarray(alone)[0], D[i, 2:]),
            "a distance must depend on its two rows alone, to the last bit.",
        )


def check_forest(forest: Forest) -> None:
    """Test a forest.

    Parameters
    ----------
    forest : Forest
        Without any tree.

    Raises
    ------
    BrokenLaw
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
    _require(lengths.shape == (60, 12), f"path_lengths must be (rows, t), got {lengths.shape}.")
    _require(lengths >= 0, "path lengths must not be negative.")
    part = forest.grow(D, Stream(1), range(5, 9)).path_lengths(D)
    _require(
        np.array_equal(part, lengths[:, 5:9]), "tree i must depend on (stream, i) and D alone."
    )
    alone = forest.grow(D, Stream(1), range(12)).path_lengths(D[7:8])
    _require(np.array_equal(alone, lengths[7:8]), "a row's path lengths must depend on it alone.")
    _require(forest.normaliser > 0, "the normaliser must be above 0.")
