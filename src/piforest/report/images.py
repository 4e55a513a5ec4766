"""Images as data URIs, small enough for a page."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]

# Limits of an image: bytes of its file, and pixels of its longer side.
MAX_BYTES = 260_000
MAX_PIXELS = 1280
_QUALITIES = (88, 75, 60)


def validate_image(image: Any, which: int) -> Pixels:
    """(h, w) or (h, w, 3) bytes; floats are from 0 to 1."""
    pixels = np.asarray(image)
    if pixels.ndim == 3 and pixels.shape[2] in (1, 4):
        pixels = pixels[..., 0] if pixels.shape[2] == 1 else pixels[..., :3]
    if pixels.ndim not in (2, 3) or pixels.size == 0 or (pixels.ndim == 3 and pixels.shape[2] != 3):
        raise ValueError(
            f"images[{which}] must be an array (h, w), (h, w, 3) or (h, w, 4), "
            f"got shape {np.asarray(image).shape}."
        )
    if pixels.dtype.kind == "f":
        pixels = np.clip(np.nan_to_num(pixels) * 255 + 0.5, 0, 255)
    elif pixels.dtype.kind not in "iub":
        raise ValueError(f"images[{which}] must be numeric, got dtype {pixels.dtype}.")
    elif pixels.dtype.kind == "b":
        pixels = pixels * np.uint8(255)
    elif pixels.dtype == np.uint16:
        pixels = pixels >> 8
    return np.ascontiguousarray(np.clip(pixels, 0, 255).astype(np.uint8))


def image_data(pixels: Pixels) -> dict[str, Any]:
    """The size that coordinates refer to, and the image, which may be scaled down."""
    height, width = pixels.shape[:2]
    return {"width": width, "height": height, "uri": _uri(pixels)}


def _uri(pixels: Pixels) -> str:
    jpeg = jpeg_writer()
    shrink = -(-max(pixels.shape[:2]) // MAX_PIXELS)
    while True:
        small = shrunk(pixels, shrink)
        if jpeg is None:
            data, kind = png(small), "png"
        else:
            kind = "jpeg"
            for quality in _QUALITIES:
                data = jpeg(small, quality)
                if len(data) <= MAX_BYTES:
                    break
        if len(data) <= MAX_BYTES:
            return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
        shrink += 1


def shrunk(pixels: Pixels, factor: int) -> Pixels:
    """The image scaled down by block means; the edge is repeated to fill the last blocks."""
    if factor == 1:
        return pixels
    height, width = pixels.shape[:2]
    pad = [(0, -height % factor), (0, -width % factor)] + [(0, 0)] * (pixels.ndim - 2)
    full = np.pad(pixels, pad, mode="edge")
    rows, columns = full.shape[0] // factor, full.shape[1] // factor
    parts = full.reshape(rows, factor, columns, factor, *pixels.shape[2:])
    small: Pixels = np.rint(parts.mean(axis=(1, 3))).astype(np.uint8)
    return small


def jpeg_writer() -> Callable[[Pixels, int], bytes] | None:
    """The writer of Pillow or OpenCV; None if neither is installed."""
    try:
        import PIL.Image  # noqa: F401

        return _by_pillow
    except ImportError:
        pass
    try:
        import cv2  # noqa: F401

        return _by_opencv
    except ImportError:
        return None


def _by_pillow(pixels: Pixels, quality: int) -> bytes:
    import io

    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=quality, optimize=True)
    return file.getvalue()


def _by_opencv(pixels: Pixels, quality: int) -> bytes:
    import cv2

    bgr = pixels if pixels.ndim == 2 else np.ascontiguousarray(pixels[..., ::-1])
    return bytes(cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes())


def png(pixels: Pixels) -> bytes:
    """A PNG file; rows are stored as differences to the one above, which are usually small."""
    height, width = pixels.shape[:2]
    flat = pixels.reshape(height, -1)
    above = np.vstack([np.zeros_like(flat[:1]), flat[:-1]])
    lines = np.hstack([np.full((height, 1), 2, np.uint8), flat - above])
    colour = 0 if pixels.ndim == 2 else 2
    head = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))
        for tag, data in parts
    )
