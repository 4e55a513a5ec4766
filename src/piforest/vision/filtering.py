"""Matches between two images: those that follow a motion, and the motions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from .._random import Stream
from ..estimators import PreferenceIsolationForest
from ..families import FAMILIES, get_family, layout_of
from ..io.cameras import Camera
from ..proposals import Proposals
from ..proposals.propose import propose
from ..protocols import Bools, Floats, Ints
from ..structures.assignment import Assignment, assign_rows
from ..typing import (
    ContaminationLike,
    FamilyLike,
    ForestKind,
    KernelLike,
    MetricLike,
    ModelCount,
    Path,
    RandomStateLike,
    SamplerLike,
    Scale,
    ScaleColumns,
    SigmaLike,
    Weighting,
)
from .inputs import MatchesLike, PointsLike, as_rows
from .motions import CALIBRATED, Motion, motions_of

__all__ = ["CameraLike", "FilterOptions", "Filtered", "filter_matches", "match_families"]

CameraLike = Camera | ArrayLike


@dataclass(frozen=True, eq=False, repr=False)
class Filtered:
    """The result of `filter_matches` for n matches.

    Attributes
    ----------
    mask : ndarray of bool of shape (n,)
        True for matches to keep.
    scores : ndarray of shape (n,)
        Anomaly scores in (0, 1], high = anomalous.
    X : ndarray of shape (n, 4)
        The matches, rows (x1, y1, x2, y2) as they were given.
    detector : PreferenceIsolationForest
        The fitted detector. With cameras and a calibrated family, it was fitted to normalised
        coordinates.
    cameras : tuple of two Camera, or None
        The cameras of K1 and K2.
    labels : ndarray of int of shape (n,)
        The motion of each match, -1 for none.
    distances : ndarray of shape (n,)
        The distance of each match to the nearest motion, in its sigmas.
    motions : list of Motion
        The motions, those with the most evidence first; computed on first use.
    models : ndarray of shape (s, 3, 3)
        H of each motion for families of maps, F for epipolar ones, as OpenCV has them.
    """

    mask: Bools
    scores: Floats
    X: Floats
    detector: PreferenceIsolationForest
    cameras: tuple[Camera, Camera] | None = None

    def __repr__(self) -> str:
        motions = len(self.detector.structures_)
        counted = f"{motions} motion{'' if motions == 1 else 's'}"
        names = ", ".join(models.family.name for models in self.detector.models_)
        kept = f"{int(self.mask.sum()):,} of {len(self.mask):,} matches kept"
        return f"Filtered({kept}, {counted} of family {names})"

    @cached_property
    def labels(self) -> Ints:
        """(n,) the motion of each match, -1 for none."""
        return self._assigned.labels

    @property
    def distances(self) -> Floats:
        """(n,) the distance of each match to the nearest motion, in its sigmas."""
        return self._assigned.distances

    @cached_property
    def _assigned(self) -> Assignment:
        return assign_rows(_fitted_rows(self), self.mask, self.detector.structures_)

    @cached_property
    def motions(self) -> list[Motion]:
        """The motions, those with the most evidence first."""
        return motions_of(self.detector.structures_, self.labels, self.X, self.cameras)

    @property
    def models(self) -> Floats:
        """(s, 3, 3) H or F of each motion."""
        return np.array([each.matrix for each in self.motions]).reshape(-1, 3, 3)


class FilterOptions(TypedDict, total=False):
    """The parameters of `PreferenceIsolationForest` that `filter_matches` passes on."""

    n_models: ModelCount
    kernel: KernelLike
    sampler: SamplerLike
    scale: Scale
    weighting: Weighting
    in_sample_preferences: bool
    concentrate: bool
    refit: bool
    select: bool
    bound: bool
    scale_columns: ScaleColumns
    forest: ForestKind
    path: Path
    metric: MetricLike
    n_estimators: int
    max_samples: int
    branching: int
    pool_size: int
    false_alarm_rate: float | None
    device: str
    verbose: int


def filter_matches(
    points1: PointsLike,
    points2: PointsLike,
    matches: MatchesLike | None = None,
    *,
    family: FamilyLike = "fundamental",
    K1: CameraLike | None = None,
    K2: CameraLike | None = None,
    quality: ArrayLike | None = None,
    sigma: SigmaLike = "auto",
    contamination: ContaminationLike = "auto",
    n_jobs: int | None = None,
    random_state: RandomStateLike = None,
    **options: Unpack[FilterOptions],
) -> Filtered:
    """Separate the matches between two images that follow a motion from the others.

    Parameters
    ----------
    points1, points2 : array-like of shape (n1, 2) and (n2, 2), or sequence of cv2.KeyPoint
        Points of each image, in pixels.
    matches : array-like of int of shape (n, 2), sequence of cv2.DMatch or None, default=None
        Pairs of indices, as in COLMAP, or matches of OpenCV; of the lists that `knnMatch`
        returns, the first match of each. None matches row i of `points1` with row i of
        `points2`.
    family : str or ModelFamily, default="fundamental"
        The motions: "fundamental" for rigid bodies, "homography" for planes or a rotating
        camera, "affinity", "similarity", "translation", "affine_fundamental"; "essential" and
        "rotation" for calibrated cameras. "auto" compares all but the last two and takes the one
        that the matches suggest; `detector.proposals_` is the comparison.
    K1, K2 : Camera, array-like of shape (3, 3) or (4,), or None, default=None
        The cameras: a matrix K, or fx, fy, cx, cy; without K2, both are K1. "essential" and
        "rotation" then take pixels, and `motions` have R and t. Without K1, these two take
        normalised coordinates.
    quality : array-like of shape (n,) or None, default=None
        High for matches to trust, such as the scores of a learned matcher, or 1 - ratio. Minimal
        samples are drawn in proportion to it (the sampler "weighted").
    sigma : float or "auto", default="auto"
        The noise of the matches, in pixels.
    contamination : float in (0, 1) or "auto", default="auto"
        The share of false matches.
    n_jobs : int or None, default=None
        The number of threads.
    random_state : int, RandomState, Generator or None, default=None
        The seed.
    **options
        Other parameters of `PreferenceIsolationForest`.

    Returns
    -------
    Filtered
        The mask of kept matches, their scores, the motions and the fitted detector.

    Raises
    ------
    ValueError
        If there are no matches, or if points, matches and cameras do not fit together.

    Examples
    --------
    >>> from piforest.datasets import make_motion_pair
    >>> pair = make_motion_pair(2, random_state=0)
    >>> kept = filter_matches(pair.data[:, :2], pair.data[:, 2:], random_state=0)
    >>> float(np.mean(pair.target[kept.mask] > 0).round(2))  # share of true matches
    1.0
    >>> kept.models.shape  # a fundamental matrix for each motion
    (2, 3, 3)

    With pairs of indices, as COLMAP stores them:

    >>> points1, points2 = pair.data[:, :2], pair.data[::-1, 2:]
    >>> pairs = [(i, len(points2) - 1 - i) for i in range(len(points1))]
    >>> again = filter_matches(points1, points2, pairs, random_state=0)
    >>> bool((again.scores == kept.scores).all())
    True
    """
    X = as_rows(points1, points2, matches)
    if not len(X):
        raise ValueError("at least one match is needed, got 0.")
    proposals = None
    if isinstance(family, str) and family == "auto":
        proposals = propose_match_family(X, Stream.from_random_state(random_state))
        family = proposals.family
    cameras = _cameras(K1, K2)
    normalised = cameras is not None and _is_calibrated(family)
    if quality is not None:
        options = {"sampler": "weighted", **options}
    detector = PreferenceIsolationForest(
        family,
        sigma=_in_units(sigma, cameras) if normalised else sigma,
        contamination=contamination,
        n_jobs=n_jobs,
        random_state=random_state,
        **options,
    )
    rows = normalise_rows(X, cameras) if normalised else X
    detector.fit(rows, quality=quality)
    detector.proposals_ = proposals
    known = detector.findings_.has_scores
    scores = detector.scores_ if known else detector.anomaly_score(rows)
    return Filtered(scores <= detector.threshold_, scores, X, detector, cameras)


def propose_match_family(X: Floats, stream: Stream) -> Proposals:
    """Compare the families of matches between images in pixels, rows X (n, 4).

    Raises
    ------
    ValueError
        If the matches are too few for one of the families.
    """
    families = [get_family(name) for name in match_families() if name not in CALIBRATED]
    least = max(each.sample_size(4) for each in families)
    if len(X) < least:
        raise ValueError(
            f"a comparison of families needs at least {least} matches, got {len(X)}. Find more "
            "matches, or name a family, such as family='similarity' (--family similarity)."
        )
    return propose(X, None, stream.child("proposals"), families=families)


def normalise_rows(X: Floats, cameras: tuple[Camera, Camera] | None) -> Floats:
    """(n, 4) the matches in normalised coordinates of both cameras; as they are without."""
    if cameras is None:
        return X
    return np.column_stack([cameras[0].normalise(X[:, :2]), cameras[1].normalise(X[:, 2:])])


def match_families() -> list[str]:
    """List the families whose rows are matches (x1, y1, x2, y2) between two images.

    Returns
    -------
    list of str

    Examples
    --------
    >>> "homography" in match_families(), "line" in match_families()
    (True, False)
    """
    listed = ((name, get_family(name)) for name in FAMILIES.names())
    return [n for n, each in listed if each.n_features == 4 and layout_of(each).kind == "matches"]


def _cameras(K1: CameraLike | None, K2: CameraLike | None) -> tuple[Camera, Camera] | None:
    if K1 is None:
        if K2 is not None:
            raise ValueError("K2 needs K1, the camera of the first image; pass both.")
        return None
    try:
        first = Camera.of(K1)
    except ValueError as error:
        raise ValueError(f"K1: {error}") from None
    try:
        return first, first if K2 is None else Camera.of(K2)
    except ValueError as error:
        raise ValueError(f"K2: {error}") from None


def _is_calibrated(family: Any) -> bool:
    """Does the family take normalised coordinates? All of them, if it is a list of families."""
    listed = family if isinstance(family, list) else [family]
    names = [each[0] if isinstance(each, tuple) else each for each in listed]
    known = [(name if isinstance(name, str) else name.name) in CALIBRATED for name in names]
    if any(known) and not all(known):
        raise ValueError(
            "family mixes 'essential' or 'rotation', which take normalised coordinates, with "
            "families of pixels; detect them one by one."
        )
    return all(known)


def _in_units(sigma: Any, cameras: Any) -> Any:
    """A noise in pixels as one of normalised coordinates."""
    if isinstance(sigma, str):
        return sigma
    return sigma / ((cameras[0].focal + cameras[1].focal) / 2)


def _fitted_rows(kept: Filtered) -> Floats:
    """The rows that the detector was fitted to."""
    normalised = kept.cameras is not None and _is_calibrated(kept.detector.family)
    return normalise_rows(kept.X, kept.cameras) if normalised else kept.X
