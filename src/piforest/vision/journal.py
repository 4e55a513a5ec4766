"""The finished parts of a long run, in a folder, so that it can be continued."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..io.atomic import atomic_write
from ..io.npy import read_member

__all__ = ["Journal"]

_RUN = "run.json"
# Characters of the name of a finished pair.
_NAME = 40


class Journal:
    """A folder with one file for each finished pair.

    Parameters
    ----------
    folder
        The folder; it is made if it does not exist.
    run
        What the results depend on: options, and the state of the input. A folder of another run
        is refused, or emptied with `force`.
    """

    def __init__(self, folder: Path, run: dict[str, Any], force: bool = False) -> None:
        self.folder = folder
        text = json.dumps(run, sort_keys=True, default=str)
        known = folder / _RUN
        if folder.exists() and not (known.is_file() and known.read_text("utf-8") == text):
            if not known.is_file() and any(folder.iterdir()):
                raise FileExistsError(f"{folder} is in the way of the finished pairs; remove it.")
            if known.is_file() and not force:
                raise FileExistsError(
                    f"{folder} has the finished pairs of a run with other options or another "
                    "input; repeat that command, or remove the folder (--force does)."
                )
            shutil.rmtree(folder)
        folder.mkdir(exist_ok=True)
        with atomic_write(known) as file:
            file.write(text.encode())

    def _place(self, pair: tuple[str, str]) -> Path:
        name = hashlib.sha256(json.dumps(pair).encode()).hexdigest()[:_NAME]
        return self.folder / f"{name}.npz"

    def put(self, pair: tuple[str, str], values: dict[str, Any]) -> None:
        """Keep what a pair gave."""
        with atomic_write(self._place(pair)) as file:
            np.savez(file, **values)  # type: ignore[arg-type]

    def finished(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], dict[str, Any]]:
        """What the pairs that are finished gave; a file that is damaged counts as none."""
        found = {}
        for pair in pairs:
            place = self._place(pair)
            if place.exists():
                try:
                    with open(place, "rb") as file, zipfile.ZipFile(file) as archive:
                        found[pair] = {
                            each.filename.removesuffix(".npy"): read_member(
                                archive, each, _check_type
                            )
                            for each in archive.infolist()
                        }
                except Exception:  # bytes that are no archive fail in any way
                    continue
        return found

    def remove_if_empty(self) -> None:
        """Remove the folder if no pair is finished."""
        if not any(len(path.stem) == _NAME for path in self.folder.glob("*.npz")):
            self.remove()

    def remove(self) -> None:
        """Remove the folder: the run is complete."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _check_type(dtype: Any) -> None:
    if dtype.hasobject:
        raise ValueError("Python objects")
