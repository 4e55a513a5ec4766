"""The paper's accuracy on its data. Seeds, sigmas and margins were fixed before looking."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from piforest import PreferenceIsolationForest
from research_data import adelaidermf, with_anomalies

SEEDS = range(5)

# set: family, noise of the structured points, the paper's PIF column, margin
SYNTHETIC = {
    "stair3": ("line", 0.0053, 0.971, 0.02),
    "stair4": ("line", 0.0071, 0.952, 0.02),
    "star5": ("line", 0.0136, 0.910, 0.02),
    "star11": ("line", 0.0074, 0.796, 0.02),
    "circle3": ("circle", 0.0107, 0.930, 0.02),
    "circle4": ("circle", 0.0067, 0.897, 0.04),
    "circle5": ("circle", 0.0047, 0.780, None),  # reported only: the paper's sigma is unknown
}
REAL = {
    "napierb": ("homography", 4.0, 0.953, 0.02),
    "physics": ("homography", 4.0, 1.000, 0.02),
    "breadcube": ("fundamental", 4.0, 0.999, 0.02),
    "gamebiscuit": ("fundamental", 4.0, 1.000, 0.02),
}


def judged(record_property, name, aucs, published, margin):
    mean = float(np.mean(aucs))
    record_property("auc", mean)
    print(f"{name}: {mean:.4f}, paper {published:.3f}")
    if margin is None:
        assert mean > 0.5
    else:
        assert mean >= published - margin


@pytest.mark.data
@pytest.mark.parametrize("name", SYNTHETIC)
def test_synthetic_sets_reach_the_papers_auc(name, record_property):
    family, sigma, published, margin = SYNTHETIC[name]
    aucs = []
    for seed in SEEDS:
        X, y = with_anomalies(name, seed)
        scores = (
            PreferenceIsolationForest.paper(
                family, sigma=sigma, n_models=10 * len(X), random_state=seed
            )
            .fit(X)
            .scores_
        )
        aucs.append(roc_auc_score(y == 0, scores))
    judged(record_property, name, aucs, published, margin)


@pytest.mark.data
@pytest.mark.parametrize("name", REAL)
def test_real_matches_reach_the_papers_auc(name, record_property):
    family, sigma, published, margin = REAL[name]
    X, y = adelaidermf(name, return_X_y=True)
    aucs = [
        roc_auc_score(
            y == 0,
            PreferenceIsolationForest.paper(
                family, sigma=sigma, n_models=6 * len(X), random_state=seed
            )
            .fit(X)
            .scores_,
        )
        for seed in SEEDS
    ]
    judged(record_property, name, aucs, published, margin)


# set: the best of all methods that the paper prints
BEST = {
    "stair3": 0.971, "stair4": 0.952, "star5": 0.929, "star11": 0.900, "circle3": 0.930,
    "circle4": 0.906, "circle5": 0.823, "napierb": 0.953, "barrsmith": 0.969, "boardgame": 0.962,
    "breadcartoychips": 0.989,
}  # fmt: skip


def data_of(name, seed):
    if name in SYNTHETIC:
        X, y = with_anomalies(name, seed)
        return X, y, SYNTHETIC[name][0], 10 * len(X)
    pair = adelaidermf(name)
    return pair.data, pair.target, pair.family, 6 * len(pair.data)


@pytest.mark.data
@pytest.mark.parametrize("name", BEST)
def test_the_default_without_sigma_is_as_good_as_the_best_of_the_paper(name):
    """Seeds 0 to 2; .02 below is allowed on a single set, for the draw of its anomalies."""
    aucs, ratios = [], []
    for seed in range(3):
        X, y, family, n_models = data_of(name, seed)
        detector = PreferenceIsolationForest(family, n_models=n_models, random_state=seed).fit(X)
        anomalous = y == 0
        aucs.append(roc_auc_score(anomalous, detector.scores_))
        best = max(f1_score(anomalous, detector.scores_ > cut) for cut in detector.scores_[::3])
        ratios.append(f1_score(anomalous, detector.labels_ == -1) / best)
    print(f"{name}: {np.mean(aucs):.3f}, paper {BEST[name]:.3f}; F1 {np.mean(ratios):.3f} of best")
    assert np.mean(aucs) > BEST[name] - 0.02
    assert np.mean(ratios) > 0.85
