"""Use a scikit-learn estimator as a family: it is fitted to a few rows and evaluated on all.

A parametric family has a formula and a solver; here an estimator is fitted to a small random
sample. The parameters of a model are the rows of its sample, so that a model is an array as in any
other family; the estimator is fitted again when it is needed.
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
from . import robust_size
from ._samples import has_repeats

# The size of the cache: twice the number of models that a detector draws by default.
_KEPT = 20_000
# The relative tolerance of log-densities.
_SAME = 1e-11
# The number of samples that are tried before the data are rejected.
_TRIED = 20
# The exceptions by which an estimator rejects a sample.
_UNFIT = (ValueError, ArithmeticError, np.linalg.LinAlgError, UserWarning, RuntimeWarning)
# The largest half-width is 0.36 of the extent: seven standard deviations for a density, and for a
# classifier the log of the number of classes, the residual of random guesses.
_DENSITY_EXTENT = 20.0
_CLASS_EXTENT = 1 / 0.36


class LearnedFamily:
    """A family whose models are estimators, each fitted to `sample_size` rows.

    The residual depends on the kind of estimator:

    - A regressor predicts the column `target` from the others: `|y - f(x)|`, in the units of
      that column.
    - A transformer with `inverse_transform`, such as PCA: the Euclidean distance between a row and
      its reconstruction, in the units of X.
    - A density, whose `score_samples` returns log-densities (`GaussianMixture`, `KernelDensity`):
      sqrt(2 (b - l)), where l is the log-density of the row and b that of the densest row of the
      sample, and 0 for a row with l > b. The unit is the standard deviation: for a Gaussian, it
      is approximately the Mahalanobis distance.
    - A classifier with `predict_proba`: minus the logarithm of the probability of the row's class,
      in nats. The column `target` contains the class as an integer; other values are rounded. The
      residual is infinite for a class that is not in the sample.

    A model need not go through its own sample. A sample is degenerate if the estimator warns or
    raises an error, if a row occurs twice, or if it contains only one class.

    Small samples work better: k rows of a structure's share p of the data are all normal with
    probability p^k. Use as few rows as the estimator needs to learn the relationship. Put a scaler
    before an estimator that depends on the units of the columns, in a pipeline.

    Parameters
    ----------
    estimator : estimator
        The estimator, which is copied. Each `random_state` of None becomes 0, so that a sample
        always gives the same model.
    sample_size : int, default=20
        The number of rows that a model is fitted to, at least 2.
    target : int, default=-1
        The column that a regressor or a classifier predicts. Ignored by other estimators.
    codimension : int or None, default=None
        Columns minus the dimension of a structure. If None, it is 1 for regressors and
        classifiers, d for densities, d - `n_components` for transformers that have this
        parameter, and 1 for other transformers.

    The family caches up to 20,000 fitted estimators in memory and drops the least recently used;
    they are fitted again when needed. The cache is neither compared nor pickled.

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
        """The meaning of the columns."""
        return RowLayout() if self._unsupervised else RowLayout("table", target=self._target)

    def sample_size(self, d: int) -> int:
        """The number of rows that a model is fitted to."""
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
        return min(1, d - 1)  # the target needs at least one other column

    def extent(self, X: Floats) -> float:
        """The size of the target for regressors, of the rows for transformers."""
        if self._kind == "density":
            return _DENSITY_EXTENT
        if self._kind == "reconstruction":
            return robust_size(X)
        _, y = self._split(X)
        if self._kind == "class":
            return float(_CLASS_EXTENT * np.log(max(2, len(np.unique(y)))))
        return robust_size(y[:, None])

    def reason_to_reject(self, X: Floats) -> str | None:
        """The reason why no model can be fitted to these rows, or None."""
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
                self._fit_estimator(sample)
            except _UNFIT as error:
                reason = f"{type(error).__name__}: {error}"
            else:
                return None
        return (
            f"the estimator of family {self.name!r} learns from none of {_TRIED} random samples of "
            f"{self._size} rows; the last time it said {reason.rstrip('.')}."
        )

    def solve(self, samples: Floats) -> tuple[Floats, Bools]:
        """Parameters (s, 1, k d), which are the samples (s, k, d), and valid (s, 1)."""
        params = np.array(samples, np.float64, order="C").reshape(len(samples), -1)
        valid = ~has_repeats(samples)
        for i in np.flatnonzero(valid):
            try:
                with self._lock:
                    self._keep(params[i].tobytes(), self._fit_estimator(samples[i]))
            except _UNFIT:
                valid[i] = False
        return params[:, None], valid[:, None]

    def residuals(self, X: Floats, params: Floats) -> Floats:
        """Distances (n, m) of rows (n, d) to models (m, k d)."""
        R = np.empty((len(X), len(params)))
        if R.size == 0:
            return R
        measure = getattr(self, f"_{self._kind}")
        known, y = (X, None) if self._unsupervised else self._split(X)
        with config_context(assume_finite=True, skip_parameter_validation=True):
            for j, model in enumerate(self._models(params, X.shape[1])):
                R[:, j] = measure(model, known, y)
        # A row that the estimator cannot evaluate has an infinite residual.
        R[np.isnan(R)] = np.inf
        return R

    @property
    def _unsupervised(self) -> bool:
        return self._kind in ("reconstruction", "density")

    def _split(self, X: Floats) -> tuple[Floats, Floats]:
        y = X[:, self._target]
        # Classes are stored as floats; rounding makes them robust to small errors.
        return np.delete(X, self._target, axis=1), np.rint(y) if self._kind == "class" else y

    def _fit_estimator(self, sample: Floats) -> Any:
        """Fit the estimator to a sample (k, d); raises an error for a degenerate one."""
        sample = sample.copy()  # an estimator may keep or modify it
        estimator = clone(self._estimator)
        with warnings.catch_warnings(), config_context(assume_finite=True):
            # Deprecation warnings do not concern the sample.
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
                # A wrong call or a wrong parameter, for any sample.
                self._raise_type_error(error)
            if self._kind == "density":
                return estimator, float(np.max(estimator.score_samples(sample)))
        return estimator

    def _raise_type_error(self, error: Exception) -> NoReturn:
        raise TypeError(f"fit of the estimator of family {self.name!r}: {error}") from error

    def _models(self, params: Floats, d: int) -> list[Any]:
        """The estimators of parameters (m, k d), from the cache or fitted again."""
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
                    self._keep(key, self._fit_estimator(row.reshape(self._size, d)))
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
        # Exactly 0 for the densest row: BLAS rounds differently for other blocks, and the square
        # root magnifies an error in the last digit to 1e-7.
        return np.asarray(np.sqrt(2 * np.where(gap > _SAME * max(1.0, abs(best)), gap, 0.0)))

    def __repr__(self) -> str:
        more = "" if self._codimension is None else f", codimension={self._codimension}"
        return (
            f"LearnedFamily({self._estimator!r}, sample_size={self._size}, "
            f"target={self._target}{more})"
        )

    def _key(self) -> tuple[Any, ...]:
        """The parameters of the estimator, because estimators are not comparable."""
        options = repr(sorted(self._estimator.get_params().items(), key=lambda item: item[0]))
        return type(self._estimator), options, self._size, self._target, self._codimension

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LearnedFamily) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> Any:
        return LearnedFamily, (self._estimator, self._size, self._target, self._codimension)

    def __deepcopy__(self, memo: Any) -> LearnedFamily:
        return self  # immutable; a copy would have an empty cache


def _last(estimator: Any) -> Any:
    """The final estimator of a pipeline, or the estimator itself."""
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
    # The score of an outlier detector is not a density.
    if hasattr(estimator, "score_samples") and not is_outlier_detector(estimator):
        return "density"
    raise ValueError(
        "estimator must be a regressor, a classifier with predict_proba, a transformer with "
        f"inverse_transform or a density with score_samples, got {estimator!r}."
    )


def _repeatable(estimator: Any) -> Any:
    """A copy that is deterministic."""
    copy = clone(estimator)
    seeds = {
        name: 0
        for name, value in copy.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    }
    return copy.set_params(**seeds)
