"""The detector: isolation of points by their preferences."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from .._columns import naming_columns
from .._random import Stream
from .._validation import clear_fit, cpu_only_error
from ..engines import PREFERENCE_METRICS
from ..forest import HashedForest
from ..metrics import METRICS
from ..preferences import is_built_in_kernel, list_kernels
from ..typing import (
    ContaminationLike,
    FamilyLike,
    ForestKind,
    KernelLike,
    MetricLike,
    ModelCount,
    Path,
    RandomStateLike,
    RowsLike,
    SamplerLike,
    Scale,
    ScaleColumns,
    SigmaLike,
    Weighting,
)
from ..units import warn_of_units
from .fit_inputs import (
    asks_for_scaling,
    may_scale_columns,
    preference_metric,
    warn_of_counters,
    warn_of_ignored_target,
    with_named_targets,
    with_proposed_families,
    with_scaled_columns,
    with_weights,
    without_constant_features,
)
from .paper import PaperPreset
from .preference_embedding import PreferenceEmbedding, fitted_transformer
from .preference_fit import PreferenceFit

__all__ = ["PreferenceIsolationForest"]


class PreferenceIsolationForest(PaperPreset, PreferenceFit):
    """Detect points that fit no structure of a family, for any number of structures.

    Points are described by their preferences for many random models of the family
    (`PreferenceEmbedding`), and a forest of nested Voronoi cells (`VoronoiForest`) measures how
    easily each point is isolated by them. No structure is fitted, and the number of structures
    need not be known.

    Parameters
    ----------
    family : str, ModelFamily or list, default="auto"
        What a structure is; see `piforest.families.list_families`. A list of families, or of
        (family, share) pairs, where structures are of several kinds. "auto" compares the families
        that suit the columns, see `piforest.propose_families`, and takes the best.
    sigma : float or "auto", default="auto"
        The noise of the structures, in the units of X, or of `units_` with scale_columns. "auto"
        estimates it.
    n_models : int, "auto" or "paper", default="auto"
        The number of models to draw, without degenerate ones. "auto" is 10 n, but between 5,000 and
        10,000: few points need more models to be distinguished. "paper" is 10 n, at most 10,000.
    kernel : {"gaussian", "paper", "binary"} or callable, default="gaussian"
        exp(-r^2 / (2 sigma^2)); the paper's formula as printed, exp(-r^2 / sigma); 1; or any
        function (r, sigma) that does not increase in r. Cut off at 3 sigma, or at the `cutoff`
        of a custom kernel.
    sampler : {"mixed", "uniform", "local", "weighted", "stratified", "grouped"} or Sampler, \
            default="mixed"
        How to choose the points of minimal samples. "mixed": half of the samples at random, half
        of them neighbours at all scales; "uniform": at random; "local": half at random, half
        neighbours at one scale; "weighted": in proportion to the `quality` passed to `fit`;
        "stratified": at random, all points equally often; "grouped": within one of the `groups`
        passed to `fit`.
    scale : {"adaptive", "per_model", "fixed"}, default="adaptive"
        The sigma of the kernel for each model. "per_model": half the half-width at which the
        band of the model has the most evidence; "fixed": `sigma`; "adaptive": in between.
    weighting : {"gain", "none"}, default="gain"
        The weight of a preference for a model: the evidence of the model's band per point to the
        power 3/4, or 1.
    in_sample_preferences : bool, default=False
        Whether points may prefer the models whose minimal samples contain them, which they
        always lie on. Without these preferences, training points and new points are comparable.
        Models that were refitted to many points are not concerned: no point moves them much.
    concentrate : bool, default=True
        Whether to refit some models again and again to the points nearest to them, for families
        whose minimal samples have six points or more and are rarely taken from one structure.
        Those that other points support are added to the models.
    refit : bool, default=True
        Whether to refit the models to the points of their bands by least squares, for families
        that can.
    select : bool, default=True
        Whether to keep only the models that points prefer most, and one of nearly equal models.
    bound : bool, default=True
        Whether to bound models to the part where their points are, for families that can.
    scale_columns : bool or "auto", default="auto"
        Whether to measure distances column by column, for columns in different units: in units
        of `units_`, powers of ten that make the spreads of the columns similar. Not for matches,
        segments and oriented points, whose columns have one unit. "auto" does so, with a warning,
        if sigma is not given, the units of the columns seem to differ and hide all structures,
        and scaled columns show some; only for families whose models stay models then, such as
        lines and planes, unlike circles.
    forest : {"voronoi", "ruzhash"}, default="voronoi"
        What a node of a tree splits points by: the cells of random seeds, or hashes that agree in
        proportion to the Ruzicka similarity, which need no distances; `docs/forests.md` compares
        them. With "ruzhash" edges count 1, whatever `path` is, and `metric` has to be "ruzicka" or
        the default.
    path : {"soft", "depth"}, default="soft"
        The length of an edge of a tree: 2 - distance to the seed, or 1. "soft" needs a metric
        with distances of at most 1.
    metric : str, Metric or callable, default="tanimoto"
        Distance between preferences.
    n_estimators : int, default=100
        The number of trees, t in the paper.
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
        whole block of ties at the top. "auto" compares with random points; with
        in_sample_preferences=True it is Otsu's threshold.
    false_alarm_rate : float in (0, 1) or None, default=None
        In place of contamination: the expected share of normal points among the flagged ones is
        at most this (the Benjamini-Hochberg procedure on `p_values`).
    device : {"cpu", "cuda", "auto"} or str, default="cpu"
        "cuda" or "cuda:1": a GPU, through PyTorch; "auto": a GPU if there is one; "torch": the
        same code on the CPU. Tensors give tensors on the same device, whatever `device` is.
    n_jobs : int or None, default=None
        The number of threads. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        The same seed gives the same result.
    verbose : int, default=0
        1 prints the stages and their times on standard error.

    Attributes
    ----------
    scores_ : ndarray of shape (n,)
        `anomaly_score` of the training points; not available for more than 50,000.
    labels_ : ndarray of shape (n,)
        -1 for anomalies among the training points, +1 for the rest.
    threshold_ : float
        Points with a larger `anomaly_score` are anomalies.
    threshold_source_ : {"automatic", "contamination", "false alarm rate", "given", \
            "no structure", "units differ", "too many beyond"}
        Its source. No point is flagged if it is "no structure", since none was found, "units
        differ", since the units of the columns hide the structures, or "too many beyond", since
        structures with much noise, or laws of few rows, leave too many points.
    family_ : ModelFamily or list of ModelFamily
        The family of the models, or several: as given, or as chosen by family="auto".
    proposals_ : Proposals or None
        The comparison of families that chose it; None if the family was given, or if the detector
        was loaded from a file.
    found_structure_ : bool
        Whether any structure of the family is significant in the training points.
    diagnosis_ : list of Finding
        What to know about the data and the result, each with a way out; see
        `piforest.diagnosis`.
    offset_ : float
        `-threshold_`; `decision_function = score_samples - offset_`.
    sigma_ : float
        The noise of the structures: the median of their `sigma`, weighted by their numbers of
        points, or the given sigma. The scales of the kernel come from the bands, see
        `embedding_.sigma_`.
    sigma_source_ : {"given", "estimated", "guessed"}
        Its source; "guessed" if no structure was found.
    resolution_ : ndarray of shape (d,)
        The step that each column is rounded to, 0 where it is not. For a table, only that of the
        target; for matches, only if all columns are rounded.
    units_ : ndarray of shape (d,)
        The change of each column that counts as 1 in distances, sigma and parameters: 1, or with
        scale_columns a power of ten. The reference, 1, is the target of a table, or the first
        column that is not constant.
    structures_ : list of Structure
        The structures of the data, computed on first use; each has named parameters, an equation
        and an extent.
    structure_labels_ : ndarray of shape (n,)
        The number of the structure of each training point, -1 for none; not available for more
        than 50,000. `assign` gives the same for any points.
    null_scores_ : ndarray
        Scores of random points, which `chance_p_values` compares with.
    models_ : tuple of ModelSet
        Parameters, minimal samples, scale and weight of the models, one set for each family.
    embedding_ : PreferenceEmbedding
        The fitted transformer from points to preferences.
    forest_ : PooledForest or HashedForest
        The metric, the pool and the trees.
    fitted_ : FittedForest
        All of this as one value.
    n_models_ : int
        The number of models that are kept.
    n_drawn_ : int
        The number of models that were drawn.
    n_degenerate_ : int
        The number of minimal samples that determine no model of the family, or, for
        homographies, no model in front of both cameras.
    max_samples_ : int
        Points in each tree: max_samples, or the size of the pool if it is smaller.

    See Also
    --------
    PreferenceIsolationForest.paper : The algorithm of the paper.
    PreferenceEmbedding : Points to preferences, as a transformer.
    VoronoiForest : The forest alone, in any metric space.
    RuzHashForest : The hashing forest alone.

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
        family: FamilyLike = "auto",
        *,
        sigma: SigmaLike = "auto",
        n_models: ModelCount = "auto",
        kernel: KernelLike = "gaussian",
        sampler: SamplerLike = "mixed",
        scale: Scale = "adaptive",
        weighting: Weighting = "gain",
        in_sample_preferences: bool = False,
        concentrate: bool = True,
        refit: bool = True,
        select: bool = True,
        bound: bool = True,
        scale_columns: ScaleColumns = "auto",
        forest: ForestKind = "voronoi",
        path: Path = "soft",
        metric: MetricLike = "tanimoto",
        n_estimators: int = 100,
        max_samples: int = 256,
        branching: int = 2,
        pool_size: int = 4096,
        contamination: ContaminationLike = "auto",
        false_alarm_rate: float | None = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: RandomStateLike = None,
        verbose: int = 0,
    ) -> None:
        self.family = family
        self.sigma = sigma
        self.n_models = n_models
        self.kernel = kernel
        self.sampler = sampler
        self.scale = scale
        self.weighting = weighting
        self.in_sample_preferences = in_sample_preferences
        self.concentrate = concentrate
        self.refit = refit
        self.select = select
        self.bound = bound
        self.scale_columns = scale_columns
        self.forest = forest
        self.path = path
        self.metric = metric
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.branching = branching
        self.pool_size = pool_size
        self.contamination = contamination
        self.false_alarm_rate = false_alarm_rate
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: RowsLike,
        y: object = None,
        *,
        quality: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit to the rows of X.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The training rows. From a Dask collection, only the rows that are needed are read
            into memory.
        y : None
            Ignored: the target of a regression is a column of X.
        quality : array-like of shape (n,) or None, default=None
            For the sampler "weighted": the quality of each row, high for reliable rows.
        groups : array-like of shape (n,) or None, default=None
            For the sampler "grouped": the group of each row.
        sample_weight : array-like of shape (n,) or None, default=None
            The quality of each row under the name that scikit-learn's tools pass: the sampler
            "weighted" then replaces `sampler`.

        Returns
        -------
        self
        """
        clear_fit(self)
        # 1. The parameters.
        embedding, forest = self._embedding_parameters(), self._forest_parameters()
        embedding, quality = with_weights(embedding, quality, sample_weight)
        engine, stream = self._engine(X), Stream.from_random_state(self.random_state)
        # 2. The rows that the fit uses.
        rows = engine.training_rows(X, stream, self.pool_size, quality, groups)
        rows = rows.with_rows(self._validated(rows.X, reset=True))
        names = self._column_names()
        given = embedding
        warn_of_counters(rows.X, getattr(self, "feature_names_in_", None))
        warn_of_ignored_target(y, given.only, auto=not given.families)
        embedding, proposals = with_proposed_families(embedding, rows, names, stream)
        self.proposals_ = proposals or self._proposals
        embedding = with_named_targets(embedding, names)
        embedding = without_constant_features(embedding, given, rows.X, names)
        subset = rows.subset(stream)
        if asks_for_scaling(self.scale_columns, embedding, self.proposals_):
            embedding = with_scaled_columns(embedding, rows.take(subset))
        with naming_columns(names):
            self._fit_rows(rows, embedding, forest, engine, stream)
        if may_scale_columns(self.scale_columns, embedding) and self._units_hide_structures(engine):
            scaled = with_scaled_columns(embedding, rows.take(subset))
            embedding = self._fit_scaled_rows(rows, embedding, scaled, forest, engine, stream)
        warn_of_units(embedding.only, rows.take(subset), names)
        self._warn_if_nothing_is_flagged(engine)
        return self

    @property
    def embedding_(self) -> PreferenceEmbedding:
        """The fitted transformer from points to preferences."""
        return fitted_transformer(self, self._embedding())

    def _cpu_only(self, X: Any) -> ValueError | None:
        fitted = self.fitted_.forest if hasattr(self, "fitted_") else None
        if isinstance(fitted, HashedForest) if fitted else self.forest == "ruzhash":
            return cpu_only_error("forest", "ruzhash", ("voronoi",))
        metric = fitted.metric if fitted else preference_metric(self)
        if METRICS.name_of(metric) not in PREFERENCE_METRICS:
            return cpu_only_error("metric", metric, PREFERENCE_METRICS)
        if not is_built_in_kernel(self.kernel):
            return cpu_only_error("kernel", self.kernel, list_kernels())
        return None
