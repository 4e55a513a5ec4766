"""The threshold of a stream: it follows the scores that the rows of the window had."""

from __future__ import annotations

import numpy as np

from .._random import Stream
from ..labels import thresholds
from ..labels import votes as labels
from ..protocols import Floats, ModelFamily
from ..structures.boundaries import Boundaries, own_null_rows
from ..structures.greedy import Structure
from .cells import Cells

# So many more rows may be flagged than twice those that look anomalous.
_SLACK = 5


def window_threshold(
    X: Floats,
    scores: Floats,
    cells: Cells,
    structures: list[Structure],
    family: ModelFamily,
    stream: Stream,
) -> float:
    """The automatic threshold for the rows X of the window with these scores.

    As in a fit: the votes of the scores, of their p-values and of the distances to structures
    label the rows, and the threshold agrees best with the labels. Without a structure nothing is
    flagged.
    """
    if not structures:
        return labels.NOTHING_FLAGGED
    null_rows = labels.null_points(X, family, stream)
    own_null = own_null_rows(family, X, stream.child("ends"))
    boundaries, ceiling = Boundaries(X, structures, own_null), cells.ceiling()
    far, null_far = boundaries.far(X), boundaries.far(null_rows)
    covered = float(np.mean(~null_far))
    null = np.sort(np.minimum(cells.scores(null_rows), ceiling))
    voted = labels.votes(np.minimum(scores, ceiling), null, far, null_far)
    anomalous, beyond = voted, boundaries.beyond(X)
    if own_null is not None or 3 * np.sum(voted & far) < (1 - covered) * np.sum(voted):
        # The ends of structures follow from null rows; or votes against rows that are nearly all
        # on a structure contradict the structure.
        anomalous = beyond
    else:
        anomalous = labels.with_missed(voted, beyond)
    threshold = labels.score_threshold(scores, anomalous, ceiling, covered)
    if np.sum(scores > threshold) > 2 * np.sum(anomalous) + _SLACK:
        # The scores do not separate these rows: flag as many as there are, not most of them.
        threshold = thresholds.share(scores, float(np.mean(anomalous)))
    return threshold
