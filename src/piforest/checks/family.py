"""Checks of model families."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from .._random import Stream
from ..families import Scene, extent, layout_of, null_rows, resolve_family
from ..families._formula import residuals_of
from ..protocols import Floats, ModelFamily, RowLayout
from ..typing import ArrayLike
from ._require import CheckError, call_checked, require
from .description import check_description

_ROTATION = 0.7  # radians, an arbitrary angle


def check_family(family: str | ModelFamily, X: ArrayLike | None = None) -> list[str]:
    """Test a model family.

    Parameters
    ----------
    family : str or ModelFamily
        A name, or an instance of a custom family.
    X : array (n, d), optional
        Rows that lie on one model, more than a minimal sample. If None, rows of the family's
        `scene`; a family without a scene is tested on random rows, which is sufficient if a model
        goes through any minimal sample. For a family with `exact = False`, any rows that it can
        be fitted to.

    Returns
    -------
    remarks : list of str
        Properties that are not requirements.

    Raises
    ------
    CheckError
        If a requirement is not met.

    Examples
    --------
    >>> from piforest.checks import check_family
    >>> check_family("line")
    ["rows are stable: a row's residuals do not depend on its block"]
    """
    return [_check_family(call_checked(resolve_family, family), X)]


def _check_family(family: ModelFamily, rows: ArrayLike | None) -> str:
    rng = np.random.default_rng(0)
    _check_layout(family)
    X = _points(family, rows, rng)
    k = _check_members(family, *X.shape)
    _check_reason_to_reject(family, X)
    samples = X[np.array([rng.choice(len(X), k, replace=False) for _ in range(60)])]
    params, valid = _solve(family, samples)
    require(
        valid.any(),
        "solve finds all of 60 random samples degenerate; pass X, rows that lie on a model.",
    )
    size = call_checked(extent, family, X)
    theta, own = params[valid], samples[np.nonzero(valid)[0]]
    # On the model every residual is 0 and few checks can fail, so points off the model are added.
    probes = np.concatenate([X, X + rng.normal(0, 0.3 * size, X.shape)])
    R = _residuals(family, probes, theta)
    if _is_exact(family):
        _check_own_samples(family, own, theta, size)
    _check_degenerate(family, samples)
    _check_repeated(family, probes, samples, size, rng)
    require(
        np.median(R[len(X) :]) > 1e-6 * size,
        "residuals must be larger for points off a model than for points on it; all are about 0.",
    )
    remark = _check_rows(family, probes, theta, R, size)
    _check_noise(family, probes, samples, size, rng)
    _check_symmetries(family, probes, samples, size)
    _check_outline(family, X, theta, size)
    _check_formula(family, probes, theta, R, size)
    _check_null(family, X)
    shaken = samples + rng.normal(0, 0.1 * size, samples.shape)
    check_description(family, X, theta, shaken)
    require(
        np.array_equal(family.residuals(probes, theta), R),
        "residuals must not depend on earlier calls: keep no state.",
    )
    return remark


def _call(member: str, method: Any, *arguments: Floats) -> Any:
    """Call a method; any exception is a failed check."""
    try:
        return method(*arguments)
    except Exception as error:
        raise CheckError(
            f"{member} must not raise an error for any rows (`valid` marks degenerate samples); it "
            f"raised {type(error).__name__}: {error}"
        ) from error


def _is_exact(family: ModelFamily) -> bool:
    return bool(getattr(family, "exact", True))


def _check_layout(family: ModelFamily) -> None:
    layout = layout_of(family)
    require(isinstance(layout, RowLayout), f"layout must be a RowLayout, got {layout!r}.")
    if layout.columns is not None:
        d = len(layout.columns)
        require(family.n_features == d, f"n_features is {family.n_features}, layout has {d}.")
        fits = all(0 <= column < d for view in layout.views for column in view)
        require(fits, f"views of layout must name columns from 0 to {d - 1}, got {layout.views}.")


def _points(family: ModelFamily, X: Any, rng: np.random.Generator) -> Floats:
    d = family.n_features
    require(
        d is None or isinstance(d, numbers.Integral),
        f"n_features must be an integer or None, got {d!r}.",
    )
    scene = getattr(family, "scene", None)
    require(scene is None or isinstance(scene, Scene), f"scene must be a Scene, got {scene!r}.")
    if X is None:
        X = rng.uniform(-1, 1, (40, d or 3)) if scene is None else scene.on_one_model()
    X = np.asarray(X, np.float64)
    require(X.ndim == 2, f"X must be a table of rows, got shape {X.shape}.")
    require(d in (None, X.shape[1]), f"n_features is {d}, X has {X.shape[1]} columns.")
    return np.asarray(X)


def _check_members(family: ModelFamily, n: int, d: int) -> int:
    """Check the members other than solve and residuals; returns k."""
    symmetries = getattr(family, "symmetries", None)
    require(
        isinstance(symmetries, frozenset) and symmetries <= {"translation", "rotation", "scale"},
        "symmetries must be a frozenset of 'translation', 'rotation', 'scale', or of none of "
        f"them, got {symmetries!r}.",
    )
    for member in ("sample_size", "codimension", "solve", "residuals"):
        require(callable(getattr(family, member)), f"{member} must be a method.")
    k, codimension = family.sample_size(d), family.codimension(d)
    require(
        isinstance(k, numbers.Integral) and 1 <= k < n,
        f"sample_size({d}) must be an integer from 1 to less than the {n} rows of X, got {k!r}.",
    )
    require(
        isinstance(codimension, numbers.Integral) and 1 <= codimension <= d,
        f"codimension({d}) must be an integer from 1 to {d}, got {codimension!r}.",
    )
    exact = getattr(family, "exact", True)
    require(isinstance(exact, (bool, np.bool_)), f"exact must be True or False, got {exact!r}.")
    require(
        type(family).__hash__ is not None, "a family must be hashable: do not define __eq__ alone."
    )
    return int(k)


def _solve(family: ModelFamily, samples: Floats) -> tuple[Floats, Any]:
    given = samples.copy()
    answer = _call("solve", family.solve, given)
    require(np.array_equal(given, samples), "solve must not write into its input.")
    require(
        isinstance(answer, tuple) and len(answer) == 2,
        "solve must return two arrays, parameters and valid.",
    )
    params, valid = np.asarray(answer[0], np.float64), np.asarray(answer[1])
    s, q = len(samples), family.max_models
    require(
        params.ndim == 3 and params.shape[:2] == (s, q) and valid.shape == (s, q),
        f"solve must give params ({s}, {q}, p) and valid ({s}, {q}), "
        f"got {params.shape} and {valid.shape}.",
    )
    require(valid.dtype == np.bool_, f"valid must be boolean, got {valid.dtype}.")
    require(np.isfinite(params[valid]), "parameters of valid models must be finite.")
    again, _ = family.solve(samples[:1])
    require(
        np.allclose(again[0][valid[0]], params[0][valid[0]], rtol=1e-9),
        "the models of a sample must not depend on other samples.",
    )
    return params, valid


def _residuals(family: ModelFamily, X: Floats, theta: Floats) -> Floats:
    given = X.copy()
    R = np.asarray(_call("residuals", family.residuals, given, theta))
    require(np.array_equal(given, X), "residuals must not write into its input.")
    require(
        R.shape == (len(X), len(theta)),
        f"residuals must have shape (n, m) = ({len(X)}, {len(theta)}), got {R.shape}.",
    )
    require(~np.isnan(R), "residuals must not be NaN; use inf for points at no finite distance.")
    require(R >= 0, "residuals must not be negative: they are unsigned distances.")
    return R


def _check_rows(family: ModelFamily, X: Floats, theta: Floats, R: Floats, size: float) -> str:
    """Row i depends on row i only, up to the last bits, which are reported in a remark."""
    alone = np.concatenate([family.residuals(X[i : i + 1], theta) for i in range(len(X))])
    turned = np.asarray(family.residuals(X[::-1].copy(), theta))[::-1]
    for other in (alone, turned):
        require(
            np.isclose(other, R, rtol=1e-6, atol=1e-9 * size),
            "the residuals of a row must depend on that row only, not on the others.",
        )
    if np.array_equal(alone, R) and np.array_equal(turned, R):
        return "rows are stable: a row's residuals do not depend on its block"
    return (
        "rows are not stable: the last bits of a row's residuals depend on its block "
        "(a matrix product does this); piforest always calls with blocks of one size"
    )


def _check_own_samples(family: ModelFamily, own: Floats, theta: Floats, size: float) -> None:
    worst = max(float(np.max(family.residuals(own[j], theta[j : j + 1]))) for j in range(len(own)))
    require(
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
        _, valid = _call("solve", family.solve, one)
    require(~np.asarray(valid), "a sample of one repeated point must not be valid.")


def _check_repeated(
    family: ModelFamily, X: Floats, samples: Floats, size: float, rng: np.random.Generator
) -> None:
    """A sample with a repeated point must be degenerate, or its model robust to rounding."""
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
    require(
        not both.any() or np.median(np.abs(here[both] - there[both])) <= 1e-3 * size,
        "a sample with a repeated point does not determine its model: it must not be valid.",
    )
    if valid.any() and _is_exact(family):
        _check_own_samples(family, own, params[valid], size)


def _table(family: ModelFamily, X: Floats, samples: Floats) -> Floats:
    """Residuals (n, s, q), infinite for models that are not valid. The models of a sample are
    sorted by their total residuals, because a solver may return them in any order."""
    params, valid = (np.asarray(part) for part in family.solve(samples))
    R = np.full((len(X), *valid.shape), np.inf)
    R[:, valid] = family.residuals(X, params[valid])
    order = np.argsort(np.sum(np.minimum(R, 1e300), axis=0), axis=-1)
    return np.take_along_axis(R, order[None], axis=-1)


def _check_noise(family: ModelFamily, X: Floats, samples: Floats, size: float, rng: Any) -> None:
    here = _table(family, X, samples)
    there = _table(family, X, samples + rng.normal(0, 1e-9 * size, samples.shape))
    both = np.isfinite(here) & np.isfinite(there)
    require(
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
        require(
            close.mean() > 0.98,
            f"residuals must be invariant under {symmetry}, which is in `symmetries`.",
        )


def _check_reason_to_reject(family: ModelFamily, X: Floats) -> None:
    if hasattr(family, "reason_to_reject"):
        reason = family.reason_to_reject(X)
        require(
            reason is None,
            f"reason_to_reject must return None for rows on a model, got {reason!r}.",
        )


def _check_outline(family: ModelFamily, X: Floats, theta: Floats, size: float) -> None:
    if not hasattr(family, "outline"):
        return
    low, high = X.min(axis=0) - size, X.max(axis=0) + size
    drawn = [family.outline(params, low, high) for params in theta[:20]]
    require(all(isinstance(lines, list) for lines in drawn), "outline must give a list of arrays.")
    # In more than three dimensions there may be nothing to draw.
    require(any(drawn) or X.shape[1] > 3, "outline draws nothing of 20 models near the data.")
    for params, lines in zip(theta, drawn):
        for line in lines:
            line = np.asarray(line, np.float64)
            require(
                line.ndim == 2 and line.shape[1] == X.shape[1],
                f"outline must give arrays of shape (., {X.shape[1]}), got {line.shape}.",
            )
            line = line[~np.isnan(line).any(axis=1)]
            slack = 1e-6 * (high - low)
            require(
                (line >= low - slack) & (line <= high + slack), "outline must stay within the box."
            )
            require(
                len(line) == 0 or family.residuals(line, params[None]).max() <= 1e-4 * size,
                "outline must give points on the model.",
            )


def _check_formula(family: ModelFamily, X: Floats, theta: Floats, R: Floats, size: float) -> None:
    if not hasattr(family, "formula"):
        return
    try:
        formula = np.asarray(residuals_of(family, X, theta))
    except Exception as error:
        raise CheckError(
            "formula must take columns (n, 1) and (1, m) and the module numpy as its namespace; it "
            f"raised {type(error).__name__}: {error}"
        ) from error
    require(
        formula.shape == R.shape,
        f"formula must give shape (n, m) = {R.shape}, got {formula.shape}.",
    )
    require(
        np.isclose(formula, R, rtol=1e-9, atol=1e-9 * size),
        "formula must agree with residuals, up to a billionth of the data's size.",
    )


def _check_null(family: ModelFamily, X: Floats) -> None:
    given, n = X.copy(), len(X) + 3
    rows = np.asarray(call_checked(null_rows, family, given, n, Stream(1)))
    require(np.array_equal(given, X), "null_rows must not write into its input.")
    require(
        rows.shape == (n, X.shape[1]) and np.isfinite(rows).all(),
        f"null_rows must give finite rows of shape ({n}, {X.shape[1]}), got {rows.shape}.",
    )
    again = null_rows(family, X, n, Stream(1))
    require(np.array_equal(again, rows), "null_rows must depend on X, n and the stream only.")
