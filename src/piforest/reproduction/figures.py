"""The figures of the paper. Each function draws one and returns it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from ..datasets import load_adelaidermf, load_synthetic2d, make_circle_scene, make_lines
from ..datasets.published import SYNTHETIC2D
from ..estimators import PreferenceIsolationForest, VoronoiForest
from ..plots import plot_comparison, plot_matches, plot_scores, plot_tree, plot_truth
from ..protocols import Floats
from .baselines import distance_table, extended_isolation_forest, isolation_forest, lof
from .curves import Curve
from .settings import family_of, sigma_of, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _pif_scores(X: Floats, family: str, sigma: float, seed: int, per_point: int = 0) -> Floats:
    """Scores of the paper's algorithm; per_point: models per point, 0 for the default."""
    detector = PreferenceIsolationForest.paper(
        family,
        sigma=sigma,
        n_models=per_point * len(X) if per_point else "auto",
        random_state=seed,
    )
    return detector.fit(X).scores_


def density(seed: int) -> Figure:
    """A density anomaly beside a structural anomaly, each ranked by both detectors."""
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(seed)
    blobs = np.concatenate([rng.normal((-0.5, -0.3), 0.14, (70, 2)), rng.normal(0.4, 0.1, (60, 2))])
    lines = make_lines(9, sizes=40, noise=0.006, anomaly_share=0.0, random_state=seed).data
    panels = (
        ("Density: in an empty region", np.vstack([blobs, [0.35, -0.45]])),
        ("Structure: on no line", np.vstack([lines, _between_lines(lines)])),
    )
    figure: Figure
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
    for ax, (title, X) in zip(axes, panels):
        by_density = VoronoiForest("euclidean", random_state=seed).fit(X).scores_
        by_pattern = _pif_scores(X, "line", 0.006, seed)
        ranks = [int(rankdata(-scores)[-1]) for scores in (by_density, by_pattern)]
        ax.scatter(*X[:-1].T, s=12, c="#555555", linewidths=0)
        ax.scatter(*X[-1], s=90, c="#D55E00", marker="x", linewidths=2.5)
        ax.set_aspect("equal")
        ax.set_title(title, fontsize=11)
        ax.set_xlabel(f"rank among {len(X)} points: {ranks[0]} by isolation, {ranks[1]} by PIF")
        ax.set_xticks([])
        ax.set_yticks([])
    return figure


def _between_lines(points: Floats) -> Floats:
    """The point near the centre that is farthest from all points."""
    grid = np.stack(np.meshgrid(*[np.linspace(-0.3, 0.3, 31)] * 2), axis=-1).reshape(-1, 2)
    gaps = np.linalg.norm(grid[:, None] - points[None], axis=2).min(axis=1)
    return np.asarray(grid[np.argmax(gaps)])


def tree(seed: int) -> Figure:
    """A PI-Tree with b = 3 and l = 3 (27 points), as nested Voronoi cells."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(0, 0.25, (24, 2)), [[1.1, 0.8], [-0.9, 0.9], [0.9, -0.8]]])
    forest = VoronoiForest(
        "euclidean", n_estimators=1, max_samples=27, branching=3, random_state=seed
    )
    figure = plot_tree(forest.fit(X)).figure
    assert figure is not None
    return figure.figure


def circles(seed: int) -> Figure:
    """Two circles among anomalies, and the scores of four methods."""
    X, y = make_circle_scene(2, sizes=150, noise=0.012, random_state=seed, return_X_y=True)
    scores = {
        "LOF (k = 75)": lof(distance_table(X, "euclidean"), 75),
        "iFor": isolation_forest(X, random_state=seed),
        "EiFor": extended_isolation_forest(X, random_state=seed),
        "PIF": _pif_scores(X, "circle", 0.012, seed),
    }
    return plot_comparison(X, y, scores, _aucs(y, scores))


def sets(seed: int) -> Figure:
    """The seven 2D datasets with one draw of their anomalies, and the scores of PIF."""
    import matplotlib.pyplot as plt

    figure: Figure
    figure, axes = plt.subplots(2, 7, figsize=(17.5, 6), layout="constrained")
    for (name, (family, sigma)), column in zip(SYNTHETIC2D.items(), axes.T):
        X, y = load_synthetic2d(name, random_state=seed, return_X_y=True)
        scores = _pif_scores(X, family, sigma, seed, table_of(name).models_per_point)
        plot_truth(X, y, column[0], title=name, legend=False)
        auc = f"AUC {roc_auc_score(y == 0, scores):.3f}"
        plot_scores(X, scores, column[1], title=auc, colorbar=False)
        for ax in column:
            ax.set_axis_off()
    return figure


def share(curves: dict[str, dict[str, Curve]]) -> Figure:
    """AUC against the share of anomalies, a panel for each dataset."""
    import matplotlib.pyplot as plt

    figure: Figure
    figure, axes = plt.subplots(
        1, len(curves), figsize=(5.5 * len(curves), 4.2), layout="constrained", sharey=True,
        squeeze=False,
    )  # fmt: skip
    for ax, (name, methods) in zip(axes[0], curves.items()):
        for label, curve in methods.items():
            colour, style, width = _style(label)
            percent = 100 * curve.shares
            ax.plot(percent, curve.mean, style, color=colour, lw=width, ms=4, label=label)
            ax.fill_between(
                percent, curve.mean - curve.std, curve.mean + curve.std, color=colour, alpha=0.12,
                linewidth=0,
            )  # fmt: skip
        ax.axhline(0.5, color="#999999", lw=0.8, ls=":")
        ax.set_title(name)
        ax.set_xlabel("anomalies, % of 1,000 points")
        ax.set_ylim(0, 1.02)
        ax.grid(alpha=0.25)
        ax.legend(loc="lower left", fontsize=9, frameon=False)
    axes[0, 0].set_ylabel("AUC")
    return figure


def _style(label: str) -> tuple[str, str, float]:
    if label == "piforest":
        return "#000000", "D-", 2.4
    if label == "PIF":
        return "#D55E00", "o-", 2.4
    if label.startswith("LOF"):
        rank = int(label.split("(")[0].split()[1]) - 1
        return ("#0072B2", "#56B4E9", "#7F7F7F")[rank], ("s-", "s--", "s:")[rank], 1.4
    return ("#009E73" if label.startswith("iFor") else "#CC79A7"), "^-", 1.4


def pair(name: str, seed: int) -> Figure:
    """An image pair: matches coloured by the score of PIF, and the ground truth below."""
    import matplotlib.pyplot as plt

    data = load_adelaidermf(name)
    models = table_of(name).models_per_point
    scores = _pif_scores(data.data, family_of(name), sigma_of(name), seed, models)
    auc = roc_auc_score(data.target == 0, scores)
    figure: Figure
    figure, axes = plt.subplots(2, 1, figsize=(9, 7.4), layout="constrained")
    text = f"{name}: {len(scores)} matches by score (red = anomalous), AUC {auc:.3f}"
    plot_matches(data.images, data.data, scores, axes[0], title=text, colorbar=False)
    wrong = int(np.sum(data.target == 0))
    text = f"ground truth: {wrong} false matches (blue), {len(scores) - wrong} true ones (orange)"
    plot_matches(
        data.images, data.data, data.target, axes[1], truth=True, title=text, colorbar=False
    )
    return figure


def _aucs(y: Any, scores: dict[str, Floats]) -> dict[str, float]:
    return {name: float(roc_auc_score(y == 0, values)) for name, values in scores.items()}


# Figures of synthetic scenes and of the 2D datasets; the last needs data.
FIGURES: dict[str, tuple[Callable[[int], Figure], str]] = {
    "density": (
        density,
        "Left: an anomaly in an empty region. Right: an anomaly among the other points, but on no "
        "line. Ranks by isolation in the plane and by PIF with lines, 1 = most anomalous.",
    ),
    "tree": (
        tree,
        "A PI-Tree with branching factor b = 3 and height limit l = 3 over 27 points of the plane. "
        "The heavier a line, the nearer its split is to the root. An isolated point is often "
        "separated early, though not in every tree; path lengths increase from leaf a on.",
    ),
    "circles": (
        circles,
        "Anomaly scores on two circles, high red, low blue. LOF, iFor and EiFor use the "
        "coordinates, PIF the preferences for circles.",
    ),
    "sets": (
        sets,
        "The seven 2D sets with one draw of their anomalies (above: orange normal, blue anomalous) "
        "and the scores of PIF (below: high red, low blue).",
    ),
}
