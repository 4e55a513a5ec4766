"""What type checkers say of the public API. `make lint` runs mypy over this file, which fails for
an `assert_type` that does not hold and for an ignore that is not needed."""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import piforest
from piforest import PreferenceEmbedding, PreferenceIsolationForest, VoronoiForest
from piforest.bands.evidence import Bands
from piforest.estimators.detector import Detector
from piforest.explain import Explanation
from piforest.fitted import FittedForest
from piforest.models.drawing import ModelSet
from piforest.structures.greedy import Structure
from piforest.typing import Floats
from piforest.vision import filter_matches


def check() -> None:
    """Never run."""
    X = np.zeros((10, 2))

    detector = PreferenceIsolationForest("line", scale="per_model", kernel="binary", random_state=0)
    assert_type(detector.fit(X), PreferenceIsolationForest)
    assert_type(PreferenceIsolationForest.paper("circle", sigma=0.1), PreferenceIsolationForest)
    assert_type(detector.fit([[0.0, 1.0], [1.0, 2.0]]).anomaly_score(X.tolist()), Floats)
    assert_type(detector.predict(X), NDArray[np.int64])
    assert_type(detector.threshold_, float)
    assert_type(detector.structures_, list[Structure])
    assert_type(detector.structures_[0].half_width, float)
    assert_type(detector.models_, tuple[ModelSet, ...])
    assert_type(detector.explain(X), list[Explanation])
    assert_type(detector.fitted_, FittedForest)
    assert_type(detector.embedding_.bands_, tuple[Bands, ...] | None)
    assert_type(piforest.load("model.pif"), Detector)
    assert_type(VoronoiForest.load("model.pif"), VoronoiForest)
    assert_type(piforest.estimate_sigma(X, "line"), float)
    PreferenceIsolationForest(["line", "circle"])
    PreferenceIsolationForest([("line", 1.0), ("circle", 2.0)])
    PreferenceIsolationForest(random_state=np.random.default_rng(0))
    VoronoiForest(lambda a, b: abs(len(a) - len(b)))
    PreferenceEmbedding(kernel=lambda r, sigma: np.exp(-r / sigma))

    filter_matches(X, X, n_models=500, scale="fixed")
    assert_type(detector.view(X, max_rows=5).selection, list[int])

    # Mistakes that a type checker finds.
    filter_matches(X, X, n_trees=5)  # type: ignore[call-arg]
    detector.view(X, rows=5)  # type: ignore[call-arg]
    PreferenceIsolationForest(scale="own")  # type: ignore[arg-type]
    PreferenceIsolationForest(n_models="many")  # type: ignore[arg-type]
    PreferenceIsolationForest(random_state="seed")  # type: ignore[arg-type]
    PreferenceIsolationForest(own_votes=True)  # type: ignore[call-arg]
    PreferenceIsolationForest.paper("line")  # type: ignore[call-arg]
    PreferenceIsolationForest.paper("line", sigma="auto")  # type: ignore[arg-type]
    detector.set_threshold("high")  # type: ignore[arg-type]
    VoronoiForest(n_estimators=2.5)  # type: ignore[arg-type]
