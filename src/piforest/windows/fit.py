"""Fit a detector in each window, with one sigma for all."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._progress import Progress
from .._random import Stream, choose, subset
from .._validation import NoModels, check_family_fits
from ..bands.evidence import Bands, least_ratio
from ..engines import CpuEngine, Engine
from ..engines.protocol import RowSource
from ..fitted import FittedEmbedding, TrainingRows
from ..fitted.state import SigmaSource
from ..fitting import EmbeddingParameters, ForestParameters, fit_embedding, fit_forest
from ..fitting.refinement import Steps
from ..labels import votes as labels
from ..models.membership import sample_membership
from ..protocols import Bools, Floats, Ints
from ..structures.greedy import Structure
from .fitted import FittedWindows, Window, weight_of
from .tiling import Occupied, Tiling, occupied

# Rows of a window that models are drawn from and measured on: more hardly change the bands.
WINDOW_ROWS = 2048
# A window needs this many rows for each point of a minimal sample.
ROWS_PER_SAMPLE_POINT = 10
# The windows of the smallest size that sigma is taken from, and the models for that.
_SIGMA_WINDOWS, _SIGMA_MODELS = 64, 300
# The noise around straight structures does not depend on the window; a curve deviates from a line
# by a quarter as much in half a window. Below this ratio, curvature is more than half of the
# variance: of two equal parts, one is left whole and one by a sixteenth.
_STRAIGHT = np.sqrt((1 + 1 / 16) / 2)
# Models for the noise are refitted, since those of minimal samples are off by noise of their own.
_SIGMA_STEPS = Steps(concentrate=False, refit=True, select=False, bound=False)


@dataclass(frozen=True)
class WindowParameters:
    """What all windows have in common."""

    embedding: EmbeddingParameters
    forest: ForestParameters
    min_share: float
    """models whose bands hold a smaller share of the rows of a window are left out"""

    def least_rows(self, d: int) -> int:
        """The number of rows that a window needs."""
        return ROWS_PER_SAMPLE_POINT * self.sample_size(d)

    def sample_size(self, d: int) -> int:
        """The size of the largest minimal sample."""
        return max(family.sample_size(d) for family in self.embedding.only)


@dataclass(frozen=True, eq=False)
class Cut:
    """The windows of one size, before they are fitted."""

    tiling: Tiling
    found: Occupied
    fallback: bool = False
    """whether it only counts for rows that no other window holds"""
    optional: bool = False
    """whether it is used only if structures are not straight in the windows of the size before"""

    @classmethod
    def of(cls, tiling: Tiling, source: RowSource, coordinates: Ints, stream: Stream) -> Cut:
        limit = stream.child("rows")
        return cls(tiling, occupied(tiling, source, coordinates, WINDOW_ROWS, limit))

    def with_rows(self, least: int) -> list[int]:
        """The positions in `found` of the windows with at least so many rows."""
        return [int(at) for at in np.flatnonzero(self.found.n_rows >= least)]


def fit_windows(
    source: RowSource,
    engine: Engine,
    coordinates: Ints,
    features: Ints,
    cuts: Sequence[Cut],
    parameters: WindowParameters,
    stream: Stream,
    progress: Progress,
) -> FittedWindows:
    """Fit the windows with enough rows, as tasks of the engine; the fullest one if none has
    enough."""
    represented = subset(stream, len(source))
    in_windows = (rows for cut in cuts for rows in cut.found.rows)
    rows = source.fetch(np.unique(np.concatenate([represented, *in_windows])))
    for family in parameters.embedding.only:
        check_family_fits(family, rows.X[:, features])
    least = parameters.least_rows(len(features))
    with warnings.catch_warnings():
        # Each window would warn of its own sigma; the diagnosis speaks for all.
        warnings.filterwarnings("ignore", message="(sigma=|no structure of family)")
        fit = _Fit(rows, engine, features, list(cuts), parameters, stream, progress)
        cuts = fit.down_to_straight(least)
        tasks = [(size, at) for size, cut in enumerate(cuts) for at in cut.with_rows(least)]
        tasks = tasks or [(0, int(np.argmax(cuts[0].found.n_rows)))]
        sigma, sigma_source = fit.one_sigma(tasks)
        windows = fit.windows(tasks, sigma)
    n_skipped = sum(len(cut.found.windows) for cut in cuts if not cut.optional)
    n_skipped -= sum(not cuts[window.size].optional for window in windows)
    return FittedWindows(
        coordinates, features, tuple(cut.tiling for cut in cuts), tuple(windows), sigma,
        sigma_source, stream.key, len(source), n_skipped, rows.take(represented),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Task:
    """One window to fit, with all that is needed for it, so that any process can do it."""

    X: Floats
    """(r, d) the features of its rows"""
    numbers: Ints
    """of the rows among all"""
    size: int
    number: int
    n_rows: int
    fallback: bool
    stream: Stream

    def embedding(self, parameters: EmbeddingParameters) -> FittedEmbedding | None:
        """The models of a window; None if its rows determine none, such as equal rows, or if the
        family rejects them, such as a target that is constant there."""
        for family in parameters.only:
            if hasattr(family, "reason_to_reject") and family.reason_to_reject(self.X) is not None:
                return None
        try:
            return self.fit_embedding(parameters)
        except NoModels:
            return None

    def fit_embedding(self, parameters: EmbeddingParameters) -> FittedEmbedding:
        rows = TrainingRows(self.X)
        numbers = rows.subset(self.stream)
        return fit_embedding(rows, parameters, CpuEngine(None), self.stream, numbers)[0]


def noise_in_window(task: _Task, parameters: EmbeddingParameters) -> tuple[float, float] | None:
    """The noise of the structure with the most evidence in a window, and this evidence; None if
    there is no structure."""
    found = task.embedding(parameters)
    if found is None or found.sigma_source != "estimated":
        return None
    structure = _structure(found, task, [bands.ratio for bands in found.bands or ()])
    if structure is None:
        return None
    # In several directions the noise differs, as that of channels does, and its median length says
    # too little of the widest: there it is the noise that the bands of all models tell.
    one = structure.family.codimension(task.X.shape[1]) == 1
    return structure.sigma if one else found.sigma, structure.log_ratio


def fit_window(
    task: _Task, parameters: WindowParameters, embedding: EmbeddingParameters, n_windows: int
) -> Window | None:
    """Fit one of `n_windows` windows; None if it has no models."""
    every = task.embedding(embedding)
    if every is None:
        return None
    models = with_large_models(every, parameters.min_share * len(task.X))
    rows, backend = TrainingRows(task.X), CpuEngine(None)
    fitted = fit_forest(rows, parameters.forest, backend, task.stream, models)
    explained = _explained(models, fitted.points, parameters.min_share, task.stream)
    structure = _structure(every, task, _supports(every.bands))
    limit = least_ratio(n_windows * every.n_models)
    explained = 0.0 if task.fallback else explained
    return Window(
        task.size, task.number, task.n_rows, replace(fitted, subset=None), explained,
        weight_of(explained, task.size),
        structure=structure,
        significant=structure is not None and structure.log_ratio > limit,
    )  # fmt: skip


class _Fit:
    """Fits windows."""

    def __init__(
        self,
        rows: TrainingRows,
        engine: Engine,
        features: Ints,
        cuts: list[Cut],
        parameters: WindowParameters,
        stream: Stream,
        progress: Progress,
    ) -> None:
        self.rows, self.engine, self.features, self.cuts = rows, engine, features, cuts
        self.parameters, self.stream, self.progress = parameters, stream, progress
        self.known_noise: dict[tuple[int, int], float] = {}

    def down_to_straight(self, least: int) -> list[Cut]:
        """The sizes without the optional ones in which structures are no straighter than in the
        size before, as the noise around them tells."""
        n_used = sum(not cut.optional for cut in self.cuts)
        for size in range(n_used, len(self.cuts)):
            before, here = (self.noise(k, self.cuts[k].with_rows(least)) for k in (size - 1, size))
            if not here < _STRAIGHT * before:
                break
            n_used = size + 1
        self.cuts = self.cuts[:n_used]
        return self.cuts

    def noise(self, size: int, windows: list[int]) -> float:
        """The median of the noise in windows of this size, weighted by the evidence of their
        structures; NaN if none has any."""
        if (size, len(windows)) not in self.known_noise:
            self.known_noise[size, len(windows)] = self._noise(size, windows)
        return self.known_noise[size, len(windows)]

    def _noise(self, size: int, windows: list[int]) -> float:
        quick = replace(
            self.parameters.embedding, sigma=None, n_models=_SIGMA_MODELS, scale="per_model",
            steps=_SIGMA_STEPS,
        )  # fmt: skip
        chosen = choose(self.stream.child("sigma", size), len(windows), _SIGMA_WINDOWS)
        tasks = ((self._task(size, windows[k]), quick) for k in chosen.tolist())
        found = self.engine.map_tasks(noise_in_window, tasks, len(chosen))
        found = self.progress.track(found, len(chosen), f"noise in windows of size {size + 1}")
        known = [each for each in found if each is not None]
        return _weighted_median(known) if known else float("nan")

    def one_sigma(self, tasks: list[tuple[int, int]]) -> tuple[float, SigmaSource]:
        """The noise in the windows of the smallest size, in which structures are the straightest;
        of a larger size if no window of a smaller one has a structure."""
        embedding = self.parameters.embedding
        if embedding.sigma is not None:
            return embedding.sigma, "given"
        for size in range(len(self.cuts) - 1, -1, -1):
            sigma = self.noise(size, [at for k, at in tasks if k == size])
            if np.isfinite(sigma):
                return sigma, "estimated"
        return float("nan"), "guessed"

    def windows(self, tasks: list[tuple[int, int]], sigma: float) -> list[Window]:
        """The windows that have models; an error if none has."""
        embedding = self.parameters.embedding
        if np.isfinite(sigma):
            embedding = replace(embedding, sigma=sigma)
        n = len(tasks)
        arguments = ((self._task(*each), self.parameters, embedding, n) for each in tasks)
        fitted = self.engine.map_tasks(fit_window, arguments, n)
        kept = [each for each in self.progress.track(fitted, n, "windows") if each is not None]
        if not kept:
            self._task(*tasks[0]).fit_embedding(embedding)  # raises the reason
        return kept

    def _task(self, size: int, at: int) -> _Task:
        cut = self.cuts[size]
        numbers, window = cut.found.rows[at], int(cut.found.windows[at])
        return _Task(
            self.rows.take(numbers)[:, self.features], numbers, size, window,
            int(cut.found.n_rows[at]), cut.fallback, self.stream.child("window", size, window),
        )  # fmt: skip


def _explained(embedding: FittedEmbedding, X: Floats, min_share: float, stream: Stream) -> float:
    """The share of the rows within three sigmas of as many models as structures of the least share
    fit into a window, chosen greedily, beyond chance: 0 if the models explain as many of random
    rows, as wide ones in a small window do, 1 if they explain all rows. All models together would
    explain nearly all."""
    random = stream.child("explained").generator()
    null = random.uniform(*labels.box(X), (labels.NULL_POINTS, X.shape[1]))
    near, null_near = _near(embedding, X), _near(embedding, null)
    left, null_left = np.ones(len(X), bool), np.ones(len(null), bool)
    # With a least share of a half there is one majority.
    for _ in range(max(1, int(np.ceil(1 / max(min_share, 0.01))) - 1)):
        best = int(np.argmax(near[left].sum(axis=0)))
        left &= ~near[:, best]
        null_left &= ~null_near[:, best]
    return max(0.0, 1 - float(np.mean(left)) / max(float(np.mean(null_left)), 1 / len(null)))


def _near(embedding: FittedEmbedding, X: Floats) -> Bools:
    """(n, m) which rows are within three sigmas of which models."""
    preferences = embedding.preferences.rows_of(X)
    near = np.zeros((len(X), embedding.n_models), bool)
    near[np.repeat(np.arange(len(X)), preferences.counts), preferences.indices] = True
    return near


def with_large_models(embedding: FittedEmbedding, support: float) -> FittedEmbedding:
    """The models whose bands hold at least `support` rows, or half as many as the largest band if
    none does: a window is judged by structures of its own size, smaller windows by smaller ones."""
    if embedding.bands is None:
        return embedding
    counts = _supports(embedding.bands)
    largest = max(float(each.max()) for each in counts)
    limit = support if largest >= support else largest / 2
    kept = [np.flatnonzero(each >= limit) for each in counts]
    if largest == 0 or not all(map(len, kept)):
        return embedding
    models = tuple(part.take(each) for part, each in zip(embedding.models, kept))
    membership = None if embedding.membership is None else sample_membership(list(models))
    return replace(embedding, models=models, membership=membership, bands=None)


def _supports(found: Sequence[Bands] | None) -> list[Floats]:
    """For each family (m,) the number of points in the band of each model; 0 for bands without
    evidence."""
    return [
        np.divide(bands.ratio, bands.gain, out=np.zeros(len(bands.gain)), where=bands.gain > 0)
        for bands in found or ()
    ]


def _structure(found: FittedEmbedding, task: _Task, merits: list[Floats]) -> Structure | None:
    """The model of the greatest merit as a structure; None if no band has evidence.

    merits: for each family (m,), above 0 only for bands with evidence.
    """
    if found.bands is None or found.measuring is None:
        return None
    k = int(np.argmax([each.max() for each in merits]))
    at, models, bands = int(np.argmax(merits[k])), found.models[k], found.bands[k]
    if not merits[k][at] > 0:
        return None
    width, none = float(bands.half_width[at]), task.numbers[:0]
    structure = Structure(
        models.family, models.params[at], width, float(bands.ratio[at]), none, width / 2
    )
    resolution = found.measuring[k].resolution
    rows = resolution.dithered(task.X, np.arange(len(task.X)))
    inside = np.flatnonzero(structure.residuals(rows) <= width)
    structure = structure.with_noise(rows, inside, task.X if resolution else None)
    return structure.with_members(task.numbers[inside])


def _weighted_median(known: list[tuple[float, float]]) -> float:
    values, weights = np.array(sorted(known)).T
    return float(values[np.searchsorted(np.cumsum(weights), weights.sum() / 2)])
