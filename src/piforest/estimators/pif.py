"""The detectors: preferences, then isolation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from .._device import on_host
from .._progress import Progress
from .._random import Stream, choose, subset
from .._validation import check_choice, check_positive, forget_fit
from ..forest import PooledForest
from ..metrics import as_rows, resolve_metric
from ..models import ModelSet
from ..preferences import Preferences
from ..protocols import Floats, Metric
from ._partitioned import training_data
from ._structured import StructuredDetector
from .embedding import PreferenceEmbedding, auto_models

PATHS = ["depth", "soft"]


class PreferenceIsolationForest(StructuredDetector):
    """Detect points that fit no structure of a family, however many structures there are.

    Points are described by their preferences for many random models of the family
    (`PreferenceEmbedding`), and a forest of nested Voronoi cells (`VoronoiForest`)
    measures how easily each is isolated there. No structure is fitted, no number
    of structures is needed.

    Parameters
    ----------
    family : str, ModelFamily or list, default="line"
        What a structure is; see `piforest.families.list_families`. A list of families, or of
        (family, share) pairs, where structures are of several kinds.
    sigma : float or "auto", default="auto"
        The noise of the structures, in the units of X. "auto" estimates it.
    n_models : int or "auto", default="auto"
        Models to keep, degenerate ones not counted. "auto" is 10 n, but from 5,000 to
        10,000: few points need more models to be told apart.
    kernel : {"gaussian", "paper", "binary"} or callable, default="gaussian"
        exp(-r^2 / (2 sigma^2)); the paper's formula as printed; 1; or any function
        (r, sigma) that does not increase in r. Cut at 3 sigma, or where a kernel of
        your own says.
    sampler : {"mixed", "uniform", "local", "weighted", "stratified", "grouped"} or Sampler, \
            default="mixed"
        Which points make a minimal sample. "mixed": every other one at random and the
        others neighbours, at all scales; "uniform": all at random; "local": neighbours at
        one scale, and as many at random; "weighted": in proportion to the `quality` that
        `fit` is given; "stratified": at random, all points equally often; "grouped":
        within one of the `groups` that `fit` is given.
    scale : {"adaptive", "own", "fixed"}, default="adaptive"
        The kernel's sigma for each model. "own": half the width at which its band is
        most striking against its surroundings; "fixed": `sigma`; "adaptive": between
        the two.
    weighting : {"gain", "none"}, default="gain"
        How much a preference for a model counts: how telling the model's band is, or
        all the same.
    own_votes : bool, default=False
        May a point prefer the models that it was itself a sample of? Without these
        votes, training points and new points are comparable.
    path : {"soft", "depth"}, default="soft"
        What an edge of a tree counts: 2 - distance to the seed, or 1. "soft" needs a
        metric with distances of at most 1.
    metric : str, Metric or callable, default="tanimoto"
        Distance between preferences.
    n_estimators : int, default=100
        Trees, t in the paper.
    max_samples : int, default=256
        Points in each tree, psi in the paper; at most the size of the pool.
    branching : int, default=2
        Seeds in each node, b in the paper.
    pool_size : int, default=4096
        All trees draw their points from at most this many training points, chosen
        at random. With n <= pool_size this is exactly the paper's forest; memory
        and time of a score do not grow with n beyond it.
    contamination : "auto" or float in (0, 1), default="auto"
        Share of the training points to flag: at most contamination * n, or the
        whole block of ties at the top. "auto" finds out by comparison with points
        drawn at random (Otsu's threshold with own_votes=True).
    device : {"cpu", "cuda", "auto"} or str, default="cpu"
        What computes: "cuda" or "cuda:1" a GPU, through PyTorch; "auto" a GPU where there is
        one; "torch" the same code on the CPU. Tensors may go in, and come out on their own
        device, whatever computes.
    n_jobs : int or None, default=None
        Threads. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        One seed gives one answer.
    verbose : int, default=0
        1 prints the stages and their times to standard error.

    Attributes
    ----------
    scores_ : ndarray (n,)
        `anomaly_score` of the training points.
    labels_ : ndarray (n,)
        -1 for anomalies, +1 for the rest.
    offset_ : float
        `decision_function = score_samples - offset_`.
    sigma_ : float
        The noise of the structures.
    sigma_source_ : str
        Where it comes from: "given", "estimated", or "guessed" where no structure shows.
    structures_ : list of Structure
        The structures of the data, found when first asked for.
    null_scores_ : ndarray
        Scores of random points, which `p_values` compares with.
    models_ : list of ModelSet
    embedding_ : PreferenceEmbedding
    forest_ : PooledForest
    n_models_, n_degenerate_ : int
        Models kept, and minimal samples dropped because they determine no model of
        the family, or for homographies none in front of both cameras.
    max_samples_ : int
        Points in each tree: max_samples, or all of the pool if it is smaller.

    Examples
    --------
    >>> from piforest import PreferenceIsolationForest
    >>> from piforest.datasets import make_circles
    >>> X, y = make_circles(3, anomaly_share=0.3, random_state=0, return_X_y=True)
    >>> detector = PreferenceIsolationForest("circle", random_state=0).fit(X)
    >>> bool(detector.scores_[y == 0].mean() > detector.scores_[y > 0].mean())
    True
    >>> int((detector.predict(X) == detector.labels_).sum()) == len(X)
    True

    References
    ----------
    F. Leveni, L. Magri, G. Boracchi, C. Alippi, "PIF: Anomaly detection via
    preference embedding", ICPR 2020.
    """

    def __init__(
        self,
        family: Any = "line",
        *,
        sigma: Any = "auto",
        n_models: Any = "auto",
        kernel: Any = "gaussian",
        sampler: Any = "mixed",
        scale: str = "adaptive",
        weighting: str = "gain",
        own_votes: bool = False,
        path: str = "soft",
        metric: Any = "tanimoto",
        n_estimators: int = 100,
        max_samples: int = 256,
        branching: int = 2,
        pool_size: int = 4096,
        contamination: Any = "auto",
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.family = family
        self.sigma = sigma
        self.n_models = n_models
        self.kernel = kernel
        self.sampler = sampler
        self.scale = scale
        self.weighting = weighting
        self.own_votes = own_votes
        self.path = path
        self.metric = metric
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.branching = branching
        self.pool_size = pool_size
        self.contamination = contamination
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, quality: Any = None, groups: Any = None) -> Self:
        """Fit to X (n, d). y is ignored; quality and groups (n,) go to the sampler. Of a Dask
        collection only the rows that are looked at are gathered."""
        forget_fit(self)
        self._check_forest_params()
        check_choice("path", self.path, PATHS)
        metric = self._resolve_metric()
        device = self._resolve_device(metric, None)
        X = on_host(X)
        stream = Stream.from_random_state(self.random_state)
        data = training_data(X, stream, self.pool_size, quality, groups)
        points = validate_data(self, data.X, dtype=np.float64, order="C", ensure_min_samples=2)
        X = data.among_all(points)
        self.embedding_ = self._embedding(stream, len(X))
        auto = isinstance(self.contamination, str) and not self.own_votes
        few = subset(stream, len(X))
        tables = self.embedding_._fit(
            data.X, data.quality, data.groups, data.places(few), keep=auto
        )
        self.embedding_.models_ = [data.numbered(each) for each in self.embedding_.models_]
        chosen = choose(stream.child("pool"), len(X), self.pool_size)
        self._points = X[chosen]
        # Copies, so that X may change; all of X where it is small enough.
        self._subset_points = X[few]
        X = self._subset_points if len(few) == len(X) else X
        if device is None:
            scores = self._grow_pool(metric, stream.child("trees"))
        else:
            scores = self._grow_on(device, metric, stream.child("trees"))
        self.max_samples_ = self.forest_.forest.max_samples
        self._remember(X, chosen, scores, stream)
        if len(chosen) == len(X):
            self._known["tables"] = tables
        with Progress(self.verbose).stage("threshold"):
            self._set_threshold()
        self._known.pop("tables", None)
        return self

    def _grow_pool(self, metric: Metric, stream: Stream) -> Floats:
        """Embed the pool and grow the forest; returns the pool's scores."""
        with Progress(self.verbose).stage(f"preferences of {len(self._points)} points"):
            pool = as_rows(metric, self.embedding_._embed_all(self._points))
        D = self._grow(metric, pool, pool, stream, soft=self.path == "soft")
        return self.forest_.scores(pool, D)

    def _grow_on(self, device: Any, metric: Metric, stream: Stream) -> Floats:
        """The same on a device other than the CPU."""
        scorer = self._new_scorer(device, metric)
        forest = self._empty_forest(len(self._points), soft=self.path == "soft")
        with Progress(self.verbose).stage(f"preferences, distances and trees on {device}"):
            pool, grown, scores = scorer.take_pool(self._points, forest, stream, self.n_estimators)
        self.forest_ = PooledForest(metric, pool, grown)
        self._on_device = scorer
        return scores  # type: ignore[no-any-return]

    @property
    def sigma_(self) -> float:
        check_is_fitted(self, "embedding_")
        return self.embedding_.sigma_

    @property
    def sigma_source_(self) -> str:
        check_is_fitted(self, "embedding_")
        return self.embedding_.sigma_source_

    @property
    def models_(self) -> list[ModelSet]:
        check_is_fitted(self, "embedding_")
        return self.embedding_.models_

    @property
    def n_models_(self) -> int:
        check_is_fitted(self, "embedding_")
        return self.embedding_.n_models_

    @property
    def n_degenerate_(self) -> int:
        check_is_fitted(self, "embedding_")
        return self.embedding_.n_degenerate_

    def _resolve_metric(self) -> Metric:
        metric = resolve_metric(self.metric)
        if metric.name == "precomputed":
            raise ValueError(
                "metric='precomputed' does not apply to preferences; use "
                "VoronoiForest(metric='precomputed') on the distances."
            )
        return metric

    # The paper takes 10 n models however few points there are.
    _fewest_models = 5000

    def _embedding(self, stream: Stream, n: int) -> PreferenceEmbedding:
        auto = isinstance(self.n_models, str) and self.n_models == "auto"
        return PreferenceEmbedding(
            self.family,
            sigma=self.sigma,
            n_models=auto_models(n, self._fewest_models) if auto else self.n_models,
            kernel=self.kernel,
            sampler=self.sampler,
            scale=self.scale,
            weighting=self.weighting,
            own_votes=self.own_votes,
            device=self.device,
            n_jobs=self.n_jobs,
            random_state=stream.child("embedding").key,
            verbose=self.verbose,
        )

    def _rows_to_score(self, X: Any) -> Any:
        return validate_data(self, X, dtype=np.float64, order="C", reset=False)

    def _then(self, function: Callable[[Any], Floats]) -> Callable[[Any], Floats]:
        return partial(_embed_then, self.embedding_._preferences(), self.forest_.metric, function)


def _embed_then(
    preferences: Preferences, metric: Metric, function: Callable[[Any], Floats], block: Floats
) -> Floats:
    return function(as_rows(metric, preferences.rows_of(block)))


class PIF(PreferenceIsolationForest):
    """The paper's algorithm to the letter, and nothing else.

    Uniform samples, one sigma, integer path lengths, two branches, Tanimoto's
    distance (binary preferences make it Jaccard's). It stays as it is when the
    defaults of `PreferenceIsolationForest` become better than the paper.

    Parameters
    ----------
    family : str, ModelFamily or list, default="line"
        What a structure is; see `piforest.families.list_families`. A list of families, or of
        (family, share) pairs, where structures are of several kinds.
    sigma : float
        The noise of the structures, in the units of X. Has to be given.
    n_models : int or "auto", default="auto"
        Models to keep; the paper takes 10 n for lines and circles, 6 n for matches.
        "auto" is 10 n, at most 10,000.
    kernel : {"gaussian", "paper", "binary"}, default="gaussian"
        exp(-r^2 / (2 sigma^2)); the formula as printed, exp(-r^2 / sigma); or 1.
    n_estimators, max_samples, pool_size, contamination, device, n_jobs, random_state, verbose
        As in `PreferenceIsolationForest`.

    Examples
    --------
    >>> from piforest import PIF
    >>> from piforest.datasets import make_lines
    >>> X, y = make_lines(3, noise=0.01, anomaly_share=0.3, random_state=0, return_X_y=True)
    >>> scores = PIF("line", sigma=0.01, random_state=0).fit(X).scores_
    >>> bool(scores[y == 0].mean() > scores[y > 0].mean())
    True
    """

    def __init__(
        self,
        family: Any = "line",
        *,
        sigma: Any = None,
        n_models: Any = "auto",
        kernel: str = "gaussian",
        n_estimators: int = 100,
        max_samples: int = 256,
        pool_size: int = 4096,
        contamination: Any = "auto",
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.family = family
        self.sigma = sigma
        self.n_models = n_models
        self.kernel = kernel
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.pool_size = pool_size
        self.contamination = contamination
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    sampler = "uniform"
    scale = "fixed"
    weighting = "none"
    own_votes = True
    _fewest_models = 1
    path = "depth"
    metric = "tanimoto"
    branching = 2

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Fit to X (n, d); y is ignored."""
        if self.sigma is None or isinstance(self.sigma, str):
            raise ValueError(
                f"PIF needs sigma, the noise of the structures in the units of X, got "
                f"{self.sigma!r}. PreferenceIsolationForest estimates it."
            )
        check_positive("sigma", self.sigma, "PreferenceIsolationForest estimates it.")
        check_choice("kernel", self.kernel, ["binary", "gaussian", "paper"])
        return super().fit(X, y)
