"""The threshold of a detector: chosen automatically, by a share, by a rate, or given."""

from __future__ import annotations

from typing import Any, Literal, Self

from sklearn.utils.validation import check_is_fitted

from .._validation import check_contamination, check_false_alarm_rate, check_finite, warn_user
from ..engines import Engine
from ..labels import thresholds
from ..labels.votes import NOTHING_FLAGGED
from ..typing import ContaminationLike, RowsLike
from .base import DetectorBase


class ThresholdMethods(DetectorBase):
    """Choose the threshold, and give the reason if it flags nothing."""

    # Whether the threshold was chosen on other rows than those of the fit.
    _held_out: bool = False

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

    def _set_threshold(self, engine: Engine, X: RowsLike | None = None, **known: Any) -> None:
        """Choose the threshold on X or on the training rows; known: measurements of `fit`."""
        contamination = check_contamination(self.contamination)
        rate = check_false_alarm_rate(getattr(self, "false_alarm_rate", None), self.contamination)
        backend, findings = engine.backend, self.findings_
        self._held_out = X is not None
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

    def _chosen_threshold(self) -> Literal["automatic", "given"] | float:
        """How another forest would choose the threshold: as a share of the rows, automatically, or
        not at all: if it was given, or follows from a rate or from held-out rows."""
        if self.threshold_source_ == "contamination" and not self._held_out:
            return float(self.contamination)
        chosen = {"automatic", "too many beyond"}
        if self.threshold_source_ in chosen and not self._held_out:
            return "automatic"
        return "given"

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
                "the columns seem to have different units, and no structure is narrower than one "
                "of them, so that no point is flagged; see diagnosis_. Pass scale_columns=True, or "
                "contamination to flag a share of the points nevertheless."
            )
        elif self.threshold_source_ == "too many beyond":
            share = 100 * self.findings_.share_beyond(engine.backend)
            warn_user(
                f"{share:.3g} % of the points score like those beyond the structures, too many to "
                "be anomalies, so that no point is flagged; see diagnosis_. Pass contamination to "
                "flag a share of them nevertheless."
            )
        elif self.threshold_source_ == "no structure":
            embedding = self.fitted_.embedding
            assert embedding is not None  # without models there is no structure to look for
            names = " or ".join(repr(models.family.name) for models in embedding.models)
            compared = getattr(self, "proposals_", None)
            others = "" if compared is None else ", or of another family that was compared,"
            warn_user(
                f"no structure of family {names}{others} is significant in "
                f"{len(self.fitted_.points)} points, so that no point is flagged; see diagnosis_. "
                "To flag a share of them nevertheless, pass contamination."
            )
