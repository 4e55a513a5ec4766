"""Plots of data, scores and detectors. Matplotlib is imported when the first one is drawn.

Every function draws into `ax`, or into a new figure without it, and returns the axes. The
constants are the colours: NORMAL and ANOMALOUS of true labels, SCORES the colour map.
"""

from ._common import ANOMALOUS, NORMAL, SCORES
from .explanation import plot_explanation
from .heatmap import plot_heatmap
from .matches import plot_matches
from .points import plot_comparison, plot_scores, plot_truth
from .preferences import plot_preferences
from .structures import plot_structures
from .threshold import plot_threshold
from .tree import plot_tree

__all__ = [
    "ANOMALOUS",
    "NORMAL",
    "SCORES",
    "plot_comparison",
    "plot_explanation",
    "plot_heatmap",
    "plot_matches",
    "plot_preferences",
    "plot_scores",
    "plot_structures",
    "plot_threshold",
    "plot_tree",
    "plot_truth",
]
