"""The report: one HTML file that needs no other, with the points, the cut and the structures."""

from .write import write_report

__all__ = ["write_report"]
