"""What must hold between the CPU and another device; run by test_torch.py with PyTorch on the CPU
and by benchmarks/gpu.py on a GPU."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from piforest import PreferenceIsolationForest, VoronoiForest, datasets
from piforest._random import Stream
from piforest.engines import choose_engine
from piforest.engines.devices import resolve_device
from piforest.engines.torch.distances import products
from piforest.engines.torch.forest import grow
from piforest.families import get_family
from piforest.forest import FlatForest


def fitted(cls, family, X, **changes):
    """Quiet: scenes may be so small that no structure shows."""
    options = {"random_state": 0, "n_models": 1500, "n_jobs": 1, **changes}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return cls(family, **options).fit(X)


def scene(family, seed=0):
    """Points and truth of the gallery's scene of a family, and its noise."""
    made = get_family(family).scene.make(seed)
    return made.data, made.target, made


def check_same_bits(device, metric="tanimoto", branching=2, path="soft", kernel="gaussian"):
    """Equal preferences: equal trees, equal path lengths."""
    X = datasets.make_lines(4, sizes=120, anomaly_share=0.4, random_state=1).data
    new = datasets.make_lines(4, sizes=60, anomaly_share=0.4, random_state=2).data
    options = {"metric": metric, "branching": branching, "path": path, "kernel": kernel}
    cpu = fitted(PreferenceIsolationForest, "line", X, pool_size=300, **options)
    engine = choose_engine(X, device, None, 0)
    other = engine.scorer(cpu.fitted_)
    check_same_trees(cpu.forest_, device)
    far = [[1e4, 3e7]]
    rows = cpu.forest_.metric.rows(
        cpu.fitted_.embedding.preferences.rows_of(np.vstack([X[:7], new, far]))
    )
    P = other.preferences.from_rows(rows)
    wide = P.to(dtype=other.pool_sums.dtype)
    sums = (wide * wide).sum(dim=1)
    lengths = other.forest.path_lengths(products(P, other.pool), sums, metric)
    assert np.array_equal(lengths.cpu().numpy(), cpu.forest_.path_lengths(rows))
    assert (lengths[-1] == 1).all(), "a row that prefers nothing has length 1"


def check_same_trees(pooled, device):
    """Equal distances, with ties: equal trees."""
    import torch

    stream, D = Stream(5), pooled.table(pooled.pool)
    D[:20, :20] = 0.5
    empty = FlatForest(200, pooled.trees.branching, soft=pooled.trees.soft)
    ours = empty.grow(D, stream, range(40))
    theirs = grow(empty, torch.as_tensor(D, device=resolve_device(device)), stream, 40)
    for name in ("roots", "first_child", "seed", "size"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name


def check_family(family, device, cls=PreferenceIsolationForest, **changes):
    """End to end: nearly all preferences, the ranks of the scores and the AUC are the same."""
    X, y, _ = scene(family)
    cpu, other = (fitted(cls, family, X, device=each, **changes) for each in ("cpu", device))
    A, B = (each.embedding_.transform(X).toarray() for each in (cpu, other))
    either = (A != 0) | (B != 0)
    equal = float(np.mean(A[either] == B[either]))
    assert equal >= 0.999, f"{family}: {equal:.5f} of the preferences are equal"
    scores = cpu.scores_, other.scores_
    rank = float(spearmanr(*scores).statistic)
    difference = np.abs(scores[0] - scores[1])
    assert rank >= 0.9999, (
        f"{family}, {len(X)} rows: rank correlation {rank}; {np.sum(difference > 1e-12)} scores "
        f"differ, first row {np.argmax(difference > 1e-12)}, by at most {difference.max()}"
    )
    aucs = [roc_auc_score(y == 0, each) for each in scores]
    assert abs(aucs[0] - aucs[1]) <= 0.001, f"{family}: AUC {aucs}"
    assert np.isclose(cpu.sigma_, other.sigma_, rtol=1e-9)
    return equal, rank, aucs


def check_vectors(device, metric):
    """A Voronoi forest of dense rows: every bit."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(500, 4)), rng.normal(size=(300, 4))
    X[10:14] = X[20]
    cpu, other = (
        VoronoiForest(metric, pool_size=300, random_state=0, device=each).fit(X)
        for each in ("cpu", device)
    )
    assert np.array_equal(cpu.path_lengths(new), other.path_lengths(new))
    assert np.allclose(cpu.scores_, other.scores_, rtol=1e-14)


def check_pif(device):
    """The paper's detector, with a threshold from all scores."""
    return check_family("line", device, PreferenceIsolationForest.paper, sigma=0.01)
