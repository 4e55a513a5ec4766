"""Scenes with ground truth, and readers of the published sets."""

from .fetch import fetch_adelaidermf
from .laws import make_piecewise_laws
from .published import data_folder, list_datasets, load_adelaidermf, load_synthetic2d
from .scenes import make_circle_scene, make_circles, make_lines, make_stair, make_star
from .stereo import make_motion_pair, make_plane_pair

__all__ = [
    "data_folder",
    "fetch_adelaidermf",
    "list_datasets",
    "load_adelaidermf",
    "load_synthetic2d",
    "make_circle_scene",
    "make_circles",
    "make_lines",
    "make_motion_pair",
    "make_piecewise_laws",
    "make_plane_pair",
    "make_stair",
    "make_star",
]
