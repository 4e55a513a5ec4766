"""Outlier detectors on points and tables with truth: AUC, F1 of labels, CPU time, memory.

The detectors of scikit-learn, PyOD and isotree see standardised columns and are told the true share
of anomalies for their labels; piforest is told the family and nothing else. Scenes without a family
(heaps) are among them: there piforest chooses it, or finds none.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from isotree import IsolationForest as IsoTree
from memory import measured
from pyod.models.copod import COPOD
from pyod.models.ecod import ECOD
from pyod.models.hbos import HBOS
from pyod.models.knn import KNN
from pyod.models.ocsvm import OCSVM
from sklearn.covariance import EllipticEnvelope
from sklearn.datasets import make_blobs
from sklearn.ensemble import IsolationForest
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from piforest import PreferenceIsolationForest
from piforest.datasets import (
    load_synthetic2d,
    make_arcs,
    make_circles,
    make_floor_plan,
    make_lines,
    make_planes,
    make_regressions,
)
from piforest.datasets.published import SYNTHETIC2D

SEEDS = (0, 1, 2)
Scores = Callable[[np.ndarray, int], np.ndarray]


def sklearn_forest(X: np.ndarray, seed: int) -> np.ndarray:
    return -IsolationForest(random_state=seed).fit(X).score_samples(X)


def lof(X: np.ndarray, seed: int) -> np.ndarray:
    return -LocalOutlierFactor(n_neighbors=30).fit(X).negative_outlier_factor_


def envelope(X: np.ndarray, seed: int) -> np.ndarray:
    return -EllipticEnvelope(random_state=seed).fit(X).score_samples(X)


def isotree(X: np.ndarray, seed: int) -> np.ndarray:
    return IsoTree(ndim=2, ntrees=200, nthreads=1, random_seed=seed).fit(X).predict(X)


def by_pyod(kind: Callable[[], Any]) -> Scores:
    return lambda X, seed: kind().fit(X).decision_scores_


PEERS: dict[str, Scores] = {
    "scikit-learn IsolationForest": sklearn_forest,
    "scikit-learn LocalOutlierFactor, k = 30": lof,
    "scikit-learn EllipticEnvelope": envelope,
    "isotree, extended, 200 trees": isotree,
    "PyOD KNN": by_pyod(KNN),
    "PyOD ECOD": by_pyod(ECOD),
    "PyOD COPOD": by_pyod(COPOD),
    "PyOD HBOS": by_pyod(HBOS),
    "PyOD OCSVM": by_pyod(OCSVM),
}


def heaps(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Three Gaussian heaps and 10 % uniform points: no structure of any family."""
    X, y = make_blobs(900, centers=3, cluster_std=0.6, random_state=seed)
    rng = np.random.default_rng(seed)
    far = rng.uniform(X.min(axis=0) - 2, X.max(axis=0) + 2, (100, 2))
    return np.vstack([X, far]), np.append(y + 1, np.zeros(100, int))


def scenes() -> Iterator[tuple[str, str, int, np.ndarray, np.ndarray]]:
    """Kind, family, seed, rows, truth (0 for anomalies)."""
    made = {
        "lines, 20 % anomalies": ("line", lambda s: make_lines(5, **share(0.2, s))),
        "circles, 20 % anomalies": ("circle", lambda s: make_circles(3, **share(0.2, s))),
        "arcs, 30 % anomalies": ("circle", lambda s: make_arcs(4, **share(0.3, s))),
        "floor plans, 20 % anomalies": ("line", lambda s: make_floor_plan(**share(0.2, s))),
        "planes, 20 % anomalies": ("plane", lambda s: make_planes(3, **share(0.2, s))),
        "tables of three laws, 10 % anomalies": (
            "linear_regression", lambda s: make_regressions(3, **share(0.1, s)),
        ),
        "heaps, 10 % anomalies": ("auto", heaps),
    }  # fmt: skip
    for seed in SEEDS:
        for name in SYNTHETIC2D:
            X, y = load_synthetic2d(name, random_state=seed, return_X_y=True)
            yield "the paper's seven 2D sets, 50 % anomalies", SYNTHETIC2D[name][0], seed, X, y
        for kind, (family, make) in made.items():
            yield kind, family, seed, *make(100 + seed)


def share(anomalies: float, seed: int) -> dict[str, Any]:
    return {"anomaly_share": anomalies, "random_state": seed, "return_X_y": True}


def ours(X: np.ndarray, family: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    detector = PreferenceIsolationForest(family, random_state=seed).fit(X)
    return detector.anomaly_score(X), detector.predict(X) == -1


def tables(only: str) -> Iterator[str]:
    """Tables in Markdown, one for each kind of scene."""
    found: dict[str, dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    warm: set[str] = set()
    for kind, family, seed, X, y in scenes():
        if only not in kind:
            continue
        if family not in warm:
            ours(X, family, seed)  # compiles
            warm.add(family)
        anomalous, Z = y == 0, StandardScaler().fit_transform(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # piforest warns where no structure is found
            (scores, flagged), *cost = measured(ours, X, family, seed)
        found[kind]["piforest"].append(judged(anomalous, scores, flagged) + cost)
        for name, peer in PEERS.items():
            scores, *cost = measured(peer, Z, seed)
            flagged = scores > np.quantile(scores, 1 - anomalous.mean())
            found[kind][name].append(judged(anomalous, scores, flagged) + cost)
    for kind, methods in found.items():
        yield f"### {kind}: {len(methods['piforest'])} sets\n"
        yield "| | told | AUC | F1 | CPU seconds a set | peak MB |\n|---|---|---|---|---|---|"
        best = [max(np.mean([v[k] for v in values]) for values in methods.values()) for k in (0, 1)]
        for name, values in methods.items():
            auc, f1, seconds, _ = np.mean(values, axis=0)
            memory = np.max(values, axis=0)[3]
            cells = [bold(each, top) for each, top in zip((auc, f1), best)]
            told = told_ours(kind) if name == "piforest" else "share of anomalies"
            yield f"| {name} | {told} | {' | '.join(cells)} | {seconds:.3f} | {memory:.0f} |"
        yield ""


def told_ours(kind: str) -> str:
    return "nothing" if kind.startswith("heaps") else "the family"


def bold(value: float, best: float) -> str:
    text = f"{value:.3f}"
    return f"**{text}**" if text == f"{best:.3f}" else text


def judged(anomalous: np.ndarray, scores: np.ndarray, flagged: np.ndarray) -> list[float]:
    return [roc_auc_score(anomalous, scores), f1_score(anomalous, flagged, zero_division=0)]
