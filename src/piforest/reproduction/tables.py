"""The tables of the paper from finished cells, with the published numbers beside ours."""

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

from ..io.atomic import atomic_write
from .run import Cell
from .settings import (
    NEIGHBOURS,
    TABLES,
    WIDTHS,
    Table,
    candidates,
    family_of,
    published_neighbours,
)

ALPHA = 0.05
TITLES = {
    "lof_l2": "LOF l2", "ifor_l2": "iFor l2", "eifor_l2": "EiFor l2", "pif_l2": "PIF l2",
    "lof_jac": "LOF jac", "ifor_bin": "iFor bin", "eifor_bin": "EiFor bin", "pif_jac": "PIF jac",
    "lof_tani": "LOF tani", "ifor_pref": "iFor", "eifor_pref": "EiFor", "pif": "PIF",
}  # fmt: skip
_SPACES = {"Euclidean": "euclidean", "Preference binary": "binary", "Preference": "preference"}

Runs = NDArray[np.float64]


@dataclass(frozen=True)
class Grid:
    """A table as text; cells may have <u>underlined</u> and **bold** parts."""

    title: str
    head: list[str]
    rows: list[list[str]]

    def markdown(self) -> str:
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return f"### {self.title}\n\n{body}\n"


@dataclass(frozen=True)
class Entry:
    """One number of a table."""

    mean: float
    std: float
    """nan for a single run"""
    published: float
    best: bool
    """whether it is the highest of its row, to three decimals"""
    significant: bool
    """whether it is the highest and better than all others of its embedding (paired t-test)"""


def by_setting(table: Table, cells: list[Cell]) -> dict[tuple[str, str], Runs]:
    """(family, method) -> mean AUC over the datasets of the family for every candidate."""
    found: dict[tuple[str, str], dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for cell in cells_of(table.name, cells):
        name = cell["settings"]["dataset"]
        for method in table.methods:
            found[family_of(name), method][name].append(cell["auc"][method])
    return {
        key: np.mean([np.mean(runs, axis=0) for runs in sets.values()], axis=0)
        for key, sets in found.items()
    }


def best_settings(table: Table, cells: list[Cell]) -> dict[tuple[str, str], int]:
    """(family, method) -> the candidate with the highest mean AUC."""
    means = by_setting(table, cells)
    return {key: candidates(key[1])[int(np.argmax(aucs))] for key, aucs in means.items()}


def runs_by_set(table: Table, cells: list[Cell]) -> dict[str, dict[str, Runs]]:
    """dataset -> method -> AUC of every run with the best setting, in the order of the paper."""
    best = best_settings(table, cells)
    runs: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for cell in sorted(cells_of(table.name, cells), key=lambda cell: cell["settings"]["run"]):
        name = cell["settings"]["dataset"]
        for method in table.methods:
            at = candidates(method).index(best[family_of(name), method])
            runs[name][method].append(cell["auc"][method][at])
    return {
        name: {method: np.array(aucs) for method, aucs in runs[name].items()}
        for name in table.sets
        if name in runs
    }


def entries(table: Table, cells: list[Cell]) -> dict[str, dict[str, Entry]]:
    """dataset -> method -> entry, in the order of the paper, "Mean" last."""
    rows = runs_by_set(table, cells)
    published = table.published()
    found = {name: row_entries(row, table, published[name]) for name, row in rows.items()}
    found["Mean"] = _mean_row(table, rows, published)
    return found


def _mean_row(table: Table, rows: dict[str, dict[str, Runs]], published: Any) -> dict[str, Entry]:
    """The mean over the datasets that were run, beside the published mean; if some datasets are
    missing, beside the mean of the published numbers of the others."""
    common = min(len(aucs) for row in rows.values() for aucs in row.values())
    ours = {m: np.mean([row[m][:common] for row in rows.values()], axis=0) for m in table.methods}
    theirs = {m: float(np.mean([published[name][m] for name in rows])) for m in table.methods}
    if len(rows) == len(table.sets):
        theirs = published["Mean"]
    return row_entries(ours, table, theirs)


def row_entries(
    row: dict[str, Runs], table: Table, published: dict[str, float]
) -> dict[str, Entry]:
    """The entries of one row."""
    best = max(row, key=lambda method: row[method].mean())
    rivals = next(methods for _, methods in table.spaces if best in methods)
    beats_all = all(_better(row[best], row[rival]) for rival in rivals if rival != best)
    return {
        method: Entry(
            float(aucs.mean()),
            float(aucs.std(ddof=1)) if len(aucs) > 1 else float("nan"),
            published[method],
            round(float(aucs.mean()), 3) == round(float(row[best].mean()), 3),
            method == best and beats_all,
        )
        for method, aucs in row.items()
    }


def _better(one: Runs, other: Runs) -> bool:
    """Whether `one` is better by a paired t-test at level ALPHA; never with fewer than three
    runs, which are too few to estimate the variance."""
    if len(one) < 3 or one.mean() <= other.mean():
        return False
    gaps = one - other
    if np.ptp(gaps) == 0:
        return True  # the test is not defined for equal differences
    return bool(ttest_rel(one, other).pvalue < ALPHA)


def auc_grid(table: Table, cells: list[Cell]) -> Grid:
    """The table of the paper: mean ± standard deviation (published, difference)."""
    rows = []
    for name, row in entries(table, cells).items():
        shown = [name]
        for method in table.methods:
            entry = row[method]
            value = f"{entry.mean:.3f}"
            value = f"<u>{value}</u>" if entry.best else value
            value = f"**{value}**" if entry.significant else value
            spread = f" ± {entry.std:.3f}" if np.isfinite(entry.std) else ""
            shown.append(f"{value}{spread} ({entry.published:.3f}, {difference(entry)})")
        rows.append(shown)
    return Grid(table.title, ["", *(TITLES[method] for method in table.methods)], rows)


def difference(entry: Entry) -> str:
    """Ours minus the published number, to three decimals, without negative zero."""
    return f"{round(entry.mean - entry.published, 3) + 0.0:+.3f}"


def tables_with_cells(cells: list[Cell]) -> list[Table]:
    """The tables that have cells."""
    return [table for table in TABLES.values() if cells_of(table.name, cells)]


def settings_grid(cells: list[Cell]) -> Grid:
    """The best settings of LOF, iFor and EiFor, with the k of the paper."""
    published = {row["family"]: row for row in published_neighbours()}
    rows = []
    for table in TABLES.values():
        best = best_settings(table, cells)
        for family in dict.fromkeys(family for family, _ in best):
            for space, methods in table.spaces:
                k = published[family][_SPACES[space]] or "-"
                widths = [_width(m, best[family, m]) for m in methods[1:3]]
                rows.append([family, space, f"{best[family, methods[0]]} ({k})", *widths])
    head = ["family", "embedding", "k of LOF (in the paper)", "sigma of iFor", "sigma of EiFor"]
    return Grid("Best setting of each baseline", head, rows)


def _width(method: str, best: int) -> str:
    tried = candidates(method)
    return (
        "-" if len(tried) == 1 else f"{best}, the largest tried" if best == tried[-1] else str(best)
    )


def neighbours_grid(cells: list[Cell]) -> Grid:
    """Mean AUC of LOF for every k."""
    rows = [
        [family, TITLES[method], *(f"{auc:.3f}" for auc in aucs)]
        for table in TABLES.values()
        for (family, method), aucs in by_setting(table, cells).items()
        if method.startswith("lof")
    ]
    return Grid("Mean AUC of LOF by k", ["family", "", *map(str, NEIGHBOURS)], rows)


def widths_grid(cells: list[Cell]) -> Grid:
    """Mean AUC of iFor and EiFor on preferences for every sigma."""
    rows = []
    for table in TABLES.values():
        for (family, method), aucs in by_setting(table, cells).items():
            if candidates(method) == WIDTHS:
                run = runs_by_set(table, cells)
                names = [n for n in table.sets if family_of(n) == family and n in run]
                published = np.mean([table.published()[name][method] for name in names])
                rows.append(
                    [family, TITLES[method]]
                    + [f"{auc:.3f}" for auc in aucs]
                    + [f"{1 - aucs[0]:.3f}", f"{published:.3f}"]
                )
    head = ["family", "", *(f"sigma x {width}" for width in WIDTHS), "1 - (sigma x 1)", "published"]
    return Grid("Mean AUC of iFor and EiFor on preferences by sigma", head, rows)


def write_csv(table: Table, cells: list[Cell], folder: Path) -> None:
    """Write auc_<table>.csv, a line per number, and settings_<table>.csv, all candidates."""
    numbers = [
        [name, method, f"{e.mean:.4f}", f"{e.std:.4f}", f"{e.published:.4f}", e.best, e.significant]
        for name, row in entries(table, cells).items()
        for method, e in row.items()
    ]
    head = ["dataset", "method", "mean", "std", "published", "best", "significant"]
    write_rows(folder / f"auc_{table.name}.csv", [head, *numbers])
    tried = [
        [family, method, "k" if method.startswith("lof") else "sigma", candidate, f"{auc:.4f}"]
        for (family, method), aucs in by_setting(table, cells).items()
        for candidate, auc in zip(candidates(method), aucs)
    ]
    head = ["family", "method", "setting", "value", "mean_auc"]
    write_rows(folder / f"settings_{table.name}.csv", [head, *tried])


def write_rows(path: Path, rows: list[list[Any]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())


def cells_of(part: str, cells: list[Cell]) -> list[Cell]:
    """The cells of a part of the experiments."""
    return [cell for cell in cells if cell["settings"]["part"] == part]
