"""The scikit-learn estimators."""

from .loading import load
from .local import LocalPreferenceIsolationForest
from .preference_embedding import PreferenceEmbedding
from .preference_isolation_forest import PreferenceIsolationForest
from .reject_anomalies import RejectAnomalies
from .ruzhash_forest import RuzHashForest
from .streaming import StreamingPreferenceIsolationForest
from .voronoi_forest import VoronoiForest

__all__ = [
    "LocalPreferenceIsolationForest",
    "PreferenceEmbedding",
    "PreferenceIsolationForest",
    "RejectAnomalies",
    "RuzHashForest",
    "StreamingPreferenceIsolationForest",
    "VoronoiForest",
    "load",
]
