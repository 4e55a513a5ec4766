"""The figures that commands write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ...estimators import PreferenceIsolationForest
    from ...protocols import Floats

_DPI = 150
# A figure of a cloud shows at most this many points; more would overlap.
_MAX_POINTS = 100_000


class _Projection(NamedTuple):
    """The coordinates of rows that are drawn."""

    X: Floats
    """(n, 2) or (n, 3): points; (n, 4) or (n, 6): lines"""
    labels: list[str]
    """of the axes"""
    columns: tuple[int, int] | tuple[()] | None
    """two columns that stand for all, if not all can be drawn; none of a predicted target"""


@contextmanager
def pyplot_for(path: Path) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    """Matplotlib without a window, and a function that saves a figure atomically."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    from ...io.atomic import atomic_write

    def save(figure: Any) -> None:
        with atomic_write(path) as file:
            figure.savefig(file, dpi=_DPI, format=path.suffix[1:].lower())

    try:
        yield plt, save
    finally:
        plt.close("all")


def draw_detected(
    path: Path, detector: PreferenceIsolationForest, X: Floats, scores: Floats, names: Sequence[str]
) -> None:
    """Draw the scores, and beside them the structures; or the threshold, if the rows have too
    many columns to draw structures."""
    from ... import plots

    shown = _projection(detector, X, list(names))
    in_3d = {"projection": "3d"} if shown.X.shape[1] in (3, 6) else {}
    n = len(detector.structures_)
    with pyplot_for(path) as (plt, save):
        figure = plt.figure(figsize=(11.5, 5.2), layout="constrained")
        left = figure.add_subplot(1, 2, 1, **in_3d)
        options: dict[str, Any] = {"threshold": detector.threshold_, "labels": shown.labels}
        plots.plot_scores(shown.X, scores, left, title="anomaly scores", **options)
        _orient(left, shown)
        if shown.columns is None:
            right = figure.add_subplot(1, 2, 2, **in_3d)
            title = f"{n} structure{'' if n == 1 else 's'} found"
            plots.plot_structures(X, detector.structures_, right, labels=shown.labels, title=title)
            _orient(right, shown)
        else:
            right = figure.add_subplot(1, 2, 2)
            plots.plot_threshold(detector, X, right, title="scores and threshold")
        save(figure)


def draw_matches(
    path: Path, images: Any, X: Floats, scores: Floats, threshold: float, motions: Any
) -> None:
    """Draw both images side by side with their matches, by motion if there are any."""
    from ... import plots

    flagged = int((scores > threshold).sum())
    found = motions.max(initial=-1) >= 0
    title = f"{len(X):,} matches, {flagged:,} follow no motion"
    if not found:
        title = f"{len(X):,} matches: no motion was found"
    with pyplot_for(path) as (_, save):
        labels = motions if found else None
        ax = plots.plot_matches(images, X, scores, threshold=threshold, motions=labels, title=title)
        save(ax.figure)


def draw_cloud(path: Path, X: Floats, scores: Floats, threshold: float) -> None:
    """Draw a cloud (n, 3) by its scores from two sides; a sample of it if it is large."""
    import numpy as np

    from ... import plots

    n = len(X)
    if n > _MAX_POINTS:
        chosen = np.sort(np.random.default_rng(0).choice(n, _MAX_POINTS, replace=False))
        X, scores = X[chosen], scores[chosen]
    title = f"{_MAX_POINTS:,} of {n:,} points" if n > _MAX_POINTS else f"{n:,} points"
    with pyplot_for(path) as (plt, save):
        figure = plt.figure(figsize=(12, 5.4), layout="constrained")
        views = ((25, -60, title), (25, 30, "the same from the side"))
        for k, (elevation, azimuth, name) in enumerate(views):
            ax = figure.add_subplot(1, 2, k + 1, projection="3d")
            plots.plot_scores(X, scores, ax, threshold=threshold, title=name, colorbar=k == 1)
            ax.view_init(elevation, azimuth)
            ax.set_box_aspect(None, zoom=0.95)
        save(figure)


def draw_explanation(
    path: Path,
    detector: PreferenceIsolationForest,
    X: Floats,
    at: int,
    row: int,
    names: Sequence[str],
) -> None:
    """Draw row `at` of X, number `row` of the file, with its nearest structures."""
    from ... import plots

    shown = _projection(detector, X, list(names))
    if shown.columns:
        # The row is drawn in two of its columns, not in principal components.
        shown = shown._replace(labels=[names[k] for k in shown.columns])
    with pyplot_for(path) as (_, save):
        columns = shown.columns or None
        ax = plots.plot_explanation(
            detector, X, at, columns=columns, labels=shown.labels, row_name=f"row {row}"
        )
        _orient(ax, shown)
        save(ax.figure)


def _projection(detector: PreferenceIsolationForest, X: Floats, names: list[str]) -> _Projection:
    """What can be drawn of rows, by the row layout of their family."""
    import numpy as np

    from ...families import layout_of
    from ...structures.laws import predicted_target

    layout = layout_of(detector.models_[0].family)
    d = X.shape[1]
    if d in (2, 3):
        return _Projection(X, names, None)
    if layout.kind == "oriented points":
        return _Projection(X[:, :3], names[:3], None)
    if layout.kind in ("matches", "segments") and d in (4, 6):
        return _Projection(X, ["x", "y", "z"][: d // 2], None)
    law = predicted_target(detector.structures_, X)
    if law is not None:
        target, predicted = law
        labels = [f"predicted {names[target]}", names[target]]
        return _Projection(np.column_stack([predicted, X[:, target]]), labels, ())
    if layout.target is not None:
        target = layout.target % d
        feature = 0 if target else 1
        labels = [names[feature], names[target]]
        return _Projection(X[:, [feature, target]], labels, (feature, target))
    return _Projection(_principal_components(X), ["first principal component", "second"], (0, 1))


def _principal_components(X: Floats) -> Floats:
    """(n, 2) coordinates of X (n, d) along its first two principal axes."""
    import numpy as np

    centred = X - X.mean(axis=0)
    _, _, directions = np.linalg.svd(centred[:: max(1, len(X) // 5000)], full_matrices=False)
    return np.asarray(centred @ directions[:2].T)


def _orient(ax: Any, shown: _Projection) -> None:
    if shown.columns is not None:
        ax.set_aspect("auto")  # columns of a table share no unit
    elif shown.X.shape[1] == 4:
        ax.invert_yaxis()  # the y axis of pixels points down
