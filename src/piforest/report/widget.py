"""The view of the report as a widget of notebooks: Jupyter, VS Code, marimo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from ..typing import RowsLike
from ..web import STATIC, bundled, static
from .content import build_content, most_telling
from .payload import payload

if TYPE_CHECKING:
    from ..estimators.detector import Detector

__all__ = ["View", "ViewOptions", "make_view"]

_STATIC = Path(__file__).parent / "static"


class ViewOptions(TypedDict, total=False):
    """The options of `make_view`."""

    scores: ArrayLike | None
    names: Sequence[str] | None
    images: Sequence[ArrayLike] | None
    max_rows: int


class View(Protocol):
    """A widget of anywidget that shows rows; its traits follow the page, and the page follows them.

    Attributes
    ----------
    threshold : float
        Rows with a larger score are shown as anomalies.
    selection : list of int
        The selected positions in X, ascending.
    """

    threshold: float
    selection: list[int]


def make_view(
    detector: Detector,
    X: RowsLike,
    *,
    scores: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    images: Sequence[ArrayLike] | None = None,
    max_rows: int = 100_000,
) -> View:
    """Show rows in a notebook; the threshold and the selection come back to Python.

    Parameters
    ----------
    detector : Detector
        A fitted detector.
    X : array-like of shape (n, d)
        The rows to show.
    scores : array-like of shape (n,) or None, default=None
        `detector.anomaly_score(X)`, if it is known.
    names : sequence of str or None, default=None
        Names of the d columns; by default those of a data frame or of the family.
    images : two array-likes of shape (h, w) or (h, w, 3), or None, default=None
        The images of matches (x1, y1, x2, y2).
    max_rows : int, default=100_000
        How many rows are sent to the browser: of more, half of them the most anomalous ones and
        half a random sample of the others. Counts are those of all rows.

    Returns
    -------
    View
        A widget with two traits, which the reader moves and Python reads or sets: `threshold`, a
        float, and `selection`, a list of positions in X, ascending.

    Raises
    ------
    ImportError
        If anywidget is not installed.

    Examples
    --------
    >>> from piforest import PreferenceIsolationForest
    >>> from piforest.datasets import make_lines
    >>> X = make_lines(3, random_state=0).data
    >>> detector = PreferenceIsolationForest("line", random_state=0).fit(X)
    >>> view = detector.view(X)
    >>> view.selection = [3, 5]
    >>> detector.set_threshold(view.threshold).predict(X[view.selection])
    array([1, 1])
    """
    if max_rows < 1:
        raise ValueError(f"max_rows must be at least 1, got {max_rows}.")
    widget = _widget_class()
    content = build_content(detector, X, scores, None, names, np.arange(len(X)), images)  # type: ignore[arg-type]
    content = replace(content, shown=most_telling(content.scores, max_rows))
    view: View = widget(
        data=payload(content, ""),
        style=_style(),
        threshold=content.threshold,
        n_rows=len(content.X),
    )
    return view


@cache
def _style() -> str:
    return static(STATIC / "base.css") + static(_STATIC / "widget.css")


@cache
def _widget_class() -> Any:
    """The class of the widget; anywidget is imported when it is first needed."""
    try:
        import anywidget
        import traitlets
    except ImportError as problem:
        raise ImportError(
            "detector.view needs anywidget: pip install 'piforest[notebook]'. "
            "detector.report(X) shows a page in a notebook without it."
        ) from problem

    class Widget(anywidget.AnyWidget):  # type: ignore[misc]
        """Rows, their scores and structures. `threshold` and `selection` go both ways."""

        _esm = f"{bundled(_STATIC / 'widget.js')}export default {{ render }};\n"
        data = traitlets.Unicode().tag(sync=True)
        style = traitlets.Unicode().tag(sync=True)
        n_rows = traitlets.Int()
        threshold = traitlets.Float().tag(sync=True)
        selection = traitlets.List(traitlets.Int()).tag(sync=True)

        @traitlets.validate("threshold")
        def _finite(self, proposal: Any) -> float:
            value = float(proposal["value"])
            if not np.isfinite(value):
                raise ValueError(f"threshold must be finite, got {value}.")
            return value

        @traitlets.validate("selection")
        def _rows(self, proposal: Any) -> list[int]:
            """Ascending positions of X, each once."""
            rows = sorted({int(row) for row in proposal["value"]})
            if rows and not 0 <= rows[0] <= rows[-1] < self.n_rows:
                wrong = rows[0] if rows[0] < 0 else rows[-1]
                raise ValueError(
                    f"selection must be positions from 0 to {self.n_rows - 1}, got {wrong}."
                )
            return rows

    return Widget
