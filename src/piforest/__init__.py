"""piforest finds the points that follow no pattern.

The public names are imported when they are first used, so that
``import piforest`` itself costs nothing:

- `PreferenceIsolationForest`: the detector, with good defaults; `.paper(...)` is the
  algorithm of the paper
- `LocalPreferenceIsolationForest`: detectors in overlapping windows, for smooth structures of
  unknown form
- `PreferenceEmbedding`: points to sparse preferences, a transformer
- `VoronoiForest`: isolation by nested Voronoi cells in any metric space
- `RuzHashForest`: isolation by hashes that agree in proportion to the Ruzicka similarity
- `StreamingPreferenceIsolationForest`: the detector for streams whose structures change
- `RejectAnomalies`: drops anomalous rows inside a pipeline
- `propose_families`: which family the structures of the data belong to
- `estimate_sigma`: the noise of the structures of a family
- `load`: a detector from the file that it was saved to

Scores have one meaning everywhere: `anomaly_score` is the paper's, in (0, 1],
high = anomalous; `score_samples` is its negative; `decision_function` is
`score_samples - offset_`; `predict` gives -1 for anomalies and +1 for the
rest, as in scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "LocalPreferenceIsolationForest",
    "PreferenceEmbedding",
    "PreferenceIsolationForest",
    "RejectAnomalies",
    "RuzHashForest",
    "StreamingPreferenceIsolationForest",
    "VoronoiForest",
    "bands",
    "checks",
    "clouds",
    "datasets",
    "estimate_sigma",
    "explain",
    "families",
    "findings",
    "fitted",
    "forest",
    "load",
    "metrics",
    "models",
    "plots",
    "preferences",
    "proposals",
    "propose_families",
    "protocols",
    "report",
    "sampling",
    "series",
    "streams",
    "structures",
    "surfaces",
    "terrain",
    "typing",
    "vision",
    "windows",
]

# Where objects are; all other names are modules.
_OBJECTS = {
    "LocalPreferenceIsolationForest": "estimators",
    "PreferenceEmbedding": "estimators",
    "PreferenceIsolationForest": "estimators",
    "RejectAnomalies": "estimators",
    "RuzHashForest": "estimators",
    "StreamingPreferenceIsolationForest": "estimators",
    "VoronoiForest": "estimators",
    "estimate_sigma": "bands",
    "load": "estimators",
    "propose_families": "proposals",
}

if TYPE_CHECKING:
    from . import (
        bands,
        checks,
        clouds,
        datasets,
        explain,
        families,
        findings,
        fitted,
        forest,
        metrics,
        models,
        plots,
        preferences,
        proposals,
        protocols,
        report,
        sampling,
        series,
        streams,
        structures,
        surfaces,
        terrain,
        typing,
        vision,
        windows,
    )
    from .bands.evidence import estimate_sigma
    from .estimators import (
        LocalPreferenceIsolationForest,
        PreferenceEmbedding,
        PreferenceIsolationForest,
        RejectAnomalies,
        RuzHashForest,
        StreamingPreferenceIsolationForest,
        VoronoiForest,
        load,
    )
    from .proposals import propose_families


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'piforest' has no attribute {name!r}")
    if name in _OBJECTS:
        return getattr(importlib.import_module(f".{_OBJECTS[name]}", __name__), name)
    return importlib.import_module(f".{name}", __name__)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
