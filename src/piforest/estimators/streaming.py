"""The detector for streams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._columns import explaining_frames
from .._random import Stream
from .._validation import check_family_fits, check_integer, check_magnitude, clear_fit
from ..fitted.file_params import decode_params, encode_params
from ..io.archive import damaged
from ..models.drawing import ModelSet
from ..protocols import Floats
from ..streams.detector import StreamDetector
from ..streams.drift import Drift
from ..streams.settings import StreamSettings
from ..streams.state_file import read_header, restore, write_state
from ..structures.description import column_names
from ..structures.greedy import Structure
from ..typing import (
    ContaminationLike,
    FamilyLike,
    RandomStateLike,
    RowsLike,
    SamplerLike,
    SigmaLike,
)
from .ranking import ScoreMethods

__all__ = ["StreamingPreferenceIsolationForest"]

# The first row may come alone; it is repeated for the checks of the family.
_CHECKED_ROWS = 100


class StreamingPreferenceIsolationForest(ScoreMethods, OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Detect rows of a stream that fit no structure of a family, while structures change.

    The detector keeps a window of the last rows. After every tenth of the window it renews what it
    knows: the tenth of its models that rows prefer least is drawn anew from the window, all models
    are measured again, trees are grown from at most 1,024 rows of the window, and the threshold
    follows the scores. In between, the counts of the cells follow the rows that come and leave.
    Memory and time per row do not grow with the length of the stream.

    Parameters
    ----------
    family : str or ModelFamily, default="line"
        What a structure is; see `piforest.families.list_families`.
    window : int, default=2048
        The number of rows that the detector remembers, at least 50.
    sigma : float or "auto", default="auto"
        The noise of the structures, in the units of X. "auto" estimates it at every renewal.
    n_models : int, default=200
        The number of models. They are refitted and chosen among many that were drawn, so that few
        suffice.
    sampler : {"mixed", "uniform", "local", "stratified"} or Sampler, default="mixed"
        How to choose the points of minimal samples.
    n_estimators : int, default=100
        The number of trees.
    max_samples : int, default=256
        Rows in each tree.
    contamination : "auto" or float in (0, 1), default="auto"
        The share of rows to flag among those of the window; "auto" compares with random points.
    random_state : int, RandomState, Generator or None, default=None
        The same seed and the same rows give the same result, in blocks of any size.

    Attributes
    ----------
    n_seen_ : int
        The number of rows learned.
    threshold_ : float
        Rows with a larger score are anomalies; NaN before the first renewal. It changes at every
        renewal.
    structures_ : list of Structure
        The structures of now, in descending order of evidence; members are row numbers.
    drift_ : list of Drift
        Structures that came or left since the window was full for the first time, the last 1,000.
    sigma_ : float
        The noise of the structures, as the models of now show it; NaN before the first renewal.
    models_ : ModelSet or None
        The models of now.
    n_features_in_ : int
        The number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from piforest import StreamingPreferenceIsolationForest
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0, 10, 1000)
    >>> X = np.column_stack([x, 2 * x + rng.normal(scale=0.05, size=1000)])
    >>> X[700] = 5, 3
    >>> detector = StreamingPreferenceIsolationForest("line", window=500, random_state=0)
    >>> scores = detector.score_learn(X)
    >>> int(np.nanargmax(scores)), len(detector.structures_)
    (700, 1)
    """

    stream_: StreamDetector

    def __init__(
        self,
        family: FamilyLike = "line",
        *,
        window: int = 2048,
        sigma: SigmaLike = "auto",
        n_models: int = 200,
        sampler: SamplerLike = "mixed",
        n_estimators: int = 100,
        max_samples: int = 256,
        contamination: ContaminationLike = "auto",
        random_state: RandomStateLike = None,
    ) -> None:
        self.family = family
        self.window = window
        self.sigma = sigma
        self.n_models = n_models
        self.sampler = sampler
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.contamination = contamination
        self.random_state = random_state

    def fit(self, X: RowsLike, y: object = None) -> Self:
        """Forget everything, learn these rows, and renew at the end.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows in the order of the stream.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        clear_fit(self)
        self.partial_fit(X)
        if self.stream_.renewed_at < self.stream_.window.n_seen:
            self.stream_.renew()
        return self

    def partial_fit(self, X: RowsLike, y: object = None) -> Self:
        """Learn rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The next rows of the stream. If any of them is not valid, none is learned.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self.score_learn(X)
        return self

    @overload
    def score_learn(self, X: RowsLike, *, return_labels: Literal[False] = False) -> Floats: ...

    @overload
    def score_learn(
        self, X: RowsLike, *, return_labels: Literal[True]
    ) -> tuple[Floats, NDArray[np.int64]]: ...

    def score_learn(
        self, X: RowsLike, *, return_labels: bool = False
    ) -> Floats | tuple[Floats, NDArray[np.int64]]:
        """Score each row, then learn it, in the order of the rows.

        Rows one by one, or in blocks of any size, give the same bits.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The next rows of the stream. If any of them is not valid, none is learned.
        return_labels : bool, default=False
            Whether to return also what `predict` would have said when each row came.

        Returns
        -------
        scores : ndarray of shape (n,)
            Anomaly scores in (0, 1], high for anomalies. NaN for the first rows: a tenth of the
            window, and at least 20 rows and 5 minimal samples, are needed to score.
        labels : ndarray of shape (n,)
            -1 for anomalies, +1 for the rest, 0 for rows without a score. Only with
            `return_labels`.
        """
        rows = self._checked(X, reset=not hasattr(self, "stream_"))
        if not hasattr(self, "stream_"):
            key = Stream.from_random_state(self.random_state).key
            settings = StreamSettings.from_estimator(self)
            family, n = settings.reservoir.family, max(len(rows), _CHECKED_ROWS)
            check_family_fits(family, np.resize(rows, (n, rows.shape[1])))
            self.stream_ = StreamDetector(settings, rows.shape[1], key)
        scores, thresholds = self.stream_.pass_rows(rows)
        return (scores, _labels(scores, thresholds)) if return_labels else scores

    def forget(self, n: int | None = None) -> Self:
        """Drop the oldest rows of the window now.

        If fewer rows remain than models need, the models are dropped, too, and rows have no scores
        until there are enough again.

        Parameters
        ----------
        n : int or None, default=None
            How many; None for all.

        Returns
        -------
        self
        """
        check_is_fitted(self, "stream_")
        number = self.stream_.window.length if n is None else check_integer("n", n, 0)
        self.stream_.forget(number)
        return self

    def anomaly_score(self, X: RowsLike) -> Floats:
        """Score rows without learning them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows like those of the stream.

        Returns
        -------
        ndarray of shape (n,)
            In (0, 1], high for anomalies; NaN as long as too few rows were learned.
        """
        check_is_fitted(self, "stream_")
        rows, cells = self._checked(X, reset=False), self.stream_.cells
        return np.full(len(rows), np.nan) if cells is None else cells.scores(rows)

    def predict(self, X: RowsLike) -> NDArray[np.int64]:
        """Which rows are anomalies now, without learning them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows like those of the stream.

        Returns
        -------
        ndarray of shape (n,)
            -1 for anomalies, +1 for the rest, 0 as long as too few rows were learned.
        """
        scores = self.anomaly_score(X)
        return _labels(scores, np.full(len(scores), self.threshold_))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the state to a file, from which `load` goes on exactly where it stopped.

        Parameters
        ----------
        path : str or path
            The file. It is replaced as a whole, never left half written.
        """
        check_is_fitted(self, "stream_")
        params = encode_params(self.get_params(deep=False), ())
        names = [str(name) for name in getattr(self, "feature_names_in_", [])]
        header = {
            "class": "StreamingPreferenceIsolationForest",
            "params": params,
            "n_features": self.n_features_in_,
            "feature_names": names,
        }
        write_state(path, header, self.stream_)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a state that `save` wrote.

        Parameters
        ----------
        path : str or path
            The file. It is never unpickled, and nothing in it is trusted.

        Returns
        -------
        StreamingPreferenceIsolationForest
            It scores and learns as the saved one would have, bit for bit.
        """
        header, arrays = read_header(path, "StreamingPreferenceIsolationForest")
        try:
            estimator = cls(**decode_params(header["params"], None))
            d, names = header["n_features"], header["feature_names"]
            if names:
                estimator.feature_names_in_ = np.array([str(name) for name in names], dtype=object)
            settings = StreamSettings.from_estimator(estimator)
            if not isinstance(d, int) or not 1 <= d < 2**20 or len(names) not in (0, d):
                raise ValueError(f"its header names {d!r} columns")
            if settings.window * d > 2**30 or settings.n_trees > 2**16:
                raise ValueError("its parameters are too large")
            if arrays["window.rows"].shape != (settings.window, d):
                raise ValueError("its rows do not fit the parameters")
            stream = StreamDetector(settings, d, 0)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise damaged(path, error) from error
        estimator.stream_ = restore(path, header, arrays, stream)
        estimator.n_features_in_ = d
        return estimator

    @property
    def n_seen_(self) -> int:
        """The number of rows learned."""
        return self._stream().window.n_seen

    @property
    def threshold_(self) -> float:
        """Rows with a larger score are anomalies."""
        return self._stream().threshold

    @property
    def offset_(self) -> float:
        """The negative of `threshold_`."""
        return -self.threshold_

    @property
    def structures_(self) -> list[Structure]:
        """The structures of now, in descending order of evidence."""
        return [self._named(each) for each in self._stream().tracker.structures]

    @property
    def drift_(self) -> list[Drift]:
        """Structures that came or left."""
        events = self._stream().tracker.events
        return [replace(each, structure=self._named(each.structure)) for each in events]

    @property
    def sigma_(self) -> float:
        """The noise of the structures."""
        return self._stream().sigma

    @property
    def models_(self) -> ModelSet | None:
        """The models of now; None before the first renewal."""
        return self._stream().models

    def _named(self, structure: Structure) -> Structure:
        """With the names of the columns, which its equation needs."""
        names = getattr(self, "feature_names_in_", None)
        usual = column_names(structure.family, self.n_features_in_)
        return replace(structure, names=usual if names is None else tuple(map(str, names)))

    def _map_scores(self, X: RowsLike, name: str, function: Callable[..., Floats]) -> Floats:
        return function(self.anomaly_score(X), threshold=self.threshold_)

    def _stream(self) -> StreamDetector:
        check_is_fitted(self, "stream_")
        return self.stream_

    def _checked(self, X: RowsLike, reset: bool) -> Floats:
        with explaining_frames(X):
            rows: Any = validate_data(self, X, dtype=np.float64, order="C", reset=reset)
        check_magnitude(rows)
        return rows  # type: ignore[no-any-return]


def _labels(scores: Floats, thresholds: Floats) -> NDArray[np.int64]:
    """-1 above the threshold, +1 otherwise, 0 without a score."""
    return np.where(np.isnan(scores), 0, np.where(scores > thresholds, -1, 1))
