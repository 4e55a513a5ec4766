"""The report: one self-contained HTML file with points, threshold and structures."""

from .write import Report, ReportOptions, make_report, write_report

__all__ = ["Report", "ReportOptions", "make_report", "write_report"]
