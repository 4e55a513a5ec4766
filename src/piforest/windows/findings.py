"""Results derived from fitted windows, computed on first use and cached."""

from __future__ import annotations

import numpy as np

from .._numbers import readable
from .._random import SUBSET, Stream, below, mix
from .._validation import check_enough_rows
from ..diagnosis import Finding
from ..engines import Backend
from ..explain import Explanation, Nearby
from ..fitted.state import SigmaSource
from ..labels import thresholds
from ..labels import votes as labels
from ..protocols import Bools, Floats
from .fitted import FittedWindows, Window

# A window that explains less than this share of its rows has the wrong size or family.
_POORLY = 0.5
_MANY_SKIPPED = 0.25
_FILLED = 0.5  # of random points on a structure, above which scores are not compared with them
_FEW = 0.001
_ON = 3.0  # a row within this many sigmas is on a local structure


class WindowFindings:
    """The same results as `piforest.findings.Findings`, for windows."""

    def __init__(self, fitted: FittedWindows) -> None:
        self.fitted = fitted
        self._judged: tuple[Floats, Bools] | None = None
        self._null: tuple[Floats, Bools] | None = None
        self._threshold: float | None = None
        self.undecided = False
        """whether an automatic threshold flags hardly anything because random points are on
        structures"""

    @property
    def has_scores(self) -> bool:
        """Whether `scores` is available."""
        return self.fitted.n_training <= SUBSET

    def scores(self, backend: Backend) -> Floats:
        """(n,) scores of the training rows; not available for more than 50,000 rows."""
        if not self.has_scores:
            raise AttributeError(
                f"the scores of the {self.fitted.n_training} training rows are not kept, since "
                f"there are more than {SUBSET}; anomaly_score(X) and predict(X) compute them."
            )
        return self.subset_scores(backend)

    def subset_scores(self, backend: Backend) -> Floats:
        """Scores of the training rows, or of the random 50,000 that represent them."""
        return self._training(backend)[0]

    def null_scores(self, backend: Backend) -> Floats:
        """Scores of random points, ascending."""
        return np.sort(self._null_judged(backend)[0])

    def automatic_threshold(self, backend: Backend) -> float:
        """The threshold for the training rows; it flags nothing if no structure is seen."""
        if self._threshold is None:
            self._threshold = self._vote_threshold(backend, *self._training(backend))
        return self._threshold

    def held_out_threshold(self, backend: Backend, rows: Floats, scores: Floats) -> float:
        """The threshold for rows other than the training rows."""
        check_enough_rows(len(rows))
        return self._vote_threshold(backend, *self.fitted.judge(rows, backend))

    @property
    def found_structure(self) -> bool:
        """Whether the structure of any window is significant."""
        return any(window.significant for window in self.fitted.windows)

    def _training(self, backend: Backend) -> tuple[Floats, Bools]:
        if self._judged is None:
            self._judged = self.fitted.judge(self.fitted.subset, backend)
        return self._judged

    def _null_judged(self, backend: Backend) -> tuple[Floats, Bools]:
        if self._null is None:
            self._null = self.fitted.judge(null_rows(self.fitted), backend)
        return self._null

    def _vote_threshold(self, backend: Backend, scores: Floats, far: Bools) -> float:
        """As for one forest: where two of three votes agree; see `piforest.labels`."""
        if not self.found_structure:
            return labels.NOTHING_FLAGGED
        null, null_far = self._null_judged(backend)
        covered = float(np.mean(~null_far))
        # Points on no structure are compared with random points where those are mostly on none.
        voted = far if covered > _FILLED else labels.votes(scores, null, far, null_far)
        anomalous = labels.with_missed(voted, far)
        # All random points look as normal as the data: windows that are not flat have models
        # everywhere, or structures fill the boxes.
        self.undecided = covered > _FILLED and bool(np.mean(anomalous) < _FEW)
        threshold = labels.score_threshold(scores, anomalous, float(scores.max()), covered)
        if np.sum(scores > threshold) > 2 * np.sum(anomalous) + 5:
            threshold = thresholds.share(scores, float(np.mean(anomalous)))
        return threshold


def null_rows(fitted: FittedWindows) -> Floats:
    """(250, d) rows without structure: each uniform in the box of a random smallest window, in
    which a row of the data is as likely as in the data."""
    n, d = labels.NULL_POINTS, fitted.subset.shape[1]
    stream = Stream(fitted.key).child("null")
    smallest = max(window.size for window in fitted.windows)
    windows = [window for window in fitted.windows if window.size == smallest]
    ends = np.cumsum([window.n_rows for window in windows])
    chosen = np.searchsorted(ends, below(mix(stream.key, np.arange(n)), ends[-1]), side="right")
    low, high = np.empty((2, n, d))
    for i, k in enumerate(chosen.tolist()):
        bounds = fitted.tilings[smallest].box(windows[k].number)
        low[i, fitted.coordinates], high[i, fitted.coordinates] = bounds
        low[i, fitted.features], high[i, fitted.features] = labels.box(windows[k].fitted.points)
    unused = np.setdiff1d(np.arange(d), np.union1d(fitted.coordinates, fitted.features))
    low[:, unused] = high[:, unused] = 0.0
    return np.asarray(stream.child("rows").generator().uniform(low, high))


def diagnose_windows(fitted: FittedWindows, source: str, undecided: bool) -> list[Finding]:
    """What to know about the data and the result; source: of the threshold; undecided: see
    `WindowFindings`."""
    found, windows = [], fitted.windows
    if undecided and source == "automatic":
        found.append(Finding(
            "windows_not_flat", "Random points are as near to the structures of the windows as the "
            "rows are, so that only rows off all of them are flagged, hardly any; scores still "
            "rank the others.", "Pass contamination, the share to flag; or smaller windows, in "
            "which the structures are straight.",
        ))  # fmt: skip
    if source == "no structure":
        found.append(Finding(
            "no_structure", "No window has a structure that stands out from chance, so that no "
            "point is flagged.", "Try another family or other windows; contamination flags a "
            "share of the points nevertheless.",
        ))  # fmt: skip
    largest = max(len(windows) + fitted.n_skipped, 1)
    if fitted.n_skipped > _MANY_SKIPPED * largest:
        found.append(Finding(
            "windows_skipped", f"{fitted.n_skipped} of {largest} windows with rows have too few "
            "of them for a detector, or rows that determine no model; larger windows judge them.",
            "Use larger windows if that is too coarse.",
        ))  # fmt: skip
    explained = _explained_by_size(windows)
    best = max(explained, key=lambda size: explained[size])
    if source != "no structure" and explained[best] < _POORLY:
        found.append(Finding(
            "windows_explain_little", f"The windows of the best size, {_side(fitted, best):.3g}, "
            f"explain {100 * explained[best]:.0f} % of their rows on average.",
            "Try smaller windows or another family, or pass sigma.",
        ))  # fmt: skip
    return found


def _explained_by_size(windows: tuple[Window, ...]) -> dict[int, float]:
    sizes = sorted({window.size for window in windows})
    return {
        size: float(np.mean([each.explained for each in windows if each.size == size]))
        for size in sizes
    }


def _side(fitted: FittedWindows, size: int) -> float:
    return float(fitted.tilings[size].side)


def explain_rows(
    fitted: FittedWindows, X: Floats, scores: Floats, threshold: float
) -> list[Explanation]:
    """For each row, its distances to the structures of the windows that hold it, those that explain
    most of their rows first."""
    nearby: list[list[tuple[float, Nearby]]] = [[] for _ in X]
    for k, window, rows in fitted.held(X):
        if window.structure is None:
            continue
        sigma, equation = window.structure.sigma, window.structure.equation
        away = window.structure.residuals(X[np.ix_(rows, fitted.features)])
        for row, r in zip(rows.tolist(), away.tolist()):
            near = Nearby(k, r, r / sigma, window.structure.support, equation)
            nearby[row].append((window.explained, near))
    results = []
    for i, each in enumerate(nearby):
        ranked = [near for _, near in sorted(each, key=lambda pair: -pair[0])[:3]]
        score = float(scores[i])
        text = _sentence(fitted, score, threshold, ranked)
        results.append(Explanation(score, threshold, None, score > threshold, ranked, text))
    return results


def _sentence(fitted: FittedWindows, score: float, threshold: float, nearest: list[Nearby]) -> str:
    kind = "anomalous" if score > threshold else "normal"
    head = f"{kind} (score {score:.3f}, threshold {threshold:.3f}): "
    if not nearest:
        return head + "no window that holds it has a structure."
    first = nearest[0]
    window = fitted.windows[first.structure]
    assert window.structure is not None
    where = f"the local {window.structure.family.name} of window {first.structure}"
    what = f"{where} (side {_side(fitted, window.size):.3g}, {first.support} points)"
    away = f"{first.sigmas:.3g} sigmas ({readable(first.distance)}) away"
    return head + f"{'on' if first.sigmas <= _ON else 'not on'} {what}, {away}."


def sigma_of(fitted: FittedWindows) -> tuple[float, SigmaSource]:
    """The one sigma; of windows without structure, the median of what they guess."""
    if np.isfinite(fitted.sigma):
        return fitted.sigma, fitted.sigma_source
    guesses = [w.fitted.embedding.sigma for w in fitted.windows if w.fitted.embedding is not None]
    return float(np.median(guesses)), "guessed"
