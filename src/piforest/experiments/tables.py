"""From finished cells to the paper's tables, with the published number beside ours."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from .._files import whole_file
from .run import Cell
from .settings import NEIGHBOURS, TABLES, Table, published_neighbours

ALPHA = 0.05
TITLES = {
    "lof_l2": "LOF l2", "ifor_l2": "iFor", "eifor_l2": "EiFor", "pif_l2": "PIF l2",
    "lof_jac": "LOF jac", "ifor_bin": "iFor", "eifor_bin": "EiFor", "pif_jac": "PIF jac",
    "lof_tani": "LOF tani", "ifor_pref": "iFor", "eifor_pref": "EiFor", "pif": "PIF",
}  # fmt: skip
_SPACES = {"Euclidean": "euclidean", "Preference binary": "binary", "Preference": "preference"}

Runs = NDArray[np.float64]


@dataclass(frozen=True)
class Entry:
    """One number of a table."""

    mean: float
    std: float
    published: float
    best: bool
    """the highest of its row"""
    significant: bool
    """the highest, and better than every competitor in the same embedding (paired t-test)"""


def best_neighbours(table: Table, cells: list[Cell]) -> dict[tuple[str, str], int]:
    """(family, embedding) -> the k of LOF with the highest mean AUC over the family's sets."""
    sweep = neighbour_sweep(table, cells)
    return {key: NEIGHBOURS[int(np.argmax(aucs))] for key, aucs in sweep.items()}


def neighbour_sweep(table: Table, cells: list[Cell]) -> dict[tuple[str, str], Runs]:
    """(family, embedding) -> mean AUC of LOF for every k."""
    found: dict[tuple[str, str], dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for cell in _of(table, cells):
        name = cell["settings"]["dataset"]
        for space, methods in table.spaces:
            found[table.family(name), space][name].append(cell["auc"][methods[0]])
    return {
        key: np.mean([np.mean(runs, axis=0) for runs in sets.values()], axis=0)
        for key, sets in found.items()
    }


def entries(table: Table, cells: list[Cell]) -> dict[str, dict[str, Entry]]:
    """set -> method -> entry, in the order of the paper, "Mean" last."""
    neighbours = best_neighbours(table, cells)
    runs: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for cell in sorted(_of(table, cells), key=lambda cell: cell["settings"]["run"]):
        name = cell["settings"]["dataset"]
        for space, methods in table.spaces:
            k = NEIGHBOURS.index(neighbours[table.family(name), space])
            for method in methods:
                aucs = cell["auc"][method]
                runs[name][method].append(aucs[k] if method.startswith("lof") else aucs[0])
    rows = {
        name: {method: np.array(aucs) for method, aucs in runs[name].items()}
        for name in table.sets
        if name in runs
    }
    published = table.published()
    found = {name: marked(row, table, published[name]) for name, row in rows.items()}
    found["Mean"] = _mean_row(table, rows, published)
    return found


def _mean_row(table: Table, rows: dict[str, dict[str, Runs]], published: Any) -> dict[str, Entry]:
    """The mean over the sets that were run, beside the mean of what is printed for the same."""
    common = min(len(aucs) for row in rows.values() for aucs in row.values())
    ours = {m: np.mean([row[m][:common] for row in rows.values()], axis=0) for m in table.methods}
    printed = {m: float(np.mean([published[name][m] for name in rows])) for m in table.methods}
    return marked(ours, table, printed)


def marked(row: dict[str, Runs], table: Table, published: dict[str, float]) -> dict[str, Entry]:
    """Means, deviations, and the marks of one row."""
    best = max(row, key=lambda method: row[method].mean())
    rivals = next(methods for _, methods in table.spaces if best in methods)
    beats_all = all(_better(row[best], row[rival]) for rival in rivals if rival != best)
    return {
        method: Entry(
            float(aucs.mean()),
            float(aucs.std(ddof=1)) if len(aucs) > 1 else 0.0,
            published[method],
            method == best,
            method == best and beats_all,
        )
        for method, aucs in row.items()
    }


def _better(one: Runs, other: Runs) -> bool:
    """Is `one` better in the mean, by a paired t-test at the level ALPHA?"""
    if len(one) < 2 or one.mean() <= other.mean():
        return False
    gaps = one - other
    if np.ptp(gaps) == 0:
        return True  # always better by the same amount: no test needed, and none defined
    return bool(ttest_rel(one, other).pvalue < ALPHA)


def markdown(table: Table, cells: list[Cell]) -> str:
    """The table as text: mean ± deviation, then (published, difference)."""
    heads = [TITLES[method] for method in table.methods]
    lines = [
        f"### {table.title}",
        "",
        "| | " + " | ".join(heads) + " |",
        "|---|" + "---|" * len(heads),
    ]
    for name, row in entries(table, cells).items():
        shown = []
        for method in table.methods:
            entry = row[method]
            value = f"{entry.mean:.3f}"
            value = f"<u>{value}</u>" if entry.best else value
            value = f"**{value}**" if entry.significant else value
            gap = entry.mean - entry.published
            shown.append(f"{value} ± {entry.std:.3f} ({entry.published:.3f}, {gap:+.3f})")
        lines.append(f"| {name} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def neighbours_markdown(cells: list[Cell]) -> str:
    """The best k of LOF beside the paper's."""
    printed = {row["family"]: row for row in published_neighbours()}
    lines = ["### Best k of LOF (ours, the paper's)", ""]
    lines += ["| family | " + " | ".join(_SPACES) + " |", "|---|---|---|---|"]
    rows: dict[str, dict[str, str]] = defaultdict(dict)
    for table in TABLES.values():
        for (family, space), k in best_neighbours(table, cells).items():
            rows[family][space] = f"{k} ({printed[family][_SPACES[space]] or '-'})"
    for family, row in rows.items():
        lines.append(f"| {family} | " + " | ".join(row.get(space, "-") for space in _SPACES) + " |")
    return "\n".join(lines) + "\n"


def write_csv(table: Table, cells: list[Cell], folder: Path) -> None:
    """auc_<table>.csv, a line for each number, and lof_<table>.csv, the whole sweep over k."""
    numbers = [
        [name, method, f"{e.mean:.4f}", f"{e.std:.4f}", f"{e.published:.4f}", e.best, e.significant]
        for name, row in entries(table, cells).items()
        for method, e in row.items()
    ]
    head = ["dataset", "method", "mean", "std", "published", "best", "significant"]
    _write(folder / f"auc_{table.name}.csv", [head, *numbers])
    sweep = [
        [family, space, k, f"{auc:.4f}"]
        for (family, space), aucs in neighbour_sweep(table, cells).items()
        for k, auc in zip(NEIGHBOURS, aucs)
    ]
    _write(folder / f"lof_{table.name}.csv", [["family", "embedding", "k", "mean_auc"], *sweep])


def _write(path: Path, rows: list[list[Any]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    with whole_file(path) as file:
        file.write(text.getvalue().encode())


def _of(table: Table, cells: list[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell["settings"]["table"] == table.name]
