"""Every family on a scene of its own: the picture, and the AUC beside iFor and LOF.

One entry a family: `SCENES` says which generator makes its scene. The page is
docs/families; `piforest gallery` makes it anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from .. import PIF, PreferenceIsolationForest, datasets
from .._files import whole_file
from ..families import get_family, resolve_families
from ..protocols import Floats
from .baselines import distance_table, isolation_forest, lof

_NEIGHBOURS = 30


@dataclass(frozen=True)
class Scene:
    """What a family is shown on."""

    make: str
    """the generator in `piforest.datasets`"""
    noise: float
    about: str
    options: dict[str, Any] = field(default_factory=dict)
    family: Any = None
    """what is passed to the detector; the family of this name without it"""
    columns: tuple[int, ...] | None = None
    """which columns are drawn; all without it"""
    n_models: Any = "auto"


SCENES: dict[str, Scene] = {
    "line": Scene("make_lines", 0.01, "four lines in the plane"),
    "circle": Scene("make_circles", 0.01, "three circles", {"anomaly_share": 0.4}),
    "homography": Scene("make_plane_pair", 0.5, "matches of three planes between two images"),
    "fundamental": Scene("make_motion_pair", 0.5, "matches of three motions between two images"),
}


@dataclass(frozen=True)
class Shown:
    """One family's numbers."""

    name: str
    about: str
    row: str
    points: int
    aucs: dict[str, float]
    found: int
    true: int


def gallery(
    out: Path, only: Sequence[str] | None = None, seed: int = 0, say: Callable[[str], None] = print
) -> list[Shown]:
    """Write a picture for each family and the page that shows them."""
    out.mkdir(parents=True, exist_ok=True)
    shown = []
    for name in SCENES if only is None else only:
        if name not in SCENES:
            raise ValueError(f"the gallery has no scene of {name!r}; it has {', '.join(SCENES)}.")
        shown.append(_show(name, out, seed))
        numbers = ", ".join(f"{method} {auc:.3f}" for method, auc in shown[-1].aucs.items())
        say(f"{name}: {numbers}; {shown[-1].found} of {shown[-1].true} structures")
    if only is None:
        with whole_file(out / "index.md") as file:
            file.write(_page(shown).encode())
    return shown


def _show(name: str, out: Path, seed: int) -> Shown:
    scene = SCENES[name]
    family = name if scene.family is None else scene.family
    make = getattr(datasets, scene.make)
    X, y = make(noise=scene.noise, random_state=seed, return_X_y=True, **scene.options)
    params = {"n_models": scene.n_models, "random_state": seed}
    paper = PIF(family, sigma=scene.noise, **params).fit(X)
    detector = PreferenceIsolationForest(family, **params).fit(X)
    flat = (X - X.mean(axis=0)) / X.std(axis=0)
    scores = {
        "PIF": paper.scores_,
        "default": detector.scores_,
        "iFor": isolation_forest(X, random_state=seed),
        "LOF": lof(distance_table(flat, "euclidean"), _NEIGHBOURS),
    }
    aucs = {method: float(roc_auc_score(y == 0, each)) for method, each in scores.items()}
    _draw(out / f"{name}.png", scene, X, y, detector, aucs["default"])
    row = getattr(resolve_families(family)[0][0], "row", "") or "a point"
    true = len(np.unique(y[y > 0]))
    return Shown(name, scene.about, row, len(X), aucs, len(detector.structures_), true)


def _draw(path: Path, scene: Scene, X: Floats, y: Any, detector: Any, auc: float) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    from ..plots import plot_scores, plot_structures, plot_truth

    columns = list(scene.columns or range(X.shape[1]))
    drawn = X[:, columns]
    space = {"projection": "3d"} if len(columns) in (3, 6) else {}
    figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained", subplot_kw=space)
    plot_truth(drawn, y, axes[0], title="the scene")
    plot_scores(drawn, detector.scores_, axes[1], title=f"scores, AUC {auc:.3f}", colorbar=False)
    structures = detector.structures_ if scene.columns is None else _bare(detector.structures_)
    plot_structures(drawn, structures, axes[2], title=f"{len(structures)} structures found")
    if scene.columns is not None:
        for ax in axes:
            ax.set_aspect("auto")
    with whole_file(path) as file:
        figure.savefig(file, dpi=80, format="png")
    plt.close(figure)


def _bare(structures: Sequence[Any]) -> list[Any]:
    """Without outlines, which have more columns than are drawn."""
    return [type("Bare", (), {"members": each.members, "family": None})() for each in structures]


def _page(shown: Sequence[Shown]) -> str:
    lines = [
        "# Families",
        "",
        "Every family on a made scene of its own (`piforest gallery`): points of several "
        "structures and anomalies spread evenly over their box. The numbers are ROC AUC: `PIF` is "
        "given the true noise; the default is given nothing; iFor (isolation forest) and LOF "
        f"(standardised columns, {_NEIGHBOURS} neighbours) look at the same rows without a family.",
        "",
        "| family | a row | rows | `PIF` | default | iFor | LOF | structures found |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| [{each.name}](#{each.name}) | {each.row} | {each.points:,} | "
        + " | ".join(f"{each.aucs[m]:.3f}" for m in ("PIF", "default", "iFor", "LOF"))
        + f" | {each.found} of {each.true} |"
        for each in shown
    ]
    for each in shown:
        family = SCENES[each.name].family
        told = get_family(each.name) if family is None else resolve_families(family)[0][0]
        words = " ".join((type(told).__doc__ or "").split("\n\n")[0].split())
        lines += ["", f"## {each.name}", "", words, ""]
        lines += [f"![{each.about}: the scene, scores, structures]({each.name}.png)"]
    return "\n".join(lines) + "\n"
