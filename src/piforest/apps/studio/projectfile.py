"""A project as one file, a zip archive, and back.

Files are not trusted: names, counts and sizes are checked before anything is unpacked, commands are
composed again from checked settings, and code is dropped.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from ..server.guard import Refused
from .commands import FAMILY_FILE
from .script_inputs import ScriptInputs
from .settings import JobKind, Marks, Name, ProjectKind, Settings, as_json
from .sources import PROJECT_ENDING, kind_of, safe_name
from .studio import Studio

_FORMAT = 1
_MOST_ENTRIES, _MOST_JSON = 20_000, 64_000_000
# The largest ratio of the content to the compressed size: more may be meant to fill disks.
_MOST_GROWTH = 200
_PART = 2**20
# The files of a job; no others are written or read.
_KEPT = re.compile(r"result\.json|scores\.npy|arrays/(index\.json|\d{1,5}\.(npy|json))|run/[^/]+")
_ENTRY = re.compile(r"(project\.json)|sources/(\d{1,3})/([^/]+)|jobs/(\d{1,4})/(.+)")
# Results of commands in windows; other files of a run are made again.
_OUTPUT = re.compile(
    r"(model\.pif|(rows|runs|defects|pairs)\.csv|scores\.npy|picture\.png|"
    r"rows\.(ply|pcd|las|laz|xyz)|filtered\.(db|sqlite|h5|hdf5))"
)


class _Source(BaseModel):
    name: Name


class _Job(BaseModel):
    model_config = ConfigDict(extra="ignore")

    kind: JobKind
    settings: Settings
    other: int | None = None
    """of compare and score: the number of the detection"""
    source: int | None = None
    """of score: the number of the file"""
    seconds: float | None = None
    memory_mb: float | None = None
    warnings: list[str] = []


class _Project(BaseModel):
    model_config = ConfigDict(extra="ignore")

    format: Literal[1]
    name: Name
    kind: ProjectKind
    settings: Settings
    structure_names: dict[Annotated[str, StringConstraints(pattern=r"^\d{1,4}$")], Name] = {}
    marks: Marks
    sources: Annotated[list[_Source], Field(min_length=1, max_length=500)]
    jobs: Annotated[list[_Job], Field(max_length=5000)] = []


def write_file(studio: Studio, key: str) -> Path:
    """Write a project with its files and finished jobs to one archive, and return its path."""
    project = studio.store.project(key)
    done = [each for each in project["jobs"] if each["state"] == "done"]
    places = {each["id"]: k for k, each in enumerate(done)}
    files = {each["id"]: k for k, each in enumerate(project["sources"])}
    size = sum(Path(each["path"]).stat().st_size for each in project["sources"]
               if Path(each["path"]).is_file())  # fmt: skip
    studio.store.check_space(size)
    about = {
        "format": _FORMAT, "name": project["name"], "kind": project["kind"],
        "settings": project["settings"], "structure_names": project["structure_names"],
        "marks": project["marks"],
        "sources": [{"name": each["name"]} for each in project["sources"]],
        "jobs": [_about(studio, each, places, files) for each in done],
    }  # fmt: skip
    stem = safe_name(project["name"]).removesuffix(PROJECT_ENDING)
    target = studio.store.project_folder(key) / f"{stem}{PROJECT_ENDING}"
    partial = target.with_name(f".{studio.store.new_id()}")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("project.json", json.dumps(about))
            for k, source in enumerate(project["sources"]):
                if Path(source["path"]).is_file():
                    archive.write(source["path"], f"sources/{k}/{safe_name(source['name'])}")
            for k, job in enumerate(done):
                folder = studio.store.job_folder(job["id"])
                for path in _results(folder):
                    archive.write(path, f"jobs/{k}/{path.relative_to(folder).as_posix()}")
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
    return target


def _about(
    studio: Studio, job: dict[str, Any], places: dict[str, int], files: dict[str, int]
) -> dict[str, Any]:
    """A job, with indices in place of the keys of this store."""
    settings = dict(job["settings"])
    spec = studio.results.spec(job)
    other = spec.get("other_id") or settings.pop("job", None)
    source = settings.pop("source", None)
    settings.pop("job", None)
    return {
        "kind": job["kind"], "settings": settings, "seconds": job["seconds"],
        "memory_mb": job["memory_mb"], "warnings": job["warnings"],
        "other": places.get(other), "source": files.get(source),
    }  # fmt: skip


def _results(folder: Path) -> Iterator[Path]:
    """The files of a job that an archive keeps."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        wanted = _KEPT.fullmatch(name) and (
            not name.startswith("run/") or _OUTPUT.fullmatch(path.name)
        )
        if wanted and path.is_file() and not path.is_symlink():
            yield path


def open_file(studio: Studio, source: str) -> str:
    """Create a project from an uploaded project file, and return its key."""
    found = studio.store.source(source)
    if found["kind"] != "project":
        raise Refused(422, f"{found['name']} is no project file, NAME{PROJECT_ENDING}.")
    try:
        with zipfile.ZipFile(found["path"]) as archive:
            return _Opening(studio, archive, found["name"]).run()
    except (zipfile.BadZipFile, NotImplementedError, EOFError, RuntimeError, zipfile.LargeZipFile,
            UnicodeDecodeError, OSError, ValueError) as error:  # fmt: skip
        text = " ".join(str(error).split())[:300]
        raise Refused(422, f"{found['name']} cannot be opened: {text}") from None


class _Opening:
    """Adds the content of an archive to the store."""

    def __init__(self, studio: Studio, archive: zipfile.ZipFile, name: str) -> None:
        self.studio, self.store, self.archive, self.name = studio, studio.store, archive, name
        entries = archive.infolist()
        if len(entries) > _MOST_ENTRIES:
            raise ValueError(
                f"it has {len(entries):,} entries, at most {_MOST_ENTRIES:,} are read."
            )
        self.entries = {each.filename: each for each in entries}
        if len(self.entries) < len(entries):
            raise ValueError("two entries have one name.")
        for each in entries:
            if not _ENTRY.fullmatch(each.filename) or ".." in each.filename.split("/"):
                raise ValueError(f"an entry has the name {each.filename[:100]!r}.")
        packed = sum(each.compress_size for each in entries)
        self.left = max(_MOST_JSON, _MOST_GROWTH * packed)
        whole = sum(each.file_size for each in entries)
        if whole > self.left:
            raise ValueError("it would grow to more than 200 times its size.")
        self.store.check_space(whole)

    def run(self) -> str:
        try:
            about = _Project.model_validate_json(self._bytes("project.json"))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise ValueError(f"project.json: {place}: {first['msg']}.") from None
        sources = [self._source(k, each.name) for k, each in enumerate(about.sources)]
        key = self.store.add_project(
            about.name, about.kind, sources, settings=_without_code(about.settings),
            structure_names=about.structure_names, marks=about.marks.model_dump(),
        )  # fmt: skip
        try:
            jobs: list[str] = []
            for k, job in enumerate(about.jobs):
                jobs.append(self._job(key, k, job, jobs, sources))
        except BaseException:
            self.studio.remove_project(key)
            raise
        return key

    def _source(self, k: int, name: str) -> str:
        """A file of the project, as if it had been uploaded."""
        name = safe_name(name)
        entry = f"sources/{k}/{name}"
        key = self.store.new_id()
        path = self.store.source_folder(key) / name
        self._unpack(entry, path)
        row = {"id": key, "name": name, "kind": kind_of(name), "bytes": path.stat().st_size,
               "origin": "project", "path": str(path)}  # fmt: skip
        return str(self.store.add_source(row)["id"])

    def _job(self, project: str, k: int, job: _Job, jobs: list[str], sources: list[str]) -> str:
        """A finished job; its command is composed again, its results are checked."""
        settings = _without_code(job.settings)
        if job.other is not None and 0 <= job.other < len(jobs):
            settings["job"] = jobs[job.other]
        if job.source is not None and 0 <= job.source < len(sources):
            settings["source"] = sources[job.source]
        checked = Settings.model_validate(settings)
        made = self.studio.made(self.store.project(project), job.kind, checked)
        result = self._result(f"jobs/{k}/result.json")
        key = self.studio.jobs.add(project, job.kind, settings, made, state="done")
        folder = self.store.job_folder(key)
        for name in self.entries:
            inner = name.removeprefix(f"jobs/{k}/")
            if inner != name and _KEPT.fullmatch(inner) and inner != "result.json":
                self._result_file(name, inner, folder)
        (folder / "result.json").write_text(json.dumps(result))
        self.store.change_job(
            key, seconds=job.seconds, memory_mb=job.memory_mb, warnings=job.warnings[:100]
        )
        return key

    def _result(self, entry: str) -> dict[str, Any]:
        content = json.loads(self._bytes(entry))
        if not isinstance(content, dict):
            raise ValueError(f"{entry} is no result.")
        if "told" in content:
            content["told"] = ScriptInputs.model_validate(content["told"]).model_dump(
                exclude_unset=True
            )
        return content

    def _result_file(self, entry: str, inner: str, folder: Path) -> None:
        target = folder / inner
        if inner.startswith("run/"):
            if not _OUTPUT.fullmatch(target.name) or target.name == FAMILY_FILE:
                return
            target.unlink(missing_ok=True)  # a link to the model of another job
        target.parent.mkdir(exist_ok=True)
        self._unpack(entry, target)

    def _unpack(self, entry: str, target: Path) -> None:
        """Write an entry to a file; its actual size is counted, not the one in its header."""
        with self._open(entry) as packed, open(target, "xb") as file:
            while part := packed.read(_PART):
                self._count(len(part))
                file.write(part)

    def _bytes(self, entry: str) -> bytes:
        with self._open(entry) as packed:
            content = packed.read(_MOST_JSON + 1)
        if len(content) > _MOST_JSON:
            raise ValueError(f"{entry} has more than {_MOST_JSON:,} bytes.")
        self._count(len(content))
        return content

    def _open(self, entry: str) -> IO[bytes]:
        if entry not in self.entries:
            raise ValueError(f"it has no {entry}.")
        return self.archive.open(self.entries[entry])

    def _count(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise ValueError("it holds more than it says.")


def _without_code(settings: Settings) -> dict[str, Any]:
    """The settings of a file without functions in Python, which are not trusted."""
    return {name: value for name, value in as_json(settings).items()
            if name not in ("code", "job", "source")}  # fmt: skip
