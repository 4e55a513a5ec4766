"""`piforest reproduce --scenes`: the paper's table of lines and circles, without its data.

The seven 2D sets are not part of the package. Scenes by seed stand for them: as many structures of
the same kind with as many points, in other places. The published numbers stand beside, with the
difference, which has two sources, other points and another implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score

from .._random import Stream
from ..datasets import make_circle_scene, make_stair, make_star
from ..datasets.published import SYNTHETIC2D
from ..estimators import PreferenceIsolationForest
from ..protocols import Floats
from .baselines import distance_table, isolation_forest, lof
from .page import Text, write_page
from .run import with_progress
from .settings import TABLES
from .tables import Grid, write_rows

TITLE = "The paper's lines and circles, on scenes that stand for them"
PAGE = "scenes"
_MODELS_PER_POINT, _NEIGHBOURS = 10, 30


class StandIn(NamedTuple):
    """A scene for one of the published sets."""

    make: Callable[..., Any]
    n_structures: int


STAND_INS = {
    "stair3": StandIn(make_stair, 3),
    "stair4": StandIn(make_stair, 4),
    "star5": StandIn(make_star, 5),
    "star11": StandIn(make_star, 11),
    "circle3": StandIn(make_circle_scene, 3),
    "circle4": StandIn(make_circle_scene, 4),
    "circle5": StandIn(make_circle_scene, 5),
}
METHODS = ("PIF", "default", "isolation forest", "LOF")


def reproduce_scenes(
    out: Path,
    *,
    runs: int | None = None,
    quick: bool = False,
    seed: int = 0,
    n_jobs: int = -1,
    log: Callable[[str], None] = print,
) -> Path:
    """Measure every method on every scene and write a page to `out`; returns its path."""
    if out.exists() and not out.is_dir():
        raise FileExistsError(f"{out} is a file; select a folder with --out.")
    runs = runs or (2 if quick else 10)
    cells = [(name, run) for name in STAND_INS for run in range(runs)]
    work = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(measure)(name, run, seed) for name, run in cells
    )
    found = list(with_progress(work, len(cells), "scenes"))
    out.mkdir(parents=True, exist_ok=True)
    write_rows(out / f"{PAGE}.csv", list(_lines(cells, found)))
    write_page(out, PAGE, TITLE, _content(found, runs, seed))
    log(f"The page is {(out / PAGE).resolve()}.html")
    return out / f"{PAGE}.html"


def measure(name: str, run: int, seed: int) -> list[float]:
    """AUCs of the methods on one scene."""
    scene = STAND_INS[name]
    family, noise = SYNTHETIC2D[name]
    state = int(Stream(seed).child("stand-ins", name, run).key % 2**31)
    X, y = scene.make(scene.n_structures, noise=noise, random_state=state, return_X_y=True)
    models = _MODELS_PER_POINT * len(X)
    paper = PreferenceIsolationForest.paper(
        family, sigma=noise, n_models=models, random_state=state
    )
    default = PreferenceIsolationForest(family, random_state=state)
    scores: list[Floats] = [
        paper.fit(X).scores_,
        default.fit(X).scores_,
        isolation_forest(X, random_state=state),
        lof(distance_table(X, "euclidean"), _NEIGHBOURS),
    ]
    return [float(roc_auc_score(y == 0, each)) for each in scores]


def _lines(cells: list[tuple[str, int]], found: list[list[float]]) -> Iterator[list[Any]]:
    yield ["scene", "run", *METHODS]
    for (name, run), aucs in zip(cells, found):
        yield [name, run, *(f"{auc:.4f}" for auc in aucs)]


def _content(found: list[list[float]], runs: int, seed: int) -> list[Any]:
    means = np.array(found).reshape(len(STAND_INS), runs, len(METHODS)).mean(axis=1)
    table = TABLES["synthetic"].published()
    published = np.array([table[name]["pif"] for name in STAND_INS])
    rows = []
    for name, mean, paper in zip(
        (*STAND_INS, "Mean"), (*means, means.mean(axis=0)), (*published, published.mean())
    ):
        pif, *others = mean
        numbers = [f"{pif:.3f}", f"{paper:.3f}", f"{pif - paper:+.3f}"]
        rows.append([name, *numbers, *(f"{each:.3f}" for each in others)])
    head = ["scene for", "PIF", "PIF, published", "difference", *METHODS[1:]]
    return [
        Text(
            "The paper's seven sets of lines and circles are not part of the package. Here scenes "
            "by seed stand for them: as many lines or circles with as many points and a noise "
            "of the same number, but in other places. The published numbers are those of the "
            "paper's own sets, so a difference may come from the points as well as from the "
            "implementation; `piforest reproduce` with the data leaves only the second."
        ),
        Text(
            f"Mean ROC AUC of {runs} runs, seed {seed}; half of the points are anomalies. PIF is "
            "the paper's algorithm with the true noise, the default is given nothing. Isolation "
            f"forest and LOF ({_NEIGHBOURS} neighbours) see the coordinates. This page is written "
            "by `piforest reproduce --scenes`; `--quick` makes two runs."
        ),
        Grid("AUC", head, rows),
    ]
