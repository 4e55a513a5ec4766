"""The paper: its algorithms from points to scores, and its accuracy on its data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score

import naive
import scenes
from naive import paper
from piforest import PreferenceIsolationForest
from piforest._random import Stream, below, mix
from piforest.datasets import make_circles, make_lines
from research_data import adelaidermf, with_anomalies

# --- Algorithms 1 to 4, from points to scores


class Words:
    """The random decisions of the package, b = 2: words of the streams of a seed."""

    def __init__(self, seed, n, pool_size):
        stream = Stream.from_random_state(seed)
        embedding = Stream.from_random_state(stream.child("embedding").key)
        self.models, self.trees = embedding.child("models"), stream.child("trees")
        self.pool = naive.smallest_words(stream.child("pool").key, n, pool_size)
        self.rounds = self.ties = 0

    def minimal_samples(self, n, size, missing):
        """As many as are missing; from the second round on up to 16 times as many."""
        key = self.models.child(self.rounds).key
        drawn = naive.draw_samples(key, n, size, missing * min(2**self.rounds, 16))
        self.rounds += 1
        return drawn

    def subsample(self, tree, n, psi):
        chosen = naive.subsample(self.trees.child(tree).key, len(self.pool), psi)
        return [self.pool[k] for k in chosen]

    def seeds(self, node, points, b):
        return sorted(points, key=lambda point: self._word(node, point))[:b]

    def tie(self, node, point, nearest):
        self.ties += 1
        return nearest[int(below(mix(self._word(node, point), 0), len(nearest)))]

    def _word(self, node, point):
        """Of a point at a node: the root has number 0, child k of node v number 2 v + k + 1."""
        tree, *path = node
        number = 0
        for child in path:
            number = 2 * number + child + 1
        return int(mix(mix(mix(self.trees.child(tree).key, 1), number), self.pool.index(point)))


def homography(sample):
    """None where a match would lie behind a camera."""
    theta = naive.solve_homography(sample)
    matches = np.column_stack([sample[:, :2], np.ones(4)])
    return theta if (matches @ theta[-3:] > 0).all() else None


FAMILIES = {
    "line": paper.LINE,
    "circle": paper.CIRCLE,
    "homography": paper.Family(4, homography, naive.RESIDUAL["homography"]),
    "fundamental": paper.Family(8, naive.solve_fundamental, naive.RESIDUAL["fundamental"]),
}
LINES = make_lines(3, sizes=20, noise=0.02, anomaly_share=0.4, random_state=1).data
CIRCLES = make_circles(2, sizes=30, noise=0.02, anomaly_share=0.3, random_state=1).data
NOISE = np.random.default_rng(0)
PLANE = scenes.plane_matches(40) + NOISE.normal(0, 1, (40, 4))
MOTION = scenes.motion_matches(40) + NOISE.normal(0, 1, (40, 4))
for matches in (PLANE, MOTION):
    matches[25:] = NOISE.uniform(0, 800, (15, 4))
# Repeated and collinear points make degenerate samples, far ones empty rows if models are few.
FAR = np.array([[40.0, 3.0], [-7.0, 90.0], [1e3, -2e3], [5e3, 6e3]])
HARD_LINES = np.concatenate([LINES, np.repeat(LINES[:1], 60, axis=0), FAR])
HARD_CIRCLES = np.concatenate([CIRCLES, np.linspace([-1, -1], [1, 1], 80), CIRCLES[:5], FAR])
# name: family, X, sigma, models, points of the pool
CASES = {
    "lines": ("line", LINES, 0.03, 100, 4096),
    "lines, n above the pool": ("line", LINES, 0.03, 100, 33),
    "few lines, repeated and far points": ("line", HARD_LINES, 0.03, 40, 4096),
    "circles": ("circle", CIRCLES, 0.03, 100, 4096),
    "few circles, collinear and far points": ("circle", HARD_CIRCLES, 0.03, 40, 60),
    "homographies": ("homography", PLANE, 4.0, 100, 4096),
    "fundamental matrices": ("fundamental", MOTION, 4.0, 100, 33),
}


@pytest.mark.parametrize("kernel", ["gaussian", "binary", "paper"])
@pytest.mark.parametrize("case", CASES)
def test_scores_are_those_of_the_papers_algorithms(case, kernel):
    name, X, sigma, m, pool_size = CASES[case]
    chance = Words(4, len(X), pool_size)
    expected = paper.pif(X, FAMILIES[name], sigma, naive.PHI[kernel], m, 4, 32, 2, chance)
    detector = PreferenceIsolationForest.paper(
        name, sigma=sigma, kernel=kernel, n_models=m, n_estimators=4, max_samples=32,
        pool_size=pool_size, random_state=4,
    ).fit(X)  # fmt: skip
    np.testing.assert_allclose(detector.scores_, expected, rtol=1e-13)
    np.testing.assert_allclose(detector.anomaly_score(X), expected, rtol=1e-13)
    if case.startswith("few"):
        empty = np.equal(expected, 2 ** (-1 / paper.c(32)))
        assert chance.rounds > 1, "no sample was degenerate"
        assert chance.ties > 0, "there was no tie"
        assert 0 < np.sum(empty) < len(X), "no row was empty"


def test_the_papers_algorithms_are_written_without_the_package():
    assert "piforest" not in Path(paper.__file__).read_text()


# --- accuracy; seeds, sigmas and margins were fixed before looking

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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
