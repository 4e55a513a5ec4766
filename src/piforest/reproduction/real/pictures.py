"""The truth and the answer side by side, a picture for each part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...datasets import data_folder
from ...io.tables import read_table
from ...plots import _common as common
from ...plots import plot_matches, plot_truth
from ...plots.structures import outlines, style_of
from ...protocols import Floats
from ...vision import read_image
from . import anomalies, lines, photos, scans, segments, tables
from .cases import Case
from .measures import UNKNOWN, fit
from .robust import robust_residuals

_DRAWN = 2_500  # points of a scan


def _first(part: Callable[[], list[Case]], cell: str, seed: int) -> int:
    """The random state of the first run of a cell, so that a picture shows a run of the table."""
    for case in part():
        if case.cell == cell:
            return case.random_state(seed)
    raise LookupError(f"the data of {cell} are missing.")


def _panels(rows: int, columns: int, size: tuple[float, float]) -> Any:
    """A figure and its axes (rows, columns)."""
    plt = common.pyplot()
    return plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)


def _answer(ax: Any, X: Floats, detector: Any, names: Any = None) -> None:
    """Kept points in the colour of their structure, or grey; flagged ones red."""
    flagged, structures = detector.labels_ == -1, detector.structures_
    common.draw_rows(ax, X[~flagged], len(X), c=common.GREY)
    for k, each in enumerate(structures):
        colour, style = style_of(k)
        members = each.members[~flagged[each.members]]
        if len(members):
            common.draw_rows(ax, X[members], len(X), c=colour)
        for line in outlines(each, X):
            ax.plot(*line.T, color=colour, lw=1.0, ls=style)
    if flagged.any():
        cross = {"marker": "x", "linewidths": 0.8, "s": 10} if X.shape[1] == 2 else {}
        common.draw_rows(ax, X[flagged], len(X), c=common.FLAGGED, **cross)
    found = f"{len(structures)} structure" + ("s" if len(structures) != 1 else "")
    common.finish_axes(ax, f"{found}, {100 * flagged.mean():.0f} % flagged", names)


def draw_lines(seed: int) -> Any:
    figure, axes = _panels(2, 4, (12, 6))
    chosen = ((0.01, 0.1, 0.0), (0.05, 0.0, 0.0), (0.1, 0.0, 0.1), (0.3, 0.0, 0.1))
    for column, (noise, step, share) in zip(axes.T, chosen):
        cell = lines.cell_name(noise, step, 1000, share)
        state = _first(lines.cases, cell, seed)
        X, y, sigma = lines.noisy_line(noise, step, 1000, share, state)
        detector = fit("line", X, state).detector
        title = f"noise {noise:g}" + (f", rounded to {step:g}" if step else "")
        plot_truth(X, y, column[0], title=title, legend=False)
        _answer(column[1], X, detector)
        text = f"\nsigma {detector.sigma_:.3g}, true {sigma:.3g}"
        column[1].set_title(column[1].get_title() + text, fontsize=10)
        for ax in column:
            ax.set_xlim(-1.35, 1.35)
            ax.set_ylim(-1.35, 1.35)
    return figure


def draw_tables(seed: int) -> Any:
    folder = data_folder() / "tables"
    chosen: list[tuple[str, str, tables.Laws]] = [
        (str(folder / "cars.csv"), "cars: horsepower → mpg", tables.CARS),
        (str(folder / "seattle_weather.csv"), next(iter(tables.WEATHER)), tables.WEATHER),
        ("load_diabetes", "diabetes: bmi → progression", tables.DIABETES),
        ("load_iris", next(iter(tables.IRIS)), tables.IRIS),
    ]
    chosen = [each for each in chosen if each[0].startswith("load_") or Path(each[0]).is_file()]
    figure, axes = _panels(2, len(chosen), (3 * len(chosen), 6))
    for column, (source, cell, laws) in zip(axes.T, chosen):
        X = tables.rows_of(source, laws[cell])
        state = _first(tables.cases, cell, seed)
        detector = fit("linear_regression", X, state).detector
        residuals, sigma = robust_residuals(X)
        common.draw_rows(column[0], X, c=common.NORMAL)
        far = residuals > 3 * sigma
        common.draw_rows(column[0], X[far], len(X), c=common.ANOMALOUS)
        title = f"{cell}\nrobust regression: sigma {sigma:.3g}"
        common.finish_axes(column[0], title, laws[cell])
        _answer(column[1], X, detector, laws[cell])
        text = f", sigma {detector.sigma_:.3g}"
        column[1].set_title(column[1].get_title() + text, fontsize=10)
        for ax in column:
            ax.set_aspect("auto")
    return figure


def draw_scans(seed: int) -> Any:
    figure, axes = _panels(2, 3, (11, 6))
    for column, path in zip(axes.T, sorted((data_folder() / "scans").glob("*.ply"))):
        X = scans.points_of(path)
        colours = read_table(path).numbers(["red", "green", "blue"]) / 255
        some = np.random.default_rng(seed).permutation(len(X))[:_DRAWN]
        state = _first(scans.cases, path.stem, seed)
        detector = fit("plane", X, state).detector
        # The camera looks along z, and its y points down.
        flat = X[:, :2] * [1, -1]
        common.draw_rows(column[0], flat[some], c=colours[some])
        common.finish_axes(column[0], path.stem)
        kind = np.full(len(X), -1)
        for k, each in enumerate(detector.structures_):
            kind[each.members] = k
        kind[detector.labels_ == -1] = -2
        shown = {-1: common.GREY, -2: common.FLAGGED}
        drawn = [shown.get(int(k), style_of(int(k))[0]) for k in kind[some]]
        common.draw_rows(column[1], flat[some], c=drawn)
        common.finish_axes(column[1], f"{len(detector.structures_)} planes")
    return figure


def draw_segments(seed: int) -> Any:
    paths = sorted((data_folder() / "segments").glob("*lines.*"))
    paths = [path for path in paths if "labelled" not in path.name]
    chosen = [path for path in paths if path.name.startswith("nyu")][:2] + paths[-1:]
    figure, axes = _panels(2, 3, (12, 6.4))
    for column, path in zip(axes.T, chosen):
        X, y = segments.segments_of(path)
        name = "-".join(path.stem.split("-")[:2])
        detector = fit("vanishing_point", X, _first(segments.cases, name, seed)).detector
        for k in np.unique(y):
            colour = {UNKNOWN: common.GREY, 0: common.FLAGGED}.get(int(k), style_of(int(k) - 1)[0])
            common.draw_rows(column[0], X[y == k], len(X), c=colour)
        common.finish_axes(column[0], f"{name}: {len(np.unique(y[y > 0]))} vanishing points")
        _answer(column[1], X, detector)
        for ax in column:
            ax.set_xlim(0, 640)
            ax.set_ylim(480, 0)
    return figure


def draw_anomalies(seed: int) -> Any:
    figure, axes = _panels(2, 4, (12, 6))
    for column, kind in zip(axes.T, ("near", "heaped", "far", "")):
        share = 0.1 if kind else 0.0
        cell = f"floor plan, {kind}, 10 %" if kind else "floor plan, clean"
        state = _first(anomalies.cases, cell, seed)
        X, y, _ = anomalies.with_anomalies("floor plan", kind, share, state)
        plot_truth(X, y, column[0], title=kind or "clean", legend=False)
        _answer(column[1], X, fit("line", X, state).detector)
    return figure


def draw_unrelated(seed: int) -> Any:
    return _draw_pair(
        ("grafA.png", "leuvenA.jpg"), "grafA, leuvenA, not mutual, fundamental", "", seed
    )


def draw_related(seed: int) -> Any:
    return _draw_pair(photos.SCENES["graf"], "graf, homography", "graf", seed)


def _draw_pair(names: tuple[str, str], cell: str, truth: str, seed: int) -> Any:
    cases = photos.related_cases if truth else photos.unrelated_cases
    state, family = _first(cases, cell, seed), cell.split(", ")[-1]
    X = photos.matches(*names)
    detector = fit(family, X, state).detector
    images = [read_image(data_folder() / "images" / name) for name in names]
    figure, axes = _panels(2 if truth else 1, 1, (9, 8) if truth else (9, 4.2))
    if truth:
        y = photos.truth_of(truth, X)
        known = y != UNKNOWN
        plot_matches(images, X[known], y[known], axes[0, 0], truth=True, title="the truth")
    ax = axes[-1, 0]
    kept = (detector.labels_ == 1).astype(int)
    plot_matches(images, X, kept, ax, truth=True, colorbar=False)
    claimed = getattr(detector, "found_structure_", len(detector.structures_) > 0)
    found = f"{len(detector.structures_)} found" if claimed else "none found"
    ax.set_title(f"{family}, structures: {found}; {kept.sum()} of {len(X)} matches kept",
                 fontsize=10)  # fmt: skip
    return figure


# part: picture, suffix, caption
PICTURES: dict[str, tuple[Callable[[int], Any], str, str]] = {
    "lines": (
        draw_lines, "png",
        "Above: points of one line (orange) and anomalies (blue), 1,000 points. Below: the "
        "answer, with structures in colours and flagged points as red crosses.",
    ),
    "tables": (
        draw_tables, "png",
        "Above: records beyond 3 sigmas of a robust regression (blue). Below: the answer.",
    ),
    "scans": (
        draw_scans, "jpg",
        "Above: the scans. Below: points in the colour of their plane, flagged ones in red.",
    ),
    "unrelated": (
        draw_unrelated, "jpg",
        "Matches between photos of two scenes: no structure exists. Orange: kept.",
    ),
    "related": (
        draw_related, "jpg",
        "Above: true (orange) and false (blue) matches. Below: kept and rejected ones.",
    ),
    "segments": (
        draw_segments, "png",
        "Above: segments in the colour of their labelled vanishing point, anomalous ones in red, "
        "undecided ones grey. Below: the answer.",
    ),
    "anomalies": (
        draw_anomalies, "png",
        "A floor plan with 10 % anomalies near the walls, in heaps and far away, and a clean one. "
        "Below: the answer.",
    ),
}  # fmt: skip
