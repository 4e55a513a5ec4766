"""From a fitted detector and its points to one page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from numpy.typing import ArrayLike

from ..io.atomic import atomic_write, check_writable
from ..typing import RowsLike
from .content import build_content
from .page import render_page

if TYPE_CHECKING:
    from ..estimators.detector import Detector
    from ..io.tables import Table

__all__ = ["Report", "ReportOptions", "make_report", "write_report"]

# In a notebook, in pixels.
_HEIGHT = 900
_CONTENT = ("scores", "table", "names", "rows", "images")


class ReportOptions(TypedDict, total=False):
    """The options of `write_report`."""

    scores: ArrayLike | None
    table: Table | None
    names: Sequence[str] | None
    rows: ArrayLike | None
    images: Sequence[ArrayLike] | None
    title: str
    source: str
    command: str
    seconds: float | None
    date: str


@dataclass(frozen=True, repr=False)
class Report:
    """A report in memory. A notebook shows it in place; `save` writes it to a file.

    Attributes
    ----------
    page : str
        The whole HTML page.

    Examples
    --------
    >>> from piforest import PreferenceIsolationForest
    >>> from piforest.datasets import make_lines
    >>> X = make_lines(3, random_state=0).data
    >>> PreferenceIsolationForest("line", random_state=0).fit(X).report(X)  # doctest: +ELLIPSIS
    Report(... kB; a notebook shows it, save(path) writes it)
    """

    page: str

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file, atomically.

        Parameters
        ----------
        path : str or path
            The file; an existing one is replaced.
        """
        check_writable(Path(path))
        with atomic_write(path) as file:
            file.write(self.page.encode())

    def __repr__(self) -> str:
        kilobytes = len(self.page.encode()) // 1000
        return f"Report({kilobytes} kB; a notebook shows it, save(path) writes it)"

    def _repr_html_(self) -> str:
        """A frame with the page inside: no file, no server."""
        return (
            f'<iframe srcdoc="{html.escape(self.page, quote=True)}" title="piforest report" '
            f'width="100%" height="{_HEIGHT}" style="border: 0"></iframe>'
        )


def make_report(detector: Detector, X: RowsLike, **options: Unpack[ReportOptions]) -> Report:
    """Make the report of a detector, without writing it.

    Parameters
    ----------
    detector : Detector
        A fitted detector.
    X : array-like of shape (n, d)
        The points to show.
    **options : dict
        The options of `write_report`: scores, table, names, rows, images, title, source, command,
        seconds and date.

    Returns
    -------
    Report
        In a notebook, it shows itself.

    Examples
    --------
    >>> from piforest import PreferenceIsolationForest
    >>> from piforest.datasets import make_lines
    >>> from piforest.report import make_report
    >>> X = make_lines(3, random_state=0).data
    >>> detector = PreferenceIsolationForest("line", random_state=0).fit(X)
    >>> make_report(detector, X, title="Three lines").page[:15]
    '<!doctype html>'
    """
    about = {name: options.get(name) for name in _CONTENT}
    content = build_content(detector, X, **about)
    shown = (options.get("title", ""), options.get("source", ""), options.get("command", ""))
    page = render_page(content, *shown, options.get("seconds"), options.get("date", ""))
    return Report(page)


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
    made = make_report(
        detector, X, scores=scores, table=table, names=names, rows=rows, images=images, title=title,
        source=source, command=command, seconds=seconds, date=date,
    )  # fmt: skip
    made.save(path)
