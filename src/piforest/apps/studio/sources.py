"""Where data come from: uploads, files by path within the given folders, examples."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from stat import S_ISREG
from typing import Any

from anyio import open_file

from ..server.guard import Refused
from . import examples
from .store import Store

_SCANS = (".ply", ".pcd", ".las", ".laz", ".xyz")
_IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff")
_ENDINGS = {
    **dict.fromkeys(_SCANS, "scan"),
    **dict.fromkeys(_IMAGES, "image"),
    ".db": "colmap", ".sqlite": "colmap", ".pif": "model", ".npz": "matches",
    ".h5": "matches", ".hdf5": "matches",
}  # fmt: skip
PROJECT_ENDING = ".piforest.zip"
_LONGEST_NAME = 100
_LISTED = 500


def kind_of(name: str) -> str:
    """What a file is, by the ending of its name."""
    from ...io.tables import FORMATS
    from ...io.tables.compression import CODECS

    lower = name.lower()
    if lower.endswith(PROJECT_ENDING):
        return "project"
    suffixes = Path(lower).suffixes[-2:] or [""]
    packed = suffixes[-1] in CODECS
    ending = suffixes[0] if packed and len(suffixes) == 2 else suffixes[-1]
    if ending in _ENDINGS and not packed:
        return _ENDINGS[ending]
    if ending in FORMATS or ending == ".zip":
        return "table"
    raise Refused(
        415,
        f"{name!r}: the ending of the name tells no format; it must be that of a table "
        f"({', '.join(sorted(set(FORMATS) - set(_SCANS)))}), a scan ({', '.join(_SCANS)}), an "
        f"image ({', '.join(_IMAGES)}), matches (.npz, .h5), a COLMAP database (.db), a model "
        f"(.pif) or a project ({PROJECT_ENDING}).",
    )


def fitting_kinds(sources: Sequence[dict[str, Any]]) -> list[str]:
    """What a project of these sources may be, the usual one first."""
    first = sources[0]
    if first["kind"] == "image" and len(sources) > 1 and sources[1]["kind"] == "image":
        return ["matches"]
    tables = ["table", "series", "matches", *(["map"] if first["name"].endswith(".npy") else [])]
    return {"table": tables, "scan": ["scan", "table"], "image": ["map"],
            "colmap": ["pairs", "table"], "matches": ["matches", "table"],
            }.get(first["kind"], [first["kind"]])  # fmt: skip


def project_kind(sources: Sequence[dict[str, Any]], wanted: str | None) -> str:
    """What a project of these sources is. wanted: what the page says it is."""
    fitting = fitting_kinds(sources)
    if len(sources) > 1 and (fitting != ["matches"] or len(sources) > 2):
        raise Refused(422, "a project has one file, or two images to match; got " +
                      ", ".join(each["name"] for each in sources) + ".")  # fmt: skip
    if wanted is not None and wanted not in fitting:
        raise Refused(422, f"{sources[0]['name']} is {' or '.join(sorted(fitting))}, not {wanted}.")
    return wanted or fitting[0]


def safe_name(name: str) -> str:
    """The last part of a name without what a file system, a shell or an option could mistake."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    kept = "".join(c if c.isprintable() and c not in '<>:"|?*' else "_" for c in last)
    kept = kept.strip().lstrip(".-")
    if len(kept) > _LONGEST_NAME:
        ending = "".join(Path(kept).suffixes[-2:])[-20:]
        kept = kept[: _LONGEST_NAME - len(ending)] + ending
    try:
        kept.encode()
    except UnicodeEncodeError:
        kept = kept.encode("ascii", "replace").decode().replace("?", "_")
    if not kept:
        raise Refused(422, f"{name!r} is no name of a file.")
    return kept


class Sources:
    """Files that projects are made of. folders: those that may be read by path."""

    def __init__(self, store: Store, folders: Sequence[Path], max_upload: int) -> None:
        self.store, self.max_upload = store, max_upload
        self.folders = [folder.resolve() for folder in folders]

    async def upload(self, name: str, body: AsyncIterator[bytes]) -> dict[str, Any]:
        """Keep the bytes of a request under a name."""
        name = safe_name(name)
        kind = kind_of(name)
        self.store.check_space()
        key = self.store.new_id()
        path = self.store.source_folder(key) / name
        size = 0
        try:
            async with await open_file(path, "wb") as file:
                async for part in body:
                    size += len(part)
                    await file.write(part)
            self.store.check_space(size)
            if size == 0:
                raise Refused(422, f"{name} is empty.")
        except BaseException:
            path.unlink(missing_ok=True)
            path.parent.rmdir()
            raise
        return self._added(key, name, kind, size, "upload", path)

    def by_path(self, text: str) -> dict[str, Any]:
        """A file that is read where it is."""
        path = self.allowed(text)
        if not S_ISREG(path.stat().st_mode):
            raise Refused(422, f"{path} is no file.")
        kind = kind_of(path.name)
        return self._added(self.store.new_id(), path.name, kind, path.stat().st_size, "path", path)

    def example(self, name: str) -> list[dict[str, Any]]:
        """The files of an example, written by its seed."""
        made = examples.find(name)
        found = []
        for file, write in made.files:
            key = self.store.new_id()
            path = self.store.source_folder(key) / file
            write(path)
            size = path.stat().st_size
            found.append(self._added(key, file, made.source, size, f"example:{name}", path))
        return found

    def _added(
        self, key: str, name: str, kind: str, size: int, origin: str, path: Path
    ) -> dict[str, Any]:
        return self.store.add_source(
            {"id": key, "name": name, "kind": kind, "bytes": size, "origin": origin,
             "path": str(path)}
        )  # fmt: skip

    def allowed(self, text: str) -> Path:
        """A path within the folders, with links resolved; else refused without saying more."""
        if "\0" in text:
            raise Refused(422, "a path has no zero byte.")
        try:
            path = Path(text).expanduser()
            path = (path if path.is_absolute() else self.folders[0] / path).resolve(strict=True)
            inside = any(path.is_relative_to(folder) for folder in self.folders)
        except (OSError, RuntimeError, IndexError):
            inside = False
        if not inside:
            listed = ", ".join(map(str, self.folders)) or "none"
            raise Refused(
                403, f"{text!r} is not in the folders that may be read: {listed}; "
                "--folder adds one."
            )  # fmt: skip
        return path

    def listing(self, text: str) -> dict[str, Any]:
        """The folders and the readable files of a folder; of nothing, the folders at the start."""
        if not text:
            return {"path": None, "parent": None, "more": 0, "entries": [
                {"name": str(each), "path": str(each), "kind": "folder", "bytes": None}
                for each in self.folders]}  # fmt: skip
        folder = self.allowed(text)
        if not folder.is_dir():
            raise Refused(422, f"{folder} is no folder.")
        try:
            names = sorted(each for each in folder.iterdir() if not each.name.startswith("."))
        except PermissionError:
            raise Refused(403, f"{folder} may not be read.") from None
        entries = [entry for entry in map(self._entry, names) if entry is not None]
        top = folder in self.folders
        return {"path": str(folder), "parent": None if top else str(folder.parent),
                "entries": entries[:_LISTED], "more": max(0, len(entries) - _LISTED)}  # fmt: skip

    def _entry(self, path: Path) -> dict[str, Any] | None:
        try:
            path = self.allowed(str(path))
            if path.is_dir():
                return {"name": path.name, "path": str(path), "kind": "folder", "bytes": None}
            if not path.is_file():
                return None
            return {"name": path.name, "path": str(path), "kind": kind_of(path.name),
                    "bytes": path.stat().st_size}  # fmt: skip
        except (Refused, OSError):
            return None
