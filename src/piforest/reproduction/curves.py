"""From finished cells to curves over the anomaly share, and to the effect of each setting."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ..protocols import Floats
from .run import Cell
from .settings import NEIGHBOURS, SHARE_SETS, VARIANTS, Table
from .tables import Grid, of

BEST_NEIGHBOURS = 3


@dataclass(frozen=True)
class Curve:
    """Mean AUC and its deviation at each share of anomalies."""

    shares: Floats
    mean: Floats
    std: Floats


def share_curves(cells: list[Cell]) -> dict[str, dict[str, Curve]]:
    """set -> method -> curve; the best k of LOF and the best sigma of the forests over all shares.

    The k are chosen for each set by their mean over the shares, as the paper's figure has it.
    """
    runs: dict[str, dict[str, dict[float, list[list[float]]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    widths: dict[str, list[int]] = {}
    for cell in of("share", cells):
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
    shares = sorted(by_share)
    runs = [np.array(by_share[share])[:, at] for share in shares]
    deviations = [aucs.std(ddof=1) if len(aucs) > 1 else 0.0 for aucs in runs]
    return Curve(np.array(shares), np.array([aucs.mean() for aucs in runs]), np.array(deviations))


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
    """variant -> set -> mean AUC; of LOF with the k that is best for this set alone."""
    runs: dict[str, dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for cell in of("variants", cells):
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
    """The effect of sigma, kernel and number of models on one method; None if it was not run."""
    means = variant_means(cells, method)
    names = [name for name in table.sets if any(name in row for row in means.values())]
    if not names:
        return None
    printed = table.published()
    rows = [
        [label, *(f"{row[name]:.3f}" for name in names), f"{np.mean([row[n] for n in names]):.3f}"]
        for label, row in means.items()
    ]
    paper = [printed[name][method] for name in names]
    rows.append(["printed", *(f"{auc:.3f}" for auc in paper), f"{np.mean(paper):.3f}"])
    return Grid(title, ["", *names, "Mean"], rows)
