"""`piforest reproduce`: the paper's tables and figures, from the data to a page."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from .._files import whole_file
from ..datasets.published import ADELAIDERMF, SYNTHETIC2D, data_folder
from .content import TITLE, content
from .curves import share_curves
from .figures import FIGURES
from .page import Picture, to_html, to_markdown
from .run import Cell, run_jobs, with_bar
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
QUICK = ("stair4", "star5", "circle4", "physics", "hartley", "biscuit", "breadcube")
QUICK_SHARES = (0.1, 0.5, 0.9)

Say = Callable[[str], None]


def reproduce(
    out: Path,
    *,
    only: Sequence[str] = PARTS,
    runs: int = 10,
    quick: bool = False,
    seed: int = 0,
    n_jobs: int = -1,
    say: Say = print,
) -> Path:
    """Make the tables and figures in the folder `out` and return the path of its `index.html`.

    Every finished cell is kept in `out/cells`, so that the same call goes on where an
    interrupted one stopped. quick: two runs of a few sets.
    """
    runs = 2 if quick else runs
    known = [*SYNTHETIC2D, *ADELAIDERMF]
    wanted = [name for name in known if not quick or name in (*QUICK, *SHARE_SETS)]
    there = [name for name in wanted if _is_there(name)]
    _say_missing([name for name in wanted if name not in there], say)
    jobs = _jobs(only, there, runs, quick, seed)
    if not jobs and not {"figures", "pairs"} & set(only):
        raise FileNotFoundError("there are no data to run on.")
    out.mkdir(parents=True, exist_ok=True)
    cells: list[Cell] = []
    if jobs:
        say(f"{len(jobs)} cells; finished ones are kept in {out / 'cells'}.")
        cells = run_jobs(jobs, out / "cells", n_jobs)
    pictures = _pictures(out, only, there, quick, cells, seed, n_jobs, say)
    _write(out, cells, pictures, seed)
    say(f"The page is {(out / 'index.html').resolve()}")
    return out / "index.html"


def _is_there(name: str) -> bool:
    folder = data_folder()
    places = (f"synthetic2d/{name}.csv", f"adelaidermf/{name}.mat", f"adelaidermf/{name}.csv")
    return any((folder / place).is_file() for place in places)


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
            "piforest.datasets import fetch_adelaidermf; fetch_adelaidermf(base_url='https://...')\""
        )
    say(text)


def _jobs(only: Sequence[str], there: list[str], runs: int, quick: bool, seed: int) -> list[Job]:
    in_tables = [name for name in there if not quick or name in QUICK]
    jobs: list[Job] = []
    for part in (part for part in TABLES if part in only):
        sets = [name for name in TABLES[part].sets if name in in_tables]
        jobs += table_jobs(part, sets, runs, seed)
    if "share" in only:
        shares = QUICK_SHARES if quick else SHARES
        jobs += share_jobs([name for name in SHARE_SETS if name in there], shares, runs, seed)
    if "variants" in only:
        jobs += variant_jobs([name for name in SYNTHETIC2D if name in in_tables], runs, seed)
    return jobs


def _pictures(
    out: Path,
    only: Sequence[str],
    there: list[str],
    quick: bool,
    cells: list[Cell],
    seed: int,
    n_jobs: int,
    say: Say,
) -> dict[str, Picture]:
    """name -> picture, drawn into out/figures."""
    try:
        import matplotlib
    except ImportError:
        say("No pictures were drawn: they need matplotlib, pip install 'piforest[plots]'.")
        return {}
    matplotlib.use("agg")
    from . import figures

    (out / "figures" / "pairs").mkdir(parents=True, exist_ok=True)
    drawn = {}
    if "figures" in only:
        for name, (draw, caption) in FIGURES.items():
            if name != "sets" or all(known in there for known in SYNTHETIC2D):
                drawn[name] = Picture(_save(draw(seed), out, name, ("png", "svg")), caption)
    if of("share", cells):
        figure = figures.share(share_curves(cells))
        caption = (
            "AUC in the preference space against the share of anomalies, mean and standard "
            "deviation over the runs. LOF with its three best k for this set."
        )
        drawn["share"] = Picture(_save(figure, out, "share", ("png", "svg")), caption)
    if "pairs" in only:
        pairs = [n for n in there if n in ADELAIDERMF and (not quick or n in QUICK)]
        finished = Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(_draw_pair)(name, seed, out) for name in pairs
        )
        for name, path in zip(pairs, with_bar(finished, len(pairs), "image pairs")):
            drawn[f"pair {name}"] = Picture(path, name)
    return drawn


def _draw_pair(name: str, seed: int, out: Path) -> Path:
    import matplotlib

    matplotlib.use("agg")
    from . import figures

    return _save(figures.pair(name, seed), out, f"pairs/{name}", ("jpg",))


def _save(figure: Any, out: Path, name: str, kinds: Sequence[str]) -> Path:
    """Save in each kind and return the path of the first within `out`."""
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
    return Path("figures") / f"{name}.{kinds[0]}"


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
