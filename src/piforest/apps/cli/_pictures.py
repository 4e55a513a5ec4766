"""The pictures that commands write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

_DPI = 150
# So many points of a cloud are drawn; more cannot be told apart.
_DRAWN = 100_000


class _Places(NamedTuple):
    """What of the points is drawn."""

    X: Any
    """(n, 2), (n, 3), or (n, 4) or (n, 6): lines"""
    labels: list[str]
    columns: tuple[int, int] | None
    """two columns that stand for all where they cannot all be drawn; None where they can"""

    @property
    def whole(self) -> bool:
        return self.columns is None


@contextmanager
def pyplot_for(path: Path) -> Iterator[tuple[Any, Any]]:
    """Matplotlib without a window, and what saves a figure whole or not at all."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    from ...io.atomic import whole_file

    def save(figure: Any) -> None:
        with whole_file(path) as file:
            figure.savefig(file, dpi=_DPI, format=path.suffix[1:].lower())

    try:
        yield plt, save
    finally:
        plt.close("all")


def draw_detected(path: Path, detector: Any, X: Any, scores: Any, names: Sequence[str]) -> None:
    """The points by their scores, and the structures that were found; the threshold where the
    points have too many columns to be drawn over their structures."""
    from ... import plots

    places = _places(detector, X, list(names))
    space = {"projection": "3d"} if places.X.shape[1] in (3, 6) else {}
    found = len(detector.structures_)
    with pyplot_for(path) as (plt, save):
        figure = plt.figure(figsize=(11.5, 5.2), layout="constrained")
        left = figure.add_subplot(1, 2, 1, **space)
        plots.plot_scores(places.X, scores, left, title="anomaly scores", colorbar=False)
        _about_threshold(left, scores, -detector.offset_)
        _label(left, places)
        if not places.whole:
            left.set_aspect("auto")  # columns of a table share no unit
        title = f"{found} structure{'' if found == 1 else 's'} found"
        if places.whole:
            right = figure.add_subplot(1, 2, 2, **space)
            plots.plot_structures(X, detector.structures_, right, title=title)
            _label(right, places)
        else:
            right = figure.add_subplot(1, 2, 2)
            plots.plot_threshold(detector, X, right, title="where the cut lies")
        save(figure)


def draw_matches(path: Path, images: Any, X: Any, scores: Any, threshold: float) -> None:
    """Both images side by side, their matches coloured by score, worst drawn last; the flagged
    ones, often few among many, stand out."""
    import numpy as np

    from ... import plots

    flagged = int((scores > threshold).sum())
    title = f"{len(X):,} matches, {flagged:,} follow no motion"
    with pyplot_for(path) as (_, save):
        ax = plots.plot_matches(images, X, scores, title=title, colorbar=False)
        lines = _about_threshold(ax, scores, threshold)[0]
        stands_out = lines.get_array() > threshold
        lines.set_alpha(np.where(stands_out, 0.9, lines.get_alpha() / 2))
        lines.set_linewidths(np.where(stands_out, 1.1, lines.get_linewidths()[0]))
        save(ax.figure)


def draw_cloud(path: Path, X: Any, scores: Any, threshold: float) -> None:
    """A cloud (n, 3) by its scores, seen from two sides; some of its points if it is large."""
    import numpy as np

    from ... import plots

    n = len(X)
    if n > _DRAWN:
        some = np.sort(np.random.default_rng(0).choice(n, _DRAWN, replace=False))
        X, scores = X[some], scores[some]
    flagged = scores > threshold
    drawn = f"{_DRAWN:,} of {n:,} points" if n > _DRAWN else f"{n:,} points"
    with pyplot_for(path) as (plt, save):
        figure = plt.figure(figsize=(12, 5.4), layout="constrained")
        views = ((25, -60, drawn), (25, 30, "the same from the side"))
        for k, (up, around, title) in enumerate(views):
            ax = figure.add_subplot(1, 2, k + 1, projection="3d")
            plots.plot_scores(X, scores, ax, title=title, colorbar=False)
            # Flagged points are few and stand before and behind surfaces: drawn again, above.
            ax.computed_zorder = False
            size = ax.collections[0].get_sizes()[0]
            ax.collections[0].set(alpha=0.85, sizes=[0.9 * size])
            look = {"s": 1.8 * size, "linewidths": 0, "depthshade": False, "zorder": 5}
            ax.scatter(*X[flagged].T, c=scores[flagged], **look)
            _about_threshold(ax, scores, threshold, bar=k == 1)
            ax.view_init(up, around)
            ax.set_box_aspect(None, zoom=0.95)
        save(figure)


def _about_threshold(ax: Any, scores: Any, threshold: float, bar: bool = True) -> list[Any]:
    """Colours that jump at the threshold: flagged points are red, kept ones blue. Returns what
    is coloured.

    They reach as far to either side as the lowest scores do: what prefers no structure at all
    scores far above the rest, and would leave no colour for the others.
    """
    import numpy as np
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    from ...plots import SCORES
    from ...plots._common import colour_bar

    sides = np.concatenate([np.linspace(0, 0.36, 128), np.linspace(0.64, 1, 128)])
    colours = ListedColormap(colormaps[SCORES](sides))
    low, high = np.percentile(scores, [2, 98])
    reach = max(float(threshold - low), 0.2 * float(high - threshold), 1e-3)
    span = Normalize(threshold - reach, threshold + reach)
    coloured = [each for each in ax.collections if each.get_array() is not None]
    for each in coloured:
        each.set(cmap=colours, norm=span)
    if bar:
        drawn = colour_bar(ax, ScalarMappable(span, colours), scores)
        drawn.ax.axhline(threshold, color="black", lw=1.2)
        drawn.set_label("anomaly score; the line is the threshold")
    return coloured


def _places(detector: Any, X: Any, names: list[str]) -> _Places:
    """What can be drawn of rows, by what their families say that they are."""
    from ...families import layout_of

    layout = layout_of(detector.models_[0].family)
    d = X.shape[1]
    if d in (2, 3):
        return _Places(X, names, None)
    if layout.kind == "oriented points":
        return _Places(X[:, :3], names[:3], None)
    if layout.kind in ("matches", "segments") and d in (4, 6):
        return _Places(X, ["x", "y", "z"][: d // 2], None)
    if layout.target is not None:
        target = layout.target % d
        feature = 0 if target else 1
        labels = [names[feature], names[target]]
        return _Places(X[:, [feature, target]], labels, (feature, target))
    return _Places(_components(X), ["first principal component", "second"], (0, 1))


def _components(X: Any) -> Any:
    """(n, 2) the coordinates along the two directions in which X (n, d) spreads most."""
    import numpy as np

    centred = X - X.mean(axis=0)
    _, _, directions = np.linalg.svd(centred[:: max(1, len(X) // 5000)], full_matrices=False)
    return centred @ directions[:2].T


def _label(ax: Any, places: _Places) -> None:
    for axis, label in zip("xyz", places.labels):
        getattr(ax, f"set_{axis}label")(label)
    if places.X.shape[1] == 4:
        ax.invert_yaxis()  # pixels are counted downwards


def draw_explanation(
    path: Path, detector: Any, X: Any, at: int, row: int, names: Sequence[str]
) -> None:
    """Row `at` of X, which the user calls `row`, over its nearest structures."""
    from ... import plots

    places = _places(detector, X, list(names))
    with pyplot_for(path) as (_, save):
        ax = plots.plot_explanation(detector, X, at, columns=places.columns)
        if places.columns is not None:
            ax.set_aspect("auto")
            places = _Places(X[:, places.columns], [names[k] for k in places.columns], None)
        _label(ax, places)
        # The function counts rows from 0.
        ax.set_title(ax.get_title().replace(f"row {at} ", f"row {row} ", 1))
        for text in ax.get_legend().get_texts():
            if text.get_text() == f"row {at}":
                text.set_text(f"row {row}")
        save(ax.figure)
