"""Colours and classes of the points of a scan, by score or by structure."""

from __future__ import annotations

from typing import Any

# Colours from the lowest score to the threshold and above it; the ends are those of plots.
_KEPT = ((59, 76, 192), (170, 199, 253))
_FLAGGED = ((247, 184, 156), (180, 4, 38))
# Of rows without a score, of anomalies, and of normal points of no structure.
_UNSCORED, _ANOMALY, _NO_STRUCTURE = (128, 128, 128), (200, 0, 0), (210, 210, 210)
_GROUND, _OBJECT = (140, 86, 75), (44, 160, 44)
# Classes of LAS: of rows of no structure, of anomalies, and those that are free for structures; the
# point formats 0 to 5 have five bits for them.
_UNCLASSIFIED, _NOISE, _CLASSES, _OLD_CLASSES = 1, 7, (64, 255), (13, 31)
# Neighbours differ in hue and in lightness; none is red or grey.
_PALETTE = (
    (31, 119, 180), (255, 187, 120), (44, 160, 44), (197, 176, 213), (140, 86, 75),
    (23, 190, 207), (255, 127, 14), (152, 223, 138), (148, 103, 189), (219, 219, 141),
    (0, 90, 110), (247, 182, 210), (188, 189, 34), (158, 218, 229), (90, 60, 140),
    (196, 156, 148),
)  # fmt: skip


def colours_by_score(scores: Any, threshold: float, scored: Any) -> dict[str, Any]:
    """(rows,) bytes of red, green and blue, of all rows; scores: of the rows of `scored`."""
    import numpy as np

    from ...plots._common import colour_reach

    reach = colour_reach(scores, threshold)
    flagged = (scores > threshold)[:, None]
    along = np.abs(scores - threshold).clip(0, reach)[:, None] / reach
    kept = np.array(_KEPT[1]) * (1 - along) + np.array(_KEPT[0]) * along
    red = np.array(_FLAGGED[0]) * (1 - along) + np.array(_FLAGGED[1]) * along
    return _columns(np.rint(np.where(flagged, red, kept)), scored)


def colours_by_structure(labels: Any, flagged: Any, scored: Any) -> dict[str, Any]:
    """The same by structure; labels: of the rows of `scored`, -1 for none."""
    import numpy as np

    palette = np.array([*_PALETTE, _NO_STRUCTURE])
    rgb = palette[np.where(labels < 0, len(_PALETTE), labels % len(_PALETTE))]
    rgb[flagged] = _ANOMALY
    return _columns(rgb, scored)


def ground_colours(is_ground: Any, known: Any) -> dict[str, Any]:
    """The same for ground and the rest, of the rows of `known`."""
    import numpy as np

    return _columns(np.where(is_ground[:, None], _GROUND, _OBJECT), known)


def _columns(rgb: Any, scored: Any) -> dict[str, Any]:
    import numpy as np

    out = np.empty((len(scored), 3), np.uint8)
    out[:] = _UNSCORED
    out[scored] = rgb.astype(np.uint8)
    return dict(zip(("red", "green", "blue"), out.T.copy()))


def las_classes(table: Any, labels: Any, flagged: Any, scored: Any) -> dict[str, Any]:
    """(rows,) classes of LAS: noise for anomalies, free numbers for structures."""
    import numpy as np

    header = getattr(table.origin, "header", None)
    old = getattr(getattr(header, "point_format", None), "id", 6) < 6
    first, last = _OLD_CLASSES if old else _CLASSES
    classes = np.full(len(scored), _UNCLASSIFIED, np.uint8)
    # The structures with the least evidence get none, if there are too many.
    numbered = np.where((labels >= 0) & (first + labels <= last), first + labels, _UNCLASSIFIED)
    classes[scored] = np.where(flagged, _NOISE, numbered)
    return {"classification": classes}
