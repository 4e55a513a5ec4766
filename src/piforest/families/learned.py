"""Any scikit-learn estimator as a family: it learns from a few rows and is judged on all.

A parametric family has a formula and a solver; here an estimator learns the law
from a small random sample. The parameters of a model are its sample, from which it
is fitted again when it is asked, so that a model is an array like any other.
"""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from typing import Any, ClassVar, NoReturn

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier, is_outlier_detector, is_regressor

from .._validation import check_integer
from ..protocols import Bools, Floats, RowLayout
from . import spread
from ._samples import has_repeats

# Twice as many as a detector draws by itself, so that all of its models stay.
_KEPT = 20_000
# Log-densities that differ by less, relative to their size, are the same.
_SAME = 1e-11
# So many samples are tried before an estimator is said to learn from none.
_TRIED = 20
# What an estimator may raise where a sample does not do.
_UNFIT = (ValueError, ArithmeticError, np.linalg.LinAlgError, UserWarning, RuntimeWarning)
# The widest band that is looked at is 0.36 of the extent: seven standard deviations for a
# density; for a classifier the log of the number of classes, what guessing gives.
_DENSITY_EXTENT = 20.0
_CLASS_EXTENT = 1 / 0.36


class LearnedFamily:
    """What an estimator learns from `sample_size` rows; any estimator of scikit-learn's kind.

    What the residual is depends on what the estimator is:

    - A regressor learns the column `target` from the others: |y - f(x)|, in the units of that
      column.
    - A transformer with `inverse_transform`, such as PCA: the Euclidean distance from a row to
      what is left of it after `transform`, in the units of X.
    - A density, whose `score_samples` is a log-density (`GaussianMixture`, `KernelDensity`):
      sqrt(2 (b - l)), l the log-density of the row, b that of the densest row of the sample,
      and 0 where the row is denser. In standard deviations: for a Gaussian, about the
      Mahalanobis distance.
    - A classifier with `predict_proba`: -log of the probability of the row's class, which the
      column `target` holds as a whole number (others are rounded); infinite for a class that
      the sample does not have. In nats.

    A model need not go through its own sample. A sample on which the estimator warns or
    raises an error is degenerate, and so is one in which a row stands twice, or which has one
    class only.

    Small samples find more: one of k rows is free of anomalies with the k-th power of their
    structure's share. Take as few rows as the estimator can learn the law from. Estimators that
    depend on the units of the columns want a scaler before them, in a pipeline.

    Parameters
    ----------
    estimator : estimator
        Copied. Each `random_state` that is None becomes 0, so that a sample has one model.
    sample_size : int, default=20
        Rows that a model is learned from, at least 2.
    target : int, default=-1
        The column that a regressor or a classifier predicts; the others ignore it.
    codimension : int or None, default=None
        Columns minus the dimension of a structure. None: 1 for regressors and classifiers, d
        for densities, d - `n_components` for transformers that have this parameter, else 1.

    Up to 20,000 fitted estimators are kept in memory as long as the family lives, and the least
    recently used are fitted again when needed. They are no part of it: neither compared nor
    pickled.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from piforest import PreferenceIsolationForest
    >>> from piforest.datasets import make_lines
    >>> from piforest.families import LearnedFamily
    >>> X, y = make_lines(2, noise=0.01, anomaly_share=0.3, random_state=0, return_X_y=True)
    >>> family = LearnedFamily(LinearRegression(), sample_size=3)
    >>> detector = PreferenceIsolationForest(family, n_models=500, random_state=0).fit(X)
    >>> bool(detector.scores_[y == 0].mean() > detector.scores_[y > 0].mean())
    True

    Planes in five columns, by reconstruction:

    >>> from sklearn.decomposition import PCA
    >>> plane = LearnedFamily(PCA(2), sample_size=4)
    >>> plane.name, plane.codimension(5)
    ('learned PCA', 3)

    Blobs, measured in standard deviations:

    >>> from sklearn.mixture import GaussianMixture
    >>> blob = LearnedFamily(GaussianMixture(), sample_size=400)
    >>> params, valid = blob.solve(np.random.default_rng(0).normal(size=(1, 400, 2)))
    >>> blob.residuals(np.array([[0.0, 0], [0, 9]]), params[valid]).round().ravel().tolist()
    [0.0, 9.0]
    """

    n_features: ClassVar[int | None] = None
    max_models: ClassVar[int] = 1
    symmetries: ClassVar[frozenset[str]] = frozenset()
    exact: ClassVar[bool] = False
    slow_calls: ClassVar[bool] = True

    def __init__(
        self,
        estimator: BaseEstimator,
        sample_size: int = 20,
        target: int = -1,
        codimension: int | None = None,
    ) -> None:
        self._kind = _kind_of(estimator)
        self._estimator = _repeatable(estimator)
        self._size = check_integer("sample_size", sample_size, 2)
        if isinstance(target, bool) or not isinstance(target, (int, np.integer)):
            raise ValueError(f"target must be the number of a column, got {target!r}.")
        self._target = int(target)
        if codimension is not None:
            check_integer("codimension", codimension, 1)
        self._codimension = codimension
        self._fitted: OrderedDict[bytes, Any] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def estimator(self) -> Any:
        """A copy of the estimator, not fitted."""
        return clone(self._estimator)

    @property
    def name(self) -> str:
        """ "learned" and the class of the estimator."""
        return f"learned {type(_last(self._estimator)).__name__}"

    @property
    def layout(self) -> RowLayout:
        """What the columns of a row are."""
        return RowLayout() if self._unsupervised else RowLayout("table", target=self._target)

    def sample_size(self, d: int) -> int:
        """The rows that a model is learned from."""
        return self._size

    def codimension(self, d: int) -> int:
        """Columns minus the dimension of a structure."""
        if self._codimension is not None:
            return self._codimension
        if self._kind == "density":
            return d
        if self._kind == "reconstruction":
            kept = getattr(_last(self._estimator), "n_components", None)
            return d - kept if isinstance(kept, int) else 1
        return min(1, d - 1)  # one column is the target, so there has to be another

    def extent(self, X: Floats) -> float:
        """The spread of the target for regressors, of the rows for transformers."""
        if self._kind == "density":
            return _DENSITY_EXTENT
        if self._kind == "reconstruction":
            return spread(X)
        _, y = self._split(X)
        if self._kind == "class":
            return float(_CLASS_EXTENT * np.log(max(2, len(np.unique(y)))))
        return spread(y[:, None])

    def complaint(self, X: Floats) -> str | None:
        """Why nothing can be learned from these rows."""
        d, target = X.shape[1], self._target
        if self._kind in ("prediction", "class"):
            if not -d <= target < d:
                return f"target of family {self.name!r} is column {target}, but X has {d} columns."
            if (X[:, target] == X[0, target]).all():
                return f"column {target} of X, the target of family {self.name!r}, is constant."
            classes = len(np.unique(X[:, target]))
            if self._kind == "class" and classes > max(50, len(X) // 4):
                return (
                    f"column {target} of X, the target of family {self.name!r}, has {classes} "
                    f"distinct values in {len(X)} rows: these are no classes. Use a regressor."
                )
        rng, reason = np.random.default_rng(0), ""
        for _ in range(_TRIED):
            sample = X[rng.choice(len(X), self._size, replace=False)]
            try:
                self._learned(sample)
            except _UNFIT as error:
                reason = f"{type(error).__name__}: {error}"
            else:
                return None
        return (
            f"the estimator of family {self.name!r} learns from none of {_TRIED} random samples of "
            f"{self._size} rows; the last time it said {reason.rstrip('.')}."
        )

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        """Samples (s, k, d) to parameters (s, 1, k d), which are the samples, and valid (s, 1)."""
        params = np.array(samples, np.float64, order="C").reshape(len(samples), -1)
        valid = ~has_repeats(samples)
        for i in np.flatnonzero(valid):
            try:
                with self._lock:
                    self._keep(params[i].tobytes(), self._learned(samples[i]))
            except _UNFIT:
                valid[i] = False
        return params[:, None], valid[:, None]

    def residuals(self, X: Floats, params: Floats) -> Floats:
        """(n, d), (m, k d) to distances (n, m)."""
        R = np.empty((len(X), len(params)))
        if R.size == 0:
            return R
        measure = getattr(self, f"_{self._kind}")
        known, y = (X, None) if self._unsupervised else self._split(X)
        with config_context(assume_finite=True, skip_parameter_validation=True):
            for j, model in enumerate(self._models(params, X.shape[1])):
                R[:, j] = measure(model, known, y)
        # What an estimator cannot judge is no nearer than anything else.
        R[np.isnan(R)] = np.inf
        return R

    @property
    def _unsupervised(self) -> bool:
        return self._kind in ("reconstruction", "density")

    def _split(self, X: Floats) -> tuple[Floats, Floats]:
        y = X[:, self._target]
        # Classes are numbers like the others here, which a little noise must not change.
        return np.delete(X, self._target, axis=1), np.rint(y) if self._kind == "class" else y

    def _learned(self, sample: Floats) -> Any:
        """The estimator fitted on a sample (k, d); raises where it does not do."""
        sample = sample.copy()  # an estimator may keep it, or write into it
        estimator = clone(self._estimator)
        with warnings.catch_warnings(), config_context(assume_finite=True):
            # What a library will change some day says nothing about this sample.
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", UserWarning)
            warnings.simplefilter("error", RuntimeWarning)
            try:
                if self._unsupervised:
                    estimator.fit(sample)
                else:
                    known, y = self._split(sample)
                    if self._kind == "class" and (y == y[0]).all():
                        raise ValueError("one class only")
                    estimator.fit(known, y)
            except TypeError as error:
                # A wrong call or a wrong parameter, whatever the sample.
                self._mistaken(error)
            if self._kind == "density":
                return estimator, float(np.max(estimator.score_samples(sample)))
        return estimator

    def _mistaken(self, error: Exception) -> NoReturn:
        raise TypeError(f"fit of the estimator of family {self.name!r}: {error}") from error

    def _models(self, params: Floats, d: int) -> list[Any]:
        """The estimators of parameters (m, k d), fitted again where they are not known."""
        if params.shape[1] != self._size * d:
            raise ValueError(
                f"a model of family {self.name!r} has {self._size} rows of {d} columns, so "
                f"{self._size * d} parameters, got {params.shape[1]}."
            )
        params = np.ascontiguousarray(params, np.float64)
        models = []
        with self._lock:
            for row in params:
                key = row.tobytes()
                if key in self._fitted:
                    self._fitted.move_to_end(key)
                else:
                    self._keep(key, self._learned(row.reshape(self._size, d)))
                models.append(self._fitted[key])
        return models

    def _keep(self, key: bytes, model: Any) -> None:
        self._fitted[key] = model
        self._fitted.move_to_end(key)
        if len(self._fitted) > _KEPT:
            self._fitted.popitem(last=False)

    @staticmethod
    def _prediction(model: Any, known: Floats, y: Floats) -> Floats:
        return np.asarray(np.abs(y - np.reshape(model.predict(known), -1)))

    @staticmethod
    def _class(model: Any, known: Floats, y: Floats) -> Floats:
        at = np.minimum(np.searchsorted(model.classes_, y), len(model.classes_) - 1)
        p = model.predict_proba(known)[np.arange(len(y)), at]
        p = np.where(model.classes_[at] == y, np.minimum(p, 1), 0)
        with np.errstate(divide="ignore"):
            return np.abs(np.log(p))

    @staticmethod
    def _reconstruction(model: Any, X: Floats, _: None) -> Floats:
        off = X - model.inverse_transform(model.transform(X))
        return np.asarray(np.sqrt(np.sum(off**2, axis=1)))

    @staticmethod
    def _density(model: Any, X: Floats, _: None) -> Floats:
        estimator, best = model
        gap = best - estimator.score_samples(X)
        # The densest row itself: BLAS rounds differently for other blocks, and the root would
        # make 1e-7 of the last digit.
        return np.asarray(np.sqrt(2 * np.where(gap > _SAME * max(1.0, abs(best)), gap, 0.0)))

    def __repr__(self) -> str:
        more = "" if self._codimension is None else f", codimension={self._codimension}"
        return (
            f"LearnedFamily({self._estimator!r}, sample_size={self._size}, "
            f"target={self._target}{more})"
        )

    def _key(self) -> tuple[Any, ...]:
        """Estimators have no value of their own, so that of their parameters."""
        options = repr(sorted(self._estimator.get_params().items(), key=lambda item: item[0]))
        return type(self._estimator), options, self._size, self._target, self._codimension

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LearnedFamily) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> Any:
        return LearnedFamily, (self._estimator, self._size, self._target, self._codimension)

    def __deepcopy__(self, memo: Any) -> LearnedFamily:
        return self  # it never changes, and a copy would have to learn again


def _last(estimator: Any) -> Any:
    """The estimator itself, or the one at the end of a pipeline."""
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else estimator


def _kind_of(estimator: Any) -> str:
    if isinstance(estimator, type) or not all(
        hasattr(estimator, member) for member in ("fit", "get_params", "set_params")
    ):
        raise ValueError(f"estimator must be a scikit-learn estimator, got {estimator!r}.")
    if is_regressor(estimator):
        return "prediction"
    if is_classifier(estimator) and hasattr(estimator, "predict_proba"):
        return "class"
    if hasattr(estimator, "inverse_transform"):
        return "reconstruction"
    # The score of an outlier detector is no density.
    if hasattr(estimator, "score_samples") and not is_outlier_detector(estimator):
        return "density"
    raise ValueError(
        "estimator must be a regressor, a classifier with predict_proba, a transformer with "
        f"inverse_transform or a density with score_samples, got {estimator!r}."
    )


def _repeatable(estimator: Any) -> Any:
    """A copy that gives one answer for one sample."""
    copy = clone(estimator)
    seeds = {
        name: 0
        for name, value in copy.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    }
    return copy.set_params(**seeds)
