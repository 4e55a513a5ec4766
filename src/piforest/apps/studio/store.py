"""What Studio remembers: projects, sources, jobs and marks in one SQLite file, files in one folder.

HOME/studio.sqlite
HOME/sources/ID/NAME    a file that was uploaded, or an example
HOME/archives/ID/       a project as one file
HOME/jobs/ID/           the job: its command, its state, its results
"""

from __future__ import annotations

import json
import secrets
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from ..server.guard import Refused

_SCHEMA = """
CREATE TABLE IF NOT EXISTS sources (
  id TEXT PRIMARY KEY, name TEXT, kind TEXT, bytes INTEGER, origin TEXT, path TEXT, created REAL);
CREATE TABLE IF NOT EXISTS projects (
  id TEXT PRIMARY KEY, name TEXT, kind TEXT, created REAL, settings TEXT, structure_names TEXT,
  marks TEXT);
CREATE TABLE IF NOT EXISTS parts (
  project TEXT REFERENCES projects ON DELETE CASCADE, source TEXT REFERENCES sources,
  place INTEGER, PRIMARY KEY (project, place));
CREATE TABLE IF NOT EXISTS jobs (
  id TEXT PRIMARY KEY, project TEXT REFERENCES projects ON DELETE CASCADE, kind TEXT, state TEXT,
  settings TEXT, created REAL, started REAL, seconds REAL, memory_mb REAL, error TEXT,
  command TEXT, warnings TEXT);
"""
_JSON = ("settings", "structure_names", "marks", "warnings")
# Sources that belong to no project are removed after a day.
_KEPT_SECONDS = 86_400.0
# When space is short, sooner; a page may be about to use the newest.
_JUST_NOW = 600.0
# Measuring the folder takes a moment, and is good for so long.
_MEASURED_SECONDS = 5.0


class Store:
    """Projects, sources, jobs and marks. Every method may be called from any thread.

    home: the folder; most_bytes: what its files may take together.
    """

    def __init__(self, home: Path, most_bytes: int = 10 * 2**30) -> None:
        self.home, self.most_bytes = home, most_bytes
        home.parent.mkdir(parents=True, exist_ok=True)
        for folder in (home, home / "sources", home / "jobs", home / "archives"):
            folder.mkdir(mode=0o700, exist_ok=True)
        self._lock = threading.RLock()
        self._db = sqlite3.connect(home / "studio.sqlite", check_same_thread=False)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA foreign_keys=ON")
        self._db.executescript(_SCHEMA)
        self._measured = (-_MEASURED_SECONDS, 0)
        self.tidy()

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # Any table.

    def _write(self, text: str, values: Iterable[Any]) -> int:
        with self._lock, self._db:
            return self._db.execute(text, tuple(values)).rowcount

    def _read(self, text: str, *values: Any) -> list[dict[str, Any]]:
        with self._lock, closing(self._db.execute(text, values)) as cursor:
            return [_unpacked(row) for row in cursor]

    def _insert(self, table: str, row: dict[str, Any]) -> None:
        names = ", ".join(row)
        marks = ", ".join("?" * len(row))
        self._write(f"INSERT INTO {table} ({names}) VALUES ({marks})", map(_packed, row.values()))

    def _update(self, table: str, key: str, values: dict[str, Any]) -> None:
        names = ", ".join(f"{name} = ?" for name in values)
        self._write(
            f"UPDATE {table} SET {names} WHERE id = ?", [*map(_packed, values.values()), key]
        )

    def _one(self, table: str, key: str, what: str) -> dict[str, Any]:
        found = self._read(f"SELECT * FROM {table} WHERE id = ?", key)
        if not found:
            raise Refused(404, f"there is no {what} {key!r}.")
        return found[0]

    # Sources.

    def new_id(self) -> str:
        return secrets.token_hex(8)

    def add_source(self, source: dict[str, Any]) -> dict[str, Any]:
        self._insert("sources", {**source, "created": time.time()})
        return self.source(source["id"])

    def source(self, key: str) -> dict[str, Any]:
        return self._one("sources", key, "source")

    def source_folder(self, key: str) -> Path:
        folder = self.home / "sources" / key
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    # Projects.

    def add_project(self, name: str, kind: str, sources: Iterable[str], **more: Any) -> str:
        key = self.new_id()
        row = {"id": key, "name": name, "kind": kind, "created": time.time(), "settings": {},
               "structure_names": {}, "marks": {"normal": [], "anomalous": []}}  # fmt: skip
        with self._lock:
            self._insert("projects", {**row, **more})
            for place, source in enumerate(sources):
                self._insert("parts", {"project": key, "source": source, "place": place})
        return key

    def projects(self) -> list[dict[str, Any]]:
        found = self._read("SELECT * FROM projects ORDER BY created DESC, id")
        return [self._whole(each) for each in found]

    def project(self, key: str) -> dict[str, Any]:
        return self._whole(self._one("projects", key, "project"))

    def _whole(self, project: dict[str, Any]) -> dict[str, Any]:
        """A project with its sources and its jobs."""
        sources = self._read(
            "SELECT sources.* FROM sources JOIN parts ON source = id WHERE project = ? "
            "ORDER BY place",
            project["id"],
        )
        jobs = self._read(
            "SELECT * FROM jobs WHERE project = ? ORDER BY created, id", project["id"]
        )
        return {**project, "sources": sources, "jobs": jobs}

    def project_folder(self, key: str) -> Path:
        """Where the archive of a project is written."""
        folder = self.home / "archives" / key
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def change_project(self, key: str, values: dict[str, Any]) -> None:
        self._one("projects", key, "project")
        if values:
            self._update("projects", key, values)

    def add_part(self, project: str, source: str) -> None:
        """A further file of a project, such as one to score; known ones are not added again."""
        with self._lock:
            parts = self._read("SELECT source, place FROM parts WHERE project = ?", project)
            if source not in {each["source"] for each in parts}:
                self._insert("parts", {"project": project, "source": source, "place": len(parts)})

    def remove_project(self, key: str) -> None:
        """Remove a project, its jobs, and the sources that no other project has."""
        project = self.project(key)
        with self._lock:
            self._write("DELETE FROM projects WHERE id = ?", [key])
        shutil.rmtree(self.home / "archives" / key, ignore_errors=True)
        for job in project["jobs"]:
            shutil.rmtree(self.job_folder(job["id"]), ignore_errors=True)
        for source in project["sources"]:
            if not self._read("SELECT 1 FROM parts WHERE source = ?", source["id"]):
                self._remove_source(source["id"])

    # Jobs.

    def add_job(
        self, key: str, project: str, kind: str, state: str, settings: dict[str, Any], command: str
    ) -> None:
        self._insert("jobs", {
            "id": key, "project": project, "kind": kind, "state": state, "settings": settings,
            "created": time.time(), "command": command, "warnings": [],
        })  # fmt: skip

    def job(self, key: str) -> dict[str, Any]:
        return self._one("jobs", key, "job")

    def jobs_in(self, *states: str) -> list[dict[str, Any]]:
        marks = ", ".join("?" * len(states))
        return self._read(f"SELECT * FROM jobs WHERE state IN ({marks}) ORDER BY created", *states)

    def change_job(self, key: str, **values: Any) -> None:
        self._update("jobs", key, values)

    def job_folder(self, key: str) -> Path:
        return self.home / "jobs" / key

    # The folder.

    def check_space(self, more: int = 0) -> None:
        """Refuse if the folder would be larger than it may be."""
        if self.bytes_used() + more > self.most_bytes:
            self.tidy(_JUST_NOW)
            self._measured = (-_MEASURED_SECONDS, 0)
        used = self.bytes_used()
        if used + more > self.most_bytes:
            raise Refused(
                507,
                f"the folder of Studio, {self.home}, has {used / 1e6:,.0f} MB of at most "
                f"{self.most_bytes / 1e6:,.0f} MB; remove projects, or start with a larger "
                "--max-home.",
            )

    def bytes_used(self) -> int:
        """Bytes of all files; measured again after a few seconds."""
        when, used = self._measured
        if time.monotonic() - when > _MEASURED_SECONDS:
            used = sum(path.lstat().st_size for path in self.home.rglob("*") if _is_own(path))
            self._measured = (time.monotonic(), used)
        return used

    def tidy(self, older: float = _KEPT_SECONDS) -> None:
        """Remove sources of no project, and folders that nothing in the database names."""
        unused = self._read(
            "SELECT id FROM sources WHERE created < ? AND id NOT IN (SELECT source FROM parts)",
            time.time() - older,
        )
        for each in unused:
            self._remove_source(each["id"])
        for table in ("sources", "jobs"):
            known = {each["id"] for each in self._read(f"SELECT id FROM {table}")}
            for folder in (self.home / table).iterdir():
                if folder.name not in known and time.time() - folder.stat().st_mtime > older:
                    shutil.rmtree(folder, ignore_errors=True)

    def _remove_source(self, key: str) -> None:
        self._write("DELETE FROM sources WHERE id = ?", [key])
        shutil.rmtree(self.home / "sources" / key, ignore_errors=True)


def _is_own(path: Path) -> bool:
    """Whether a file counts: links to files elsewhere do not."""
    return path.is_file() and not path.is_symlink()


def _packed(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (dict, list)) else value


def _unpacked(row: sqlite3.Row) -> dict[str, Any]:
    return {
        name: json.loads(row[name]) if name in _JSON and row[name] is not None else row[name]
        for name in row.keys()  # noqa: SIM118
    }
