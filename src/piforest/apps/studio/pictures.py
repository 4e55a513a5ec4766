"""Images of a project: their sizes and keypoints, and a copy that a page can show. In a helper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...io.atomic import atomic_write
from ...report.images import Pixels, jpeg_writer, png, shrunk

# The longer side of a copy, and the number of keypoints that are shown, evenly spaced.
_LONGEST, _KEYPOINTS = 1600, 2000
_QUALITY = 88
# The sides of a map: few tables have this many columns and this few rows for each.
_LEAST_SIDE, _MOST_RATIO = 32, 4


def describe(paths: list[str], kind: str) -> dict[str, Any]:
    """The sizes of images and their keypoints; of a map, its range."""
    if kind == "map":
        from ...surfaces import read_map

        values = read_map(paths[0])
        known = values[np.isfinite(values)]
        if not known.size:
            raise ValueError(f"{Path(paths[0]).name} has no valid pixel.")
        height, width = values.shape
        return {"images": [{"width": width, "height": height}], "keypoints": [],
                "low": float(known.min()), "high": float(known.max()),
                "valid": known.size / values.size}  # fmt: skip
    from ...vision import extract_features, read_image

    images = [read_image(path) for path in paths]
    sizes = [{"width": image.shape[1], "height": image.shape[0]} for image in images]
    found = [extract_features(image).points for image in images]
    shown = [each[:: max(1, -(-len(each) // _KEYPOINTS))].tolist() for each in found]
    return {"images": sizes, "keypoints": shown, "found": [len(each) for each in found]}


def is_map(path: str) -> bool:
    """Whether an array of numbers is rather a map than a table: it has as many columns as images
    have, and is not much longer than wide."""
    try:
        shape = np.load(path, mmap_mode="r", allow_pickle=False).shape
    except (ValueError, EOFError):
        return False
    least, most = min(shape, default=0), max(shape, default=0)
    return len(shape) == 2 and least >= _LEAST_SIDE and most <= _MOST_RATIO * least


def encode(path: str, kind: str, out: str) -> str:
    """Write a copy of bounded size beside `out`, as JPEG or PNG; its path."""
    pixels = _grey(path) if kind == "map" else _colours(path)
    small = shrunk(pixels, max(1, -(-max(pixels.shape[:2]) // _LONGEST)))
    jpeg = None if kind == "map" else jpeg_writer()
    data, suffix = (png(small), ".png") if jpeg is None else (jpeg(small, _QUALITY), ".jpg")
    target = Path(out).with_suffix(suffix)
    with atomic_write(target) as file:
        file.write(data)
    return str(target)


def _colours(path: str) -> Pixels:
    from ...vision import read_image

    return read_image(path)


def _grey(path: str) -> Pixels:
    """A map from its first to its ninety-ninth percentile; black where it is missing."""
    from ...surfaces import read_map

    values = read_map(path)
    low, high = np.nanpercentile(values, [1, 99])
    scaled = np.clip((values - low) / (high - low if high > low else 1.0), 0, 1)
    grey: Pixels = np.nan_to_num(scaled * 254 + 1, nan=0).astype(np.uint8)
    return grey
