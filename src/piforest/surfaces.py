"""Defects of surfaces that are given as maps: depth, disparity or height for each pixel.

>>> import numpy as np
>>> from piforest.surfaces import inspect_surface
>>> v, u = np.mgrid[:40, :60]
>>> depth = 0.1 * u + 0.002 * v**2 + 0.05 * np.random.default_rng(0).normal(size=(40, 60))
>>> depth[20:30, 40:52] -= 2
>>> found = inspect_surface(depth, random_state=0)
>>> found.defects[0].box, round(found.defects[0].depth)
((40, 20, 52, 30), -2)
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from ._exact_surface import on_exact_surface
from ._progress import Progress
from ._random import Stream, choose
from ._validation import check_choice, check_integer, warn_user
from .estimators import LocalPreferenceIsolationForest
from .labels.thresholds import best_f1_threshold
from .protocols import Bools, Floats, Ints
from .typing import ContaminationLike, FamilyLike, RandomStateLike, SigmaLike

__all__ = ["Defect", "SurfaceResult", "inspect_surface", "read_map"]

# "auto" scores at most this many pixels, on a regular grid.
_SCORED = 250_000
_MIN_PIXELS = 20
# The quarter of the pixels with the lowest scores is on the surface. Some of them, moved by so many
# sigmas, show how a shallow defect scores. On synthetic roads with holes of 2 to 10 sigmas, two
# sigmas find most, and nothing on roads without holes; of 2.5 and 3, less is found.
_NORMAL, _MOVED, _OFF = 0.25, 500, 2.0
# A map has one value for each pixel, so that there is one structure in a window.
_MIN_SHARE = 0.5
_EIGHT = np.ones((3, 3), bool)
# The ring around a defect that its depth is measured from, in pixels of the scored grid.
_RING = 3


@dataclass(frozen=True)
class Defect:
    """A connected part of a map that is off the surface around it.

    Attributes
    ----------
    area : int
        The number of its pixels.
    depth : float
        The median of its values, minus the plane through the surface around it: negative if the
        values are lower. NaN if there is no surface around it.
    box : tuple of int
        (left, top, right, bottom) in pixels; right and bottom are outside.
    score : float
        The mean of its anomaly scores.
    """

    area: int
    depth: float
    box: tuple[int, int, int, int]
    score: float


@dataclass(frozen=True, eq=False)
class SurfaceResult:
    """Scores of a map, and its defects.

    Attributes
    ----------
    values : ndarray of shape (h, w)
        The map, NaN where it is missing.
    scores : ndarray of shape (h, w)
        Anomaly scores, NaN where the map is missing. With a step, pixels have the score of the
        nearest pixel that is scored.
    flagged : ndarray of shape (h, w)
        Whether a pixel is anomalous.
    defects : list of Defect
        Connected parts with at least `min_area` scored pixels, the largest first.
    n_smaller : int
        The number of smaller parts.
    step : int
        One pixel of step times step was scored.
    threshold : float
        Pixels with a larger score are anomalous.
    min_area : int
        As given.
    detector : LocalPreferenceIsolationForest
        The fitted detector, of rows (x, y, value).
    """

    values: Floats
    scores: Floats
    flagged: Bools
    defects: list[Defect]
    n_smaller: int
    step: int
    threshold: float
    min_area: int
    detector: LocalPreferenceIsolationForest

    def with_threshold(self, threshold: float) -> SurfaceResult:
        """The same scores with another threshold, and the defects that follow.

        Parameters
        ----------
        threshold : float
            Pixels with a larger score are anomalous.

        Returns
        -------
        SurfaceResult
            A new result.
        """
        found = found_at(self.values, self.scores, threshold, self.step, self.min_area)
        return replace(self, threshold=threshold, **found)


def read_map(
    path: str | PathLike[str], *, zero: Literal["auto", "missing", "valid"] = "auto"
) -> Floats:
    """Read a depth, disparity or height map.

    Parameters
    ----------
    path : str or path
        .npy, or a PNG or TIFF file of one channel with 8, 16 or 32 bits, by OpenCV or Pillow.
    zero : {"auto", "missing", "valid"}, default="auto"
        What 0 means. "auto": missing in maps of whole numbers, as cameras write it; a value in
        maps of floats. NaN and infinite values are always missing.

    Returns
    -------
    ndarray of shape (h, w)
        NaN where a value is missing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "depth.npy"
    >>> np.save(path, np.array([[0, 7], [8, 9]], np.uint16))
    >>> read_map(path)
    array([[nan,  7.],
           [ 8.,  9.]])
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    array = _read_npy(path) if path.suffix.lower() == ".npy" else _read_picture(path)
    if array.ndim == 3 and (array == array[:, :, :1]).all():
        if (n := array.shape[2]) > 1:
            warn_user(f"{path}: the first of {n} equal channels is taken; is it no photograph?")
        array = array[:, :, 0]
    return _masked(array, zero, str(path))


def _masked(array: NDArray[Any], zero: str, source: str) -> Floats:
    """(h, w) floats, NaN where a value is missing."""
    check_choice("zero", zero, ["auto", "missing", "valid"])
    if array.ndim != 2 or array.dtype.kind not in "uif":
        raise ValueError(
            f"{source} must be a map with one number for each pixel, shape (h, w), got "
            f"{array.dtype} {array.shape}; a colour picture holds no depth."
        )
    values = array.astype(np.float64)
    values[~np.isfinite(values)] = np.nan
    if zero == "missing" or (zero == "auto" and array.dtype.kind in "ui"):
        values[values == 0] = np.nan
    return values


def _read_npy(path: Path) -> NDArray[Any]:
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path} is not an array of numbers in .npy format: {error}") from None


def _read_picture(path: Path) -> NDArray[Any]:
    """The pixels of a picture, with all their bits."""
    try:
        import cv2
    except ImportError:
        return _read_by_pillow(path)
    data = np.frombuffer(path.read_bytes(), np.uint8)
    array = cv2.imdecode(data, cv2.IMREAD_UNCHANGED) if len(data) else None
    if array is None:
        raise ValueError(f"{path} is not a picture that OpenCV can read (PNG, TIFF, ...).")
    return np.asarray(array)


def _read_by_pillow(path: Path) -> NDArray[Any]:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            "maps in PNG or TIFF files need OpenCV or Pillow: pip install 'piforest[vision]', or "
            "save the map as .npy."
        ) from error
    try:
        with Image.open(path) as picture:
            return np.asarray(picture)
    except OSError as error:
        raise ValueError(f"{path} is not a picture that Pillow can read: {error}") from None


def inspect_surface(
    values: ArrayLike,
    *,
    family: FamilyLike = "polynomial_regression",
    window: float | Sequence[float] | Literal["auto"] = "auto",
    sigma: SigmaLike = "auto",
    contamination: ContaminationLike = "auto",
    zero: Literal["auto", "missing", "valid"] = "auto",
    step: int | Literal["auto"] = "auto",
    min_area: int = 20,
    n_jobs: int | None = None,
    random_state: RandomStateLike = None,
    verbose: int = 0,
) -> SurfaceResult:
    """Find the defects of a surface: the pixels that are off the smooth surface around them.

    Parameters
    ----------
    values : array-like of shape (h, w)
        Depth, disparity or height of each pixel; NaN where it is missing.
    family : str, ModelFamily or list, default="polynomial_regression"
        What the surface is in a window, for rows (x, y, value): quadratic by default. A regression
        measures along the value only, so that its unit does not matter.
    window : "auto", float or list of float, default="auto"
        The side of the windows in pixels.
    sigma : float or "auto", default="auto"
        The noise of the map, in its units.
    contamination : "auto" or float in (0, 1), default="auto"
        The share of the pixels to flag.
    zero : {"auto", "missing", "valid"}, default="auto"
        What 0 means; see `read_map`.
    step : int or "auto", default="auto"
        Score one pixel of step times step. "auto" scores at most 250,000 pixels.
    min_area : int, default=20
        Connected parts with fewer scored pixels are not listed as defects. With a step, one pixel
        of step times step is scored.
    n_jobs, random_state, verbose
        As in `LocalPreferenceIsolationForest`.

    Returns
    -------
    SurfaceResult
        Scores and defects.

    Examples
    --------
    >>> v, u = np.mgrid[:40, :50]
    >>> height = 0.3 * u + 0.1 * np.random.default_rng(0).normal(size=(40, 50))
    >>> height[10:18, 20:30] += 3
    >>> round(inspect_surface(height, random_state=0).defects[0].depth)
    3
    """
    check_integer("min_area", min_area, 1)
    known = _masked(np.asarray(values), zero, "values")
    step = chosen_step(known, step)
    grid = known[step // 2 :: step, step // 2 :: step]
    v, u = np.nonzero(~np.isnan(grid))
    if len(v) < _MIN_PIXELS:
        raise ValueError(
            f"the map has {len(v)} valid pixels on a grid of step {step}, at least {_MIN_PIXELS} "
            "are needed; NaN is missing, and so is 0 in whole numbers unless zero='valid'"
            f"{'; a smaller step takes more pixels' if step > 1 else ''}."
        )
    if np.ptp(grid[v, u]) == 0:
        raise ValueError(
            f"the {len(v)} valid pixels of the map are all {grid[v[0], u[0]]:g}, so that there is "
            "nothing to find."
        )
    rows = np.column_stack([step // 2 + step * u, step // 2 + step * v, grid[v, u]]).astype(float)
    detector = LocalPreferenceIsolationForest(
        family, window=window, coordinates=[0, 1], sigma=sigma, min_share=_MIN_SHARE,
        contamination=contamination, n_jobs=n_jobs, random_state=random_state, verbose=verbose,
    )  # fmt: skip
    with warnings.catch_warnings():
        # Said below, if it is still so.
        warnings.filterwarnings("ignore", message="random points are as near")
        detector.fit(rows)
    coarse = np.full(grid.shape, np.nan)
    with Progress(verbose).stage("scores"):
        coarse[v, u] = detector.anomaly_score(rows)
        side = max(each.side for each in detector.fitted_.tilings) / step
        # Any score of an exact surface is that of rounding errors.
        coarse[on_exact_surface(grid, int(side))] = np.nanmin(coarse)
    _flag_connected(detector, rows, coarse)
    scores = _enlarged(coarse, step, known)
    threshold = float(detector.threshold_)
    return SurfaceResult(
        known, scores, step=step, threshold=threshold, min_area=min_area, detector=detector,
        **found_at(known, scores, threshold, step, min_area),
    )  # fmt: skip


def found_at(
    values: Floats, scores: Floats, threshold: float, step: int, min_area: int
) -> dict[str, Any]:
    """What a `SurfaceResult` has by its threshold."""
    flagged = np.nan_to_num(scores, nan=-1.0) > threshold
    parts, n_parts = ndimage.label(flagged, _EIGHT)
    # The pixels between scored ones have copies of their scores, and prove nothing.
    scored = parts[step // 2 :: step, step // 2 :: step]
    large = np.bincount(scored.ravel(), minlength=n_parts + 1) >= min_area
    defects = _defects(values, scores, parts, large, step)
    return {"flagged": flagged, "defects": defects, "n_smaller": n_parts - len(defects)}


def _flag_connected(detector: LocalPreferenceIsolationForest, rows: Floats, scores: Floats) -> None:
    """Lower an automatic threshold that leaves no connected defect, if a lower one shows some.

    Defects of a few sigmas score lower than the random points that the threshold comes from, but
    their pixels are connected, which those of noise are not. scores: on the grid.
    """
    found, threshold = detector.findings_, detector.threshold_
    if detector.threshold_source_ != "automatic" or _connected(scores > threshold).any():
        return
    known = scores[~np.isnan(scores)]
    normal = np.flatnonzero(known <= np.quantile(known, _NORMAL))
    stream = Stream(detector.fitted_.key).child("moved")
    moved = rows[normal[choose(stream, len(normal), _MOVED)]]
    moved[:, 2] += _OFF * detector.sigma_ * np.where(np.arange(len(moved)) % 2, 1, -1)
    lower = float(np.median(detector.anomaly_score(moved)))
    connected = _connected(scores > min(lower, threshold))
    if connected.any():
        detector.threshold_ = best_f1_threshold(known, connected[~np.isnan(scores)])
        found.undecided = False
    elif found.undecided:
        warn_user(
            "random values are as near to the surfaces of the windows as the pixels are, so that "
            "hardly any is flagged. Pass contamination, or smaller windows."
        )


def _connected(flagged: Bools) -> Bools:
    """The flagged pixels in connected parts that are larger than chance makes them."""
    parts, _ = ndimage.label(flagged, _EIGHT)
    areas = np.bincount(parts.ravel())
    areas[0] = 0
    return np.asarray(areas[parts] >= _MIN_PIXELS)


def chosen_step(values: Floats, step: int | str) -> int:
    """The step, "auto" as a number."""
    if not isinstance(step, str):
        return check_integer("step", step, 1, "step='auto' scores at most 250,000 pixels.")
    check_choice("step", step, ["auto"])
    valid = int(np.sum(~np.isnan(values)))
    return max(1, int(np.ceil(np.sqrt(valid / _SCORED))))


def _enlarged(coarse: Floats, step: int, values: Floats) -> Floats:
    """The scores of all pixels: those of the cell of the grid that they are in."""
    h, w = values.shape
    rows = np.minimum(np.arange(h) // step, coarse.shape[0] - 1)
    columns = np.minimum(np.arange(w) // step, coarse.shape[1] - 1)
    scores = coarse[np.ix_(rows, columns)]
    scores[np.isnan(values)] = np.nan
    return np.asarray(scores)


def _defects(values: Floats, scores: Floats, parts: Ints, listed: Bools, step: int) -> list[Defect]:
    """The connected parts with these numbers that are listed, the largest first."""
    found = []
    for k, (rows, columns) in enumerate(ndimage.find_objects(parts), start=1):
        if not listed[k]:
            continue
        reach = _RING * step
        near = tuple(
            slice(max(0, each.start - reach), each.stop + reach) for each in (rows, columns)
        )
        inside = parts[near] == k
        area = int(inside.sum())
        depth = _depth(values[near], inside, parts[near] > 0, reach)
        box = (columns.start, rows.start, columns.stop, rows.stop)
        found.append(Defect(area, depth, box, float(scores[near][inside].mean())))
    return sorted(found, key=lambda each: (-each.area, each.box))


def _depth(values: Floats, inside: Bools, flagged: Bools, reach: int) -> float:
    """The median height of a part over the plane through the pixels around it."""
    ring = ndimage.binary_dilation(inside, _EIGHT, reach) & ~flagged & ~np.isnan(values)
    v, u = np.nonzero(ring)
    if len(v) < 3:
        return float("nan")
    A = np.column_stack([u, v, np.ones(len(v))])
    plane, *_ = np.linalg.lstsq(A, values[ring], rcond=None)
    v, u = np.nonzero(inside)
    return float(np.median(values[inside] - np.column_stack([u, v, np.ones(len(v))]) @ plane))
