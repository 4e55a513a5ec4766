"""The page of what goes beyond the paper, from finished trials."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from ..datasets.published import SYNTHETIC2D
from ..protocols import Floats
from .beyond import ABLATIONS, FAMILIES, FREE, HALVES, KNOWN, PLAIN, STEPS, WRONG
from .curves import Curve, curve_of
from .page import Block, Heading, Picture, Text
from .run import Cell
from .settings import TABLES, Table, table_of
from .tables import Grid

TITLE = "Every set and step, beyond the paper"
LIMIT = 0.01  # datasets that are lower than the best of the paper by more than this are listed

Key = tuple[str, str, str]
Values = dict[Key, dict[str, Floats]]


def values_of(cells: list[Cell], kind: str) -> Values:
    """(dataset or family, condition, variant) -> name -> values of all runs."""
    found: dict[Key, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for cell in sorted(cells, key=lambda cell: int(cell["settings"]["run"])):
        settings = cell["settings"]
        if settings["kind"] == kind:
            key = settings["dataset"], settings["condition"], settings["variant"]
            for name, value in cell["values"].items():
                found[key][name].append(value)
    return {key: {n: np.array(v) for n, v in row.items()} for key, row in found.items()}


def content(cells: list[Cell], pictures: dict[str, Picture]) -> list[Block]:
    sets, scenes = values_of(cells, "set"), values_of(cells, "scene")
    tables = [table for table in TABLES.values() if any((n, "", FREE) in sets for n in table.sets)]
    blocks: list[Block] = [_intro(cells)]
    if "steps" in pictures:
        blocks += [Heading("The steps"), pictures["steps"]]
    if tables:
        blocks += [Heading("On the datasets of the paper"), _summary(tables, sets)]
        blocks += [_sets_grid(table, sets) for table in tables]
        blocks += [Heading("The effect of each step"), _variants(tables, sets, _ablations())]
        blocks += [_steps(table, sets) for table in tables]
        blocks += [Heading("A wrong sigma"), _variants(tables, sets, (PLAIN, KNOWN, FREE, *WRONG))]
        blocks += [Heading("Labels"), _labels_text(sets), _labels(tables, sets)]
        blocks += [Heading("Structures"), *_structures(tables, sets)]
    if "beyond" in pictures:
        blocks += [Heading("Share of anomalies"), pictures["beyond"]]
    if scenes:
        blocks += [Heading("Held-out scenes"), *_scenes(scenes)]
        blocks += [_halves(values_of(cells, "halves"))]
    return blocks


def _intro(cells: list[Cell]) -> Block:
    kinds = {
        "draws of the anomalies of each 2D set": ("set", True),
        "sampling seeds of each image pair": ("set", False),
        "scenes of each condition": ("scene", True),
    }
    runs = []
    for text, (kind, drawn) in kinds.items():
        numbers = [
            int(cell["settings"]["run"])
            for cell in cells
            if cell["settings"]["kind"] == kind
            and (kind == "scene" or (cell["settings"]["dataset"] in SYNTHETIC2D) == drawn)
        ]
        runs += [f"{1 + max(numbers)} {text}"] if numbers else []
    return Text(
        "`PIF` is the paper's algorithm with the true noise (4 pixels for image pairs). "
        f"`{KNOWN}` is `PreferenceIsolationForest` with the same sigma, `{FREE}` with an estimated "
        "one. All use the same points and the same number of models, 10 n on the 2D sets and 6 n "
        "on image pairs; on scenes the defaults. Mean AUC ± standard error. The constants of the "
        "method are the same everywhere; they were chosen on other draws of the 2D sets and on "
        "these image pairs, so the image pairs are not held out, but the scenes are."
        + (f" Number of runs: {', '.join(runs)}." if runs else "")
    )


def _mean(values: Values, name: str, variant: str, what: str = "auc") -> float:
    return float(values[name, "", variant][what].mean())


def _names(table: Table, values: Values) -> list[str]:
    return [name for name in table.sets if (name, "", FREE) in values]


def _best_published(name: str) -> float:
    return max(table_of(name).published()[name].values())


def _shown(runs: Floats) -> str:
    error = runs.std(ddof=1) / np.sqrt(len(runs)) if len(runs) > 1 else float("nan")
    spread = f" ± {error:.3f}" if np.isfinite(error) else ""
    return f"{runs.mean():.3f}{spread}"


def _summary(tables: list[Table], values: Values) -> Grid:
    rows = []
    for table in tables:
        names = _names(table, values)
        means = [np.mean([_mean(values, n, v) for n in names]) for v in (PLAIN, KNOWN, FREE)]
        published = np.mean([_best_published(name) for name in names])
        below = [n for n in names if _mean(values, n, FREE) < _best_published(n) - LIMIT]
        numbers = [f"{mean:.4f}" for mean in (*means, published)]
        rows.append([table.title, str(len(names)), *numbers, ", ".join(below) or "none"])
    head = ["mean AUC", "sets", PLAIN, KNOWN, FREE, "best of the paper"]
    head.append(f"sigma free lower by > {LIMIT}")
    return Grid("Summary", head, rows)


def _sets_grid(table: Table, values: Values) -> Grid:
    synthetic = table.name == "synthetic"
    rows = []
    for name in _names(table, values):
        row = [name, f"{table.published()[name]['pif']:.3f}", f"{_best_published(name):.3f}"]
        row += [_shown(values[name, "", variant]["auc"]) for variant in (PLAIN, KNOWN, FREE)]
        if synthetic:
            row.append(_shown(values[name, "", FREE]["oracle"]))
        rows.append(row)
    head = ["", "PIF, published", "best, published", PLAIN, KNOWN, FREE]
    if synthetic:
        head.append("true structures")
    return Grid(table.title, head, rows)


def _ablations() -> tuple[str, ...]:
    return PLAIN, FREE, *ABLATIONS


def _variants(tables: list[Table], values: Values, variants: tuple[str, ...]) -> Grid:
    rows = []
    for variant in variants:
        row = [variant]
        for table in tables:
            names = [n for n in _names(table, values) if (n, "", variant) in values]
            means = [_mean(values, name, variant) for name in names]
            row.append(f"{np.mean(means):.4f}" if means else "-")
        rows.append(row)
    return Grid("Mean AUC", ["", *(table.title for table in tables)], rows)


def _steps(table: Table, values: Values) -> Grid:
    """The AUC after each step between drawing and embedding, and the models that are kept."""
    names = [n for n in _names(table, values) if all((n, "", v) in values for v in STEPS.values())]
    rows = [
        [name, *(f"{_mean(values, name, variant):.4f}" for variant in STEPS.values()),
         *(f"{_mean(values, name, variant, 'models'):,.0f}" for variant in STEPS.values())]
        for name in names
    ]  # fmt: skip
    if rows:
        means = [np.mean([_mean(values, n, v) for n in names]) for v in STEPS.values()]
        kept = [np.mean([_mean(values, n, v, "models") for n in names]) for v in STEPS.values()]
        rows.append(["mean", *(f"{each:.4f}" for each in means), *(f"{n:,.0f}" for n in kept)])
    head = ["", *STEPS, *(f"models: {title}" for title in STEPS)]
    return Grid(f"{table.title}, step by step", head, rows)


def _labels_text(values: Values) -> Block:
    ratios = {
        name: values[name, "", FREE]["f1"].mean() / values[name, "", FREE]["best_f1"].mean()
        for name, _, variant in values
        if variant == FREE
    }
    worst = min(ratios, key=lambda name: ratios[name])
    return Text(
        "F1 of the automatic labels (anomalies are the positive class), divided by the best F1 of "
        f"any threshold on the same scores: {np.mean(list(ratios.values())):.3f} on average over "
        f"{len(ratios)} sets, lowest on {worst} ({ratios[worst]:.3f})."
    )


def _labels(tables: list[Table], values: Values) -> Grid:
    rows = []
    for table in tables:
        names = _names(table, values)
        f1, best = (
            np.array([_mean(values, n, FREE, what) for n in names]) for what in ("f1", "best_f1")
        )
        low = [f"{n} {r:.2f}" for n, r in zip(names, f1 / best) if r < 0.95]
        numbers = [f"{value:.3f}" for value in (f1.mean(), best.mean(), np.mean(f1 / best))]
        rows.append([table.title, *numbers, ", ".join(low) or "none"])
    head = ["", "F1", "best F1", "ratio", "ratio below 0.95"]
    return Grid("Automatic labels", head, rows)


def _structures(tables: list[Table], values: Values) -> list[Block]:
    rows, grids = [], []
    for table in tables:
        names = _names(table, values)
        errors = np.array([_mean(values, n, FREE, "error") for n in names])
        exact = np.mean([np.mean(values[n, "", FREE]["surplus"] == 0) for n in names])
        numbers = [f"{errors.mean():.3f}", f"{np.median(errors):.3f}", f"{100 * exact:.0f} %"]
        rows.append([table.title, *numbers])
        each = [
            [n, f"{e:.3f}", f"{values[n, '', FREE]['surplus'].mean():+.1f}"]
            for n, e in zip(names, errors)
        ]
        grids.append(Grid(table.title, ["", "error", "surplus structures"], each))
    text = Text(
        "Misclassification error of points into structures and anomalies, with the best assignment "
        "of structures; and how often their number is exact. Progressive-X, which needs an inlier "
        "threshold, has .064 on the homographies and .109 on the fundamental matrices in the "
        "notebook of its authors."
    )
    return [text, Grid("Structures", ["", "mean", "median", "number exact"], rows), *grids]


def _scenes(values: Values) -> list[Block]:
    rows, wins = [], []
    for family, condition, variant in values:
        if variant != FREE:
            continue
        row = values[family, condition, FREE]
        if "auc" not in row:
            rows.append([family, condition, "-", "-", "-", "-", f"{row['flagged'].mean():.3f}"])
            continue
        plain = values[family, condition, PLAIN]["auc"]
        wins.append(round(row["auc"].mean() - plain.mean(), 3) >= 0)
        ratio = row["f1"].mean() / row["best_f1"].mean()
        better = np.mean(row["auc"] >= plain)
        aucs = [_shown(plain), _shown(row["auc"]), f"{100 * better:.0f} %"]
        rows.append([family, condition, *aucs, f"{ratio:.3f}", f"{row['flagged'].mean():.3f}"])
    text = Text(
        "Lines and circles in a square, planes and motions between two images; 2 to 6 structures "
        "(at most 4 between images) of 40 to 200 points, log-uniform noise over a factor of five. "
        "The condition is the share of anomalies; the others have 40 %. PIF has the true noise. "
        f"The mean of ours is at least as high, to three decimals, in {sum(wins)} of {len(wins)} "
        "conditions."
    )
    head = ["family", "condition", PLAIN, FREE, "scenes at least as good", "F1 / best F1"]
    return [text, Grid("Scenes", [*head, "share flagged"], rows)]


def _halves(values: Values) -> Grid:
    parts = ("normal fitted", "normal new", "anomalous fitted", "anomalous new")
    rows = [
        [family, str(n), *(f"{values[family, str(n), FREE][part].mean():.3f}" for part in parts)]
        for family in FAMILIES
        for n in HALVES
        if (family, str(n), FREE) in values
    ]
    title = "Fitted on one half of n points: share flagged in both halves"
    return Grid(title, ["family", "n", *parts], rows)


def share_curves(cells: list[Cell]) -> dict[str, dict[str, Curve]]:
    """dataset -> method -> curve over the share of anomalies."""
    found = values_of(cells, "share")
    curves: dict[str, dict[str, Curve]] = defaultdict(dict)
    titles = {PLAIN: "PIF", FREE: "piforest"}
    for name in dict.fromkeys(name for name, _, _ in found):
        for variant, title in titles.items():
            runs = {float(c): row["auc"] for (n, c, v), row in found.items()
                    if (n, v) == (name, variant)}  # fmt: skip
            if runs:
                curves[name][title] = curve_of(runs)
    return dict(curves)
