"""The estimators, in scikit-learn's shape."""

from .embedding import PreferenceEmbedding
from .loading import load
from .pif import PIF, PreferenceIsolationForest
from .reject import RejectAnomalies
from .voronoi import VoronoiForest

__all__ = [
    "PIF",
    "PreferenceEmbedding",
    "PreferenceIsolationForest",
    "RejectAnomalies",
    "VoronoiForest",
    "load",
]
