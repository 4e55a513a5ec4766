"""Matches between two images: tell true matches from false ones, and find the motions.

>>> from piforest.datasets import make_plane_pair
>>> from piforest.vision import filter_matches, match_images
>>> pair = make_plane_pair(2, random_state=0)
>>> found = match_images(*pair.images)  # SIFT, the ratio test and mutual matches, by OpenCV
>>> kept = filter_matches(found.X[:, :2], found.X[:, 2:], family="homography", random_state=0)
>>> kept.mask.shape == kept.scores.shape == (len(found.X),)
True
>>> good = found.X[kept.mask]  # rows (x1, y1, x2, y2) in pixels
>>> H = kept.models[0]  # of the first plane, as cv2.findHomography gives it

As in OpenCV, the origin of pixel coordinates is the centre of the upper left pixel.
"""

from __future__ import annotations

from ..io.cameras import Camera, read_calibration
from .features import Features, Matched, extract_features, match_features, match_images
from .filtering import CameraLike, Filtered, FilterOptions, filter_matches, match_families
from .images import ImageLike, read_image
from .inputs import KeyPoint, Match, MatchesLike, PointsLike
from .motions import Motion
from .pairs import PairResult, filter_pairs
from .pose import Pose, relative_pose

__all__ = [
    "Camera",
    "CameraLike",
    "Features",
    "FilterOptions",
    "Filtered",
    "ImageLike",
    "KeyPoint",
    "Match",
    "Matched",
    "MatchesLike",
    "Motion",
    "PairResult",
    "PointsLike",
    "Pose",
    "extract_features",
    "filter_matches",
    "filter_pairs",
    "match_families",
    "match_features",
    "match_images",
    "read_calibration",
    "read_image",
    "relative_pose",
]
