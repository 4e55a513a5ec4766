"""The report: one self-contained HTML file with points, threshold and structures."""

from .write import write_report

__all__ = ["write_report"]
