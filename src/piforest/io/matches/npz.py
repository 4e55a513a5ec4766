"""NPZ files of learned matchers: LightGlue, SuperGlue, LoFTR and the like.

Keypoints are `keypoints0`, `keypoints1` (n, 2), or those of LoFTR, `mkpts0_f`, `mkpts1_f`, which
are matched row by row. Matches are pairs `matches` (m, 2), as LightGlue gives them, or one number
for each keypoint of the first image, -1 for none: `matches0` or `matches` (n,), as in SuperGlue.
Scores are `scores`, `matching_scores0`, `match_confidence`, `confidence` or `mconf`.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...protocols import Bools, Ints
from ..atomic import atomic_write
from ..cameras import Camera
from ..npy import read_member
from . import UNNAMED, Pair, PairMatches, Verdict, check_points

_POINTS = (
    ("keypoints0", "keypoints1"), ("mkpts0_f", "mkpts1_f"), ("mkpts0", "mkpts1"),
    ("kpts0", "kpts1"), ("mkpts0_c", "mkpts1_c"),
)  # fmt: skip
_MATCHES = ("matches", "matches0")
_SCORES = (
    "scores", "matching_scores0", "match_confidence", "confidence", "mconf", "match_scores",
    "mscores", "matching_scores",
)  # fmt: skip
# A file may be compressed: this much memory, and this many times its size.
_FREE_BYTES, _RATIO, _MOST_MEMBERS = 64 * 2**20, 64, 1000


class _Layout(NamedTuple):
    """Where the parts stand."""

    points: tuple[str, str]
    matches: str | None
    """None: row by row"""
    scores: str | None
    numbers: Ints
    """(n, 2) numbers of keypoints"""


def open_file(path: Path) -> NpzMatches:
    arrays, packed = _read(path)
    return NpzMatches(path, arrays, packed)


class NpzMatches:
    """The matches of one pair."""

    def __init__(self, path: Path, arrays: dict[str, NDArray[Any]], packed: bool) -> None:
        self.path, self.arrays, self.packed = path, arrays, packed
        self.layout = self._layout()

    def _layout(self) -> _Layout:
        points = next((each for each in _POINTS if set(each) <= set(self.arrays)), None)
        if points is None:
            raise ValueError(
                f"{self.path} holds no matches between images: no keypoints0 and keypoints1, no "
                f"mkpts0_f and mkpts1_f; its arrays: {', '.join(self.arrays)[:300] or 'none'}. "
                "--array names one of rows x1, y1, x2, y2."
            )
        for name in points:
            each = self._plain(name)
            if each.ndim != 2 or each.shape[1] < 2 or each.dtype.kind not in "fiu":
                raise ValueError(
                    f"{self.path}: {name} must be an array (n, 2), got {each.dtype} {each.shape}."
                )
        matches = next((name for name in _MATCHES if name in self.arrays), None)
        index = self._rows(points) if matches is None else self._index(matches)
        return _Layout(points, matches, self._scores(matches, len(index)), index)

    def _plain(self, name: str) -> NDArray[Any]:
        """Without the dimension of a batch of one."""
        array = self.arrays[name]
        usual = 1 if name in _SCORES else 2
        if array.ndim > usual and array.shape[0] == 1 and name not in ("matches", "matches0"):
            return np.asarray(array[0])
        if name in _MATCHES and array.ndim == 3 and array.shape[0] == 1:
            return np.asarray(array[0])
        return array

    def _rows(self, points: tuple[str, str]) -> Ints:
        lengths = [len(self._plain(name)) for name in points]
        if lengths[0] != lengths[1]:
            raise ValueError(
                f"{self.path}: {points[0]} and {points[1]} must have the same length without "
                f"matches, got {lengths[0]} and {lengths[1]}."
            )
        return np.repeat(np.arange(lengths[0])[:, None], 2, axis=1)

    def _index(self, name: str) -> Ints:
        array = self._plain(name)
        if (
            array.dtype.kind not in "iu"
            or array.ndim > 2
            or (array.ndim == 2 and array.shape[1] != 2)
        ):
            raise ValueError(
                f"{self.path}: {name} must be pairs (n, 2) or numbers (n,) of keypoints, got "
                f"{array.dtype} {array.shape}."
            )
        array = array.astype(np.int64)
        if array.ndim == 2:
            return array
        return np.column_stack([np.flatnonzero(array >= 0), array[array >= 0]])

    def _scores(self, matches: str | None, n: int) -> str | None:
        """The scores whose length fits."""
        whole = None if matches is None else len(self._plain(matches))
        for name in _SCORES:
            if name in self.arrays:
                array = self._plain(name)
                if array.ndim == 1 and array.dtype.kind == "f" and len(array) in (n, whole):
                    return name
        return None

    def pairs(self) -> list[Pair]:
        return [UNNAMED]

    def read(self, pair: Pair) -> PairMatches:
        layout = self.layout
        ends = [
            check_points(self.path, pair, self._plain(layout.points[k]), layout.numbers[:, k], k)
            for k in range(2)
        ]
        quality = None
        if layout.scores is not None:
            quality = self._plain(layout.scores).astype(np.float64)
            if len(quality) != len(layout.numbers):
                assert layout.matches is not None
                quality = quality[self._plain(layout.matches) >= 0]
        index = None if layout.matches is None else layout.numbers
        return PairMatches(np.concatenate(ends, axis=1), index, quality)

    def camera(self, image: str) -> Camera | None:
        return None

    def check_writable(self, out: Path) -> None:
        if out.suffix.lower() != ".npz":
            raise ValueError(f"{out}: matches of an .npz file are written back as .npz.")

    def write(self, out: Path, verdicts: Mapping[Pair, Verdict]) -> None:
        """The same arrays, without the dropped matches."""
        (verdict,) = verdicts.values()
        arrays = self._without(verdict.kept)
        with atomic_write(out) as file:
            (np.savez_compressed if self.packed else np.savez)(file, **arrays)  # type: ignore[arg-type]

    def _without(self, kept: Bools) -> dict[str, NDArray[Any]]:
        arrays, layout = dict(self.arrays), self.layout
        if layout.matches is None:
            names = [*layout.points, *(name for name in _SCORES if name in arrays)]
            names += [name for name in ("batch_indexes", "b_ids", "m_bids") if name in arrays]
            for name in names:
                if len(self._plain(name)) == len(kept):
                    arrays[name] = _like(arrays[name], self._plain(name)[kept])
            return arrays
        first, second = layout.numbers[~kept].T
        for name in ("matches", "matches0", "matches1"):
            if name in arrays:
                self._drop(arrays, name, kept, first, second)
        return arrays

    def _drop(
        self, arrays: dict[str, NDArray[Any]], name: str, kept: Bools, first: Ints, second: Ints
    ) -> None:
        """Leave the matches out of one array of matches, and its scores."""
        array = self._plain(name)
        if array.ndim == 2:
            arrays[name] = _like(arrays[name], array[kept])
            if "scores" in arrays and len(self._plain("scores")) == len(kept):
                arrays["scores"] = _like(arrays["scores"], self._plain("scores")[kept])
            return
        rows = second if name == "matches1" else first
        rows = rows[rows < len(array)]
        scores = {"matches1": ("matching_scores1",)}.get(
            name, ("matching_scores0", "match_confidence")
        )
        for each, value in ((name, -1), *((score, 0) for score in scores)):
            if each in arrays and len(self._plain(each)) == len(array):
                changed = self._plain(each).copy()
                changed[rows] = value
                arrays[each] = _like(arrays[each], changed)


def _like(old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    """With the dimension of a batch, if the old array has it."""
    return new[None] if old.ndim == new.ndim + 1 else new


def _read(path: Path) -> tuple[dict[str, NDArray[Any]], bool]:
    """The arrays, and whether they are compressed."""
    try:
        with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            total = sum(each.file_size for each in members)
            if len(members) > _MOST_MEMBERS or total > _FREE_BYTES + _RATIO * path.stat().st_size:
                raise ValueError(f"it claims {len(members)} arrays of {total:,} bytes")
            names = [each.filename.removesuffix(".npy") for each in members]
            if len(set(names)) != len(names):
                raise ValueError("it holds two arrays of one name")
            packed = any(each.compress_type != zipfile.ZIP_STORED for each in members)
            arrays = {name: read_member(archive, each, _check_type)
                      for name, each in zip(names, members)}  # fmt: skip
            return arrays, packed
    except MemoryError:
        raise
    except Exception as error:  # bytes that are no zip and no array fail in any way
        why = " ".join(str(error).split())[:200]
        raise ValueError(
            f"{path} cannot be read: it is damaged or no NumPy file ({why})."
        ) from error


def _check_type(dtype: np.dtype[Any]) -> None:
    if dtype.hasobject:
        raise ValueError("Python objects, which could run code when read")
