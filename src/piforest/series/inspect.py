"""Series of one or more channels: scores in sliding windows, and runs of anomalous rows.

>>> import numpy as np
>>> from piforest.series import inspect_series
>>> rng = np.random.default_rng(0)
>>> t = np.arange(600.0)
>>> load = 3 * np.sin(t / 40)
>>> values = np.column_stack([load, 2 * load, -load]) + 0.05 * rng.normal(size=(600, 3))
>>> values[300:320, 1] += 2
>>> found = inspect_series(t, values, names=["a", "b", "c"], min_rows=3, random_state=0)
>>> [(run.first, run.last, run.channel) for run in found.runs]
[(300, 319, 'b')]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_integer, check_share
from ..estimators import LocalPreferenceIsolationForest
from ..families import resolve_family
from ..labels import thresholds
from ..protocols import Bools, Floats, Ints
from ..typing import ContaminationLike, FamilyLike, RandomStateLike, SigmaLike
from .runs import Run, find_runs, gaps_of, running_mean

__all__ = ["Run", "SeriesResult", "inspect_series"]

# There is one structure at a time.
_MIN_SHARE = 0.5
# A window needs ten rows for each point of a minimal sample (`piforest.windows.fit`); the smallest
# of "auto" have 64, as in `piforest.windows.cutting`, with which the noise is not underestimated.
_LEAST_ROWS, _ROWS_PER_SAMPLE_POINT, _MAX_SIZES = 10, 64, 7
# Rows of the running mean with a reference. Chosen on SKAB's valve1/0 and valve1/1 from 1, 5, 15,
# 31 and 61: faults of machines last, while a single row is off now and then.
_SMOOTH, _REFERENCE_PARTS = 61, 6


@dataclass(frozen=True, eq=False)
class SeriesResult:
    """Scores of a series, and its anomalous runs.

    Attributes
    ----------
    times : ndarray of shape (n,)
        The times of the rows.
    values : ndarray of shape (n, c)
        All channels.
    names : list of str
        Their names.
    constant : list of str
        Channels that never change, which are left out.
    scores : ndarray of shape (n,)
        Anomaly scores in (0, 1], after the running mean.
    threshold : float
        Rows with a larger score are anomalous.
    threshold_source : str
        "automatic", "contamination", "reference", "given" or "no structure".
    flagged : ndarray of shape (n,)
        Whether a row is anomalous.
    runs : list of Run
        Runs of anomalous rows, in order of time.
    n_shorter : int
        The number of runs with fewer rows than `min_rows`.
    gaps : ndarray of int
        The rows before which there is a gap.
    smooth : int
        The number of rows of the running mean.
    reference, min_rows : int or None, int
        As given.
    detector : LocalPreferenceIsolationForest
        The fitted detector, of rows (time, channels in units of their spread).
    """

    times: Floats
    values: Floats
    names: list[str]
    constant: list[str]
    scores: Floats
    threshold: float
    threshold_source: str
    flagged: Bools
    runs: list[Run]
    n_shorter: int
    gaps: Ints
    smooth: int
    reference: int | None
    min_rows: int
    detector: LocalPreferenceIsolationForest

    def with_threshold(self, threshold: float) -> SeriesResult:
        """The same scores with another threshold, and the runs that follow.

        Parameters
        ----------
        threshold : float
            Rows with a larger score are anomalous.

        Returns
        -------
        SeriesResult
            A new result, whose `threshold_source` is "given".
        """
        at = (self.names, self.scores, threshold, self.gaps, self.reference, self.min_rows)
        found = found_at(self.times, self.values, *at)
        return replace(self, threshold=threshold, threshold_source="given", **found)


def inspect_series(
    times: ArrayLike,
    values: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    family: FamilyLike | Literal["auto"] = "auto",
    window: float | Sequence[float] | Literal["auto"] = "auto",
    reference: int | None = None,
    smooth: int | Literal["auto"] = "auto",
    sigma: SigmaLike = "auto",
    contamination: ContaminationLike = "auto",
    false_alarm_rate: float = 0.01,
    min_rows: int = 1,
    n_jobs: int | None = None,
    random_state: RandomStateLike = None,
    verbose: int = 0,
) -> SeriesResult:
    """Find the rows of a series that are off what its channels do around them.

    Parameters
    ----------
    times : array-like of shape (n,)
        Numbers that do not decrease. A step above ten times the median step is a gap: the running
        mean and the runs end there, and windows that are left with too few rows are skipped.
    values : array-like of shape (n, c) or (n,)
        The channels. Constant ones are left out.
    names : sequence of str or None, default=None
        Names of the channels; None: x0, x1, ...
    family : "auto", str or ModelFamily, default="auto"
        What the channels follow in a window. "auto": `subspace` of dimension 1 for several
        channels, without the time; for one channel `linear_regression` on the time. A regression
        has the time and the other channels as inputs, and its target is the last channel.
        `polynomial` takes one channel.
    window : "auto", float or list of float, default="auto"
        The length of the windows in the unit of the times. "auto" takes the whole range and its
        halves, as long as windows have 64 rows for each point of a minimal sample, at most seven.
    reference : int or None, default=None
        The number of first rows that are known to be normal. The detector is fitted to them alone,
        the time is no input, and the threshold is from their scores. Without it, faults that last
        longer than half of a window are structures themselves.
    smooth : int or "auto", default="auto"
        The number of rows of the running mean of depths. "auto": 1; with a reference 61, at most a
        sixth of it.
    sigma : float or "auto", default="auto"
        The noise, in units of the spread of the channels.
    contamination : "auto" or float in (0, 1), default="auto"
        The share of the rows to flag.
    false_alarm_rate : float in [0, 1), default=0.01
        With a reference, the share of its rows above the threshold.
    min_rows : int, default=1
        Runs with fewer rows are not listed.
    n_jobs, random_state, verbose
        As in `LocalPreferenceIsolationForest`.

    Returns
    -------
    SeriesResult
        Scores and runs.

    Examples
    --------
    >>> t = np.arange(400.0)
    >>> level = np.sin(t / 200) + 0.02 * np.random.default_rng(0).normal(size=400)
    >>> level[200] += 1
    >>> found = inspect_series(t, level, contamination=0.003, random_state=0)
    >>> [run.first for run in found.runs]
    [200]
    """
    check_integer("min_rows", min_rows, 1)
    check_share("false_alarm_rate", false_alarm_rate)
    times, channels = _checked(times, values)
    known = _names(names, channels.shape[1])
    changing = np.flatnonzero(np.ptp(channels, axis=0) > 0)
    if not len(changing):
        raise ValueError("values: all channels are constant, so that there is nothing to find.")
    fitted = _reference(reference, len(times))
    chosen, features = _family(family, len(changing), fitted is not None)
    _check_rows(chosen, len(features), len(times) if fitted is None else fitted)
    rows = np.column_stack([times - times[0], _in_spreads(channels[:, changing], fitted)])
    detector = LocalPreferenceIsolationForest(
        chosen, window=_windows(window, rows[:fitted], chosen, len(features)), coordinates=[0],
        features=features, sigma=sigma, min_share=_MIN_SHARE, contamination=contamination,
        n_jobs=n_jobs, random_state=random_state, verbose=verbose,
    ).fit(rows[:fitted])  # fmt: skip
    gaps, width = gaps_of(times), _width(smooth, fitted)
    depths = -np.log2(detector.anomaly_score(rows))
    scores = 2.0 ** -running_mean(depths, width, gaps)
    threshold, source = _threshold(detector, scores, contamination, fitted, false_alarm_rate)
    return SeriesResult(
        times, channels, known, scores=scores, threshold=threshold, threshold_source=source,
        gaps=gaps, smooth=width, reference=fitted, min_rows=min_rows, detector=detector,
        **found_at(times, channels, known, scores, threshold, gaps, fitted, min_rows),
    )  # fmt: skip


def found_at(
    times: Floats,
    channels: Floats,
    names: list[str],
    scores: Floats,
    threshold: float,
    gaps: Ints,
    reference: int | None,
    min_rows: int,
) -> dict[str, Any]:
    """What a `SeriesResult` has by its threshold, and the channels that never change."""
    changing = np.ptp(channels, axis=0) > 0
    kept = [name for name, changes in zip(names, changing) if changes]
    flagged = scores > threshold
    runs = find_runs(times, channels[:, changing], kept, scores, flagged, gaps, reference)
    long = [run for run in runs if run.n_rows >= min_rows]
    return {"flagged": flagged, "runs": long, "n_shorter": len(runs) - len(long),
            "constant": [name for name in names if name not in kept]}  # fmt: skip


def _checked(times: ArrayLike, values: ArrayLike) -> tuple[Floats, Floats]:
    """The times (n,) and the channels (n, c), or an error that names the first bad row."""
    at, channels = np.asarray(times, np.float64), np.asarray(values, np.float64)
    channels = channels[:, None] if channels.ndim == 1 else channels
    if at.ndim != 1 or channels.ndim != 2 or len(at) != len(channels) or not channels.size:
        raise ValueError(
            "times must have shape (n,) and values (n, c) or (n,), with the same n of at least 1; "
            f"got {at.shape} and {channels.shape}."
        )
    for name, bad in (("times", ~np.isfinite(at)), ("values", ~np.isfinite(channels).all(axis=1))):
        if bad.any():
            raise ValueError(
                f"{name} must be finite numbers, {name}[{int(np.argmax(bad))}] is none; leave such "
                "rows out, which makes a gap."
            )
    back = np.diff(at) < 0
    if back.any():
        row = int(np.argmax(back)) + 1
        raise ValueError(
            f"times must not run backwards: times[{row}] is {at[row]:.15g} after "
            f"{at[row - 1]:.15g}; sort the rows, or inspect the parts on their own."
        )
    return at, channels


def _names(names: Sequence[str] | None, c: int) -> list[str]:
    known = [f"x{k}" for k in range(c)] if names is None else [str(name) for name in names]
    if len(known) != c or len(set(known)) < c:
        raise ValueError(f"names must be {c} different names, one for each channel, got {known}.")
    return known


def _reference(reference: int | None, n: int) -> int | None:
    if reference is None:
        return None
    check_integer("reference", reference, 1)
    if reference > n:
        raise ValueError(
            f"reference must be at most the number of rows, {n}, got {reference}; it is the "
            "number of first rows that are normal."
        )
    return int(reference)


def _family(family: Any, c: int, reference: bool) -> tuple[Any, list[int]]:
    """The family, and its columns in rows (time, channels)."""
    if isinstance(family, str) and family == "auto":
        if reference and c == 1:
            raise ValueError(
                "reference needs at least two channels, got one: how one channel depends on the "
                "time before a fault says nothing about later times. Leave reference out."
            )
        family = "linear_regression" if c == 1 else "subspace"
    chosen = resolve_family(family)
    if family == "subspace":
        # Of 1 and the number of significant components, chosen on SKAB's valve1/0 and valve1/1.
        chosen = replace(chosen, dimension=1)  # type: ignore[type-var]
    channels = list(range(1, c + 1))
    if chosen.name == "subspace":
        if c <= chosen.dimension:  # type: ignore[attr-defined]
            raise ValueError(
                f"family subspace of dimension {chosen.dimension} needs more "  # type: ignore[attr-defined]
                f"channels than that, got {c}; family='linear_regression' takes one."
            )
        return chosen, channels
    if reference and (chosen.name == "polynomial" or c == 1):
        raise ValueError(
            f"family {chosen.name} of the time cannot be used with reference, since it says "
            "nothing about later times; use family='subspace', or leave reference out."
        )
    if chosen.name == "polynomial" and c != 1:
        raise ValueError(
            f"family polynomial takes one channel, got {c}; select one, or use family='subspace'."
        )
    return chosen, channels if reference else [0, *channels]


def _check_rows(family: Any, d: int, n: int) -> None:
    least = _LEAST_ROWS * family.sample_size(d)
    if n < least:
        raise ValueError(
            f"family {family.name} with {d} columns needs at least {least} rows to fit, got {n}; "
            "use more rows, fewer channels or another family."
        )


def _in_spreads(channels: Floats, fitted: int | None) -> Floats:
    """The channels minus their medians, in units of their spreads: the larger one of a quarter
    range, as of a normal distribution, and the standard deviation, in the rows that are fitted."""
    rows = channels[:fitted]
    low, middle, high = np.percentile(rows, [25, 50, 75], axis=0)
    spread = np.maximum((high - low) / 1.349, rows.std(axis=0))
    # Constant in the reference and not later: a change is a fault, of any size.
    spread = np.where(np.ptp(rows, axis=0) > 0, spread, channels.std(axis=0))
    return np.asarray((channels - middle) / spread)


def _windows(window: Any, rows: Floats, family: Any, d: int) -> Any:
    if not (isinstance(window, str) and window == "auto"):
        return window
    length = float(rows[-1, 0] - rows[0, 0])
    if length == 0:
        raise ValueError("times are all equal, so that there are no windows; number the rows.")
    parts = len(rows) / (_ROWS_PER_SAMPLE_POINT * family.sample_size(d))
    sizes = min(_MAX_SIZES, 1 + max(0, int(np.log2(max(parts, 1)))))
    return [length * 2.0**-k for k in range(sizes)]


def _width(smooth: Any, fitted: int | None) -> int:
    if isinstance(smooth, str) and smooth == "auto":
        return 1 if fitted is None else max(1, min(_SMOOTH, fitted // _REFERENCE_PARTS))
    return check_integer("smooth", smooth, 1, "the number of rows of the running mean, or 'auto'.")


def _threshold(
    detector: LocalPreferenceIsolationForest,
    scores: Floats,
    contamination: Any,
    fitted: int | None,
    rate: float,
) -> tuple[float, str]:
    if contamination != "auto":
        return thresholds.share(scores, float(contamination)), "contamination"
    if fitted is None:
        return detector.threshold_, detector.threshold_source_
    return float(np.quantile(scores[:fitted], 1 - rate, method="higher")), "reference"
