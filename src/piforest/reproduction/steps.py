"""A figure of one scene and the steps that go beyond the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import roc_auc_score

from ..bands.ladder import WIDTHS, log_likelihood_ratios
from ..datasets import make_lines, make_polygons
from ..estimators import PreferenceIsolationForest
from ..plots import ANOMALOUS, NORMAL, plot_scores, plot_truth

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AS_DRAWN: dict[str, Any] = {"concentrate": False, "refit": False, "select": False, "bound": False}
CAPTION = (
    "Four lines among anomalies. Above: the points; local minimal samples, each at a random scale; "
    "the log-likelihood ratio of a model on a line and of one through anomalies, over the "
    "half-width of the band; the models after refits and selection, each within its bounds, dark "
    "if its weight is large. Below: the scores of the paper's PIF with the true sigma, and of the "
    "default; the scores of the default and of null points, with the automatic threshold; the "
    "structures of the default."
)


def steps(seed: int) -> Figure:
    """Draw eight panels, from the points to the structures."""
    import matplotlib.pyplot as plt

    noise = 0.01
    X, y = make_lines(4, sizes=[120, 80, 50, 50], noise=noise, random_state=seed, return_X_y=True)
    detector = PreferenceIsolationForest("line", random_state=seed).fit(X)
    drawn = PreferenceIsolationForest("line", random_state=seed, **AS_DRAWN).fit(X)
    paper = PreferenceIsolationForest.paper("line", sigma=noise, random_state=seed).fit(X)
    figure: Figure
    figure, axes = plt.subplots(2, 4, figsize=(17, 8.2), layout="constrained")
    plot_truth(X, y, axes[0, 0], title="the points")
    _samples(axes[0, 1], X, drawn)
    _bands(axes[0, 2], X, y, drawn)
    _models(axes[0, 3], X, detector, f"the {detector.n_models_:,} models that are kept")
    scored = ((axes[1, 0], paper, "PIF, sigma known"), (axes[1, 1], detector, "default"))
    for ax, each, name in scored:
        auc = roc_auc_score(y == 0, each.scores_)
        plot_scores(X, each.scores_, ax, title=f"{name}: AUC {auc:.3f}", colorbar=False)
    _histogram(axes[1, 2], y, detector)
    _structures(axes[1, 3], X, detector)
    return figure


def refinement(seed: int) -> Figure:
    """Draw four panels: models as drawn, refitted, selected, bounded."""
    import matplotlib.pyplot as plt

    X = make_polygons(8, sizes=60, random_state=seed).data
    figure: Figure
    figure, axes = plt.subplots(1, 4, figsize=(14, 4.8), layout="constrained")
    left = dict(AS_DRAWN)
    for ax, step in zip(axes, ("drawn", "refit", "select", "bound")):
        left.pop(step, None)
        detector = PreferenceIsolationForest("line", random_state=seed, **left).fit(X)
        models = detector.models_[0]
        titles = {
            "drawn": f"drawn: {len(models):,} models",
            "refit": "refitted to their bands",
            "select": f"selected: {len(models):,} models",
            "bound": "bounded",
        }
        _models(ax, X, detector, titles[step])
    return figure


def _samples(ax: Any, X: Any, detector: Any) -> None:
    samples = detector.models_[0].samples
    ax.scatter(*X.T, s=4, c="#bbbbbb", linewidths=0)
    for pair in samples[1:160:2]:
        ax.plot(*X[pair].T, color="#D55E00", lw=0.9)
    _plain(ax, X, "80 local samples")


def _bands(ax: Any, X: Any, y: Any, detector: Any) -> None:
    models, bands = detector.models_[0], detector.embedding_.bands_[0]
    of_anomalies = np.flatnonzero((y[models.samples] == 0).all(axis=1))
    # The model of median ratio.
    median = int(of_anomalies[np.argsort(bands.ratio[of_anomalies])[len(of_anomalies) // 2]])
    widths = WIDTHS * np.max(bands.half_width) / WIDTHS[0]
    for at, colour, name in (
        (int(np.argmax(bands.ratio)), NORMAL, "on a line"),
        (median, ANOMALOUS, "through anomalies"),
    ):
        r = models.family.residuals(X, models.params[at][None])[:, 0]
        k = models.samples.shape[1]
        inside = np.array([[max(0, int(np.sum(r <= w)) - k)] for w in widths])
        ratios = log_likelihood_ratios(inside, 1)[:, 0]
        ax.plot(widths, ratios, "o-", color=colour, label=name)
    ax.axvline(detector.sigma_ * 2, color="#999999", ls=":", lw=1, label="2 sigma")
    ax.set_xscale("log")
    ax.set_xlabel("half-width of the band")
    ax.set_ylabel("log-likelihood ratio")
    ax.set_title("evidence for a band", fontsize=10)
    ax.legend(fontsize=9, frameon=False)


def _models(ax: Any, X: Any, detector: Any, title: str) -> None:
    """Lines within their bounds, dark if their weight is large; of many, every few."""
    models = detector.models_[0]
    models = models.take(np.arange(0, len(models), -(-len(models) // 700)))
    share = models.weight / models.weight.max()
    for at, theta in enumerate(models.params):
        point, direction = theta[:2], theta[2:]
        along = _positions(models.bounds, at)
        line = point + along[:, None] * direction
        ax.plot(*line.T, color="black", lw=0.6, alpha=float(0.03 + 0.6 * share[at] ** 2), zorder=1)
    ax.scatter(*X.T, s=4, c="#E69F00", linewidths=0, zorder=2)
    _plain(ax, X, title)


def _positions(bounds: Any, model: int) -> Any:
    """Positions along a line from end to end of its cells; nan between pieces."""
    if bounds is None or bounds.cells[model].all():
        return np.array([-9.0, 9.0])
    kept = bounds.cells[model]
    low, size = bounds.low[model, 0], bounds.size[model, 0] / len(kept)
    first = low + size * np.arange(len(kept))
    pieces = np.column_stack([first, first + size, np.full(len(kept), np.nan)])
    pieces[:-1, 2][kept[:-1] & kept[1:]] = first[1:][kept[:-1] & kept[1:]]
    return pieces[kept].ravel()


def _histogram(ax: Any, y: Any, detector: Any) -> None:
    edges = np.linspace(detector.scores_.min(), max(detector.scores_.max(), 0.8), 45)
    common = {"bins": edges, "density": True}
    ax.hist(detector.scores_[y > 0], color=NORMAL, alpha=0.7, label="normal", **common)
    ax.hist(detector.scores_[y == 0], color=ANOMALOUS, alpha=0.6, label="anomalous", **common)
    ax.hist(detector.null_scores_, histtype="step", color="black", label="null points", **common)
    ax.axvline(detector.threshold_, color="#D55E00", lw=2, label="threshold")
    ax.set_xlabel("anomaly score")
    ax.set_yticks([])
    ax.set_title("labels by comparison with null points", fontsize=10)
    ax.legend(fontsize=9, frameon=False)


def _structures(ax: Any, X: Any, detector: Any) -> None:
    colours = ("#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#F0E442", "#D55E00")
    ax.scatter(*X.T, s=4, c="#cccccc", linewidths=0)
    for k, structure in enumerate(detector.structures_):
        points, colour = X[structure.members], colours[k % len(colours)]
        ax.scatter(*points.T, s=9, c=colour, linewidths=0, label=str(structure.support))
    _plain(ax, X, f"{len(detector.structures_)} structures, with their numbers of points")
    ax.legend(fontsize=9, frameon=False, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=6)


def _plain(ax: Any, X: Any, title: str) -> None:
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.03 * (high - low)
    ax.set_xlim(low[0] - margin[0], high[0] + margin[0])
    ax.set_ylim(low[1] - margin[1], high[1] + margin[1])
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(title, fontsize=10)
