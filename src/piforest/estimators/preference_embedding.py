"""The transformer from points to preferences."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._columns import explaining_frames, naming_columns
from .._random import Stream
from .._rows import stacked_csr
from .._tensors import is_tensor, sparse_tensor, to_numpy
from .._validation import check_flag, clear_fit, cpu_only_error
from ..bands.evidence import Bands
from ..engines import Engine, choose_engine
from ..families.scaled import ScaledFamily, column_units
from ..fitted import FittedEmbedding, TrainingRows
from ..fitting import EmbeddingParameters, fit_embedding
from ..models.drawing import ModelSet
from ..preferences import is_built_in_kernel, list_kernels
from ..typing import (
    FamilyLike,
    KernelLike,
    ModelCount,
    RandomStateLike,
    RowsLike,
    SamplerLike,
    Scale,
    SigmaLike,
    Weighting,
)
from ..units import warn_of_units
from .containers import SparseSetOutput
from .fit_inputs import (
    warn_of_ignored_target,
    with_named_targets,
    with_scaled_columns,
    with_weights,
    without_constant_features,
)

__all__ = ["PreferenceEmbedding"]


class EmbeddingAttributes(BaseEstimator):  # type: ignore[misc]
    """Base of an embedding and of detectors with one: the fitted attributes that they share."""

    @property
    def models_(self) -> tuple[ModelSet, ...]:
        """The models, one set for each family."""
        return self._embedding().models

    @property
    def sigma_(self) -> float:
        """The noise of the structures."""
        return self._embedding().sigma

    @property
    def sigma_source_(self) -> str:
        """The source of `sigma_`: "given", "estimated" or "guessed"."""
        return self._embedding().sigma_source

    @property
    def resolution_(self) -> NDArray[np.float64]:
        """(d,) the step that each column is rounded to, 0 where it is not. Bands are measured on
        rounded values that are spread over their step."""
        embedding = self._embedding()
        if embedding.measuring is None:
            return np.zeros(embedding.models[0].points.shape[1])
        steps = [each.resolution.steps for each in embedding.measuring]
        return np.asarray(np.max(steps, axis=0))

    @property
    def units_(self) -> NDArray[np.float64]:
        """(d,) the change of each column that counts as 1 in distances, sigma and parameters."""
        models = self._embedding().models[0]
        return column_units(models.family, models.points.shape[1])

    @property
    def n_models_(self) -> int:
        """The number of models."""
        return self._embedding().n_models

    @property
    def n_drawn_(self) -> int:
        """The number of models that were drawn, and from which `select` keeps some."""
        return sum(part.n_candidates for part in self._embedding().models)

    @property
    def n_degenerate_(self) -> int:
        """The number of minimal samples that determined no model."""
        return self._embedding().n_degenerate

    def _embedding(self) -> FittedEmbedding:
        raise NotImplementedError


class PreferenceEmbedding(  # type: ignore[call-arg]
    SparseSetOutput,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    EmbeddingAttributes,
    auto_wrap_output_keys=None,
):
    """Describe each point by its preferences for many random models.

    Models of a family are fitted to random minimal samples. The preference of a point for a model
    is the weight of the model if the point is on it, and decreases to 0 at 3 sigma. Points of one
    structure have similar preferences, points of no structure have hardly any. The result is
    sparse and can be used in a `Pipeline` before any other estimator. (An isolation forest on
    preferences may rank points in reverse: points of a structure have many non-zero entries,
    anomalies hardly any.)

    Parameters
    ----------
    family : str, ModelFamily or list, default="line"
        What a structure is; see `piforest.families.list_families`. A list of families, or of
        (family, share) pairs, where structures are of several kinds.
    sigma : float or "auto", default="auto"
        The noise of the structures, in the units of X, or of `units_` with scale_columns. "auto"
        estimates it.
    n_models : int, "auto" or "paper", default="auto"
        The number of models to draw, without degenerate ones. "auto" is 10 n, but between 5,000 and
        10,000; "paper" is 10 n, at most 10,000.
    kernel : {"gaussian", "paper", "binary"} or callable, default="gaussian"
        exp(-r^2 / (2 sigma^2)); the paper's formula as printed; 1; or any function
        (r, sigma) that does not increase in r.
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
    scale_columns : bool, default=False
        Whether to measure distances column by column, for columns in different units: in units
        of `units_`, powers of ten that make the spreads of the columns similar. Not for matches,
        segments and oriented points, whose columns have one unit.
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
    models_ : tuple of ModelSet
        Parameters, minimal samples, scale and weight of the models, one set for each family.
    sigma_ : float
        The noise of the structures, as the bands of the models show it.
    sigma_source_ : {"given", "estimated", "guessed"}
        Its source; "guessed" if no structure was found.
    resolution_ : ndarray of shape (d,)
        The step that each column is rounded to, 0 where it is not. For a table, only that of the
        target; for matches, only if all columns are rounded.
    units_ : ndarray of shape (d,)
        The change of each column that counts as 1 in distances, sigma and parameters: 1, or with
        scale_columns a power of ten. The reference, 1, is the target of a table, or the first
        column that is not constant.
    bands_ : tuple of Bands or None
        Half-width and evidence of each model's band, for each family, if they were measured.
    n_models_ : int
        The number of models that are kept.
    n_drawn_ : int
        The number of models that were drawn.
    n_degenerate_ : int
        The number of minimal samples that determine no model of the family, or, for
        homographies, no model in front of both cameras.
    fitted_ : FittedEmbedding
        All of this as one value.

    Examples
    --------
    >>> import numpy as np
    >>> from piforest import PreferenceEmbedding
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> P = PreferenceEmbedding("line", sigma=0.05, n_models=500, random_state=0).fit_transform(X)
    >>> P.shape, str(P.dtype)
    ((100, 500), 'float32')

    References
    ----------
    F. Leveni, L. Magri, G. Boracchi, C. Alippi, "PIF: Anomaly detection via
    preference embedding", ICPR 2020, section IV-A.
    """

    fitted_: FittedEmbedding

    def __init__(
        self,
        family: FamilyLike = "line",
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
        scale_columns: bool = False,
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
        """Draw the models.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The training rows.
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
        parameters, engine = EmbeddingParameters.from_estimator(self), self._engine()
        parameters, quality = with_weights(parameters, quality, sample_weight)
        stream = Stream.from_random_state(self.random_state)
        with explaining_frames(X):
            X = validate_data(self, to_numpy(X), dtype=np.float64, order="C", ensure_min_samples=2)
        names = getattr(self, "feature_names_in_", None)
        warn_of_ignored_target(y, parameters.only)
        named = with_named_targets(parameters, names)
        parameters = without_constant_features(named, parameters, np.asarray(X), names)
        rows = TrainingRows(X, quality, groups)  # type: ignore[arg-type]
        subset = rows.subset(stream)
        if check_flag("scale_columns", self.scale_columns):
            parameters = with_scaled_columns(parameters, rows.take(subset))
        with naming_columns(names):
            self.fitted_, _ = fit_embedding(rows, parameters, engine.backend, stream, subset)
        warn_of_units(parameters.only, rows.take(subset), names)
        return self

    def transform(self, X: RowsLike) -> scipy.sparse.csr_array:
        """Compute the preferences of rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows like those of `fit`.

        Returns
        -------
        sparse array of shape (n, `n_models_`)
            float32, values in [0, 1]; for a tensor, a sparse tensor in the same layout on its
            device. A data frame after `set_output`.
        """
        check_is_fitted(self, "fitted_")
        engine = self._engine()
        rows = validate_data(self, to_numpy(X), dtype=np.float64, order="C", reset=False)
        P = stacked_csr(engine.backend.embed(self.fitted_, rows), len(rows))
        if is_tensor(X):
            return sparse_tensor(P, X)
        return self._wrapped(P, X, self.get_feature_names_out())

    @property
    def bands_(self) -> tuple[Bands, ...] | None:
        """The bands of the models, for each family, if they were measured."""
        return self._embedding().bands

    def _embedding(self) -> FittedEmbedding:
        check_is_fitted(self, "fitted_")
        return self.fitted_

    @property
    def _n_features_out(self) -> int:
        """The number of columns, for `get_feature_names_out`."""
        return self.n_models_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _engine(self) -> Engine:
        return choose_engine(None, self.device, self.n_jobs, self.verbose, self._cpu_only)

    def _cpu_only(self, X: Any) -> ValueError | None:
        if is_built_in_kernel(self.kernel):
            return None
        return cpu_only_error("kernel", self.kernel, list_kernels())


def fitted_transformer(detector: Any, fitted: FittedEmbedding) -> PreferenceEmbedding:
    """The embedding of a fitted detector as a fitted transformer."""
    params = detector.get_params()
    if isinstance(params["family"], str) and params["family"] == "auto":
        params["family"] = detector.family_
    names = PreferenceEmbedding().get_params()
    params["scale_columns"] = isinstance(fitted.models[0].family, ScaledFamily)
    embedding = PreferenceEmbedding(**{name: params[name] for name in names})
    embedding.fitted_ = fitted
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(detector, name):
            setattr(embedding, name, getattr(detector, name))
    return embedding
