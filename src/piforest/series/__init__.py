"""Series of channels: anomalous runs in sliding windows."""

from .inspect import Run, SeriesResult, inspect_series

__all__ = ["Run", "SeriesResult", "inspect_series"]
