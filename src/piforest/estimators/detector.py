"""The base of all detectors: scores and labels of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from .._columns import explaining_frames
from .._ranges import outside_sentence
from .._tensors import from_arrow_stream, match_input_type
from .._validation import warn_user
from ..engines import Backend, Engine, choose_engine, is_dask
from ..forest import HashedForest, PooledForest
from ..protocols import Floats
from ..typing import RowsLike
from .model_files import ModelFileMethods
from .ranking import RankingScore, ScoreMethods
from .thresholds import ThresholdMethods

if TYPE_CHECKING:
    from ..report import Report, ReportOptions, View, ViewOptions

# Rows of a memory map that are read and validated at a time.
_MAPPED_ROWS = 65_536


class Detector(RankingScore, ScoreMethods, ThresholdMethods, ModelFileMethods):
    """Base of the detectors. A subclass implements validation and `fit`."""

    @property
    def scores_(self) -> Floats:
        """(n,) `anomaly_score` of the training rows. For more rows than the pool holds, they are
        computed on first use; for more than 50,000 rows they are not available."""
        return self._findings().scores(self.backend_)

    @property
    def labels_(self) -> NDArray[np.int64]:
        """(n,) labels of the training rows: -1 for anomalies, +1 for the rest."""
        labels: NDArray[np.int64] = _labels(self.scores_, self.threshold_)
        return labels

    @property
    def offset_(self) -> float:
        """`-threshold_`: `decision_function = score_samples - offset_`."""
        check_is_fitted(self, "fitted_")
        return -self.threshold_

    @property
    def forest_(self) -> PooledForest | HashedForest:
        """The metric, the pool and the trees."""
        check_is_fitted(self, "fitted_")
        return self.fitted_.forest

    @property
    def max_samples_(self) -> int:
        """Points in each tree: max_samples, or the size of the pool if it is smaller."""
        return self.forest_.trees.max_samples

    def fit_predict(self, X: RowsLike, y: object = None, **fit_params: Any) -> NDArray[np.int64]:
        """Fit and label the training rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The training rows.
        y : None
            Ignored.
        **fit_params : dict
            Passed to `fit`.

        Returns
        -------
        ndarray of shape (n,)
            -1 for anomalies, +1 for the rest.
        """
        X = from_arrow_stream(X)
        self.fit(X, y, **fit_params)
        if is_dask(X) or not self.findings_.has_scores:
            return self.predict(X)
        labels: NDArray[np.int64] = match_input_type(self.labels_, X)
        return labels

    def anomaly_score(self, X: RowsLike) -> Floats:
        """The anomaly score of the paper.

        The score of a row depends on that row alone. A score of 0.5 has no special meaning: the
        scores of anomalies depend on the structures, and so does `threshold_`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows like those of `fit`. Tensors give tensors, Dask collections lazy results.

        Returns
        -------
        ndarray of shape (n,)
            In (0, 1], high = anomalous.
        """
        return self._map_scores(X, "anomaly_score")

    def path_lengths(self, X: RowsLike) -> Floats:
        """The path length of each row in each tree, which the score is computed from.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows like those of `fit`.

        Returns
        -------
        ndarray of shape (n, n_estimators)
        """
        lengths: Floats = self._run(X, self._engine(X), "path_lengths")
        return lengths

    def score_blocks(self, blocks: Iterable[RowsLike]) -> Iterator[Floats]:
        """`anomaly_score` of consecutive blocks of rows, in constant memory.

        Parameters
        ----------
        blocks : iterable of array-like
            For example the parts of a file or windows of a stream.

        Yields
        ------
        ndarray
            The scores of a block, which do not depend on the other blocks.
        """
        check_is_fitted(self, "fitted_")
        if hasattr(blocks, "shape"):
            raise ValueError(
                "score_blocks takes an iterable of blocks of rows, got one "
                f"{type(blocks).__name__}; anomaly_score takes that."
            )
        return (self.anomaly_score(block) for block in blocks)

    def predict(self, X: RowsLike) -> NDArray[np.int64]:
        """Label rows.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
            -1 for anomalies, +1 for the rest.
        """
        labels: Any = self._map_scores(X, "predict", _labels)
        return labels  # type: ignore[no-any-return]

    def report(self, X: RowsLike, **options: Unpack[ReportOptions]) -> Report:
        """The results for the rows of X as an interactive page, which a notebook shows in place.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows to show.
        **options : dict
            The options of `piforest.report.write_report`, such as names and title.

        Returns
        -------
        Report
            `save(path)` writes the page to a file.

        Examples
        --------
        >>> from piforest import PreferenceIsolationForest
        >>> from piforest.datasets import make_lines
        >>> X = make_lines(3, random_state=0).data
        >>> report = PreferenceIsolationForest("line", random_state=0).fit(X).report(X)
        >>> "<!doctype html>" in report.page
        True
        """
        from ..report import make_report

        return make_report(self, X, **options)

    def view(self, X: RowsLike, **options: Unpack[ViewOptions]) -> View:
        """The rows of X as a widget of notebooks; threshold and selection come back to Python.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows to show.
        **options : dict
            The options of `piforest.report.make_view`: scores, names, images and max_rows.

        Returns
        -------
        View
            `threshold` is where its slider stands, `selection` the selected positions in X.
            Needs anywidget: pip install 'piforest[notebook]'.
        """
        from ..report import make_view

        return make_view(self, X, **options)

    def _map_scores(
        self, X: RowsLike, name: str, function: Callable[..., Any] | None = None
    ) -> Floats:
        """A function of the scores of X; name: of the result."""
        engine = self._engine(X)
        scores: Floats = self._run(X, engine, "scores")
        if function is None:
            return scores
        # Not a bound method, so that the detector is not sent to workers.
        found: Floats = engine.elementwise(
            partial(function, threshold=self.threshold_), scores, name
        )
        return found

    def _map_rows(self, X: Any, functions: Mapping[str, Callable[..., Any]]) -> list[Any]:
        """Functions of the rows of X, their scores and the threshold, by the name of the result."""
        engine = self._engine(X)
        if isinstance(X, np.memmap):
            starts = range(0, len(X), _MAPPED_ROWS)
            parts = [self._map_rows(np.array(X[k : k + _MAPPED_ROWS]), functions) for k in starts]
            return [np.concatenate(each) for each in zip(*parts)]
        if engine.accepts(X):
            rows, scores = X, self._run(X, engine, "scores")
        else:
            rows = self._validated(engine.in_memory(X))
            self._warn_of_outside(self._outside(rows), len(rows))
            scores = engine.scores(self.fitted_, rows)
        # Not bound methods, so that the detector is not sent to workers.
        given = [partial(each, threshold=self.threshold_) for each in functions.values()]
        results = [engine.by_rows(each, rows, scores, name) for each, name in zip(given, functions)]
        return [match_input_type(result, X) for result in results]

    def _run(self, X: Any, engine: Engine, method: Literal["scores", "path_lengths"]) -> Any:
        """Call a method of the engine for the rows of X; a memory map is read in parts."""
        check_is_fitted(self, "fitted_")
        run = getattr(engine, method)
        if engine.accepts(X):
            engine.check(X, self)
            return run(self.fitted_, X)
        if isinstance(X, np.memmap):
            starts = range(0, len(X), _MAPPED_ROWS)
            outside, results = 0, []
            for start in starts:
                part = self._validated(X[start : start + _MAPPED_ROWS])
                outside += self._outside(part)
                results.append(run(self.fitted_, part))
            self._warn_of_outside(outside, len(X))
            return np.concatenate(results)
        rows = self._validated(engine.in_memory(X))
        self._warn_of_outside(self._outside(rows), len(rows))
        result = run(self.fitted_, rows)
        return result if isinstance(X, np.ndarray) else match_input_type(result, X)

    def _outside(self, rows: Any) -> int:
        """How many of the validated rows are outside the ranges of the training rows."""
        ranges = getattr(self.fitted_, "ranges", None)  # windows have none
        if ranges is None or not len(rows):
            return 0
        low, high = ranges.limits
        # Nearly always, and a hundred times faster by columns than for rows or single values.
        inside = all(a <= x.min() and x.max() <= b for x, a, b in zip(rows.T, low, high))
        return 0 if inside else int(ranges.count(rows))

    def _warn_of_outside(self, outside: int, n: int) -> None:
        ranges = getattr(self.fitted_, "ranges", None)
        if outside and ranges is not None and ranges.matters(outside, n):
            warn_user(outside_sentence(outside, n))

    @property
    def backend_(self) -> Backend:
        """The backend that computes `findings_`, as the parameters device and n_jobs choose it."""
        check_is_fitted(self, "fitted_")
        return self._engine().backend

    def _engine(self, X: Any = None) -> Engine:
        """The engine for this input and the parameters."""
        return choose_engine(X, self.device, self.n_jobs, self.verbose, self._cpu_only)

    def _cpu_only(self, X: Any) -> ValueError | None:
        """The error to raise if only the CPU can compute this; None if other devices can."""
        raise NotImplementedError

    def _validated(self, X: Any, reset: bool = False) -> Any:
        """Validated X in the form that engines score."""
        least = 2 if reset else 1
        options = {"dtype": np.float64, "order": "C", "reset": reset, "ensure_min_samples": least}
        if isinstance(X, np.ndarray):
            return validate_data(self, X, **options)
        with explaining_frames(X):
            return validate_data(self, X, **options)


def _labels(scores: Any, threshold: float) -> Any:
    """-1 and +1 for arrays, tensors and series."""
    return 1 - 2 * (scores > threshold)
