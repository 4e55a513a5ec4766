"""The report, one self-contained HTML file, and the same view as a widget of notebooks."""

from .widget import View, ViewOptions, make_view
from .write import Report, ReportOptions, make_report, write_report

__all__ = [
    "Report",
    "ReportOptions",
    "View",
    "ViewOptions",
    "make_report",
    "make_view",
    "write_report",
]
