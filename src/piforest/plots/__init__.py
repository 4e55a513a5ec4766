"""Pictures. Matplotlib is imported when the first one is drawn."""

from ._common import ANOMALOUS, NORMAL, SCORES
from .matches import plot_matches
from .points import plot_comparison, plot_scores, plot_structures, plot_truth
from .tree import plot_tree

__all__ = [
    "ANOMALOUS",
    "NORMAL",
    "SCORES",
    "plot_comparison",
    "plot_matches",
    "plot_scores",
    "plot_structures",
    "plot_tree",
    "plot_truth",
]
