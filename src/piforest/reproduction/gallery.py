"""Every family on its scene: the picture, and the AUC beside iFor and LOF.

The page is docs/families; `piforest gallery` writes it anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from .. import PreferenceIsolationForest
from ..families import FAMILIES, Scene, get_family, layout_of
from ..io.atomic import atomic_write
from ..protocols import Floats
from .baselines import distance_table, isolation_forest, lof

_NEIGHBOURS = 30


_LIMITS = [
    "A sample of k points is useful if all k lie on one structure. This is rare if k is large and "
    "there are many structures and anomalies; uniform samples, as in the paper, suffer more than "
    "samples of neighbours, the default. No method detects anomalies that lie on a structure by "
    "chance.",
    "",
    "Planes that meet at a shallow angle, and motions that are nearly one, are found as one "
    "structure; the scores hardly suffer.",
]


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
    if out.exists() and not out.is_dir():
        raise NotADirectoryError(f"cannot write to {out}: it is a file, not a folder.")
    out.mkdir(parents=True, exist_ok=True)
    shown = []
    known = scenes()
    for name in known if only is None else only:
        if name not in known:
            raise ValueError(f"the gallery has no scene of {name!r}; it has {', '.join(known)}.")
        shown.append(_show(name, out, seed))
        numbers = ", ".join(f"{method} {auc:.3f}" for method, auc in shown[-1].aucs.items())
        say(f"{name}: {numbers}; {shown[-1].found} of {shown[-1].true} structures")
    if only is None:
        with atomic_write(out / "index.md") as file:
            file.write(_page(shown).encode())
    return shown


def scenes() -> dict[str, Scene]:
    """The scenes of all families that have one, in the order of the registry."""
    every = {name: getattr(get_family(name), "scene", None) for name in FAMILIES.entries}
    return {name: scene for name, scene in every.items() if scene is not None}


@dataclass(frozen=True)
class Tried:
    """A family on its scene."""

    scene: Scene
    X: Floats
    y: Any
    detector: PreferenceIsolationForest
    aucs: dict[str, float]


def tried(name: str, seed: int = 0) -> Tried:
    """The scene of a family, and how well it is solved with it and without."""
    scene = scenes()[name]
    made = scene.make(seed)
    X, y = made.data, made.target
    detector = PreferenceIsolationForest(name, random_state=seed).fit(X)
    flat = (X - X.mean(axis=0)) / X.std(axis=0)
    scores = {
        "PIF": PreferenceIsolationForest.paper(name, sigma=made.sigma, random_state=seed)
        .fit(X)
        .scores_,
        "default": detector.scores_,
        "iFor": isolation_forest(X, random_state=seed),
        "LOF": lof(distance_table(flat, "euclidean"), _NEIGHBOURS),
    }
    aucs = {method: float(roc_auc_score(y == 0, each)) for method, each in scores.items()}
    return Tried(scene, X, y, detector, aucs)


def _show(name: str, out: Path, seed: int) -> Shown:
    trial = tried(name, seed)
    structures = trial.detector.structures_
    _draw(out / f"{name}.png", trial)
    row = layout_of(get_family(name)).brief
    true = len(np.unique(trial.y[trial.y > 0]))
    found = len(structures)
    return Shown(name, trial.scene.about, row, len(trial.X), trial.aucs, found, true)


def _draw(path: Path, trial: Tried) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    from ..plots import plot_scores, plot_structures, plot_truth

    scene, y, detector = trial.scene, trial.y, trial.detector
    columns = list(scene.columns or range(trial.X.shape[1]))
    drawn, auc = trial.X[:, columns], trial.aucs["default"]
    space = {"projection": "3d"} if len(columns) in (3, 6) else {}
    figure, axes = plt.subplots(
        1, 3, figsize=(12, 5 if space else 4), layout="constrained", subplot_kw=space,
        sharex=not space, sharey=not space,
    )  # fmt: skip
    plot_truth(drawn, y, axes[0], title="the scene")
    plot_scores(drawn, detector.scores_, axes[1], title=f"scores, AUC {auc:.3f}")
    structures = detector.structures_ if scene.columns is None else _bare(detector.structures_)
    plot_structures(drawn, structures, axes[2], title=f"{len(structures)} structures found")
    if scene.columns is not None:
        for ax in axes:
            ax.set_aspect("auto")
    with atomic_write(path) as file:
        figure.savefig(file, dpi=72, format="png")
    plt.close(figure)


def _bare(structures: Sequence[Any]) -> list[Any]:
    """Without outlines, which have more columns than are drawn."""
    return [
        SimpleNamespace(members=each.members, family=SimpleNamespace(name=each.family.name))
        for each in structures
    ]


def _page(shown: Sequence[Shown]) -> str:
    lines = [
        "# Families",
        "",
        "Every family on a synthetic scene (`piforest gallery`): points of several "
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
    lines += ["", *_LIMITS]
    for each in shown:
        words = " ".join((type(get_family(each.name)).__doc__ or "").split("\n\n")[0].split())
        lines += ["", f"## {each.name}", "", words, ""]
        lines += [f'`PreferenceIsolationForest("{each.name}").fit(X)`', ""]
        lines += [f"![{each.about}: the scene, scores, structures]({each.name}.png)"]
    return "\n".join(lines) + "\n"
