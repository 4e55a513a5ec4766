"""Slow, obvious twins of everything fast, in plain Python and NumPy.

Where the paper is silent the conventions are those of the docs: empty rows, ties, the height
limit, c_b(n). Random decisions are words of the same streams.
"""

# ruff: noqa: F401 - the names that tests use as naive.name

from .bands import bands, greedy
from .default import default_detector, scales
from .forest import (
    c,
    extended_path_lengths,
    path_length,
    pi_forest,
    scores,
    smallest_words,
    subsample,
)
from .hashing import child, hashed_length, hashed_tree, shares
from .lzf import lzf_decompress
from .match_solvers import centred, solve_fundamental, solve_homography
from .metrics import DISTANCE, table, tanimoto
from .preferences import PHI, preferences, without_in_sample_preferences
from .residuals import RESIDUAL, residual_cylinder_with_normals, residuals
from .samplers import (
    draw_samples,
    grouped_samples,
    local_samples,
    mixed_samples,
    stratified_samples,
    weighted_samples,
)
from .solvers import SOLVE, solve_circle, solve_cylinder_with_normals
from .streams import NaiveStream
from .uniting import neighbours, united
