"""Points to preferences, as a transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._random import Stream
from .._rows import stacked_csr
from .._tensors import is_tensor, sparse_tensor, to_numpy
from .._validation import cpu_only_error, forget_fit
from ..bands import Bands
from ..engines import Engine, choose_engine
from ..fitted import FittedEmbedding, TrainingRows
from ..fitting import EmbeddingParameters, fit_embedding
from ..models import ModelSet
from ..preferences import knows_kernel, list_kernels
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

__all__ = ["PreferenceEmbedding"]


class PreferenceEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Describe each point by which of many random models it lies near.

    Models of a family are fitted to random minimal samples. A point is mapped to
    its preferences for all of them: the weight of a model where it lies on it, falling
    to 0 at 3 sigma. Points of one structure have similar preferences, points of none have
    hardly any. The result is sparse and works in a `Pipeline` before any other
    estimator. (An isolation forest on preferences may rank upside down: points of
    a structure have many non-zero entries, anomalies hardly any.)

    Parameters
    ----------
    family : str, ModelFamily or list, default="line"
        What a structure is; see `piforest.families.list_families`. A list of families, or of
        (family, share) pairs, where structures are of several kinds.
    sigma : float or "auto", default="auto"
        The noise of the structures, in the units of X. "auto" estimates it.
    n_models : int, "auto" or "paper", default="auto"
        Models to keep, degenerate ones not counted. "auto" is 10 n, but from 5,000 to
        10,000; "paper" is 10 n, at most 10,000.
    kernel : {"gaussian", "paper", "binary"} or callable, default="gaussian"
        exp(-r^2 / (2 sigma^2)); the paper's formula as printed; 1; or any function
        (r, sigma) that does not increase in r.
    sampler : {"mixed", "uniform", "local", "weighted", "stratified", "grouped"} or Sampler, \
            default="mixed"
        Which points make a minimal sample. "mixed": every other one at random and the
        others neighbours, at all scales; "uniform": all at random; "local": neighbours at
        one scale, and as many at random; "weighted": in proportion to the `quality` that
        `fit` is given; "stratified": at random, all points equally often; "grouped":
        within one of the `groups` that `fit` is given.
    scale : {"adaptive", "per_model", "fixed"}, default="adaptive"
        The kernel's sigma for each model. "per_model": half the half-width at which the
        model's band has most evidence; "fixed": `sigma`; "adaptive": between the two.
    weighting : {"gain", "none"}, default="gain"
        The weight of a preference for a model: the evidence of the model's band per point to the
        power 3/4, or 1.
    in_sample_preferences : bool, default=False
        Whether a point may prefer the models that it is itself a sample of; it lies on them
        whatever it is. Without these preferences, training points and new points are
        comparable.
    device : {"cpu", "cuda", "auto"} or str, default="cpu"
        What computes: "cuda" or "cuda:1" a GPU, through PyTorch; "auto" a GPU if there is
        one; "torch" the same code on the CPU. Tensors are answered by tensors on their own
        device, whatever computes.
    n_jobs : int or None, default=None
        Threads. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        One seed gives one answer.
    verbose : int, default=0
        1 prints the stages and their times to standard error.

    Attributes
    ----------
    models_ : tuple of ModelSet
        Parameters, minimal samples, scale and weight of the models, one set for each family.
    sigma_ : float
        The noise of the structures.
    sigma_source_ : {"given", "estimated", "guessed"}
        Where it comes from; "guessed" if no structure was found.
    bands_ : tuple of Bands or None
        Half-width and evidence of each model's band, for each family, where they were measured.
    n_models_ : int
        Models that were kept.
    n_degenerate_ : int
        Minimal samples dropped because they determine no model of the family, or for
        homographies none in front of both cameras.
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
    ) -> Self:
        """Draw the models.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The training rows.
        y : None
            Ignored.
        quality : array-like of shape (n,) or None, default=None
            For the sampler "weighted": how much each row is trusted.
        groups : array-like of shape (n,) or None, default=None
            For the sampler "grouped": the group of each row.

        Returns
        -------
        self
        """
        forget_fit(self)
        parameters, engine = EmbeddingParameters.of(self), self._engine()
        stream = Stream.from_random_state(self.random_state)
        X = validate_data(self, to_numpy(X), dtype=np.float64, order="C", ensure_min_samples=2)
        rows = TrainingRows(X, quality, groups)  # type: ignore[arg-type]
        self.fitted_, _ = fit_embedding(
            rows, parameters, engine.computing, stream, rows.subset(stream)
        )
        return self

    def transform(self, X: RowsLike) -> scipy.sparse.csr_array:
        """Describe rows by their preferences.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows like those of `fit`.

        Returns
        -------
        sparse array of shape (n, n_models_)
            float32, values in [0, 1]; for a tensor, a sparse tensor in the same layout on its
            device.
        """
        check_is_fitted(self, "fitted_")
        engine = self._engine()
        rows = validate_data(self, to_numpy(X), dtype=np.float64, order="C", reset=False)
        P = stacked_csr(engine.computing.embed(self.fitted_, rows), len(rows))
        return sparse_tensor(P, X) if is_tensor(X) else P

    @property
    def models_(self) -> tuple[ModelSet, ...]:
        """The models, one set for each family."""
        check_is_fitted(self, "fitted_")
        return self.fitted_.models

    @property
    def sigma_(self) -> float:
        """The noise of the structures."""
        check_is_fitted(self, "fitted_")
        return self.fitted_.sigma

    @property
    def sigma_source_(self) -> str:
        """Where sigma_ comes from: "given", "estimated" or "guessed"."""
        check_is_fitted(self, "fitted_")
        return self.fitted_.sigma_source

    @property
    def bands_(self) -> tuple[Bands, ...] | None:
        """The bands of the models, for each family, where they were measured."""
        check_is_fitted(self, "fitted_")
        return self.fitted_.bands

    @property
    def n_models_(self) -> int:
        """The number of models."""
        check_is_fitted(self, "fitted_")
        return self.fitted_.n_models

    @property
    def n_degenerate_(self) -> int:
        """The number of minimal samples that determined no model."""
        check_is_fitted(self, "fitted_")
        return self.fitted_.n_degenerate

    @property
    def _n_features_out(self) -> int:
        """For scikit-learn's names of the columns."""
        return self.n_models_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _engine(self) -> Engine:
        return choose_engine(None, self.device, self.n_jobs, self.verbose, self._cpu_only)

    def _cpu_only(self, X: Any) -> ValueError | None:
        known = knows_kernel(self.kernel)
        return None if known else cpu_only_error("kernel", self.kernel, list_kernels())


def fitted_transformer(detector: Any, fitted: FittedEmbedding) -> PreferenceEmbedding:
    """The embedding inside a fitted detector, as a transformer of its own."""
    params = detector.get_params()
    names = PreferenceEmbedding().get_params()
    embedding = PreferenceEmbedding(**{name: params[name] for name in names})
    embedding.fitted_ = fitted
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(detector, name):
            setattr(embedding, name, getattr(detector, name))
    return embedding
