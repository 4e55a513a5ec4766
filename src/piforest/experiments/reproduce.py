"""`piforest reproduce`: the paper's tables, from the data to files that one can read."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from pathlib import Path

from .. import __version__
from .._files import whole_file
from ..datasets.published import data_folder
from .run import Cell, run_jobs
from .settings import NEIGHBOURS, PIXELS, TABLES, Job
from .tables import markdown, neighbours_markdown, write_csv

QUICK = ("stair4", "star5", "circle4", "physics", "hartley", "biscuit", "breadcube")


def reproduce(
    out: Path,
    *,
    only: Sequence[str] = tuple(TABLES),
    runs: int = 10,
    quick: bool = False,
    seed: int = 0,
    n_jobs: int = -1,
    say: Callable[[str], None] = print,
) -> Path:
    """Make the tables in the folder `out` and return the path of its `tables.md`.

    Every finished cell is kept in `out/cells`, so that the same call goes on where an
    interrupted one stopped. quick: two runs of a few sets.
    """
    runs = 2 if quick else runs
    jobs, missing = [], []
    for table in (TABLES[name] for name in only):
        names = [name for name in table.sets if not quick or name in QUICK]
        there = [name for name in names if _is_there(name)]
        missing += [name for name in names if name not in there]
        jobs += [Job(table.name, name, run, seed) for name in there for run in range(runs)]
    if missing:
        say(
            f"Not found in {data_folder()}, and left out: {', '.join(missing)}. "
            "Set PIFOREST_DATA to the folder that holds the data."
        )
    if not jobs:
        raise FileNotFoundError("there are no data to run on.")
    say(f"{len(jobs)} cells; finished ones are kept in {out / 'cells'}.")
    cells = run_jobs(jobs, out / "cells", n_jobs)
    _write(out, only, cells)
    say(f"The tables are in {(out / 'tables.md').resolve()}")
    return out / "tables.md"


def _is_there(name: str) -> bool:
    folder = data_folder()
    places = (f"synthetic2d/{name}.csv", f"adelaidermf/{name}.mat", f"adelaidermf/{name}.csv")
    return any((folder / place).is_file() for place in places)


def _write(out: Path, only: Sequence[str], cells: list[Cell]) -> None:
    run = {cell["settings"]["table"] for cell in cells}
    made = [table for name, table in TABLES.items() if name in only and name in run]
    cpu = sum(cell["cpu_s"] for cell in cells)
    runs = 1 + max(cell["settings"]["run"] for cell in cells)
    parts = [
        "# The paper's tables, reproduced\n",
        f"Made by `piforest reproduce`, version {__version__}, Python {platform.python_version()}: "
        f"{len(cells)} cells, {runs} runs, seed {cells[0]['settings']['seed']}, {cpu:.0f} CPU "
        "seconds.\n",
        "Mean AUC ± standard deviation over the runs (published number, difference). Underlined: "
        "the best of its row. Bold: the best, and better than every competitor in the same "
        "embedding by a paired t-test at 0.05. All methods of a run see the same points and the "
        f"same models. Sigma is the true noise of each 2D set, and {PIXELS:g} pixels for all image "
        f"pairs, for every method. k of LOF is the best of {', '.join(map(str, NEIGHBOURS))} for "
        "each family and embedding.\n",
        "What the tables do not show: on preferences, iFor and EiFor rank upside down at the sigma "
        "that suits PIF (an AUC far below 0.5 is a ranking turned round), and the paper does not "
        "say at which sigma it ran them; unihouse is the real one with 2,084 matches, while the "
        "paper's row is nearly that of johnsonb, whose file the authors published twice.\n",
        *(markdown(table, cells) for table in made),
        neighbours_markdown(cells),
    ]
    for table in made:
        write_csv(table, cells, out)
    with whole_file(out / "tables.md") as file:
        file.write("\n".join(parts).encode())
