"""Files of matches between images: COLMAP databases, hloc's HDF5, NPZ of learned matchers, tables.

Each layout is one module with a class that has the members of `MatchFile`; `open_matches` chooses
it by the name of the file. Decisions on the matches are written back in the same layout.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...protocols import Bools, Floats, Ints
from ..cameras import Camera
from ..tables import Table, check_readable

__all__ = [
    "LAYOUTS",
    "MATCH",
    "MatchFile",
    "Pair",
    "PairMatches",
    "Verdict",
    "open_matches",
    "read_matches",
]

Pair = tuple[str, str]
MATCH = ("x1", "y1", "x2", "y2")
# Suffixes and the modules of the layouts; all others are tables.
LAYOUTS = {".db": "colmap", ".sqlite": "colmap", ".h5": "hloc", ".hdf5": "hloc", ".npz": "npz"}
# Names of the two images if a file has none.
UNNAMED = ("image 1", "image 2")
_LISTED = 5


@dataclass(frozen=True)
class PairMatches:
    """The n matches between two images."""

    X: Floats
    """(n, 4) x1, y1, x2, y2 in pixels"""
    index: Ints | None = None
    """(n, 2) the numbers of the keypoints"""
    quality: Floats | None = None
    """(n,) the scores that a matcher gave, high = to trust"""
    more: Mapping[str, Any] = field(default_factory=dict)
    """other columns"""

    def table(self, source: str) -> Table:
        """As a table, with the columns x1, y1, x2, y2 and what else is known."""
        columns: dict[str, Any] = dict(zip(MATCH, self.X.T))
        if self.index is not None:
            columns |= {"index1": self.index[:, 0], "index2": self.index[:, 1]}
        if self.quality is not None:
            columns["quality"] = self.quality
        return Table({**columns, **self.more}, source, points=MATCH)


class Verdict(NamedTuple):
    """Which matches of a pair are kept."""

    kept: Bools
    """(n,)"""
    config: int = 0
    """the kind of geometry, as COLMAP numbers it"""
    F: Floats | None = None
    E: Floats | None = None
    H: Floats | None = None
    R: Floats | None = None
    t: Floats | None = None


class MatchFile(Protocol):
    """A file of matches."""

    path: Path

    def pairs(self) -> list[Pair]:
        """The pairs of images that have matches, in the order of the file."""
        ...

    def read(self, pair: Pair) -> PairMatches:
        """The matches of a pair, in the order of its names."""
        ...

    def camera(self, image: str) -> Camera | None:
        """The camera of an image, if the file knows it."""
        ...

    def check_writable(self, out: Path) -> None:
        """Raise an error if the layout cannot be written under this name."""
        ...

    def write(self, out: Path, verdicts: Mapping[Pair, Verdict]) -> None:
        """Write a copy with the kept matches, atomically."""
        ...


def open_matches(
    path: str | PathLike[str],
    *,
    keypoints: str | PathLike[str] | None = None,
    columns: Sequence[str] | None = None,
    array: str | None = None,
) -> MatchFile:
    """A file of matches.

    Parameters
    ----------
    path
        A COLMAP database (.db), matches of hloc (.h5), an .npz of LightGlue, SuperGlue or LoFTR,
        or a table.
    keypoints
        The file of the keypoints that matches of hloc refer to.
    columns
        Four columns of a table, in place of x1, y1, x2, y2.
    array
        The array (n, 4) of an .npz or .mat file.
    """
    path = Path(path)
    check_readable(path)
    layout = LAYOUTS.get(path.suffix.lower(), "table")
    if layout == "npz" and (array is not None or columns is not None):
        layout = "table"
    given = {"keypoints": keypoints, "columns": columns, "array": array}
    known = {"hloc": ("keypoints",), "table": ("columns", "array")}.get(layout, ())
    for name, value in given.items():
        if value is not None and name not in known:
            raise ValueError(f"{path}: --{name} is no option of this kind of file; omit it.")
    module = importlib.import_module(f".{layout}", __name__)
    opened: MatchFile = module.open_file(path, **{name: given[name] for name in known})
    return opened


def read_matches(path: str | PathLike[str], *, pair: Pair | None = None, **options: Any) -> Table:
    """The matches of one pair as a table, with x1, y1, x2, y2 and what else the file has.

    pair: the names of the two images, where the file has more pairs; options: as `open_matches`.
    """
    file = open_matches(path, **options)
    chosen = only_pair(file, pair)
    found = file.read(chosen)
    table: Table | None = getattr(file, "table", None)
    return found.table(str(path)) if table is None else table


def only_pair(file: MatchFile, pair: Pair | None) -> Pair:
    """The pair to read; it may be omitted if there is only one."""
    pairs = file.pairs()
    if pair is not None and pairs == [UNNAMED]:
        raise ValueError(
            f"{file.path}: a pair is chosen from COLMAP databases (.db) and matches of hloc (.h5) "
            "only."
        )
    if pair is not None:
        return pair
    if len(pairs) != 1:
        listed = some_names([f"{a} and {b}" for a, b in pairs])
        raise ValueError(
            f"{file.path} holds {len(pairs)} pairs of images, say which (--pair): {listed}."
        )
    return pairs[0]


def some_names(names: Any) -> str:
    """The first names, for a message."""
    listed = ", ".join(list(names)[:_LISTED])
    return (listed or "none") + (", ..." if len(names) > _LISTED else "")


def check_pair(path: Path, pair: Pair, images: Any) -> None:
    """Raise an error if the file has no such images."""
    first, second = pair
    for name in pair:
        if name not in images:
            raise ValueError(f"{path} has no image {name!r}; its images: {some_names(images)}.")
    if first == second:
        raise ValueError(f"pair must be two images, got {first!r} twice.")


def check_points(path: Path, pair: Pair, points: Floats, which: Ints, side: int) -> Floats:
    """(n, 2) the keypoints of these numbers; an error if one is missing or not finite."""
    between = f"the matches between {pair[0]!r} and {pair[1]!r}"
    if len(which) and (which.max() >= len(points) or which.min() < 0):
        raise ValueError(
            f"{path} is damaged: {between} name keypoints of {pair[side]!r} that are not there."
        )
    with np.errstate(invalid="ignore"):  # a signalling NaN would warn
        found = points[which, :2].astype(np.float64)
    if not np.isfinite(found).all():
        raise ValueError(f"{path}: keypoints of {pair[side]!r} are not finite.")
    return found
