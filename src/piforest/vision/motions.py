"""Motions between two images: H, F or E of each structure, fitted to all of its matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..io.cameras import Camera
from ..protocols import Floats, Ints
from ..structures.greedy import Structure
from .pose import best_rotation, relative_pose
from .refine import fit_homography, refine, transfer_errors

__all__ = ["Motion", "motions_of"]

# Families of maps of points, x2 ~ H x1; the others are epipolar, x2' F x1 = 0.
MAPS = ("homography", "affinity", "similarity", "translation", "rotation")
CALIBRATED = ("essential", "rotation")
# A homography that fits this share of the matches leaves F, E and t undetermined (the ratio of
# COLMAP).
_PLANE = 0.8
# The band of an epipolar geometry, of which the half-width is two sigmas, bounds one coordinate.
# The transfer error of as good a map has two, with the noise of both images, and more where one
# image is larger: 2.5 sigmas have 80 % of them, 1.55 times as many with focal lengths 900 and 1400.
_REACH = 2.0
_ROUNDS = 3
# Entries of a map below this share of the largest are rounding errors.
_ROUNDING = 1e-14
# Any two matches follow a rotation, up to the noise.
_FEWEST = 4


@dataclass(frozen=True, eq=False, repr=False)
class Motion:
    """One motion between two images: a structure of the matches.

    Its matrices are fitted to all of its matches by least squares.

    Attributes
    ----------
    family : str
        The name of the family.
    members : ndarray of int of shape (m,)
        The rows of its matches.
    half_width : float
        Half the width of its band, about two sigmas, in pixels.
    H : ndarray of shape (3, 3) or None
        The map x2 ~ H x1 in pixels, of families of maps; also where a plane or a rotation
        explains the matches of another family.
    F : ndarray of shape (3, 3) or None
        The fundamental matrix, x2' F x1 = 0 in pixels, of epipolar families.
    E : ndarray of shape (3, 3) or None
        The essential matrix, if the cameras are known.
    R : ndarray of shape (3, 3) or None
        The rotation from the first camera to the second, if the cameras are known.
    t : ndarray of shape (3,) or None
        The direction of the translation, of unit length; None where it is not determined.
    parallax : float or None
        The median angle between the two rays of a match, in degrees.
    note : str
        What the matches do not determine, and why; empty if nothing.
    """

    family: str
    members: Ints
    half_width: float
    H: Floats | None = None
    F: Floats | None = None
    E: Floats | None = None
    R: Floats | None = None
    t: Floats | None = None
    parallax: float | None = None
    note: str = ""

    @property
    def matrix(self) -> Floats:
        """(3, 3) H of a family of maps, F of an epipolar one."""
        found = self.H if self.family in MAPS else self.F
        assert found is not None
        return found

    def __repr__(self) -> str:
        known = [name for name in "HFERt" if getattr(self, name) is not None]
        note = f"; {self.note}" if self.note else ""
        return f"Motion({self.family}, {len(self.members)} matches, {', '.join(known)}{note})"


def motions_of(
    structures: Sequence[Structure],
    labels: Ints,
    X: Floats,
    cameras: tuple[Camera, Camera] | None,
) -> list[Motion]:
    """The motions of structures of the matches X (n, 4) in pixels.

    labels (n,): the structure of each match, -1 for none. cameras: those that the matches were
    normalised with, if the family needs it, or that the pose is to be computed for.
    """
    rays = None
    if cameras is not None:
        rays = np.column_stack([each.normalise(X[:, 2 * k : 2 * k + 2])
                                for k, each in enumerate(cameras)])  # fmt: skip
    return [
        _motion(each, np.flatnonzero(labels == k), X, rays, cameras)
        for k, each in enumerate(structures)
    ]


def _motion(
    structure: Structure,
    members: Ints,
    X: Floats,
    rays: Floats | None,
    cameras: tuple[Camera, Camera] | None,
) -> Motion:
    family, width = structure.family.name, float(structure.half_width)
    calibrated = family in CALIBRATED
    if calibrated and cameras is not None:
        width *= (cameras[0].focal + cameras[1].focal) / 2
    rows = rays if calibrated and rays is not None else X
    matrix = refine(family, _start(structure), rows[members])
    found: dict[str, Any] = {"family": family, "members": members, "half_width": width}
    if family == "rotation":
        return Motion(**found, R=matrix, H=_in_pixels(matrix, cameras, True))
    if family in MAPS:
        known = {}
        if rays is not None and len(members):
            errors = transfer_errors(matrix, X[members])
            known = _pose_of_map(rays[members], min(width, 2 * float(np.median(errors))), cameras)
        return Motion(**{**found, **known, "H": _without_noise(matrix)})
    plane = _plane(X[members], width) if family in ("fundamental", "essential") else None
    F = _in_pixels(matrix, cameras, False) if family == "essential" else matrix
    note = "" if plane is None else "a plane or a rotation explains the matches: F is ambiguous"
    found |= {"F": F, "H": plane, "note": note}
    if family == "affine_fundamental" or (family == "fundamental" and rays is None):
        more = "" if rays is None else "an affine fundamental matrix does not determine R and t"
        return Motion(**{**found, "note": more or note})
    if family == "fundamental" and plane is not None:
        # E of an ambiguous F is any of many, and so are R and t.
        known = _pose_of_map((X if rays is None else rays)[members], width, cameras)
        return Motion(**{"parallax": None, **found, **known})
    E = matrix if family == "essential" else _essential(matrix, cameras)
    return Motion(**{**found, **_pose(E, (X if rays is None else rays)[members], width, cameras)})


def _without_noise(H: Floats) -> Floats:
    """The matrix with zeros in place of rounding errors."""
    return np.where(np.abs(H) < _ROUNDING * np.abs(H).max(), 0.0, H)


def _pose_of_map(rays: Floats, width: float, cameras: Any) -> dict[str, Any]:
    """R where a rotation alone explains the matches of one map; else why there is no pose."""
    if len(rays) < _FEWEST:
        return {"note": "too few matches for R and t"}
    R = best_rotation(rays)
    if not _turns(R, rays, width, cameras):
        return {"note": "one plane explains the matches, which leaves several R and t: F is "
                        "ambiguous; family='essential' chooses"}  # fmt: skip
    note = "a rotation explains the matches as well as a map does: t is not determined"
    return {"R": R, "H": _in_pixels(R, cameras, True), "note": note}


def _turns(R: Floats, rays: Floats, width: float, cameras: Any) -> bool:
    """Whether a rotation alone explains the matches."""
    focal = 1.0 if cameras is None else (cameras[0].focal + cameras[1].focal) / 2
    with np.errstate(all="ignore"):
        alone = transfer_errors(R, rays) * focal
    return bool(np.mean(alone <= _REACH * width) >= _PLANE)


def _start(structure: Structure) -> Floats:
    """The matrix that a refinement begins with; its sign matters, so that it is not scaled."""
    return np.asarray(structure.family.matrices(structure.params[None])[0])  # type: ignore[attr-defined]


def _plane(X: Floats, width: float) -> Floats | None:
    """A homography that explains the matches, if there is one."""
    near = X
    for _ in range(_ROUNDS):
        H = fit_homography(near)
        if H is None:
            return None
        with np.errstate(all="ignore"):
            errors = transfer_errors(H, X)
        # It need not explain all of them: without the others, it is more exact.
        near = X[errors <= np.nanquantile(errors, _PLANE)]
    return H if np.mean(errors <= _REACH * width) >= _PLANE else None


def _essential(F: Floats, cameras: Any) -> Floats:
    """The essential matrix nearest to K2' F K1, of unit norm."""
    U, _, Vt = np.linalg.svd(cameras[1].K.T @ F @ cameras[0].K)
    return np.asarray(U @ np.diag([1, 1, 0]) @ Vt / np.sqrt(2))


def _in_pixels(matrix: Floats, cameras: Any, map_of_points: bool) -> Floats:
    """H or F in pixels of a rotation or an essential matrix."""
    if cameras is None:
        return matrix
    back = np.linalg.inv(cameras[0].K)
    if map_of_points:
        H = cameras[1].K @ matrix @ back
        return np.asarray(H / H[2, 2]) if abs(H[2, 2]) > 1e-12 else H
    F = np.linalg.inv(cameras[1].K).T @ matrix @ back
    return np.asarray(F / np.linalg.norm(F))


def _pose(E: Floats, rays: Floats, width: float, cameras: Any) -> dict[str, Any]:
    """R and t; where a rotation alone explains the matches, t is not determined."""
    if not len(rays):
        return {"E": E, "note": "no match is a member: the pose is not determined"}
    R, pose = best_rotation(rays), relative_pose(E, rays)
    if _turns(R, rays, width, cameras):
        note = "a rotation explains the matches: t is not determined"
        return {"E": E, "R": R, "H": _in_pixels(R, cameras, True), "parallax": pose.parallax,
                "note": note}  # fmt: skip
    return {"E": E, "R": pose.R, "t": pose.t, "parallax": pose.parallax}
