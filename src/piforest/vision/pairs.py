"""Many pairs of images in one run: in processes, and to be continued where it was interrupted."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .._validation import check_choice
from ..families import get_family
from ..io.cameras import Camera
from ..io.matches import MatchFile, Pair, PairMatches, Verdict, open_matches
from ..protocols import Bools, Floats, Ints
from .filtering import CameraLike, Filtered, filter_matches
from .journal import Journal
from .motions import CALIBRATED, MAPS, Motion

__all__ = ["GEOMETRIES", "PairOptions", "PairResult", "filter_pairs", "judge_pair", "run_pairs"]

# COLMAP's numbers of geometries between two images, and their names in the table of pairs.
GEOMETRIES = {
    1: "none", 2: "calibrated", 3: "uncalibrated", 5: "rotation", 6: "plane or rotation",
    8: "several motions",
}  # fmt: skip
_NONE, _CALIBRATED, _UNCALIBRATED, _ROTATION, _PLANE, _SEVERAL = GEOMETRIES


@dataclass(frozen=True)
class PairOptions:
    """How the matches of each pair are judged."""

    family: str = "fundamental"
    family_options: tuple[tuple[str, Any], ...] = ()
    sigma: float | str = "auto"
    contamination: float | str = "auto"
    false_alarm_rate: float | None = None
    n_models: int | str = "auto"
    n_estimators: int = 100
    quality: bool = False
    keep: str = "all"
    least: int = 15
    seed: int = 0
    camera: Camera | None = None


@dataclass(frozen=True, eq=False)
class PairResult:
    """What was found between two images.

    Attributes
    ----------
    image1, image2 : str
        The names of the images.
    X : ndarray of shape (n, 4)
        The matches, x1, y1, x2, y2 in pixels.
    kept : ndarray of bool of shape (n,)
        Which matches are kept.
    scores : ndarray of shape (n,)
        Anomaly scores; nan if there are too few matches.
    labels : ndarray of int of shape (n,)
        The motion of each match, -1 for none.
    motions : int
        The number of motions.
    sigma : float
        The noise in pixels; nan if there are too few matches.
    threshold : float
        Matches with a larger score are not kept; nan if there are too few.
    geometry : str
        "calibrated", "uncalibrated", "rotation", "plane or rotation", "several motions", "none".
    parallax : float
        The median angle between the two rays of a match, in degrees; nan without cameras.
    note : str
        What is not determined, and why.
    distances : ndarray of shape (n,) or None
        The distance of each match to the nearest motion, in its sigmas; None if there are too few
        matches.
    F, E, H, R, t : ndarray or None
        Of the motion with the most evidence.
    """

    image1: str
    image2: str
    X: Floats
    kept: Bools
    scores: Floats
    labels: Ints
    motions: int = 0
    sigma: float = float("nan")
    threshold: float = float("nan")
    geometry: str = "none"
    parallax: float = float("nan")
    note: str = ""
    distances: Floats | None = None
    F: Floats | None = None
    E: Floats | None = None
    H: Floats | None = None
    R: Floats | None = None
    t: Floats | None = None

    @property
    def pair(self) -> Pair:
        """The names of both images."""
        return self.image1, self.image2

    def verdict(self) -> Verdict:
        """What is written back into a file of matches."""
        config = {name: number for number, name in GEOMETRIES.items()}[self.geometry]
        return Verdict(self.kept, config, self.F, self.E, self.H, self.R, self.t)

    def row(self) -> dict[str, Any]:
        """One row of the table of pairs."""
        largest = int(np.bincount(self.labels[self.labels >= 0]).max()) if self.motions else 0
        return {
            "image1": self.image1, "image2": self.image2, "matches": len(self.kept),
            "kept": int(self.kept.sum()), "motions": self.motions, "largest": largest,
            "geometry": self.geometry, "sigma": self.sigma, "threshold": self.threshold,
            "parallax": self.parallax, "note": self.note,
        }  # fmt: skip


def filter_pairs(
    matches: str | PathLike[str],
    *,
    keypoints: str | PathLike[str] | None = None,
    family: str = "fundamental",
    K: CameraLike | None = None,
    keep: Literal["all", "largest"] = "all",
    quality: bool = False,
    out: str | PathLike[str] | None = None,
    n_jobs: int = 1,
    random_state: int = 0,
) -> list[PairResult]:
    """Filter the matches of all pairs of a COLMAP database, of hloc, or of another file.

    Parameters
    ----------
    matches : str or path
        A COLMAP database (.db), matches of hloc (.h5), an .npz of LightGlue, SuperGlue or LoFTR,
        or a table with the columns x1, y1, x2, y2.
    keypoints : str, path or None, default=None
        The file of keypoints that matches of hloc refer to.
    family : str, default="fundamental"
        The motions, as in `filter_matches`. "essential" and "rotation" use the cameras of a
        COLMAP database, or K.
    K : Camera, array-like of shape (3, 3) or (4,), or None, default=None
        The camera of all images.
    keep : {"all", "largest"}, default="all"
        Keep the matches of all motions, or of the one with the most matches: the static scene.
    quality : bool, default=False
        Draw minimal samples in proportion to the scores of the matches, if the file has them.
    out : str, path or None, default=None
        Where to write a copy of the file with the kept matches: `two_view_geometries` of a COLMAP
        database, ready for `colmap mapper`.
    n_jobs : int, default=1
        The number of processes, -1 for all cores. The result does not depend on it.
    random_state : int, default=0
        The seed.

    Returns
    -------
    list of PairResult
        In the order of the file.

    Raises
    ------
    ValueError
        If the file holds no matches, or cameras are needed and not known.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from piforest.datasets import make_motion_pair
    >>> from piforest.vision import filter_pairs
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "matches.npz"
    >>> X = make_motion_pair(1, random_state=0).data
    >>> np.savez(path, mkpts0_f=X[:, :2], mkpts1_f=X[:, 2:], mconf=np.ones(len(X)))
    >>> (result,) = filter_pairs(path, out=path.with_name("kept.npz"))
    >>> result.geometry, np.load(path.with_name("kept.npz"))["mconf"].sum() == result.kept.sum()
    ('uncalibrated', np.True_)
    """
    check_choice("keep", keep, ["all", "largest"])
    file = open_matches(matches, keypoints=keypoints)
    if out is not None:
        file.check_writable(Path(out))
    camera = None if K is None else Camera.of(K)
    options = PairOptions(family, quality=quality, keep=keep, seed=random_state, camera=camera)
    results = list(run_pairs(file, file.pairs(), options, n_jobs))
    if out is not None:
        file.write(Path(out), {each.pair: each.verdict() for each in results})
    return results


def run_pairs(
    file: MatchFile,
    pairs: Sequence[Pair],
    options: PairOptions,
    n_jobs: int,
    journal: Journal | None = None,
) -> Iterator[PairResult]:
    """The results of pairs in their order, computed in processes. journal: where those that are
    finished are kept, and read from."""
    from joblib import Parallel, delayed

    done = {} if journal is None else journal.finished(pairs)
    waiting = [pair for pair in pairs if pair not in done]
    folder = Path.cwd()
    work = (delayed(_judge)(file, pair, options, journal, folder) for pair in waiting)
    computed = Parallel(n_jobs, return_as="generator", batch_size=1)(work) if waiting else iter(())
    for pair in pairs:
        yield _loaded(done[pair]) if pair in done else next(computed)


def _judge(
    file: MatchFile, pair: Pair, options: PairOptions, journal: Journal | None, folder: Path
) -> PairResult:
    """In a process of its own, which joblib may have started in another folder."""
    if Path.cwd() != folder:
        os.chdir(folder)
    cameras = _cameras(file, pair, options)
    result = judge_pair(pair, file.read(pair), cameras, options)
    if journal is not None:
        journal.put(pair, _stored(result))
    return result


def _cameras(file: MatchFile, pair: Pair, options: PairOptions) -> tuple[Camera, Camera] | None:
    if options.camera is not None:
        return options.camera, options.camera
    if options.family not in CALIBRATED:
        return None
    first, second = (file.camera(name) for name in pair)
    if first is None or second is None:
        raise ValueError(
            f"{file.path}: family {options.family!r} needs the camera of {pair[0]!r} and "
            f"{pair[1]!r}, which the file does not have; give --focal, --K or --calibration, or "
            "use 'fundamental'."
        )
    return first, second


def judge_pair(
    pair: Pair,
    matches: PairMatches,
    cameras: tuple[Camera, Camera] | None,
    options: PairOptions,
) -> PairResult:
    """Which matches of a pair follow a motion, and the geometry of the pair."""
    n = len(matches.X)
    nothing = PairResult(*pair, matches.X, np.zeros(n, bool), np.full(n, np.nan), np.full(n, -1))
    family = get_family(options.family, **dict(options.family_options))
    if n < max(options.least, family.sample_size(4) + 1):
        return replace(nothing, note=f"too few matches: {n}")
    K1, K2 = (None, None) if cameras is None else cameras
    with warnings.catch_warnings():
        # What they say stands in the table: that no motion stands out.
        warnings.simplefilter("ignore", UserWarning)
        kept = filter_matches(
            matches.X[:, :2], matches.X[:, 2:], family=family, K1=K1, K2=K2,
            quality=matches.quality if options.quality else None, sigma=options.sigma,  # type: ignore[arg-type]
            false_alarm_rate=options.false_alarm_rate,
            contamination=options.contamination, n_models=options.n_models,  # type: ignore[arg-type]
            n_estimators=options.n_estimators, random_state=options.seed, n_jobs=1,
        )  # fmt: skip
        motions = kept.motions
    focal = 1.0
    if cameras is not None and options.family in CALIBRATED:
        focal = (cameras[0].focal + cameras[1].focal) / 2
    found = replace(
        nothing, scores=kept.scores, sigma=float(kept.detector.sigma_) * focal,
        threshold=float(kept.detector.threshold_), distances=kept.distances,
    )  # fmt: skip
    if not motions:
        return replace(found, note="no motion stands out from chance")
    return _with_motions(found, kept, motions, options.keep)


def _with_motions(
    found: PairResult, kept: Filtered, motions: list[Motion], keep: str
) -> PairResult:
    mask, labels, chosen = choose_motions(kept.mask, kept.labels, motions, keep)
    n = 1 if keep == "largest" else len(motions)
    return replace(
        found, kept=mask, labels=labels, motions=n, geometry=GEOMETRIES[geometry_of(chosen, n)],
        parallax=float("nan") if chosen.parallax is None else chosen.parallax, note=chosen.note,
        **{name: getattr(chosen, name) for name in "FEHRt"},
    )  # fmt: skip


def choose_motions(
    mask: Bools, labels: Ints, motions: list[Motion], keep: str
) -> tuple[Bools, Ints, Motion]:
    """Kept matches, their motions, and the motion that stands for the pair: the matches of all
    motions and the one with the most evidence, or those of the largest motion."""
    if keep != "largest":
        return mask, labels, motions[0]
    k = int(np.argmax([len(each.members) for each in motions]))
    return labels == k, np.where(labels == k, 0, -1), motions[k]


def geometry_of(motion: Motion, n_motions: int) -> int:
    """COLMAP's number of the geometry of a pair."""
    if n_motions > 1:
        return _SEVERAL
    if motion.family == "rotation" or (motion.R is not None and motion.t is None):
        return _ROTATION
    if motion.family in MAPS or motion.H is not None:
        return _PLANE
    return _CALIBRATED if motion.E is not None else _UNCALIBRATED


def verdict_of(mask: Bools, labels: Ints, motions: list[Motion], keep: str) -> Verdict:
    """What is written back of a pair with these motions."""
    if not motions:
        return Verdict(np.zeros(len(mask), bool), _NONE)
    kept, _, chosen = choose_motions(mask, labels, motions, keep)
    n = 1 if keep == "largest" else len(motions)
    return Verdict(kept, geometry_of(chosen, n), *(getattr(chosen, name) for name in "FEHRt"))


def _stored(result: PairResult) -> dict[str, Any]:
    return {name: value for name, value in asdict(result).items() if value is not None}


def _loaded(stored: dict[str, Any]) -> PairResult:
    plain = {name: value.item() if value.ndim == 0 else value for name, value in stored.items()}
    known: dict[str, Any] = {each.name: plain.get(each.name) for each in fields(PairResult)}
    return PairResult(**known)
