"""What never ends: a window of rows, and models and trees that are renewed from it."""

from .drift import Drift

__all__ = ["Drift"]
