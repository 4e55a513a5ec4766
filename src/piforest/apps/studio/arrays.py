"""The arrays of a result: one .npy file each, by name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..server.guard import Refused

_FILE = re.compile(r"\d{1,5}\.(npy|json)")


class Arrays:
    """A folder of arrays with arbitrary names; `index.json` maps them to files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        index = folder / "index.json"
        self._index: dict[str, dict[str, Any]] = {}
        if index.exists():
            found = json.loads(index.read_text())
            self._index = {name: each for name, each in found.items() if isinstance(each, dict)}

    def write(self, name: str, values: NDArray[Any]) -> None:
        """Store an array of numbers, little-endian."""
        file = f"{len(self._index)}.npy"
        self.folder.mkdir(exist_ok=True)
        packed = np.ascontiguousarray(values)
        packed = packed.astype(packed.dtype.newbyteorder("<"), copy=False)
        np.save(self.folder / file, packed, allow_pickle=False)
        self._note(name, file, packed.dtype.str, list(packed.shape))

    def write_texts(self, name: str, values: list[str]) -> None:
        """Store a column of text, as JSON."""
        file = f"{len(self._index)}.json"
        self.folder.mkdir(exist_ok=True)
        (self.folder / file).write_text(json.dumps(values))
        self._note(name, file, "json", [len(values)])

    def _note(self, name: str, file: str, dtype: str, shape: list[int]) -> None:
        self._index[name] = {"file": file, "dtype": dtype, "shape": shape}
        (self.folder / "index.json").write_text(json.dumps(self._index))

    def listing(self) -> list[dict[str, Any]]:
        """The arrays by name, for a page."""
        return [
            {"name": name, "dtype": each["dtype"], "shape": each["shape"]}
            for name, each in self._index.items()
        ]

    def __contains__(self, name: str) -> bool:
        return name in self._index

    def read(self, name: str) -> NDArray[Any]:
        """An array of numbers, mapped from its file."""
        try:
            found: NDArray[Any] = np.load(self.folder / self._entry(name)["file"], mmap_mode="r")
        except (ValueError, OSError, TypeError, EOFError) as error:
            raise Refused(422, f"the array {name!r} cannot be read: {error}") from None
        if found.dtype.kind not in "biuf":
            raise Refused(422, f"the array {name!r} holds no numbers.")
        return found

    def raw(self, name: str) -> tuple[bytes, str, list[int]]:
        """The bytes of an array, its type and its shape; of text, JSON."""
        entry = self._entry(name)
        if entry["file"].endswith(".json"):
            content = (self.folder / entry["file"]).read_bytes()
            return content, "json", [len(json.loads(content))]
        values = self.read(name)
        return values.tobytes(), values.dtype.str, list(values.shape)

    def _entry(self, name: str) -> dict[str, Any]:
        if name not in self._index:
            known = ", ".join(list(self._index)[:20])
            raise Refused(404, f"there is no array {name!r}; arrays: {known}.")
        entry = self._index[name]
        if not _FILE.fullmatch(str(entry.get("file"))):  # of a project file, which may be untrusted
            raise Refused(422, f"the array {name!r} cannot be read.")
        return entry
