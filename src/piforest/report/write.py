"""From a fitted detector and its points to one page."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from ..io.atomic import check_writable, whole_file
from .content import gather
from .page import page_of


def write_report(
    path: str | PathLike[str],
    detector: Any,
    X: Any,
    *,
    scores: Any = None,
    table: Any = None,
    names: Any = None,
    rows: Any = None,
    images: Any = None,
    title: str = "",
    source: str = "",
    command: str = "",
    seconds: float | None = None,
    date: str = "",
) -> None:
    """Write one HTML file that shows what a detector found; it needs nothing else to be read.

    path: where; a file of that name is replaced, whole or not at all.
    detector: fitted. X (n, d): the points to show, as the detector takes them.
    scores (n,): `detector.anomaly_score(X)`, where it is known already.
    table: a `piforest.io.tables.Table` of n rows with the columns behind X, for values and
    downloads.
    names: d names of the columns of X. rows (n,): the numbers of the rows as the reader counts
    them; from 1, if None.
    images: the two pictures (h, w) or (h, w, 3) that matches (x1, y1, x2, y2) lie in.
    title, source, date: for the head of the page; command and seconds: what was run, how long.

    Of more than 10,000 points, the page holds the most anomalous 5,000 and as many others at
    random; fewer where the table is wide. Its counts are those of all points. The same input
    gives the same file.

    >>> from piforest import PreferenceIsolationForest
    >>> from piforest.datasets import make_lines
    >>> X = make_lines(3, random_state=0).data
    >>> detector = PreferenceIsolationForest("line", random_state=0).fit(X)
    >>> import pathlib, tempfile
    >>> page = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(page, detector, X, names=["x", "y"])
    >>> page.read_text()[:15]
    '<!doctype html>'
    """
    check_writable(Path(path))
    content = gather(detector, X, scores, table, names, rows, images)
    text = page_of(content, title, source, command, seconds, date)
    with whole_file(path) as file:
        file.write(text.encode())
