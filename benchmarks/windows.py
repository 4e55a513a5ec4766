"""Windows beside a robust quadratic surface, the global detector and nearest neighbours.

    PIFOREST_DATA=folder python benchmarks/windows.py potholes
    python benchmarks/windows.py maps
    python benchmarks/windows.py scenes --points 100000
    PIFOREST_DATA=folder python benchmarks/windows.py skab
    PIFOREST_DATA=folder python benchmarks/windows.py dents

Prints the area under the ROC curve and CPU seconds of each; for potholes also the F1 of the labels
of windows; for skab F1, the false alarm rate and the missed alarm rate.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from piforest import LocalPreferenceIsolationForest, PreferenceIsolationForest
from piforest.io.tables import read_table
from piforest.io.tables.dates import dates_as_numbers
from piforest.series.inspect import inspect_series
from piforest.surfaces import inspect_surface, read_map
from piforest.vision import read_image


def quadratic(X):
    """|residual| of the surface z = quadratic(x, y), by least squares with Tukey's weights."""
    x, y = ((X[:, k] - X[:, k].mean()) / X[:, k].std() for k in (0, 1))
    A = np.column_stack([np.ones_like(x), x, y, x * x, x * y, y * y])
    weights = np.ones(len(x))
    for _ in range(30):
        c = np.linalg.lstsq(A * weights[:, None], X[:, 2] * weights, rcond=None)[0]
        r = X[:, 2] - A @ c
        weights = 1 - np.minimum((r / (4.685 * 1.4826 * np.median(np.abs(r)))) ** 2, 1)
    return np.abs(r)


def timed(function):
    start = time.process_time()
    scores = function()
    return scores, time.process_time() - start


def show(name, truth, **methods):
    cells = []
    for method, run in methods.items():
        scores, seconds = timed(run)
        cells.append(f"{method} {roc_auc_score(truth, scores):.4f} ({seconds:.1f} s)")
    print(f"{name}: " + ", ".join(cells), flush=True)


def potholes(step):
    """All maps in the folder: every step-th pixel."""
    folder = Path(os.environ["PIFOREST_DATA"]) / "potholes"
    for path in sorted(folder.glob("*-disparity.png")):
        values = read_map(path)[::step, ::step]
        picture = read_image(str(path).replace("disparity", "label"))
        label = picture[::step, ::step].max(axis=2) > 0
        v, u = np.nonzero(~np.isnan(values))
        X, truth = np.column_stack([u, v, values[v, u]]).astype(float), label[v, u]

        def plane(X=X):
            # In 256ths of the unit, as disparities are meant, so that columns have like ranges.
            return (
                PreferenceIsolationForest("plane", contamination=0.1, random_state=0)
                .fit(X / [1, 1, 256])
                .anomaly_score(X / [1, 1, 256])
            )

        show(
            f"{path.stem}, {len(X):,} pixels", truth,
            quadratic=lambda X=X: quadratic(X),
            plane=plane,
        )  # fmt: skip
        for family in ("linear_regression", "polynomial_regression"):
            start = time.process_time()
            found = inspect_surface(values, family=family, step=1, random_state=0)
            seconds = time.process_time() - start
            area = roc_auc_score(truth, found.scores[v, u])
            f1 = f1_score(truth, found.flagged[v, u])
            print(f"  windows of {family} {area:.4f}, F1 {f1:.2f} ({seconds:.1f} s)", flush=True)


def road(seed, camber, waves, deep, bits=16, missing=0.0, shape=(90, 140)):
    """A map of a road, and where its potholes are.

    camber: of the whole map in values, quartic across, so that no quadratic surface is exact;
    waves: amplitude of undulation along; deep: of the largest of six potholes. The noise has a
    standard deviation of 1. 8 bits: values in whole steps of a 256th of the range.
    """
    rng = np.random.default_rng(seed)
    v, u = (np.linspace(-1, 1, n)[(slice(None), None)[:: 1 - 2 * k]] for k, n in enumerate(shape))
    values = 1000 + 30 * v + 10 * u - camber * (0.8 * u**2 + 0.2 * u**4) * (1 + 0.3 * v)
    values = values + waves * np.sin(2 * np.pi * (1.3 * v + rng.random()))
    holes = np.zeros(shape, bool)
    for radius in (0.05, 0.07, 0.09, 0.12, 0.16, 0.2):
        cv, cu = rng.uniform(-0.8, 0.8, 2)
        wide = rng.uniform(0.6, 1.4)
        away = np.hypot((v - cv) / radius, (u - cu) / (radius * wide))
        depth = np.maximum(1 - away**2, 0) * deep * rng.uniform(0.4, 1) * (radius / 0.2) ** 0.5
        values, holes = values - depth, holes | (depth > 2)
    values = values + rng.normal(size=shape)
    if bits == 8:
        low, high = values.min(), values.max()
        values = 1 + np.round(254 * (values - low) / (high - low))
    else:
        values = np.round(16 * values)
    values[rng.random(shape) < missing] = np.nan
    cut = rng.integers(0, 60, 2)
    if missing:
        values[cut[0] : cut[0] + 20, cut[1] : cut[1] + 15] = np.nan
    return values, holes


ROADS = {
    "flat": {"camber": 0, "waves": 0, "deep": 12},
    "camber": {"camber": 40, "waves": 0, "deep": 12},
    "camber, shallow": {"camber": 40, "waves": 0, "deep": 5},
    "camber and waves": {"camber": 40, "waves": 10, "deep": 12},
    "waves": {"camber": 0, "waves": 25, "deep": 12},
    "camber, 8 bits": {"camber": 40, "waves": 0, "deep": 12, "bits": 8},
    "waves, 8 bits, missing": {"camber": 10, "waves": 10, "deep": 20, "bits": 8, "missing": 0.2},
    "camber, missing": {"camber": 40, "waves": 5, "deep": 12, "missing": 0.3},
}


def maps(seeds):
    """Synthetic roads: the area under the ROC curve, and precision and recall of the flags."""
    for name, options in ROADS.items():
        sums = []
        for seed in seeds:
            values, holes = road(seed, **options)
            v, u = np.nonzero(~np.isnan(values))
            X, truth = np.column_stack([u, v, values[v, u]]).astype(float), holes[v, u]
            start = time.process_time()
            found = inspect_surface(values, random_state=0)
            seconds, flags = time.process_time() - start, found.flagged[v, u]
            hits = np.sum(flags & truth)
            sums.append([
                roc_auc_score(truth, quadratic(X)), roc_auc_score(truth, found.scores[v, u]),
                hits / max(np.sum(flags), 1), hits / np.sum(truth), seconds,
            ])  # fmt: skip
        a, b, precision, recall, seconds = np.mean(sums, axis=0)
        print(
            f"{name}: quadratic {a:.4f}, windows {b:.4f}, precision {precision:.2f}, "
            f"recall {recall:.2f} ({seconds:.1f} s)", flush=True,
        )  # fmt: skip


def scene(name, n, seed=1):
    """Points on a smooth curve or surface, and a fifth as many uniform ones in their box."""
    rng = np.random.default_rng(seed)
    family = "line" if name in ("sine", "spiral") else "plane"
    if name == "sine":
        x = rng.uniform(0, 4 * np.pi, n)
        A = np.column_stack([x, 3 * np.sin(x)])
    elif name == "spiral":
        t = np.sqrt(rng.uniform(0.02, 1, n)) * 6 * np.pi
        A = np.column_stack([t * np.cos(t), t * np.sin(t)]) / 6
    elif name == "bumpy surface":
        xy = rng.uniform(-2, 2, (n, 2))
        A = np.column_stack([xy, 0.5 * np.sin(3 * xy[:, 0]) * np.cos(3 * xy[:, 1])])
    else:
        t = 1.5 * np.pi * (1 + 2 * rng.random(n))
        A = np.column_stack([t * np.cos(t), 21 * rng.random(n), t * np.sin(t)]) / 8
    A = A + 0.02 * rng.normal(size=A.shape)
    B = rng.uniform(A.min(axis=0), A.max(axis=0), (n // 5, A.shape[1]))
    return np.vstack([A, B]), np.arange(len(A) + len(B)) >= len(A), family


def scenes(n):
    options = {"contamination": 0.1, "random_state": 0}
    for name in ("sine", "spiral", "bumpy surface", "Swiss roll"):
        X, truth, family = scene(name, n)
        show(
            f"{name}, {len(X):,} points", truth,
            neighbours=lambda X=X: NearestNeighbors(n_neighbors=10).fit(X).kneighbors()[0][:, -1],
            whole=lambda X=X, family=family: PreferenceIsolationForest(family, **options)
            .fit(X).anomaly_score(X),
            windows=lambda X=X, family=family: LocalPreferenceIsolationForest(family, **options)
            .fit(X).anomaly_score(X),
        )  # fmt: skip


def neighbours_pca(X, k=30):
    """The distance of each point to the plane of its k neighbours, and the surface variation of
    these, which stands for curvature: the share of their smallest principal component."""
    at = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(X, return_distance=False)
    away, variation = np.empty((2, len(X)))
    for part in np.array_split(np.arange(len(X)), max(1, len(X) // 10_000)):
        near = X[at[part]]
        centred = near - near.mean(axis=1, keepdims=True)
        values, vectors = np.linalg.eigh(np.einsum("nki,nkj->nij", centred, centred))
        variation[part] = values[:, 0] / values.sum(axis=1)
        away[part] = np.abs(np.einsum("ni,ni->n", X[part] - near.mean(axis=1), vectors[:, :, 0]))
    return away, variation


def dented(X, radius, depth, seed):
    """The points with a spherical dent in the largest plane: those within `radius` of a random
    point that is well inside it are moved by up to `depth`; and which are moved by a half of it."""
    face = PreferenceIsolationForest("plane", contamination=0.1, random_state=0).fit(X)
    plane = max(face.structures_, key=lambda each: each.support)
    members = X[plane.members]
    centre = members.mean(axis=0)
    normal = np.linalg.svd(members - centre, full_matrices=False)[2][-1]
    rng = np.random.default_rng(seed)
    order = np.argsort(np.linalg.norm(members - centre, axis=1))
    middle = members[order[rng.integers(len(order) // 4)]]
    away = np.linalg.norm(members - middle, axis=1)
    shift = depth * np.maximum(1 - (away / radius) ** 2, 0)
    moved, truth = X.copy(), np.zeros(len(X), bool)
    moved[plane.members] -= shift[:, None] * normal
    truth[plane.members] = shift > depth / 2
    return moved, truth


def dents():
    """Dents of three sizes, in shares of the box's diagonal, and three depths, in sigmas."""
    folder = Path(os.environ["PIFOREST_DATA"]) / "scans"
    for path in sorted(folder.glob("*.ply")):
        X = read_table(path).numbers(["x", "y", "z"])
        X = X[np.isfinite(X).all(axis=1)]
        X = X[np.sort(np.random.default_rng(0).permutation(len(X))[:10_000])]
        sigma = PreferenceIsolationForest("plane", contamination=0.1, random_state=0).fit(X).sigma_
        diagonal = np.linalg.norm(np.percentile(X, 98, axis=0) - np.percentile(X, 2, axis=0))
        print(f"{path.stem}: diagonal {diagonal:.3g}, sigma {sigma:.3g}")
        for size in (0.03, 0.06, 0.12):
            for depth in (5, 10, 20):
                Y, truth = dented(X, size * diagonal, depth * sigma, seed=1)
                if truth.sum() < 5:
                    print(f"  radius {size}, depth {depth}: {truth.sum()} points, left out")
                    continue
                show(
                    f"  radius {size}, depth {depth} sigmas, {truth.sum()} points", truth,
                    pca=lambda Y=Y: neighbours_pca(Y)[0],
                    curvature=lambda Y=Y: neighbours_pca(Y)[1],
                    windows=lambda Y=Y: LocalPreferenceIsolationForest(
                        "plane", contamination=0.1, random_state=0
                    ).fit(Y).anomaly_score(Y),
                )  # fmt: skip


def isolation_forest(X, reference):
    """Labels of a forest that calls nearly all of the reference normal."""
    forest = IsolationForest(contamination=0.0005, random_state=0).fit(X[:reference])
    return _median_of_three(forest.predict(X) < 0)


def hotelling_and_q(X, reference, p=0.999):
    """PCA with 85 % of the variance of standardised channels; a row is anomalous if its T² in the
    components or its Q, the squared distance to them, is above its limit: of the F distribution,
    and Jackson and Mudholkar's."""
    scaler = StandardScaler().fit(X[:reference])
    Z = scaler.transform(X)
    pca = PCA(n_components=0.85).fit(Z[:reference])
    scores = pca.transform(Z)
    m, n = pca.n_components_, reference
    hotelling = (scores**2 / pca.explained_variance_).sum(axis=1)
    limit = m * (n - 1) * (n + 1) / (n * (n - m)) * stats.f.ppf(p, m, n - m)
    q = ((Z - pca.inverse_transform(scores)) ** 2).sum(axis=1)
    rest = np.linalg.eigvalsh(np.cov(Z[:reference].T))[::-1][m:]
    t1, t2, t3 = (np.sum(rest**k) for k in (1, 2, 3))
    h = 1 - 2 * t1 * t3 / (3 * t2**2)
    c = stats.norm.ppf(p)
    q_limit = t1 * (1 + c * h * np.sqrt(2 * t2) / t1 + t2 * h * (h - 1) / t1**2) ** (1 / h)
    return _median_of_three((hotelling > limit) | (q > q_limit))


def _median_of_three(flags):
    """The majority of a row and the two before it."""
    padded = np.concatenate([[False, False], flags]).astype(int)
    return padded[2:] + padded[1:-1] + padded[:-2] >= 2


def alarms(truth, flags):
    """F1, false alarm rate and missed alarm rate in percent, of the rows of all files together."""
    hits = np.sum(flags & truth)
    f1 = 2 * hits / max(np.sum(flags) + np.sum(truth), 1)
    false, missed = np.mean(flags[~truth]), np.mean(~flags[truth])
    return f"F1 {f1:.2f}, false alarms {100 * false:.1f} %, missed {100 * missed:.1f} %"


# Constants of `piforest.series` were chosen on these; the others judge.
_CHOSEN_ON = ("valve1-0", "valve1-1")


def skab(reference=400):
    """Each file is fitted to its first 400 rows and judged on all rows."""
    methods = {
        "isolation forest": lambda t, X: isolation_forest(X, reference),
        "T² + Q": lambda t, X: hotelling_and_q(X, reference),
        "windows": lambda t, X: inspect_series(t, X, reference=reference, random_state=0).flagged,
        "windows, no reference": lambda t, X: inspect_series(t, X, random_state=0).flagged,
    }
    folder = Path(os.environ["PIFOREST_DATA"]) / "skab"
    parts = {path.stem: _read_skab(path) for path in sorted(folder.glob("*.csv"))}
    for method, run in methods.items():
        start = time.process_time()
        flags = {name: run(t, X) for name, (t, X, _) in parts.items()}
        seconds = (time.process_time() - start) / len(parts)
        print(f"{method} ({seconds:.1f} s each)")
        judged = [name for name in parts if name not in _CHOSEN_ON]
        for what, names in (("judged", judged), ("chosen on", list(_CHOSEN_ON)), *(
            (name, [name]) for name in parts)):  # fmt: skip
            truth = np.concatenate([parts[name][2] for name in names])
            print(f"  {what}: {alarms(truth, np.concatenate([flags[name] for name in names]))}")


def _read_skab(path):
    table = dates_as_numbers(read_table(path), "seconds")
    labels = ("datetime", "anomaly", "changepoint")
    channels = [name for name in table.names if name not in labels]
    truth = table.numbers(["anomaly"])[:, 0] > 0
    return table.numbers(["datetime"])[:, 0], table.numbers(channels), truth


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["potholes", "maps", "scenes", "skab", "dents"])
    parser.add_argument("--step", type=int, default=10)
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, nargs="*", default=[101, 102, 103])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.what == "potholes":
        potholes(given.step)
    elif given.what == "maps":
        maps(given.seeds)
    elif given.what == "skab":
        skab()
    elif given.what == "dents":
        dents()
    else:
        scenes(given.points)
