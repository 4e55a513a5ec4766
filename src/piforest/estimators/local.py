"""The local detector: a detector in each of many overlapping windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any, Literal, NoReturn, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._progress import Progress
from .._random import Stream
from .._validation import check_contamination, check_share, clear_fit, warn_user
from ..diagnosis import Finding
from ..engines import Engine
from ..explain import Explanation
from ..protocols import Floats
from ..structures.greedy import Structure
from ..typing import ContaminationLike, FamilyLike, RandomStateLike, RowsLike, SigmaLike
from ..windows import FittedWindows, Window
from ..windows.cutting import (
    DEFAULT_COORDINATES,
    Columns,
    check_overlap,
    check_sides,
    columns_of,
    cut_windows,
)
from ..windows.file import StoredWindows, save_windows
from ..windows.findings import WindowFindings, diagnose_windows, explain_rows, sigma_of
from ..windows.fit import WindowParameters, fit_windows
from . import row_values
from .detector import Detector
from .fit_inputs import with_named_targets
from .preference_isolation_forest import PreferenceIsolationForest

__all__ = ["LocalPreferenceIsolationForest"]


class LocalPreferenceIsolationForest(Detector):
    """Detect points that are off a smooth structure of unknown form, such as a road or a series.

    A smooth surface is nearly a plane in a small window. The data are cut into overlapping windows
    of several sizes, a detector with a simple family judges the rows of each, with the same sigma
    in all, and the score of a row comes from the mean of its normalised depths in the windows that
    hold it. A window counts as much as it explains its rows; of windows that explain them equally
    well, the larger ones count more, since a defect as large as a window is a structure there.

    Parameters
    ----------
    family : str, ModelFamily or list, default="plane"
        What a structure is in a window; see `piforest.families.list_families`.
    window : "auto", float or list of float, default="auto"
        The side of the windows in the units of the coordinates, or several. "auto" takes the whole
        range of the data, a half, a quarter and an eighth of it, and smaller ones while structures
        are not straight, as long as windows have enough rows.
    overlap : float in [0, 0.75], default=0.5
        The share of its side that a window has in common with the next.
    coordinates : list of int or str, or None, default=None
        The columns that windows are cut from, at most 4, by number or name: the pixel of a map,
        the time of a series, the position of a point. None: the first three columns. They should
        have the same unit.
    features : list of int or str, or None, default=None
        The columns that structures are in. None: all columns, and for a series without its time,
        name the others.
    sigma : float or "auto", default="auto"
        The noise of the structures, in the units of X. "auto" takes it from the windows.
    min_share : float in [0, 1), default=0.2
        Models whose bands hold a smaller share of the rows of a window do not count there: small
        structures are left to small windows. 0.5 if there is one structure everywhere, such as a
        map with one value for each pixel.
    n_models : int, default=500
        The number of models to draw in each window.
    n_estimators : int, default=50
        The number of trees in each window.
    max_samples : int, default=128
        Points in each tree.
    pool_size : int, default=256
        The trees of a window draw their points from at most this many of its rows.
    contamination : "auto" or float in (0, 1), default="auto"
        The share of the training rows to flag. "auto" compares with random points in the windows.
    device : {"cpu", "cuda", "auto"} or str, default="cpu"
        Where rows are scored, many windows at a time. Windows are fitted on the CPU.
    n_jobs : int or None, default=None
        The number of threads, which work on different windows. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        The same seed gives the same result.
    verbose : int, default=0
        1 prints the stages and their times on standard error.

    Attributes
    ----------
    scores_ : ndarray of shape (n,)
        `anomaly_score` of the training rows; not available for more than 50,000.
    labels_ : ndarray of shape (n,)
        -1 for anomalies among the training rows, +1 for the rest.
    threshold_ : float
        Rows with a larger `anomaly_score` are anomalies.
    threshold_source_ : {"automatic", "contamination", "given", "no structure"}
        Its source. No row is flagged if it is "no structure", since no window has any.
    found_structure_ : bool
        Whether the structure of any window is significant.
    diagnosis_ : list of Finding
        What to know about the data and the result, each with a way out.
    offset_ : float
        `-threshold_`; `decision_function = score_samples - offset_`.
    sigma_ : float
        The noise in all windows, or the given sigma.
    sigma_source_ : {"given", "estimated", "guessed"}
        Its source; "guessed" if no structure was found.
    windows_ : tuple of Window
        The windows, from large to small.
    structures_ : list of Structure
        The structure with the most points of each window in which one is significant.
    null_scores_ : ndarray
        Scores of random points, which `chance_p_values` compares with.
    fitted_ : FittedWindows
        All of this as one value.

    See Also
    --------
    PreferenceIsolationForest : For structures of a known family, of any size.

    Notes
    -----
    The time of a fit is that of its windows, at most 2,048 of them, each fitted to at most 2,048
    of its rows; it hardly grows with the number of rows beyond that.

    Examples
    --------
    >>> import numpy as np
    >>> from piforest import LocalPreferenceIsolationForest
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0, 6, 600)
    >>> X = np.column_stack([x, np.sin(2 * x) + 0.02 * rng.normal(size=600)])
    >>> X[:30, 1] = rng.uniform(-1, 1, 30)
    >>> detector = LocalPreferenceIsolationForest("line", coordinates=[0], random_state=0).fit(X)
    >>> bool(detector.scores_[:30].mean() > detector.scores_[30:].mean())
    True
    """

    fitted_: FittedWindows  # type: ignore[assignment]
    findings_: WindowFindings  # type: ignore[assignment]

    def __init__(
        self,
        family: FamilyLike = "plane",
        *,
        window: float | Sequence[float] | Literal["auto"] = "auto",
        overlap: float = 0.5,
        coordinates: Columns = None,
        features: Columns = None,
        sigma: SigmaLike = "auto",
        min_share: float = 0.2,
        n_models: int = 500,
        n_estimators: int = 50,
        max_samples: int = 128,
        pool_size: int = 256,
        contamination: ContaminationLike = "auto",
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: RandomStateLike = None,
        verbose: int = 0,
    ) -> None:
        self.family = family
        self.window = window
        self.overlap = overlap
        self.coordinates = coordinates
        self.features = features
        self.sigma = sigma
        self.min_share = min_share
        self.n_models = n_models
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.pool_size = pool_size
        self.contamination = contamination
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: RowsLike, y: object = None) -> Self:
        """Fit to the rows of X.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The training rows.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        clear_fit(self)
        progress, engine = Progress(self.verbose), self._engine(X)
        parameters, sides = self._parameters(), check_sides(self.window)
        overlap = check_overlap(self.overlap)
        source = engine.source(X, self, self._validated)
        names = getattr(self, "feature_names_in_", None)
        stream = Stream.from_random_state(self.random_state)
        coordinates = columns_of("coordinates", self.coordinates, source.n_columns, names)
        if self.coordinates is None:
            coordinates = coordinates[:DEFAULT_COORDINATES]
        features = columns_of("features", self.features, source.n_columns, names)
        parameters = self._with_names(parameters, names, features)
        with progress.stage("windows"):
            cuts = cut_windows(
                source, coordinates, sides, overlap, parameters, len(features), stream
            )
        count = sum(len(cut.found.windows) for cut in cuts)
        with progress.stage(f"detectors of {count} windows"):
            self.fitted_ = fit_windows(
                source, engine, coordinates, features, cuts, parameters, stream, progress
            )
        self.findings_ = WindowFindings(self.fitted_)
        with progress.stage("threshold"):
            self._set_threshold(engine)
        self._warn_if_nothing_is_flagged(engine)
        return self

    @property
    def windows_(self) -> tuple[Window, ...]:
        """The windows, from large to small."""
        check_is_fitted(self, "fitted_")
        return self.fitted_.windows

    @property
    def sigma_(self) -> float:
        """The noise in all windows."""
        check_is_fitted(self, "fitted_")
        return sigma_of(self.fitted_)[0]

    @property
    def sigma_source_(self) -> str:
        """ "given", "estimated" or "guessed"."""
        check_is_fitted(self, "fitted_")
        return sigma_of(self.fitted_)[1]

    @property
    def null_scores_(self) -> Floats:
        """Scores of 250 points, each drawn uniformly from the box of a random window."""
        check_is_fitted(self, "fitted_")
        return self.findings_.null_scores(self.backend_)

    @property
    def found_structure_(self) -> bool:
        """Whether the structure of any window is significant."""
        check_is_fitted(self, "fitted_")
        return self.findings_.found_structure

    @property
    def structures_(self) -> list[Structure]:
        """The structure with the most points of each window in which it is significant."""
        found = [each.structure for each in self.windows_ if each.significant]
        return [each for each in found if each is not None]

    @property
    def diagnosis_(self) -> list[Finding]:
        """What to know about the data and the result, the most important first."""
        check_is_fitted(self, "fitted_")
        source = self.threshold_source_ if self.found_structure_ else "no structure"
        return diagnose_windows(self.fitted_, source, self.findings_.undecided)

    def chance_p_values(self, X: RowsLike) -> Floats:
        """The probability that a random point of its surroundings has a score as low as each row.

        The random points are drawn from the boxes of the smallest windows. Small for rows on a
        structure. Where a structure fills the box of its window, as one that is flat along an axis
        does, p is not informative.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self, "fitted_")
        return self._map_scores(X, "chance_p_values", partial(row_values.chance, self.null_scores_))

    def explain(self, X: RowsLike) -> list[Explanation]:
        """Explain each row by the structures of the windows that hold it.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        list of Explanation
            Its `nearest` are up to three windows, those that count most first; `structure` is the
            index in `windows_`.
        """
        check_is_fitted(self, "fitted_")
        engine = self._engine(X)
        rows = self._validated(engine.in_memory(X))
        scores, _ = self.fitted_.judge(rows, engine.backend)
        return explain_rows(self.fitted_, rows, scores, self.threshold_)

    @property
    def forest_(self) -> NoReturn:
        """Not available: each window has a forest, `windows_[k].fitted.forest`."""
        raise AttributeError("each window has a forest of its own: windows_[k].fitted.forest.")

    def path_lengths(self, X: RowsLike) -> NoReturn:
        """Not available: each window has trees of its own.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Raises
        ------
        ValueError
            Always.
        """
        raise ValueError(
            "the trees of a LocalPreferenceIsolationForest belong to its windows, which hold "
            "different rows; anomaly_score averages their depths."
        )

    def _write_file(self, path: str | PathLike[str], names: list[str]) -> None:
        stored = StoredWindows(
            self.get_params(), self.fitted_, self.threshold_, self.threshold_source_, names
        )
        save_windows(path, stored)

    def _restore(self, stored: StoredWindows) -> Self:  # type: ignore[override]
        self.fitted_ = stored.fitted
        self.findings_ = WindowFindings(stored.fitted)
        self.threshold_, self.threshold_source_ = stored.threshold, stored.threshold_source
        self.n_features_in_ = stored.fitted.subset.shape[1]
        if stored.feature_names:
            self.feature_names_in_ = np.array(stored.feature_names, dtype=object)
        return self

    def _parameters(self) -> WindowParameters:
        check_contamination(self.contamination)
        check_share("min_share", self.min_share)
        whole = PreferenceIsolationForest(
            self.family,
            sigma=self.sigma,
            n_models=self.n_models,
            scale="fixed",
            n_estimators=self.n_estimators,
            max_samples=self.max_samples,
            pool_size=self.pool_size,
        )
        embedding, forest = whole._embedding_parameters(), whole._forest_parameters()
        return WindowParameters(embedding, forest, float(self.min_share))

    @staticmethod
    def _with_names(parameters: WindowParameters, names: Any, features: Any) -> WindowParameters:
        known = None if names is None else [names[k] for k in features.tolist()]
        return replace(parameters, embedding=with_named_targets(parameters.embedding, known))

    def _explain_no_flags(self, engine: Engine) -> None:
        if not self.found_structure_:
            self.threshold_source_ = "no structure"

    def _warn_if_nothing_is_flagged(self, engine: Engine) -> None:
        if self.threshold_source_ == "no structure":
            warn_user(
                "no window has a structure that stands out from chance, so that no point is "
                "flagged; see diagnosis_. To flag a share of them nevertheless, pass contamination."
            )
        elif self.threshold_source_ == "automatic" and self.findings_.undecided:
            warn_user(
                "random points are as near to the structures of the windows as the rows are, so "
                "that hardly any is flagged; see diagnosis_. Pass contamination or smaller windows."
            )

    def _cpu_only(self, X: Any) -> ValueError | None:
        return None
