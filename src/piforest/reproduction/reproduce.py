"""`piforest reproduce`: the tables and figures of the paper, from the data to a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from ..datasets.published import ADELAIDERMF, SYNTHETIC2D, data_file, data_folder
from ..io.atomic import atomic_write
from . import beyond_page, steps
from .beyond import SCENES, Trial, scene_trials, set_trials, share_trials
from .content import TITLE, content
from .curves import share_curves
from .figures import FIGURES
from .page import Picture, save_figure, write_page
from .run import Cell, finished_cells, run_jobs, with_progress
from .settings import (
    SHARE_SETS,
    SHARES,
    TABLES,
    Job,
    share_jobs,
    table_jobs,
    variant_jobs,
)
from .tables import cells_of, write_csv, write_rows

PARTS = (*TABLES, "share", "variants", "figures", "pairs")
BEYOND = "beyond"
QUICK_SCENES = 2
QUICK = ("stair4", "star5", "circle4", "physics", "hartley", "biscuit", "breadcube")
QUICK_SHARES = (0.1, 0.5, 0.9)

Log = Callable[[str], None]


def reproduce(
    out: Path,
    *,
    only: Sequence[str] = PARTS,
    runs: int | None = None,
    quick: bool = False,
    seed: int = 0,
    n_jobs: int = -1,
    log: Log = print,
) -> Path:
    """Write the tables and figures to the folder `out`; returns the path of its `index.html`.

    Finished cells are stored in `out/cells`, so the same call continues an interrupted one. only:
    the parts to run; the page also shows parts of earlier runs. runs: default 10. quick: a few
    datasets, and by default 2 runs.
    """
    runs = runs or (2 if quick else 10)
    available = [name for name in _sets(PARTS, quick) if data_file(name).is_file()]
    _check_available(available, only)
    _log_missing([name for name in _sets(only, quick) if name not in available], log)
    parts: dict[str, list[Any]] = {**_jobs(available, runs, quick, seed)}
    parts[BEYOND] = _trials(available, runs, quick, seed)
    jobs = [job for part in only for job in parts.get(part, [])]
    pairs = [name for name in available if name in _sets(["pairs"], quick)]
    if not jobs and not ("figures" in only or ("pairs" in only and pairs)):
        raise FileNotFoundError("no data are available.")
    _prepare_folder(out, seed)
    if jobs:
        log(f"{len(jobs)} cells; finished ones are stored in {out / 'cells'}.")
        run_jobs(jobs, out / "cells", n_jobs)
    trials = parts.pop(BEYOND)
    cells = finished_cells([job for part in parts.values() for job in part], out / "cells")
    _draw(out, only, pairs, cells, seed, n_jobs, log)
    _write(out, cells, _pictures(out, pairs), seed)
    if BEYOND in only:
        _write_beyond(out, finished_cells(trials, out / "cells"), seed)
        log(f"The page of what goes beyond the paper is {(out / 'beyond.html').resolve()}")
    log(f"The page is {(out / 'index.html').resolve()}")
    return out / "index.html"


def _prepare_folder(out: Path, seed: int) -> None:
    """Create the folder. It belongs to one seed: results of two must not be mixed."""
    if out.exists() and not out.is_dir():
        raise FileExistsError(f"{out} is a file; select a folder with --out.")
    out.mkdir(parents=True, exist_ok=True)
    mark = out / "seed.txt"
    if not mark.is_file():
        with atomic_write(mark) as file:
            file.write(f"{seed}\n".encode())
    elif mark.read_text().strip() != str(seed):
        raise ValueError(
            f"{out} holds results of seed {mark.read_text().strip()}, not {seed}; select "
            "another folder with --out."
        )


def _sets(parts: Sequence[str], quick: bool) -> list[str]:
    """The datasets of the parts, in the order of the tables."""
    names: set[str] = set()
    for part in parts:
        if part in TABLES:
            names.update(n for n in TABLES[part].sets if not quick or n in QUICK)
        elif part == "share":
            names.update(SHARE_SETS)
        elif part == "variants":
            names.update(n for n in SYNTHETIC2D if not quick or n in QUICK)
        elif part == "figures":
            names.update(SYNTHETIC2D)
        elif part == BEYOND:
            names.update(_sets((*TABLES, "share"), quick))
        else:
            names.update(n for n in ADELAIDERMF if not quick or n in QUICK)
    return [name for name in (*SYNTHETIC2D, *ADELAIDERMF) if name in names]


def _check_available(available: list[str], only: Sequence[str]) -> None:
    """Raise if there are no data at all; figures and `beyond`, asked for alone, need none."""
    if not available and not set(only) <= {"figures", BEYOND}:
        raise FileNotFoundError(
            f"no data are available: {data_folder()} has none of the paper's sets. Set "
            "PIFOREST_DATA to their folder, or use --scenes for scenes that stand for the lines "
            "and circles; the page on reproduction says where the sets come from."
        )


def _log_missing(missing: list[str], log: Log) -> None:
    if not missing:
        return
    text = (
        f"Not found in {data_folder()} and skipped: {', '.join(missing)}. "
        "Set PIFOREST_DATA to the folder of the data."
    )
    if any(name in ADELAIDERMF for name in missing):
        text += (
            ' AdelaideRMF can be downloaded from a server of your choice: python -c "from '
            "piforest.datasets import fetch_adelaidermf; "
            "fetch_adelaidermf(base_url='https://...')\""
        )
    log(text)


def _trials(available: list[str], runs: int, quick: bool, seed: int) -> list[Trial]:
    """What goes beyond the paper, on available datasets and on synthetic scenes."""
    sets = [name for name in _sets(tuple(TABLES), quick) if name in available]
    shares = QUICK_SHARES if quick else SHARES
    return [
        *set_trials(sets, runs, seed),
        *share_trials([n for n in SHARE_SETS if n in available], shares, runs, seed),
        *scene_trials(QUICK_SCENES if quick else min(SCENES, 2 * runs), seed),
    ]


def _write_beyond(out: Path, cells: list[Cell], seed: int) -> None:
    pictures = {}
    curves = beyond_page.share_curves(cells)
    try:
        import matplotlib
    except ImportError:
        curves = {}
    else:
        matplotlib.use("agg")
        (out / "figures").mkdir(exist_ok=True)
        _save(steps.steps(seed), out, "steps", ("png", "svg"))
        pictures["steps"] = Picture(Path("figures/steps.png"), steps.CAPTION)
    if curves:
        from . import figures

        _save(figures.share(curves), out, BEYOND, ("png", "svg"))
        caption = (
            "AUC against the share of anomalies: the paper's PIF with the true sigma, and ours "
            "with an estimated one. Mean and standard deviation over the runs."
        )
        pictures[BEYOND] = Picture(Path("figures") / f"{BEYOND}.png", caption)
    lines: list[list[Any]] = [["kind", "dataset", "condition", "variant", "run", "name", "value"]]
    columns = ("kind", "dataset", "condition", "variant", "run")
    lines += [
        [*(cell["settings"][column] for column in columns), name, f"{value:.4f}"]
        for cell in cells
        for name, value in {**cell["values"], "cpu_s": cell["cpu_s"]}.items()
    ]
    write_rows(out / "beyond.csv", lines)
    blocks = beyond_page.content(cells, pictures)
    write_page(out, "beyond", beyond_page.TITLE, blocks)


def _jobs(available: list[str], runs: int, quick: bool, seed: int) -> dict[str, list[Job]]:
    """part -> its jobs."""
    jobs = {
        part: table_jobs(part, [n for n in _sets([part], quick) if n in available], runs, seed)
        for part in TABLES
    }
    shares = QUICK_SHARES if quick else SHARES
    jobs["share"] = share_jobs([n for n in SHARE_SETS if n in available], shares, runs, seed)
    varied = [n for n in _sets(["variants"], quick) if n in available]
    jobs["variants"] = variant_jobs(varied, runs, seed)
    return jobs


def _draw(
    out: Path, only: Sequence[str], pairs: list[str], cells: list[Cell], seed: int, n_jobs: int,
    log: Log,
) -> None:  # fmt: skip
    """Draw the figures of the selected parts to out/figures."""
    try:
        import matplotlib
    except ImportError:
        log("No figures were drawn: plots need matplotlib, pip install 'piforest[plots]'.")
        return
    matplotlib.use("agg")
    from . import figures

    (out / "figures").mkdir(exist_ok=True)
    if "figures" in only:
        for name, (draw, _) in FIGURES.items():
            if name != "sets" or all(data_file(n).is_file() for n in SYNTHETIC2D):
                _save(draw(seed), out, name, ("png", "svg"))
    if "share" in only and cells_of("share", cells):
        _save(figures.share(share_curves(cells)), out, "share", ("png", "svg"))
    if "pairs" in only and pairs:
        (out / "figures" / "pairs").mkdir(exist_ok=True)
        finished = Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(_draw_pair)(name, seed, out) for name in pairs
        )
        for _ in with_progress(finished, len(pairs), "image pairs"):
            pass


def _pictures(out: Path, pairs: list[str]) -> dict[str, Picture]:
    """name -> picture, of the files in out/figures."""
    captions = {name: caption for name, (_, caption) in FIGURES.items()}
    captions["share"] = (
        "AUC in the preference space against the share of anomalies, mean and standard "
        "deviation over the runs. LOF with its three best k for the set."
    )
    found = {name: (Path("figures") / f"{name}.png", text) for name, text in captions.items()}
    found |= {f"pair {name}": (Path("figures/pairs") / f"{name}.jpg", name) for name in pairs}
    return {name: Picture(*each) for name, each in found.items() if (out / each[0]).is_file()}


def _draw_pair(name: str, seed: int, out: Path) -> None:
    import matplotlib

    matplotlib.use("agg")
    from . import figures

    _save(figures.pair(name, seed), out, f"pairs/{name}", ("jpg",))


def _save(figure: Any, out: Path, name: str, kinds: Sequence[str]) -> None:
    save_figure(figure, *(out / "figures" / f"{name}.{kind}" for kind in kinds))


def _write(out: Path, cells: list[Cell], pictures: dict[str, Picture], seed: int) -> None:
    for table in TABLES.values():
        if cells_of(table.name, cells):
            write_csv(table, cells, out)
    if cells_of("share", cells):
        lines: list[list[Any]] = [["dataset", "method", "anomaly_share", "mean", "std"]]
        lines += [
            [name, label, f"{share:g}", f"{mean:.4f}", f"{std:.4f}"]
            for name, curves in share_curves(cells).items()
            for label, curve in curves.items()
            for share, mean, std in zip(curve.shares, curve.mean, curve.std)
        ]
        write_rows(out / "share.csv", lines)
    write_page(out, "index", TITLE, content(cells, pictures, seed))
