"""The fitted state of a detector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from ..engines import Engine
from ..findings import Findings
from ..fitted import FittedForest
from ..fitted.file import ThresholdSource
from ..typing import ContaminationLike


class DetectorBase(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """The state of a fitted detector.

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
        beyond", since structures with much noise, or laws of few rows, leave too many rows.
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

    # Methods of `Detector`.
    _engine: Callable[..., Engine]
    _validated: Callable[..., Any]

    def _findings(self) -> Findings:
        check_is_fitted(self, "fitted_")
        return self.findings_
