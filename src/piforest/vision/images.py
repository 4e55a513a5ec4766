"""Images as arrays, by OpenCV."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["ImageLike", "read_image"]

ImageLike: TypeAlias = str | PathLike[str] | NDArray[np.uint8]


def opencv() -> Any:
    """The module cv2, or an error that says how to install it."""
    try:
        import cv2
    except ImportError as error:
        raise ImportError("images need OpenCV: pip install 'piforest[vision]'") from error
    return cv2


def read_image(path: str | PathLike[str]) -> NDArray[np.uint8]:
    """Read an image file.

    Parameters
    ----------
    path : str or path
        A file that OpenCV can read, such as JPEG, PNG or TIFF.

    Returns
    -------
    ndarray of uint8 of shape (h, w, 3)
        RGB, rotated as its EXIF orientation says.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If OpenCV cannot read it.

    Examples
    --------
    >>> import cv2, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "grey.png"
    >>> _ = cv2.imwrite(str(path), np.full((4, 6), 9, np.uint8))
    >>> read_image(path).shape
    (4, 6, 3)
    """
    cv2 = opencv()
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no file {path}.")
    data = np.frombuffer(Path(path).read_bytes(), np.uint8)
    image = cv2.imdecode(data, cv2.IMREAD_COLOR) if len(data) else None
    if image is None:
        raise ValueError(f"{path} is not an image that OpenCV can read (JPEG, PNG, TIFF, ...).")
    return np.ascontiguousarray(image[:, :, ::-1])


def to_grey(image: Any) -> NDArray[np.uint8]:
    """(h, w) bytes of a path or an array."""
    if isinstance(image, (str, PathLike)):
        image = read_image(image)
    image = np.asarray(image)
    fits = image.ndim == 2 or (image.ndim == 3 and image.shape[2] == 3)
    if image.dtype != np.uint8 or not fits or not image.size:
        raise ValueError(
            "an image must be a path or an array (h, w) or (h, w, 3) of bytes (uint8), got "
            f"{image.dtype} {image.shape}."
        )
    if image.ndim == 2:
        return np.asarray(image)
    cv2 = opencv()
    return np.asarray(cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2GRAY))


def to_mask(name: str, mask: Any, shape: tuple[int, ...]) -> NDArray[np.uint8] | None:
    """(h, w) bytes, 255 where features may lie: wherever the mask is not 0."""
    if mask is None:
        return None
    if isinstance(mask, (str, PathLike)):
        mask = read_image(mask).max(axis=2)
    array = np.asarray(mask)
    if array.shape != shape:
        raise ValueError(
            f"{name} must have the shape of its image, {shape}, and 0 where features are left "
            f"out; got shape {array.shape}."
        )
    return np.where(array != 0, np.uint8(255), np.uint8(0))
