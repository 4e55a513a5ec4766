"""From a fitted detector and its points to one page."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from ..io.atomic import check_writable, whole_file
from ..typing import RowsLike
from .content import build_content
from .page import render_page

if TYPE_CHECKING:
    from ..estimators.detector import Detector
    from ..io.tables import Table

__all__ = ["write_report"]


def write_report(
    path: str | PathLike[str],
    detector: Detector,
    X: RowsLike,
    *,
    scores: ArrayLike | None = None,
    table: Table | None = None,
    names: Sequence[str] | None = None,
    rows: ArrayLike | None = None,
    images: Sequence[ArrayLike] | None = None,
    title: str = "",
    source: str = "",
    command: str = "",
    seconds: float | None = None,
    date: str = "",
) -> None:
    """Write what a detector found to one self-contained HTML file.

    The page holds at most 10,000 points: of more, the 5,000 most anomalous ones and a random
    sample of the others; fewer if the table is wide. Its counts are those of all points. The
    same input gives the same file.

    Parameters
    ----------
    path : str or path
        The file to write, atomically; an existing file is replaced.
    detector : Detector
        A fitted detector.
    X : array-like of shape (n, d)
        The points to show.
    scores : array-like of shape (n,) or None, default=None
        `detector.anomaly_score(X)`, if it is known.
    table : Table or None, default=None
        A `piforest.io.tables.Table` of n rows, for values and downloads.
    names : sequence of str or None, default=None
        Names of the d columns; by default those of a data frame or of the family.
    rows : array-like of int of shape (n,) or None, default=None
        Numbers of the rows; by default from 1.
    images : two array-likes of shape (h, w) or (h, w, 3), or None, default=None
        The images of matches (x1, y1, x2, y2).
    title : str, default=""
        The title of the page.
    source : str, default=""
        Where the points come from; names the downloads too.
    command : str, default=""
        The command that was run.
    seconds : float or None, default=None
        How long it took.
    date : str, default=""
        The date to show.

    Raises
    ------
    OSError
        If the file cannot be written; before anything is computed.

    Examples
    --------
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
    content = build_content(detector, X, scores, table, names, rows, images)
    text = render_page(content, title, source, command, seconds, date)
    with whole_file(path) as file:
        file.write(text.encode())
