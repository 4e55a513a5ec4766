"""The data of the page's script, as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from ..families import layout_of
from ..families.scaled import column_units
from ..protocols import Floats
from ..structures.greedy import REACH, Structure, relative_distances
from ..units import may_share_unit
from .axes import Law, law_of, telling_columns
from .columns import column, counts, encode, numbers
from .content import Content
from .images import image_data

# The strongest structures that are listed and can be drawn.
MAX_STRUCTURES = 24
# Points of all outlines together; a cylinder has 1,300 of them.
_OUTLINE_POINTS = 20_000
# The threshold moves in 1,000 to 10,000 steps of a power of ten.
_STEPS = 1000


def payload(content: Content, source: str) -> str:
    """JSON without characters that are markup in HTML."""
    text = json.dumps(
        payload_data(content, source), ensure_ascii=True, separators=(",", ":"), allow_nan=False
    )
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def payload_data(content: Content, source: str) -> dict[str, Any]:
    """The data of a view; arrays in base64."""
    law = law_of(content)
    return {
        "total": len(content.X),
        "noun": content.noun,
        "columns": [column(k, v[content.shown]) for k, v in content.columns.items()],
        "scores": numbers(content.scores[content.shown]),
        "rows": numbers(content.rows[content.shown].astype(np.float64)),
        "thresholds": threshold_table(content.scores, content.threshold),
        "view": view_of(content, law),
        "derived": [] if law is None else [prediction_of(content, law)],
        "structures": outline_data(content.structures, content.X),
        "images": [image_data(image) for image in content.images],
        "stem": file_stem(source),
        "unit": distance_unit(content),
        # In half-widths.
        "reach": REACH,
        **nearest_of(content),
    }


def threshold_table(scores: Floats, threshold: float) -> dict[str, Any]:
    """How many scores lie above each threshold k / scale, from the first k on, and above the
    detector's; of all points, however many are on the page."""
    low, high = float(scores.min()), float(scores.max())
    wide = high - low
    # A threshold far outside of the scores can be reached by the reset button only.
    low = min(low, max(threshold, low - wide))
    high = max(high, min(threshold, high + wide))
    wide = high - low if high > low else max(abs(high), 1e-300)
    scale = 10.0 ** np.ceil(np.log10(_STEPS / wide))
    first, last = int(np.floor(low * scale)), int(np.ceil(high * scale))
    if first / scale >= low:
        first -= 1
    steps = np.arange(first, last + 1) / scale
    above = len(scores) - np.searchsorted(np.sort(scores), steps, side="right")
    return {
        "initial": threshold,
        "flagged": int(np.sum(scores > threshold)),
        "scale": float(scale),
        "first": first,
        "above": counts(above),
    }


def prediction_of(content: Content, law: Law) -> dict[str, Any]:
    """The prediction of the target as a column."""
    name = f"predicted {content.names[law.target]}"
    return column(name, np.where(np.isfinite(law.predicted), law.predicted, np.nan))


def distance_unit(content: Content) -> str:
    """The unit of distances to structures: that of the target of a table, pixels of images."""
    if content.images:
        return "px"
    targets = {layout_of(family).target for family in content.families}
    target = targets.pop() if len(targets) == 1 else None
    return "" if target is None else content.names[target]


def view_of(content: Content, law: Law | None) -> dict[str, Any]:
    """The initial view, and whether its axes have equal units.

    opening: the first axes, as indices of `columns` and, behind them, of `derived`.
    """
    families = content.families
    equal = content.are_matches or (
        bool(families) and all(_has_one_unit(each, content.names) for each in families)
    )
    places = content.places
    # Six columns are 3D points with normals, or pairs of 3D points.
    solid = len(places) in (3, 6) and law is None
    mode = "matches" if content.are_matches else "3d" if solid else "2d"
    if content.families and all(layout_of(each).kind == "segments" for each in content.families):
        mode = "segments"
    opening = [places[k] for k in telling_columns(content)]
    if law is not None:
        opening = [len(content.columns), places[law.target]]
    return {
        "mode": mode, "places": places, "equal": equal, "opening": opening, "law": law is not None,
    }  # fmt: skip


def _has_one_unit(family: Any, names: list[str]) -> bool:
    """Whether the columns of a family have one unit: angles between them mean something, and its
    structures would be others after scaling, or the names allow it."""
    if "rotation" not in getattr(family, "symmetries", ()):
        return False
    if (column_units(family, len(names)) != 1).any():
        return False
    return not getattr(family, "scales_by_column", False) or may_share_unit(names)


def outline_data(structures: Sequence[Structure], X: Floats) -> list[dict[str, Any]]:
    """The outline of each structure in the box of X: points with a row of nan between polylines.

    They are relative to the lowest corner of X, so that float32 is precise enough for points
    that are far from zero, as on maps.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    left = _OUTLINE_POINTS
    found: list[dict[str, Any]] = []
    for each in structures[:MAX_STRUCTURES]:
        scale = {"sigma": each.sigma, "half_width": each.half_width}
        lines = _outline(each, low, high)
        size = 0 if lines is None else len(lines)
        if lines is None or size == 0 or size > left or not np.isfinite(lines).any():
            found.append({"outline": None, **scale})
            continue
        left -= size
        corner = low[: lines.shape[1]]
        outline = {"outline": encode(lines - corner, "f32"), "corner": corner.tolist()}
        found.append({**outline, **scale})
    return found


def _outline(structure: Structure, low: Floats, high: Floats) -> Floats | None:
    """(points, columns), or None if the family has no outline in these columns."""
    family = structure.family
    needed = getattr(family, "n_features", None)
    if needed not in (None, len(low)) or not hasattr(family, "outline"):
        return None
    lines = [np.asarray(line, np.float64) for line in family.outline(structure.params, low, high)]
    if not lines:
        return None
    gap = np.full((1, lines[0].shape[1]), np.nan)
    return np.vstack([part for line in lines for part in (line, gap)])


def nearest_of(content: Content) -> dict[str, Any]:
    """The nearest listed structure of each shown row, in half-widths, and the distance to it."""
    structures = content.structures[:MAX_STRUCTURES]
    if not structures:
        return {"nearest": None, "distances": None}
    relative = relative_distances(content.X[content.shown], structures)
    nearest = np.argmin(relative, axis=1)
    half_widths = np.array([each.half_width for each in structures])
    distances = relative[np.arange(len(nearest)), nearest] * half_widths[nearest]
    return {
        "nearest": counts(nearest),
        "distances": encode(np.minimum(distances, 1e30), "f32"),
    }


def file_stem(source: str) -> str:
    """The first part of the names of downloads."""
    stem = re.sub(r"[^\w.-]+", "_", PurePath(source).stem, flags=re.ASCII).strip("_.")
    return stem[:60] or "points"
