"""`piforest reproduce --real`: from the cases to a file of results and a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..page import Picture, save_figure, write_page
from .evaluate import Log, Row, evaluate, read_rows
from .page import FOLDER, TITLE, content, pictures_in
from .pictures import PICTURES
from .summary import compare, report

RESULTS, PAGE = "real.json", "real_data"
_DPI = 60


def reproduce_real(
    out: Path,
    *,
    parts: Sequence[str] | None = None,
    compare_with: Path | None = None,
    quick: bool = False,
    runs: int | None = None,
    seed: int = 0,
    n_jobs: int = -1,
    log: Log = print,
) -> Path:
    """Evaluate the parts and write a page to the folder `out`; returns its path.

    Finished cases are stored in `out/real.json`, so the same call continues an interrupted one.
    compare_with: an earlier file of results, whose means are printed beside the new ones. quick:
    one run of a third of the cells, and no pictures. runs: at most this many runs of each cell.
    """
    if out.exists() and not out.is_dir():
        raise FileExistsError(f"{out} is a file; select a folder with --out.")
    old = None if compare_with is None else read_rows(compare_with)
    rows = evaluate(
        out / RESULTS, parts=parts, quick=quick, runs=runs, seed=seed, n_jobs=n_jobs, log=log
    )
    log(report(rows))
    if old is not None:
        log(compare(old, rows))
    pictures: dict[str, Picture] = {}
    if not quick:
        _draw(out, rows, parts, seed, log)
        pictures = pictures_in(out)
    write_page(out, PAGE, TITLE, content(rows, pictures, seed))
    log(f"The page is {(out / PAGE).resolve()}.html")
    return out / f"{PAGE}.html"


def _draw(out: Path, rows: list[Row], parts: Sequence[str] | None, seed: int, log: Log) -> None:
    try:
        import matplotlib
    except ImportError:
        log("No pictures were drawn: plots need matplotlib, pip install 'piforest[plots]'.")
        return
    matplotlib.use("agg")
    (out / FOLDER).mkdir(parents=True, exist_ok=True)
    present = {row["part"] for row in rows if parts is None or row["part"] in parts}
    for part, (draw, suffix, _) in PICTURES.items():
        if part in present:
            try:
                save_figure(draw(seed), out / FOLDER / f"{part}.{suffix}", dpi=_DPI)
            except LookupError as error:
                log(f"No picture of {part} was drawn: {error}")
