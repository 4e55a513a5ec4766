"""The automatic threshold: what scores and distances say together, as a threshold on the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..protocols import Bools, Floats, ModelFamily
from ..structures.laws import depends_much
from . import thresholds
from . import votes as labels

# A threshold that flags this many rows more than twice the anomalous ones does not separate them.
_SLACK = 5
# Structures that this share of the rows is beyond are no rule that the others break, if their bands
# are as wide as the data, as those of a trend of most rows, or if the columns of the others are
# related, too.
_MOST = 0.5
# Where the noise is uneven, labels must agree this much with what is beyond it, as F1: single
# anomalies among high scores of ordinary rows would be flagged by some seeds and not by others.
_HALF_RIGHT = 0.5


class Choice(NamedTuple):
    """An automatic threshold."""

    threshold: float
    agreement: float = 1.0
    """the F1 score of the labels against the rows that are anomalous by distances and scores"""
    too_many: float = 0.0
    """the share of rows that would be flagged, if it is too large to flag any"""
    off: float = 0.0
    """the share of rows that are anomalous by distances and scores"""
    kept: int = 0
    """the number of rows that are far beyond all structures and not flagged"""


@dataclass(frozen=True, eq=False)
class Distances:
    """Which of n rows, and of the null points, are far from all structures."""

    rows: Floats
    """(n, d)"""
    family: ModelFamily
    beyond: Bools
    """(n,) beyond the end of every structure"""
    far: Bools
    """(n,) beyond the end, or three half-widths"""
    null_far: Bools
    """the same for the null points"""
    gross: Bools
    """(n,) beyond the end, and five half-widths"""
    decide: bool
    """whether scores of null points provide no comparison, so that distances alone decide"""
    uneven: bool
    """whether the noise of a law is uneven"""
    noisy: bool
    """whether the bands are as wide as the data"""

    def choose(self, scores: Floats, null: Floats, ceiling: float) -> Choice:
        """The threshold for the scores of the rows; null: those of the null points, unless
        distances decide; ceiling: the score of a row that resembles no other."""
        anomalous = self._anomalous(scores, null, ceiling)
        threshold = labels.score_threshold(scores, anomalous, ceiling, self._covered)
        if np.sum(scores > threshold) > 2 * np.sum(anomalous) + _SLACK:
            # The scores do not separate these rows: flag as many as there are, not most of them.
            threshold = thresholds.share(scores, float(np.mean(anomalous)))
        above = scores > threshold
        flagged = float(np.mean(above))
        ordinary = self.uneven and np.sum(above) > 2 * np.sum(anomalous) + _SLACK
        if ordinary or (flagged > _MOST and self._is_no_rule(above)):
            return Choice(labels.NOTHING_FLAGGED, too_many=flagged, off=float(np.mean(anomalous)))
        agreement = labels.agreement(above, anomalous)
        if self.uneven and agreement < _HALF_RIGHT:
            # Scores are high wherever the noise is large: most of these rows would be ordinary.
            threshold = labels.NOTHING_FLAGGED
            agreement = labels.agreement(scores > threshold, anomalous)
        kept = int(np.sum(self.gross & (scores <= threshold)))
        return Choice(threshold, agreement, off=float(np.mean(anomalous)), kept=kept)

    @property
    def _covered(self) -> float:
        """The share of random points on a structure."""
        return float(np.mean(~self.null_far))

    def _anomalous(self, scores: Floats, null: Floats, ceiling: float) -> Bools:
        """(n,) which rows are anomalous."""
        if self.decide:
            return self.beyond
        lower = np.minimum(scores, ceiling)
        voted = labels.votes(lower, np.minimum(null, ceiling), self.far, self.null_far)
        if 3 * np.sum(voted & self.far) < (1 - self._covered) * np.sum(voted):
            # Of random points, the share 1 - covered is far from structures. Votes against points
            # that are nearly all on a structure contradict the structure.
            return self.beyond
        return labels.with_gross(labels.with_missed(voted, self.beyond), self.gross)

    def _is_no_rule(self, flagged: Bools) -> bool:
        """Whether most rows, which are beyond the structures, are no anomalies."""
        return self.noisy or depends_much(self.family, self.rows[flagged])
