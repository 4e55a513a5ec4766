"""Scenes with ground truth, and readers of the published sets."""

from .published import data_folder, list_datasets, load_adelaidermf, load_synthetic2d
from .scenes import make_circles, make_lines

__all__ = [
    "data_folder",
    "list_datasets",
    "load_adelaidermf",
    "load_synthetic2d",
    "make_circles",
    "make_lines",
]
