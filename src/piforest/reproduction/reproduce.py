"""`piforest reproduce`: the paper's tables and figures, from the data to a page."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from ..datasets.published import ADELAIDERMF, SYNTHETIC2D, data_file, data_folder
from ..io.atomic import whole_file
from . import beyond_page, steps
from .beyond import SCENES, Trial, scene_trials, set_trials, share_trials
from .content import TITLE, content
from .curves import share_curves
from .figures import FIGURES
from .page import Picture, to_html, to_markdown
from .run import Cell, finished_cells, run_jobs, with_bar
from .settings import (
    SHARE_SETS,
    SHARES,
    TABLES,
    Job,
    share_jobs,
    table_jobs,
    variant_jobs,
)
from .tables import of, write_csv, write_rows

PARTS = (*TABLES, "share", "variants", "figures", "pairs")
BEYOND = "beyond"
QUICK_SCENES = 2
QUICK = ("stair4", "star5", "circle4", "physics", "hartley", "biscuit", "breadcube")
QUICK_SHARES = (0.1, 0.5, 0.9)

Say = Callable[[str], None]


def reproduce(
    out: Path,
    *,
    only: Sequence[str] = PARTS,
    runs: int | None = None,
    quick: bool = False,
    seed: int = 0,
    n_jobs: int = -1,
    say: Say = print,
) -> Path:
    """Make the tables and figures in the folder `out` and return the path of its `index.html`.

    Every finished cell is kept in `out/cells`, so that the same call goes on where an
    interrupted one stopped. only: the parts to make; the page shows the others too if they
    are there. runs: 10 without it. quick: a few sets, and 2 runs without `runs`.
    """
    runs = runs or (2 if quick else 10)
    wanted = _sets(PARTS, quick)
    there = [name for name in wanted if data_file(name).is_file()]
    needed = _sets(only, quick)
    _say_missing([name for name in needed if name not in there], say)
    parts: dict[str, list[Any]] = {**_jobs(there, runs, quick, seed)}
    parts[BEYOND] = _trials(there, runs, quick, seed)
    jobs = [job for part in only for job in parts.get(part, [])]
    pairs = [name for name in there if name in _sets(["pairs"], quick)]
    if not jobs and not ("figures" in only or ("pairs" in only and pairs)):
        raise FileNotFoundError("there are no data to run on.")
    _claim(out, seed)
    if jobs:
        say(f"{len(jobs)} cells; finished ones are kept in {out / 'cells'}.")
        run_jobs(jobs, out / "cells", n_jobs)
    trials = parts.pop(BEYOND)
    cells = finished_cells([job for part in parts.values() for job in part], out / "cells")
    _draw(out, only, pairs, cells, seed, n_jobs, say)
    _write(out, cells, _pictures(out, pairs), seed)
    if BEYOND in only:
        _write_beyond(out, finished_cells(trials, out / "cells"), seed)
        say(f"What goes past the paper is {(out / 'beyond.html').resolve()}")
    say(f"The page is {(out / 'index.html').resolve()}")
    return out / "index.html"


def _claim(out: Path, seed: int) -> None:
    """Make the folder. It belongs to one seed: results of two must not be mixed."""
    if out.exists() and not out.is_dir():
        raise FileExistsError(f"{out} is a file; name a folder with --out.")
    out.mkdir(parents=True, exist_ok=True)
    mark = out / "seed.txt"
    if not mark.is_file():
        with whole_file(mark) as file:
            file.write(f"{seed}\n".encode())
    elif mark.read_text().strip() != str(seed):
        raise ValueError(
            f"{out} holds results of seed {mark.read_text().strip()}, not {seed}; name another "
            "folder with --out."
        )


def _sets(parts: Sequence[str], quick: bool) -> list[str]:
    """The sets that the parts need, in the order of the tables."""
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


def _say_missing(missing: list[str], say: Say) -> None:
    if not missing:
        return
    text = (
        f"Not found in {data_folder()}, and left out: {', '.join(missing)}. "
        "Set PIFOREST_DATA to the folder that holds the data."
    )
    if any(name in ADELAIDERMF for name in missing):
        text += (
            ' AdelaideRMF can be downloaded from a server that you know: python -c "from '
            "piforest.datasets import fetch_adelaidermf; "
            "fetch_adelaidermf(base_url='https://...')\""
        )
    say(text)


def _trials(there: list[str], runs: int, quick: bool, seed: int) -> list[Trial]:
    """What goes past the paper, on the sets at hand and on made scenes."""
    sets = [name for name in _sets(tuple(TABLES), quick) if name in there]
    shares = QUICK_SHARES if quick else SHARES
    return [
        *set_trials(sets, runs, seed),
        *share_trials([n for n in SHARE_SETS if n in there], shares, runs, seed),
        *scene_trials(QUICK_SCENES if quick else SCENES, seed),
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
            "without any. Mean and standard deviation over the runs."
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
    with whole_file(out / "beyond.md") as file:
        file.write(to_markdown(beyond_page.TITLE, blocks).encode())
    with whole_file(out / "beyond.html") as file:
        file.write(to_html(beyond_page.TITLE, blocks, out).encode())


def _jobs(there: list[str], runs: int, quick: bool, seed: int) -> dict[str, list[Job]]:
    """part -> what is to be run for it."""
    jobs = {
        part: table_jobs(part, [n for n in _sets([part], quick) if n in there], runs, seed)
        for part in TABLES
    }
    shares = QUICK_SHARES if quick else SHARES
    jobs["share"] = share_jobs([n for n in SHARE_SETS if n in there], shares, runs, seed)
    varied = [n for n in _sets(["variants"], quick) if n in there]
    jobs["variants"] = variant_jobs(varied, runs, seed)
    return jobs


def _draw(
    out: Path, only: Sequence[str], pairs: list[str], cells: list[Cell], seed: int, n_jobs: int,
    say: Say,
) -> None:  # fmt: skip
    """Draw what is asked for into out/figures."""
    try:
        import matplotlib
    except ImportError:
        say("No pictures were drawn: they need matplotlib, pip install 'piforest[plots]'.")
        return
    matplotlib.use("agg")
    from . import figures

    (out / "figures").mkdir(exist_ok=True)
    if "figures" in only:
        for name, (draw, _) in FIGURES.items():
            if name != "sets" or all(data_file(n).is_file() for n in SYNTHETIC2D):
                _save(draw(seed), out, name, ("png", "svg"))
    if "share" in only and of("share", cells):
        _save(figures.share(share_curves(cells)), out, "share", ("png", "svg"))
    if "pairs" in only and pairs:
        (out / "figures" / "pairs").mkdir(exist_ok=True)
        finished = Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(_draw_pair)(name, seed, out) for name in pairs
        )
        for _ in with_bar(finished, len(pairs), "image pairs"):
            pass


def _pictures(out: Path, pairs: list[str]) -> dict[str, Picture]:
    """name -> picture, of those that are in out/figures."""
    captions = {name: caption for name, (_, caption) in FIGURES.items()}
    captions["share"] = (
        "AUC in the preference space against the share of anomalies, mean and standard "
        "deviation over the runs. LOF with its three best k for this set."
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
    import matplotlib.pyplot as plt

    for kind in kinds:
        content = io.BytesIO()
        more = {"pil_kwargs": {"quality": 80}} if kind == "jpg" else {}
        # Without the date, one seed gives one file.
        metadata = {"Date": None} if kind == "svg" else None
        figure.savefig(
            content, format=kind, dpi=110, bbox_inches="tight", metadata=metadata, **more
        )
        with whole_file(out / "figures" / f"{name}.{kind}") as file:
            file.write(content.getvalue())
    plt.close(figure)


def _write(out: Path, cells: list[Cell], pictures: dict[str, Picture], seed: int) -> None:
    for table in TABLES.values():
        if of(table.name, cells):
            write_csv(table, cells, out)
    if of("share", cells):
        lines: list[list[Any]] = [["dataset", "method", "anomaly_share", "mean", "std"]]
        lines += [
            [name, label, f"{share:g}", f"{mean:.4f}", f"{std:.4f}"]
            for name, curves in share_curves(cells).items()
            for label, curve in curves.items()
            for share, mean, std in zip(curve.shares, curve.mean, curve.std)
        ]
        write_rows(out / "share.csv", lines)
    blocks = content(cells, pictures, seed)
    with whole_file(out / "index.md") as file:
        file.write(to_markdown(TITLE, blocks).encode())
    with whole_file(out / "index.html") as file:
        file.write(to_html(TITLE, blocks, out).encode())
