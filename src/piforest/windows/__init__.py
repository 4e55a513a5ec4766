"""Overlapping windows with a detector in each: local structures of unknown smooth surfaces."""

from .fitted import FittedWindows, Window
from .tiling import Tiling

__all__ = ["FittedWindows", "Tiling", "Window"]
