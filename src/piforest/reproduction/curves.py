"""Curves over the share of anomalies and effects of settings, from finished cells."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ..protocols import Floats
from .run import Cell
from .settings import NEIGHBOURS, SHARE_SETS, VARIANTS, Table
from .tables import Grid, cells_of

BEST_NEIGHBOURS = 3


@dataclass(frozen=True)
class Curve:
    """Mean and standard deviation of the AUC at each share of anomalies."""

    shares: Floats
    mean: Floats
    std: Floats


def share_curves(cells: list[Cell]) -> dict[str, dict[str, Curve]]:
    """dataset -> method -> curve.

    The best k of LOF and the best sigma of the forests are chosen for each dataset by the mean
    over the shares, as in the figure of the paper.
    """
    runs: dict[str, dict[str, dict[float, list[list[float]]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    widths: dict[str, list[int]] = {}
    for cell in cells_of("share", cells):
        settings = cell["settings"]
        widths[settings["dataset"]] = settings["widths"]
        for method, aucs in cell["auc"].items():
            runs[settings["dataset"]][method][settings["anomaly_share"]].append(aucs)
    found: dict[str, dict[str, Curve]] = {}
    for name in (name for name in SHARE_SETS if name in runs):
        curves = {"PIF": _curve(runs[name]["pif"], 0)}
        order = _by_mean(runs[name]["lof_tani"])
        for rank, at in enumerate(order[:BEST_NEIGHBOURS], 1):
            curves[f"LOF {rank} (k = {NEIGHBOURS[at]})"] = _curve(runs[name]["lof_tani"], at)
        for method, title in (("ifor_pref", "iFor"), ("eifor_pref", "EiFor")):
            at = _by_mean(runs[name][method])[0]
            curves[f"{title} (sigma x {widths[name][at]})"] = _curve(runs[name][method], at)
        found[name] = curves
    return found


def _by_mean(by_share: dict[float, list[list[float]]]) -> list[int]:
    means = np.mean([np.mean(runs, axis=0) for runs in by_share.values()], axis=0)
    return [int(at) for at in np.argsort(-means, kind="stable")]


def _curve(by_share: dict[float, list[list[float]]], at: int) -> Curve:
    return curve_of({share: np.array(runs)[:, at] for share, runs in by_share.items()})


def curve_of(runs: dict[float, Floats]) -> Curve:
    """The curve of the AUCs of all runs at each share."""
    shares = sorted(runs)
    means = [runs[share].mean() for share in shares]
    stds = [runs[share].std(ddof=1) if len(runs[share]) > 1 else 0.0 for share in shares]
    return Curve(np.array(shares), np.array(means), np.array(stds))


def share_grids(cells: list[Cell]) -> list[Grid]:
    return [
        Grid(
            f"AUC against the share of anomalies, {name}",
            ["", *(f"{100 * share:.0f} %" for share in curves["PIF"].shares)],
            [[label, *(f"{auc:.3f}" for auc in curve.mean)] for label, curve in curves.items()],
        )
        for name, curves in share_curves(cells).items()
    ]


def variant_means(cells: list[Cell], method: str) -> dict[str, dict[str, float]]:
    """variant -> dataset -> mean AUC; of LOF with the best k for this dataset."""
    runs: dict[str, dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for cell in cells_of("variants", cells):
        settings = cell["settings"]
        runs[settings["label"]][settings["dataset"]].append(cell["auc"][method])
    return {
        variant.name: {
            name: float(np.mean(aucs, axis=0).max()) for name, aucs in runs[variant.name].items()
        }
        for variant in VARIANTS
        if variant.name in runs
    }


def variants_grid(table: Table, cells: list[Cell], method: str, title: str) -> Grid | None:
    """The effect of sigma, kernel and number of models on a method; None without cells."""
    means = variant_means(cells, method)
    names = [name for name in table.sets if any(name in row for row in means.values())]
    if not names:
        return None
    published = table.published()
    rows = [
        [label, *(f"{row[name]:.3f}" for name in names), f"{np.mean([row[n] for n in names]):.3f}"]
        for label, row in means.items()
    ]
    paper = [published[name][method] for name in names]
    rows.append(["published", *(f"{auc:.3f}" for auc in paper), f"{np.mean(paper):.3f}"])
    return Grid(title, ["", *names, "Mean"], rows)
