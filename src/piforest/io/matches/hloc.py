"""HDF5 in the layout of hloc: keypoints by image, matches by pair of images.

A group of the file of keypoints is named as its image and has the dataset `keypoints` (n, 2). A
group of the file of matches is named `first/second` (in old files `first_second`), with - for the
slashes in names of images, and has `matches0` (n,): for each keypoint of the first image the
number of one of the second, or -1; and `matching_scores0` (n,). Dense matchers write `keypoints0`,
`keypoints1` (n, 2) and `scores` (n,) in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...protocols import Bools, Floats
from ..atomic import whole_path
from ..cameras import Camera
from ..tables._extras import needed
from . import Pair, PairMatches, Verdict, check_pair, check_points, some_names

# A file may hold compressed arrays: this much memory, and this many times the size of the file.
_FREE_BYTES, _RATIO = 64 * 2**20, 64
# hloc's keypoints have the middle of the first pixel at 0, as OpenCV.
_DENSE = ("keypoints0", "keypoints1")


def open_file(path: Path, keypoints: Any = None) -> HlocMatches:
    found = HlocMatches(path, None if keypoints is None else Path(keypoints))
    found.load()
    return found


class HlocMatches:
    """Matches of hloc, and the file of their keypoints."""

    def __init__(self, path: Path, keypoints: Path | None) -> None:
        self.path, self.keypoints = path, keypoints
        self.groups: dict[Pair, str] = {}

    def load(self) -> None:
        """Find the pairs."""
        with opened(self.path) as file:
            groups = sorted(_groups_with(file, ("matches0", "keypoints0")))
            sparse = any("matches0" in file[name] for name in groups)
        if not groups:
            raise ValueError(f"{self.path} holds no matches: no group has matches0 or keypoints0.")
        images = self._images() if sparse else {}
        for group in groups:
            self.groups[self._names(group, images)] = group

    def _images(self) -> dict[str, str]:
        """Names of images by the names that pairs have for them."""
        if self.keypoints is None:
            raise ValueError(
                f"{self.path} holds numbers of keypoints: name the file that has the keypoints "
                "(--keypoints features.h5)."
            )
        with opened(self.keypoints) as file:
            names = _groups_with(file, ("keypoints",))
        if not names:
            raise ValueError(f"{self.keypoints} holds no keypoints: no group has keypoints.")
        return {name.replace("/", "-"): name for name in sorted(names)}

    def _names(self, group: str, images: dict[str, str]) -> Pair:
        parts = group.split("/")
        if len(parts) == 2 and not images:
            return parts[0], parts[1]
        splits = [parts] if len(parts) == 2 else _at_underscores(group)
        for first, second in splits:
            if first in images and second in images:
                return images[first], images[second]
        if not images and len(splits) == 1:
            return splits[0][0], splits[0][1]
        raise ValueError(
            f"{self.path}: its pair {group!r:.200} is of images that {self.keypoints} does not "
            f"have; its images: {some_names(images.values())}."
        )

    def pairs(self) -> list[Pair]:
        return list(self.groups)

    def read(self, pair: Pair) -> PairMatches:
        turned = pair not in self.groups and pair[::-1] in self.groups
        pair = pair[::-1] if turned else pair
        if pair not in self.groups:
            check_pair(self.path, pair, {name for each in self.groups for name in each})
            raise ValueError(f"{self.path} holds no matches between {pair[0]!r} and {pair[1]!r}.")
        with opened(self.path) as file:
            group = file[self.groups[pair]]
            found = self._sparse(group, pair) if "matches0" in group else self._dense(group, pair)
        return _turned(found) if turned else found

    def _sparse(self, group: Any, pair: Pair) -> PairMatches:
        to = _array(self.path, group, "matches0", 1, "iu").astype(np.int64)
        index = np.column_stack([np.flatnonzero(to >= 0), to[to >= 0]])
        quality = None
        if "matching_scores0" in group:
            scores = _array(self.path, group, "matching_scores0", 1, "f")
            if len(scores) != len(to):
                raise _damaged(self.path, group, "matching_scores0")
            quality = scores[to >= 0].astype(np.float64)
        assert self.keypoints is not None
        with opened(self.keypoints) as file:
            ends = [
                check_points(self.path, pair, self._points(file, name), index[:, k], k)
                for k, name in enumerate(pair)
            ]
        return PairMatches(np.concatenate(ends, axis=1), index, quality)

    def _points(self, file: Any, image: str) -> Floats:
        assert self.keypoints is not None
        return np.asarray(_array(self.keypoints, file[image], "keypoints", 2, "fiu"))

    def _dense(self, group: Any, pair: Pair) -> PairMatches:
        first, second = (_array(self.path, group, name, 2, "fiu") for name in _DENSE)
        if len(first) != len(second) or min(first.shape[1], second.shape[1]) < 2:
            raise _damaged(self.path, group, "keypoints1")
        rows = np.arange(len(first))
        ends = [check_points(self.path, pair, each, rows, k)
                for k, each in enumerate((first, second))]  # fmt: skip
        quality = None
        if "scores" in group:
            quality = _array(self.path, group, "scores", 1, "f").astype(np.float64)
            if len(quality) != len(first):
                raise _damaged(self.path, group, "scores")
        return PairMatches(np.concatenate(ends, axis=1), None, quality)

    def camera(self, image: str) -> Camera | None:
        return None

    def check_writable(self, out: Path) -> None:
        if out.suffix.lower() not in (".h5", ".hdf5"):
            raise ValueError(f"{out}: a copy of matches of hloc must end in .h5 or .hdf5.")

    def write(self, out: Path, verdicts: Mapping[Pair, Verdict]) -> None:
        """A copy in which dropped matches are -1 with score 0, or left out where they are rows."""
        h5py = needed("h5py", "HDF5 files", "vision")
        changed: dict[str, dict[str, Any]] = {}
        with whole_path(out) as place, opened(self.path) as file:
            for pair, verdict in verdicts.items():
                group = file[self.groups[pair]]
                changed[group.name] = _without(group, verdict.kept)
            # Not a copy of the bytes: a damaged file is then an error, and changed arrays leave no
            # holes. The temporary file is locked by this process already.
            with h5py.File(place, "w", locking=False) as copy:
                _copy(file, copy, changed)


def _without(group: Any, kept: Bools) -> dict[str, Any]:
    """The arrays of a pair that change."""
    if "matches0" not in group:
        return {name: group[name][()][kept] for name in (*_DENSE, "scores") if name in group}
    to = group["matches0"][()]
    lost = np.flatnonzero(to >= 0)[~kept]
    stays = {(k, int(to[k])) for k in np.flatnonzero(to >= 0)[kept].tolist()}
    to[lost] = -1
    changed = {"matches0": to}
    if "matching_scores0" in group:
        changed["matching_scores0"] = group["matching_scores0"][()]
        changed["matching_scores0"][lost] = 0
    # LightGlue writes the pairs once more.
    if "matches" in group and group["matches"].ndim == 2:
        pairs = group["matches"][()]
        rows = np.array([tuple(each) in stays for each in pairs.tolist()], bool)
        changed["matches"] = pairs[rows]
        if "scores" in group and len(group["scores"]) == len(rows):
            changed["scores"] = group["scores"][()][rows]
    return changed


def _copy(group: Any, to: Any, changed: Mapping[str, dict[str, Any]]) -> None:
    """Copy a group with all that is in it, but for the arrays that change."""
    h5py = needed("h5py", "HDF5 files", "vision")
    to.attrs.update(dict(group.attrs))
    new = changed.get(group.name, {})
    for name in group:
        link = group.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            to[name] = link
        elif isinstance(group[name], h5py.Group):
            _copy(group[name], to.create_group(name), changed)
        elif name in new:
            to.create_dataset(name, data=new[name]).attrs.update(dict(group[name].attrs))
        else:
            group.copy(name, to)


def _turned(found: PairMatches) -> PairMatches:
    index = None if found.index is None else found.index[:, ::-1]
    return PairMatches(found.X[:, [2, 3, 0, 1]], index, found.quality)


def _at_underscores(group: str) -> list[list[str]]:
    """All ways to part a name in two at an underscore."""
    places = [k for k, letter in enumerate(group) if letter == "_"]
    return [[group[:k], group[k + 1 :]] for k in places]


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """An HDF5 file; what the library cannot read is one line that names the file."""
    h5py = needed("h5py", "HDF5 files", "vision")
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file.")
    if not path.is_file():
        raise ValueError(f"{path} is no regular file.")
    try:
        with h5py.File(path, "r", locking=False) as file:
            yield file
    except (OSError, RuntimeError, KeyError, TypeError, AttributeError, OverflowError) as error:
        why = " ".join(str(error).split())[:200]
        raise ValueError(
            f"{path} cannot be read: it is damaged or no HDF5 file ({why})."
        ) from error


def _groups_with(file: Any, names: tuple[str, ...]) -> list[str]:
    """The groups that have one of these datasets. Links to other files are not followed."""
    h5py = needed("h5py", "HDF5 files", "vision")
    found: list[str] = []
    waiting, known = [""], set()
    while waiting:
        name = waiting.pop()
        group = file[name or "/"]
        place = h5py.h5o.get_info(group.id).addr
        if place in known:
            raise OSError(f"group {name!r:.100} is there twice")
        known.add(place)
        if any(isinstance(group.get(each, getlink=True), h5py.HardLink) for each in names):
            found.append(name)
            continue
        for each in group:
            link = group.get(each, getlink=True)
            if isinstance(link, h5py.HardLink) and isinstance(group[each], h5py.Group):
                waiting.append(f"{name}/{each}".lstrip("/"))
    return found


def _array(path: Path, group: Any, name: str, dimensions: int, kinds: str) -> Any:
    """An array of these dimensions, whose type and size are checked before it is read."""
    h5py = needed("h5py", "HDF5 files", "vision")
    data = group.get(name)
    place = f"{path}: {group.name}/{name}"
    if not isinstance(data, h5py.Dataset):
        raise ValueError(f"{place} is not there.")
    if data.is_virtual or data.external:
        raise ValueError(f"{place} lies in another file, which is not followed.")
    shaped = data.ndim == dimensions and (dimensions == 1 or data.shape[1] >= 2)
    if not shaped or data.dtype.kind not in kinds:
        raise ValueError(
            f"{place} must be an array with {dimensions} dimension{'s' * (dimensions > 1)} of "
            f"{'whole numbers' if kinds == 'iu' else 'numbers'}, got {data.dtype} {data.shape}."
        )
    if data.size * data.dtype.itemsize > _FREE_BYTES + _RATIO * path.stat().st_size:
        raise ValueError(f"{place} claims {data.size:,} numbers, more than the file can hold.")
    return data[()]


def _damaged(path: Path, group: Any, name: str) -> ValueError:
    return ValueError(f"{path} is damaged: {group.name}/{name} has not the length of the matches.")
