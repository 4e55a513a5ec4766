"""Synthetic scenes with ground truth, and loaders of the published sets."""

from ._render import Drawing, synthetic_scene
from .bounded import make_arcs, make_floor_plan, make_polygons, make_room
from .curves import (
    make_ellipses,
    make_parabolas,
    make_piecewise_laws,
    make_polynomials,
    make_regressions,
)
from .fetch import fetch_adelaidermf
from .matches import (
    make_affine_motion_pair,
    make_affine_pair,
    make_essential_pair,
    make_rigid_matches,
    make_rotation_pair,
    make_segments,
    make_similarity3d_matches,
    make_similarity_pair,
    make_translation3d_matches,
    make_translation_pair,
)
from .published import data_folder, list_datasets, load_adelaidermf, load_synthetic2d
from .scenes import make_circle_scene, make_circles, make_lines, make_stair, make_star
from .solids import make_cones, make_cylinders, make_planes, make_spheres, make_subspaces
from .stereo import make_motion_pair, make_plane_pair

__all__ = [
    "Drawing",
    "data_folder",
    "fetch_adelaidermf",
    "list_datasets",
    "load_adelaidermf",
    "load_synthetic2d",
    "make_affine_motion_pair",
    "make_affine_pair",
    "make_arcs",
    "make_circle_scene",
    "make_circles",
    "make_cones",
    "make_cylinders",
    "make_ellipses",
    "make_essential_pair",
    "make_floor_plan",
    "make_lines",
    "make_motion_pair",
    "make_parabolas",
    "make_piecewise_laws",
    "make_plane_pair",
    "make_planes",
    "make_polygons",
    "make_polynomials",
    "make_regressions",
    "make_rigid_matches",
    "make_room",
    "make_rotation_pair",
    "make_segments",
    "make_similarity3d_matches",
    "make_similarity_pair",
    "make_spheres",
    "make_stair",
    "make_star",
    "make_subspaces",
    "make_translation3d_matches",
    "make_translation_pair",
    "synthetic_scene",
]
