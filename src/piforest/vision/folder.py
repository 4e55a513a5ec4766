"""The images of a folder, and the matches between their features."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ..io.atomic import atomic_write
from ..io.cameras import Camera
from ..io.matches import Pair, PairMatches, Verdict
from .features import Features, extract_features, match_features

__all__ = ["ImageFolder", "image_names"]

_SUFFIXES = {".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".webp"}


def image_names(folder: Path) -> list[str]:
    """The images of a folder and its folders, by name as people count: 2 before 10."""
    found = [
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix.lower() in _SUFFIXES and path.is_file()
    ]
    return sorted(found, key=_natural)


def _natural(name: str) -> list[Any]:
    parts = re.split(r"(\d+)", name)
    return [(part if k % 2 == 0 else "", int(part) if k % 2 else 0) for k, part in enumerate(parts)]


class ImageFolder:
    """A folder of images, as a file of matches.

    Parameters
    ----------
    path
        The folder of the images.
    cache
        The folder that their features are kept in.
    features, ratio, mutual
        As in `match_images`.
    masks
        A folder with masks, each named as its image with .png behind it, as in COLMAP, or as its
        image.
    focal
        The focal length of all images in pixels; the principal point is the middle.
    max_size
        As in `match_images`.
    """

    def __init__(
        self,
        path: Path,
        cache: Path,
        *,
        features: str = "sift",
        ratio: float = 0.8,
        mutual: bool = True,
        masks: Path | None = None,
        focal: float | None = None,
        max_size: int | None = None,
    ) -> None:
        self.path, self.cache, self.features = path, cache, features
        self.ratio, self.mutual, self.masks, self.focal = ratio, mutual, masks, focal
        self.max_size = max_size
        self.names = image_names(path)
        self.numbers = {name: k for k, name in enumerate(self.names)}
        if len(self.names) < 2:
            found = f"one image, {self.names[0]}" if self.names else "no image"
            raise ValueError(
                f"{path} holds {found}; pairs need two or more (JPEG, PNG, TIFF, ...)."
            )

    def pairs(self) -> list[Pair]:
        return list(combinations(self.names, 2))

    def sequence(self, overlap: int) -> list[Pair]:
        """Each image with the next ones."""
        n = len(self.names)
        return [
            (self.names[i], self.names[j])
            for i in range(n)
            for j in range(i + 1, min(n, i + overlap + 1))
        ]

    def extract(self, n_jobs: int) -> None:
        """Extract the features of all images that are not in the cache, in processes."""
        from joblib import Parallel, delayed

        waiting = [name for name in self.names if not self._place(name).exists()]
        if waiting:
            Parallel(n_jobs)(delayed(self._extract)(name) for name in waiting)

    def _place(self, name: str) -> Path:
        return self.cache / f"{self.numbers[name]}.features.npz"

    def _mask(self, name: str) -> Path | None:
        if self.masks is None:
            return None
        for place in (self.masks / f"{name}.png", self.masks / name):
            if place.is_file():
                return place
        return None

    def _extract(self, name: str) -> None:
        found = extract_features(self.path / name, self.features, self._mask(name), self.max_size)
        descriptors = np.empty((0, 1)) if found.descriptors is None else found.descriptors
        if self.features == "sift":
            descriptors = descriptors.astype(np.uint8)  # whole numbers below 256
        with atomic_write(self._place(name)) as file:
            np.savez(file, points=found.points, descriptors=descriptors, size=np.array(found.size))

    def load(self, name: str) -> Features:
        """The features of an image, from the cache."""
        with np.load(self._place(name)) as stored:
            descriptors = stored["descriptors"]
            if self.features == "sift":
                descriptors = descriptors.astype(np.float32)
            width, height = stored["size"].tolist()
            return Features(stored["points"], descriptors, self.features, (width, height))

    def read(self, pair: Pair) -> PairMatches:
        first, second = (self.load(name) for name in pair)
        found = match_features(first, second, ratio=self.ratio, mutual=self.mutual)
        return PairMatches(found.X, None, 1 - found.ratio)

    def camera(self, image: str) -> Camera | None:
        if self.focal is None:
            return None
        width, height = self.load(image).size
        return Camera(self.focal, self.focal, (width - 1) / 2, (height - 1) / 2)

    def check_writable(self, out: Path) -> None:
        raise ValueError(f"{out}: matches of images are written as a table, such as .csv.")

    def write(self, out: Path, verdicts: Mapping[Pair, Verdict]) -> None:
        self.check_writable(out)
