"""Cameras: focal lengths, principal point and distortion, and the files that hold them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..protocols import Floats

__all__ = ["MODELS", "Camera", "read_calibration"]

# Name, by COLMAP's number, and the parameters behind focal lengths and principal point. One
# focal length in the models whose name begins with SIMPLE_ or RADIAL.
MODELS = {
    0: ("SIMPLE_PINHOLE", ()),
    1: ("PINHOLE", ()),
    2: ("SIMPLE_RADIAL", ("k1",)),
    3: ("RADIAL", ("k1", "k2")),
    4: ("OPENCV", ("k1", "k2", "p1", "p2")),
    5: ("OPENCV_FISHEYE", ("k1", "k2", "k3", "k4")),
    6: ("FULL_OPENCV", ("k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6")),
    8: ("SIMPLE_RADIAL_FISHEYE", ("k1",)),
    9: ("RADIAL_FISHEYE", ("k1", "k2")),
    14: ("SIMPLE_FISHEYE", ()),
    15: ("FISHEYE", ()),
}
_NAMES: dict[str, tuple[str, ...]] = dict(MODELS.values())
_STEPS, _TOLERANCE = 50, 1e-9
# A calibration file is text of a few lines.
_LARGEST = 1 << 20
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


@dataclass(frozen=True)
class Camera:
    """A calibrated camera, in pixels.

    Parameters
    ----------
    fx, fy : float
        The focal lengths.
    cx, cy : float
        The principal point.
    model : str, default="PINHOLE"
        The distortion, by the name that COLMAP gives it; OPENCV is the usual one of OpenCV.
    distortion : tuple of float, default=()
        Its parameters, without focal lengths and principal point.

    Examples
    --------
    >>> from piforest.vision import Camera
    >>> Camera(500, 500, 320, 240).normalise([[320, 240], [820, 240]]).tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """

    fx: float
    fy: float
    cx: float
    cy: float
    model: str = "PINHOLE"
    distortion: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.model not in _NAMES:
            raise ValueError(
                f"camera model {self.model!r} is not supported; supported: {', '.join(_NAMES)}. "
                "Undistort the images, or use 'fundamental', which needs no calibration."
            )
        if len(self.distortion) != len(_NAMES[self.model]):
            raise ValueError(
                f"camera model {self.model} has {len(_NAMES[self.model])} distortion parameters, "
                f"got {len(self.distortion)}."
            )
        numbers = (self.fx, self.fy, self.cx, self.cy, *self.distortion)
        if not np.isfinite(numbers).all() or min(self.fx, self.fy) <= 0:
            raise ValueError(
                "a camera needs finite numbers and focal lengths above 0, got "
                f"{', '.join(f'{each:g}' for each in numbers)}."
            )

    @classmethod
    def of(cls, given: Camera | ArrayLike) -> Camera:
        """The camera of a matrix K (3, 3) or of four numbers fx, fy, cx, cy.

        Parameters
        ----------
        given : Camera, array-like of shape (3, 3) or (4,)
            What describes the camera.

        Returns
        -------
        Camera

        Examples
        --------
        >>> Camera.of([500, 500, 320, 240]) == Camera(500, 500, 320, 240)
        True
        """
        if isinstance(given, Camera):
            return given
        K = np.asarray(given, np.float64)
        if K.shape == (4,):
            return cls(*K.tolist())
        if K.shape != (3, 3):
            raise ValueError(
                f"K must be a matrix (3, 3) or fx, fy, cx, cy, got an array of shape {K.shape}."
            )
        expected = np.array([[K[0, 0], 0, K[0, 2]], [0, K[1, 1], K[1, 2]], [0, 0, 1]])
        if not np.allclose(K, expected, rtol=0, atol=1e-9 * max(1.0, float(np.abs(K).max()))):
            raise ValueError(
                f"K must be [[fx, 0, cx], [0, fy, cy], [0, 0, 1]], without skew, got {K.tolist()}."
            )
        return cls(*K[[0, 1, 0, 1], [0, 1, 2, 2]].tolist())

    @classmethod
    def of_colmap(cls, model: int | str, params: Sequence[float]) -> Camera:
        """The camera of COLMAP's model, by number or name, and its parameters in COLMAP's order.

        Parameters
        ----------
        model : int or str
            The number of the model in a database, or its name.
        params : sequence of float
            All parameters.

        Returns
        -------
        Camera

        Examples
        --------
        >>> Camera.of_colmap("SIMPLE_RADIAL", [500, 320, 240, 0.1]).distortion
        (0.1,)
        """
        name = MODELS.get(model, (f"number {model}",))[0] if isinstance(model, int) else model
        values = [float(each) for each in params]
        single = name.startswith(("SIMPLE_", "RADIAL"))
        values = values[:1] + values if single else values
        more = len(_NAMES.get(name, ()))
        if name in _NAMES and len(values) != 4 + more:
            raise ValueError(
                f"camera model {name} has {4 - single + more} parameters, got {len(params)}."
            )
        fx, fy, cx, cy = (values + 4 * [0.0])[:4]  # too few are of a model that is refused
        return cls(fx, fy, cx, cy, name, tuple(values[4:]))

    @property
    def K(self) -> Floats:
        """(3, 3) the matrix of focal lengths and principal point."""
        return np.array([[self.fx, 0, self.cx], [0, self.fy, self.cy], [0, 0, 1.0]])

    @property
    def focal(self) -> float:
        """The mean focal length."""
        return (self.fx + self.fy) / 2

    def normalise(self, points: ArrayLike) -> Floats:
        """Normalised coordinates of pixels, without distortion.

        Parameters
        ----------
        points : array-like of shape (n, 2)
            Pixels.

        Returns
        -------
        ndarray of shape (n, 2)
            (x, y) of the rays (x, y, 1) in the frame of the camera.

        Raises
        ------
        ValueError
            If a pixel is the image of no ray.
        """
        pixels = np.asarray(points, np.float64).reshape(-1, 2)
        seen = (pixels - [self.cx, self.cy]) / [self.fx, self.fy]
        if not any(self.distortion) and not self.model.endswith("FISHEYE"):
            return np.asarray(seen)
        out = _inverted(self.distort, seen, self.model.endswith("FISHEYE"))
        lost = ~np.isfinite(out).all(axis=1)
        if lost.any():
            raise ValueError(
                f"{int(lost.sum())} of {len(seen)} points lie where the camera, {self}, sees "
                f"nothing, the first at {pixels[int(np.argmax(lost))].tolist()}; is it of this "
                "image?"
            )
        return out

    def distort(self, rays: Floats) -> Floats:
        """Where the lens puts normalised coordinates (n, 2)."""
        x, y = rays[:, 0], rays[:, 1]
        r2 = x * x + y * y
        p = dict(zip(_NAMES[self.model], self.distortion))
        k = [p.get(f"k{order}", 0.0) for order in range(1, 7)]
        if self.model.endswith("FISHEYE"):
            r = np.sqrt(r2)
            angle = np.arctan(r)
            a2 = angle * angle
            bent = angle * (1 + a2 * (k[0] + a2 * (k[1] + a2 * (k[2] + a2 * k[3]))))
            scale = np.where(r > 1e-12, bent / np.where(r > 1e-12, r, 1), 1.0)
            return np.stack([x * scale, y * scale], axis=1)
        radial = 1 + r2 * (k[0] + r2 * (k[1] + r2 * k[2]))
        radial = radial / (1 + r2 * (k[3] + r2 * (k[4] + r2 * k[5])))
        p1, p2 = p.get("p1", 0.0), p.get("p2", 0.0)
        dx = 2 * p1 * x * y + p2 * (r2 + 2 * x * x)
        dy = 2 * p2 * x * y + p1 * (r2 + 2 * y * y)
        return np.stack([x * radial + dx, y * radial + dy], axis=1)


def _inverted(distort: Callable[[Floats], Floats], seen: Floats, fisheye: bool) -> Floats:
    """(n, 2) the rays that `distort` maps to `seen`, by Newton's method; nan where there are
    none."""
    rays = seen.copy()
    if fisheye:
        angle = np.sqrt(np.sum(seen**2, axis=1))
        scale = np.tan(np.minimum(angle, 1.5)) / np.where(angle > 1e-12, angle, 1.0)
        rays *= np.where(angle > 1e-12, scale, 1.0)[:, None]
    with np.errstate(all="ignore"):
        for _ in range(_STEPS):
            off = distort(rays) - seen
            step = 1e-6 * (1 + np.abs(rays).max(axis=1))
            J = np.empty((len(rays), 2, 2))
            for column in range(2):
                moved = np.zeros_like(rays)
                moved[:, column] = step
                change = distort(rays + moved) - distort(rays - moved)
                J[:, :, column] = change / (2 * step)[:, None]
            det = J[:, 0, 0] * J[:, 1, 1] - J[:, 0, 1] * J[:, 1, 0]
            dx = (J[:, 1, 1] * off[:, 0] - J[:, 0, 1] * off[:, 1]) / det
            dy = (J[:, 0, 0] * off[:, 1] - J[:, 1, 0] * off[:, 0]) / det
            rays = rays - np.stack([dx, dy], axis=1)
        size = 1 + np.abs(rays).max(axis=1)
        good = np.abs(distort(rays) - seen).max(axis=1) <= _TOLERANCE * size
        # Beyond the edge of what the lens sees, a polynomial has other roots.
        good &= (det > 0) & (np.sum(rays * seen, axis=1) >= 0)
    return np.where(good[:, None], rays, np.nan)


def read_calibration(path: str | PathLike[str]) -> list[Camera]:
    """Read the cameras of a calibration file.

    Parameters
    ----------
    path : str or path
        COLMAP's cameras.txt; YAML of OpenCV or ROS with camera_matrix and, if any,
        distortion_coefficients; JSON with K or camera_matrix, or fx, fy, cx, cy; or text with the
        nine numbers of K, or with fx, fy, cx, cy.

    Returns
    -------
    list of Camera
        In the order of the file.

    Raises
    ------
    ValueError
        If the file holds no camera.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from piforest.vision import read_calibration
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "K.txt"
    >>> _ = path.write_text("500 0 320\\n0 500 240\\n0 0 1\\n")
    >>> read_calibration(path)[0].fx
    500.0
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file.")
    if not path.is_file():
        raise ValueError(f"{path} is no regular file.")
    if path.stat().st_size > _LARGEST:
        raise ValueError(f"{path} is too large for a calibration file.")
    try:
        text = path.read_text("utf-8")
        cameras = _cameras(path.suffix.lower(), text)
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
        why = " ".join(str(error).split())[:200]
        raise ValueError(f"{path} holds no calibration that can be read: {why}") from error
    if not cameras:
        raise ValueError(
            f"{path} holds no camera: K (3, 3), fx fy cx cy, camera_matrix, or cameras.txt of "
            "COLMAP."
        )
    return cameras


def _cameras(suffix: str, text: str) -> list[Camera]:
    if suffix == ".json":
        return [_of_names(json.loads(text))]
    if suffix in (".yml", ".yaml"):
        return [_of_yaml(text)]
    lines = [line.split() for line in text.splitlines() if line.strip() and line.strip()[0] != "#"]
    if lines and len(lines[0]) > 4 and not re.fullmatch(_NUMBER, lines[0][1]):
        return [_of_colmap_line(k, line) for k, line in enumerate(lines, 1)]
    words = [word for line in lines for word in re.split(r"[,;]", " ".join(line)) if word.strip()]
    values = [float(word) for each in words for word in each.split()]
    if not values:
        return []
    if len(values) not in (4, 9):
        raise ValueError(f"{len(values)} numbers, needed are 9 of K or 4: fx, fy, cx, cy.")
    return [Camera.of(values if len(values) == 4 else np.reshape(values, (3, 3)))]


def _of_colmap_line(k: int, words: list[str]) -> Camera:
    if len(words) < 5:
        raise ValueError(f"camera {k} needs CAMERA_ID MODEL WIDTH HEIGHT PARAMS...")
    try:
        return Camera.of_colmap(words[1], [float(word) for word in words[4:]])
    except ValueError as error:
        raise ValueError(f"camera {k}: {error}") from None


def _of_names(found: Any) -> Camera:
    if not isinstance(found, dict):
        raise ValueError("JSON needs an object with K, or with fx, fy, cx, cy.")
    named = {str(name).lower(): value for name, value in found.items()}
    distortion: Any = next(
        (named[name] for name in ("distortion_coefficients", "dist_coeffs", "dist", "distortion")
         if name in named), ())  # fmt: skip
    for name in ("k", "camera_matrix", "cameramatrix", "mtx"):
        if name in named:
            return _with_distortion(np.asarray(named[name], np.float64), distortion)
    if not {"fx", "fy", "cx", "cy"} <= set(named):
        raise ValueError("no K, camera_matrix, or fx, fy, cx and cy.")
    return _with_distortion([float(named[name]) for name in ("fx", "fy", "cx", "cy")], distortion)


def _of_yaml(text: str) -> Camera:
    """A matrix is a list of numbers behind `data:`, as OpenCV and ROS write it."""
    K, distortion = (_yaml_numbers(text, name) for name in _YAML)
    if K is None:
        raise ValueError("no camera_matrix.")
    if len(K) != 9:
        raise ValueError(f"camera_matrix has {len(K)} numbers, needed are 9.")
    return _with_distortion(np.reshape(K, (3, 3)), distortion if distortion is not None else ())


_YAML = ("camera_matrix", "distortion_coefficients")


def _yaml_numbers(text: str, name: str) -> NDArray[Any] | None:
    found = re.search(rf"^\s*{name}\s*:(.*?)data\s*:\s*\[([^\]]*)\]", text, re.S | re.M)
    if found is None or re.search(r"^\S", found[1].partition("\n")[2], re.M):
        return None
    return np.array([float(word) for word in re.split(r"[\s,]+", found[2].strip())])


def _with_distortion(K: Any, distortion: Any) -> Camera:
    """OpenCV's order: k1, k2, p1, p2, k3, k4, k5, k6."""
    camera = Camera.of(K)
    values = np.ravel(np.asarray(distortion, np.float64))
    if not np.any(values):
        return camera
    if len(values) not in (4, 5, 8):
        raise ValueError(f"{len(values)} distortion coefficients, supported are 4, 5 and 8.")
    model = "OPENCV" if len(values) == 4 else "FULL_OPENCV"
    values = values if len(values) == 4 else np.pad(values, (0, 8 - len(values)))
    return Camera(camera.fx, camera.fy, camera.cx, camera.cy, model, tuple(values.tolist()))
