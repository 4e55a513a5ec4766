"""The base of all detectors: scores, labels, thresholds, model files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._tensors import from_arrow_stream, match_input_type
from .._validation import check_contamination, check_false_alarm_rate, check_finite, warn_user
from ..engines import Engine, choose_engine, is_dask
from ..findings import Findings
from ..fitted import FittedForest
from ..fitted.file import StoredModel, ThresholdSource, save_model
from ..forest import HashedForest, PooledForest
from ..labels import thresholds
from ..labels.votes import NOTHING_FLAGGED
from ..protocols import Floats
from ..typing import ContaminationLike, FamilyLike, RowsLike
from .ranking import RankingScore

if TYPE_CHECKING:
    from ..report import Report, ReportOptions

# Rows of a memory map that are read and validated at a time.
_MAPPED_ROWS = 65_536


class Detector(RankingScore, OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the detectors. A subclass implements validation and `fit`.

    Attributes
    ----------
    fitted_ : FittedForest
        The fitted model as one value, which is saved, pickled and sent to workers.
    findings_ : Findings
        Results derived from it, computed on first use.
    threshold_ : float
        Rows with a larger `anomaly_score` are anomalies.
    threshold_source_ : {"automatic", "contamination", "false alarm rate", "given", \
            "no structure", "units differ", "too many beyond"}
        The source of the threshold. No row is flagged if it is "no structure", since none was
        found, "units differ", since the units of the columns hide the structures, or "too many
        beyond", since structures with much noise leave too many rows.
    """

    contamination: ContaminationLike
    false_alarm_rate: float | None
    device: str
    n_jobs: int | None
    verbose: int

    fitted_: FittedForest
    findings_: Findings
    threshold_: float
    threshold_source_: ThresholdSource

    @property
    def scores_(self) -> Floats:
        """(n,) `anomaly_score` of the training rows. For more rows than the pool holds, they are
        computed on first use; for more than 50,000 rows they are not available."""
        return self._findings().scores(self._engine().backend)

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
        scores: Floats = self._map_scores(X, "anomaly_score")
        return scores

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

    def score_samples(self, X: RowsLike) -> Floats:
        """The negative of `anomaly_score`, as in scikit-learn: low = anomalous.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        scores: Floats = self._map_scores(X, "score_samples", _negated)
        return scores

    def decision_function(self, X: RowsLike) -> Floats:
        """`score_samples(X) - offset_`: negative for anomalies.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        decision: Floats = self._map_scores(X, "decision_function", _decision)
        return decision

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
        labels: NDArray[np.int64] = self._map_scores(X, "predict", _labels)
        return labels

    def set_contamination(
        self, contamination: ContaminationLike, X: RowsLike | None = None
    ) -> Self:
        """Choose a new threshold without fitting again.

        Parameters
        ----------
        contamination : float in (0, 1) or "auto"
            The share of anomalies.
        X : array-like of shape (n, d) or None, default=None
            Held-out rows to choose the threshold on, with anomalies in the expected proportion;
            the training rows if None.

        Returns
        -------
        self
        """
        check_is_fitted(self, "fitted_")
        check_contamination(contamination)
        self.contamination = contamination
        if hasattr(self, "false_alarm_rate"):
            self.false_alarm_rate = None
        engine = self._engine(X)
        self._set_threshold(engine, None if X is None else engine.in_memory(X))
        self._warn_if_nothing_is_flagged(engine)
        return self

    def set_threshold(self, threshold: float) -> Self:
        """Flag the rows that score above a threshold.

        Parameters
        ----------
        threshold : float
            An `anomaly_score`.

        Returns
        -------
        self
        """
        check_is_fitted(self, "fitted_")
        self.threshold_ = check_finite("threshold", threshold)
        self.threshold_source_ = "given"
        return self

    def save(
        self, path: str | PathLike[str], *, feature_names: Sequence[str] | None = None
    ) -> None:
        """Write the fitted model to one file, without pickle, atomically.

        The structures are in the file: they are found before it is written, if they are not known.

        Parameters
        ----------
        path : str or path
            The file; `load` reads it.
        feature_names : sequence of str or None, default=None
            Column names to store, if X had none.
        """
        findings, backend = self._findings(), self._engine().backend
        names = getattr(self, "feature_names_in_", []) if feature_names is None else feature_names
        stored = StoredModel(
            kind=type(self).__name__,
            params=self.get_params(),
            fitted=self.fitted_,
            threshold=self.threshold_,
            threshold_source=self.threshold_source_,
            n_features=getattr(self, "n_features_in_", None),
            feature_names=[str(name) for name in names],
            scores=findings.known_scores,
            subset_scores=findings.subset_scores(backend),
            structures=findings.to_store(backend),
        )
        save_model(path, stored)

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

    def view(self, X: RowsLike, **options: Any) -> Any:
        """The rows of X as a widget of notebooks; threshold and selection come back to Python.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows to show.
        **options : dict
            The options of `piforest.report.make_view`: scores, names, images and max_rows.

        Returns
        -------
        AnyWidget
            `threshold` is where its slider stands, `selection` the selected positions in X.
            Needs anywidget: pip install 'piforest[notebook]'.
        """
        from ..report import make_view

        return make_view(self, X, **options)

    @classmethod
    def load(cls, path: str | PathLike[str], *, family: FamilyLike | None = None) -> Self:
        """Read a model that `save` wrote. Scores are the same, bit for bit.

        Parameters
        ----------
        path : str or path
            The file.
        family : ModelFamily or list or None, default=None
            The custom family that the model was fitted with, which a file cannot contain. A family
            that gives other distances is rejected.

        Returns
        -------
        Detector
        """
        from .loading import load_as

        detector: Self = load_as(cls, path, family)
        return detector

    def _restore(self, stored: StoredModel) -> Self:
        """Restore the content of a model file."""
        self.fitted_ = stored.fitted
        names = stored.feature_names or None
        self.findings_ = Findings(
            stored.fitted, stored.scores, stored.subset_scores, names, stored.structures
        )
        self.threshold_, self.threshold_source_ = stored.threshold, stored.threshold_source
        if stored.n_features is not None:
            self.n_features_in_ = stored.n_features
        if stored.feature_names:
            self.feature_names_in_ = np.array(stored.feature_names, dtype=object)
        return self

    def _findings(self) -> Findings:
        check_is_fitted(self, "fitted_")
        return self.findings_

    def _set_threshold(self, engine: Engine, X: RowsLike | None = None, **known: Any) -> None:
        """Choose the threshold on X or on the training rows; known: measurements of `fit`."""
        contamination = check_contamination(self.contamination)
        rate = check_false_alarm_rate(getattr(self, "false_alarm_rate", None), self.contamination)
        backend, findings = engine.backend, self.findings_
        if X is not None:
            rows = self._validated(X)
            scores = backend.scores(self.fitted_, rows)
        elif contamination is not None:
            scores = findings.subset_scores(backend)
        if contamination is not None:
            self.threshold_ = thresholds.share(scores, contamination)
            self.threshold_source_ = "contamination"
            return
        if rate is not None:
            self.threshold_ = findings.rated_threshold(backend, rate, **known)
        elif X is None:
            self.threshold_ = findings.automatic_threshold(backend, **known)
        else:
            self.threshold_ = findings.held_out_threshold(backend, rows, scores)
        self.threshold_source_ = "automatic" if rate is None else "false alarm rate"
        self._explain_no_flags(engine)

    def _explain_no_flags(self, engine: Engine) -> None:
        """Set the source of an automatic threshold that flags nothing, with a warning."""
        backend, findings, embedding = engine.backend, self.findings_, self.fitted_.embedding
        if not (self.fitted_.has_null and embedding):
            return
        if findings.units_hide_structures(backend):
            self.threshold_source_ = "units differ"
        elif not findings.found_structure(backend):
            self.threshold_source_ = "no structure"
        elif self.threshold_ >= NOTHING_FLAGGED and findings.share_beyond(backend) > 0:
            self.threshold_source_ = "too many beyond"

    def _warn_if_nothing_is_flagged(self, engine: Engine) -> None:
        """Give the reason, if it is the data."""
        if self.threshold_source_ == "units differ":
            warn_user(
                "the columns seem to have different units, and every structure is as wide as one "
                "of them, so that no point is flagged; see diagnosis_. Pass scale_columns=True, or "
                "contamination to flag a share of the points nevertheless."
            )
        elif self.threshold_source_ == "too many beyond":
            share = 100 * self.findings_.share_beyond(engine.backend)
            warn_user(
                f"{share:.3g} % of the points are beyond the structures: these do not tell which "
                "points are anomalies, so that no point is flagged; see diagnosis_. Pass "
                "contamination to flag a share of them nevertheless."
            )
        elif self.threshold_source_ == "no structure":
            embedding = self.fitted_.embedding
            assert embedding is not None  # without models there is no structure to look for
            names = " or ".join(repr(models.family.name) for models in embedding.models)
            warn_user(
                f"no structure of family {names} is significant in {len(self.fitted_.points)} "
                "points, so that no point is flagged; see diagnosis_. To flag a share of them "
                "nevertheless, pass contamination."
            )

    def _map_scores(
        self, X: RowsLike, name: str, function: Callable[..., Any] | None = None
    ) -> Any:
        """A function of the scores of X; name: of the result."""
        engine = self._engine(X)
        scores = self._run(X, engine, "scores")
        if function is None:
            return scores
        # Not a bound method, so that the detector is not sent to workers.
        return engine.elementwise(partial(function, threshold=self.threshold_), scores, name)

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
            parts = (self._validated(X[start : start + _MAPPED_ROWS]) for start in starts)
            return np.concatenate([run(self.fitted_, part) for part in parts])
        result = run(self.fitted_, self._validated(engine.in_memory(X)))
        return result if isinstance(X, np.ndarray) else match_input_type(result, X)

    def _engine(self, X: Any = None) -> Engine:
        """The engine for this input and the parameters."""
        return choose_engine(X, self.device, self.n_jobs, self.verbose, self._cpu_only)

    def _cpu_only(self, X: Any) -> ValueError | None:
        """The error to raise if only the CPU can compute this; None if other devices can."""
        raise NotImplementedError

    def _validated(self, X: Any, reset: bool = False) -> Any:
        """Validated X in the form that engines score."""
        return validate_data(
            self,
            X,
            dtype=np.float64,
            order="C",
            reset=reset,
            ensure_min_samples=2 if reset else 1,
        )


def _negated(scores: Any, threshold: float) -> Any:
    return -scores


def _decision(scores: Any, threshold: float) -> Any:
    return -scores + threshold


def _labels(scores: Any, threshold: float) -> Any:
    """-1 and +1 for arrays, tensors and series."""
    return 1 - 2 * (_decision(scores, threshold) < 0)
