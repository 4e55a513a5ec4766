"""Scenes with ground truth, for examples and tests."""

from .scenes import make_circles, make_lines

__all__ = ["make_circles", "make_lines"]
