"""How bands were measured, in the header of a model file."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._kernels.bands import MAX_WIDTHS
from .._validation import LARGEST
from ..bands.ladder import Grid
from ..bands.measuring import Measuring
from ..bands.resolution import Resolution


def encode_measuring(measuring: Measuring) -> dict[str, Any]:
    """Numbers and lists only; JSON keeps every bit of a float."""
    return {
        "steps": measuring.resolution.steps.tolist(),
        "key": measuring.resolution.key,
        "widths": measuring.grid.widths.tolist(),
        "n_wide": measuring.grid.n_wide,
    }


def decode_measuring(stored: Any, n_families: int, d: int) -> tuple[Measuring, ...] | None:
    """Check and decode; None for a file without them, of an earlier version of piforest.

    Raises
    ------
    ValueError
        If a value is not what `encode_measuring` writes.
    """
    if stored is None:
        return None
    if not isinstance(stored, list) or len(stored) != n_families:
        raise ValueError("its header has a bad measuring")
    return tuple(_decode(each, d) for each in stored)


def _decode(stored: dict[str, Any], d: int) -> Measuring:
    steps, widths = np.array(stored["steps"], float), np.array(stored["widths"], float)
    key, n_wide = stored["key"], stored["n_wide"]
    fits = (
        steps.shape == (d,)
        and bool(((steps >= 0) & (steps < LARGEST)).all())
        and widths.ndim == 1
        and 1 <= len(widths) <= MAX_WIDTHS
        and bool(((widths > 0) & (widths < LARGEST)).all() and (np.diff(widths) < 0).all())
        and type(key) is int
        and 0 <= key < 2**64
        and type(n_wide) is int
        and 0 <= n_wide <= len(widths)
    )
    if not fits:
        raise ValueError("its header has a bad measuring")
    return Measuring(Resolution(steps, key), Grid(widths, n_wide))
