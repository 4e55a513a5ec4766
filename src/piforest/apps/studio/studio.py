"""Studio without HTTP: projects, their jobs and results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..server.guard import Refused
from . import commands, examples
from .helper import Helpers
from .jobs import JobInput, JobLimits, Jobs
from .outcomes import Results
from .settings import JobKind, NewProject, Settings, as_json, check_code
from .sources import Sources, fitting_kinds, project_kind
from .store import Store

# Files of a folder that are scored at once.
_MOST_FILES = 100


@dataclass(frozen=True)
class Options:
    """What `piforest studio` was started with."""

    home: Path
    folders: Sequence[Path]
    jobs: JobLimits
    max_upload: int = 1_000_000_000
    max_home: int = 10_000_000_000
    allow_code: bool = False


class Studio:
    """All that the page asks for. Methods may be called from any thread."""

    def __init__(
        self,
        options: Options,
        make_jobs: Callable[[Store, JobLimits], Jobs] = Jobs,
        helpers: Helpers | None = None,
    ) -> None:
        self.options = options
        self.store = Store(options.home, options.max_home)
        self.sources = Sources(self.store, options.folders, options.max_upload)
        self.jobs = make_jobs(self.store, options.jobs)
        self.helpers = helpers or Helpers(options.jobs.memory_mb)
        self.results = Results(self.store, self.helpers, options.allow_code)
        self._families: list[dict[str, Any]] | None = None

    def close(self) -> None:
        self.jobs.close()
        self.helpers.close()
        self.store.close()

    def warm(self) -> None:
        """Start a helper in the background, so that the first questions are not slow."""
        threading.Thread(target=self._warm, daemon=True).start()

    def _warm(self) -> None:
        with suppress(Refused):
            self.about()
            self.helpers.ask("prepare")

    def about(self) -> dict[str, Any]:
        from ... import __version__

        if self._families is None:
            self._families = self.helpers.ask("families")
        limits = self.options.jobs
        return {
            "version": __version__,
            "folders": [str(each) for each in self.sources.folders],
            "limits": {
                "max_upload": self.options.max_upload, "max_home": self.options.max_home,
                "home_used": self.store.bytes_used(), "memory_mb": limits.memory_mb,
                "timeout": limits.timeout, "workers": limits.at_once,
            },
            "allow_code": self.options.allow_code,
            "kinds": ["table", "scan", "matches", "map", "series", "pairs", "model"],
            "families": self._families,
        }  # fmt: skip

    # Projects.

    def new_project(self, asked: NewProject) -> dict[str, Any]:
        found = [self.store.source(key) for key in asked.sources]
        if len({each["id"] for each in found}) < len(found):
            raise Refused(422, "sources: the same file is named twice.")
        if found[0]["kind"] == "project":
            raise Refused(
                422, f"{found[0]['name']} is a project: POST /api/projects/open opens it."
            )
        kind, settings = project_kind(found, asked.kind), {}
        if asked.kind is None and len(found) == 1 and "map" in fitting_kinds(found):
            kind = "map" if self.helpers.ask("is_map", path=found[0]["path"]) else kind
        origins = {each["origin"] for each in found}
        origin = origins.pop() if len(origins) == 1 else ""
        if origin.startswith("example:"):
            example = examples.find(origin.removeprefix("example:"))
            kind, settings = asked.kind or example.kind, example.settings
        name = asked.name or " and ".join(each["name"] for each in found)
        key = self.store.add_project(name, kind, asked.sources, settings=settings)
        return self.project(key)

    def project(self, key: str) -> dict[str, Any]:
        return self._described(self.store.project(key))

    def projects(self) -> list[dict[str, Any]]:
        return [self._described(each) for each in self.store.projects()]

    def _described(self, project: dict[str, Any]) -> dict[str, Any]:
        jobs = [self.jobs.describe(each) for each in project["jobs"]]
        sources = [public_source(each) for each in project["sources"]]
        return {**{k: v for k, v in project.items() if k != "marks"},
                "kinds": fitting_kinds(sources), "sources": sources, "jobs": jobs}  # fmt: skip

    def change_project(self, key: str, change: dict[str, Any]) -> dict[str, Any]:
        """Change a project; settings of another kind of file are forgotten."""
        project = self.store.project(key)
        kind = change.get("kind", project["kind"])
        if kind not in (project["kind"], *fitting_kinds(project["sources"])):
            raise Refused(422, f"kind: {project['sources'][0]['name']} is no {kind}.")
        if kind != project["kind"]:
            change = {"settings": {}, **change}
        self.store.change_project(key, change)
        return self.project(key)

    def remove_project(self, key: str) -> None:
        for job in self.store.project(key)["jobs"]:
            self.jobs.cancel(job["id"])
        self.store.remove_project(key)

    def columns(self, key: str) -> dict[str, Any]:
        project = self.store.project(key)
        paths = [each["path"] for each in project["sources"]]
        kind = project["kind"]
        if kind in ("table", "scan", "series") or (kind == "matches" and len(paths) == 1):
            roles = project["settings"].get("roles", {})
            found: dict[str, Any] = self.helpers.ask(
                "columns", path=paths[0], kind=kind, roles=roles
            )
            return found
        if kind in ("matches", "map"):
            pictures: dict[str, Any] = self.helpers.ask("images", paths=paths[:2], kind=kind)
            return pictures
        raise Refused(422, f"a project of kind {kind} has no columns.")

    def image(self, key: str, which: int) -> Path:
        """A copy of an image that a page can show."""
        project = self.store.project(key)
        if project["kind"] not in ("matches", "map") or which >= len(project["sources"]):
            raise Refused(404, "the project has no such image.")
        source = project["sources"][which]
        if source["kind"] not in ("image", "table"):
            raise Refused(404, f"{source['name']} is no image.")
        folder = self.store.source_folder(source["id"])
        for suffix in (".jpg", ".png"):
            if (known := folder / f".shown-{project['kind']}{suffix}").exists():
                return known
        out = str(folder / f".shown-{project['kind']}.jpg")
        made = self.helpers.ask("image", path=source["path"], kind=project["kind"], out=out)
        return Path(made)

    def source_file(self, key: str, which: int) -> tuple[Path, str]:
        sources = self.store.project(key)["sources"]
        if which >= len(sources):
            raise Refused(404, f"the project has {len(sources)} files.")
        path = Path(sources[which]["path"])
        if not path.is_file():
            raise Refused(404, f"{path.name} is not there any more.")
        return path, sources[which]["name"]

    # Jobs.

    def start(self, key: str, kind: JobKind, settings: Settings) -> dict[str, Any]:
        """Put a job into the queue."""
        made = self.made(self.store.project(key), kind, settings)
        if settings.code is not None:
            made.texts[commands.FAMILY_FILE] = self._checked(settings.code.source)
        added = self.jobs.add(key, kind, as_json(settings), made)
        return self.jobs.describe(self.store.job(added))

    def made(self, project: dict[str, Any], kind: str, settings: Settings) -> JobInput:
        """What the worker of a job needs."""
        if kind == "compare":
            return JobInput(self._comparison(project, settings), {}, {})
        return JobInput(*self._command(project, kind, settings), {})

    def score_folder(self, key: str, folder: str, settings: Settings) -> list[dict[str, Any]]:
        """One job for each table or scan in a folder."""
        listing = self.sources.listing(folder)
        paths = [each["path"] for each in listing["entries"] if each["kind"] in ("table", "scan")]
        if not paths:
            raise Refused(422, f"{folder} has no tables or scans.")
        if len(paths) > _MOST_FILES or listing["more"]:
            raise Refused(422, f"a folder may have at most {_MOST_FILES} files to score.")
        self._model_of(self.store.project(key), settings)  # raises once, not for each file
        added = [self.sources.by_path(path)["id"] for path in paths]
        return [self.start(key, "score", settings.model_copy(update={"source": source}))
                for source in added]  # fmt: skip

    def _checked(self, source: str) -> str:
        if not self.options.allow_code:
            raise Refused(
                403, "code: this Studio runs no code of pages; start it with --allow-code."
            )
        try:
            check_code(source)
        except ValueError as error:
            raise Refused(422, f"code: {error}") from None
        return source

    def _command(
        self, project: dict[str, Any], kind: str, settings: Settings
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """What the worker runs, and the files beside it."""
        # Further files of a project are those that were scored.
        pair = project["kind"] == "matches" and project["sources"][0]["kind"] == "image"
        sources, model = project["sources"][: 2 if pair else 1], None
        if kind == "score":
            sources, model = self._to_score(project, settings)
        inputs: dict[str, str] = {}
        names = commands.link_names([each["name"] for each in sources])
        files = []
        for name, source in zip(names, sources):
            if source["origin"] == "path":
                # Once more: since it was chosen, a link may have changed.
                files.append(str(self.sources.allowed(source["path"])))
            else:
                inputs[name] = source["path"]
                files.append(name)
        if model is not None:
            inputs[commands.MODEL] = model
        argv = commands.arguments(kind, project["kind"], files, settings)
        return {"argv": argv, "command": commands.shown(argv), "project": project["kind"]}, inputs

    def _to_score(
        self, project: dict[str, Any], settings: Settings
    ) -> tuple[list[dict[str, Any]], str]:
        """The file to score, and the model: of a detection, or the one that is the project."""
        if settings.source is None:
            raise Refused(422, "source: name the file to score.")
        source = self.store.source(settings.source)
        self.store.add_part(project["id"], source["id"])
        return [source], self._model_of(project, settings)

    def _model_of(self, project: dict[str, Any], settings: Settings) -> str:
        if project["kind"] == "model":
            return str(project["sources"][0]["path"])
        job = self.results.finished(settings.job or self._last(project))
        model = self.store.job_folder(job["id"]) / "run" / commands.MODEL
        if not model.exists():
            raise Refused(422, "this detection has no model that scores other files.")
        return str(model)

    def _last(self, project: dict[str, Any]) -> str:
        done = [each["id"] for each in project["jobs"]
                if each["kind"] == "detect" and each["state"] == "done"]  # fmt: skip
        if not done:
            raise Refused(422, "there is no finished detection yet: run one first.")
        return str(done[-1])

    def _comparison(self, project: dict[str, Any], settings: Settings) -> dict[str, Any]:
        other = self.results.finished(settings.job or self._last(project))
        result = self.results.content(other)
        if "points" not in result:
            raise Refused(422, "the comparison is for points and tables, not for windows.")
        folder = self.store.job_folder(other["id"])
        return {"other": str(folder), "other_id": other["id"], "columns": len(result["points"]),
                "seed": settings.seed}  # fmt: skip


def public_source(source: dict[str, Any]) -> dict[str, Any]:
    """A source as a page shows it, without the path of an upload."""
    return {name: source[name] for name in ("id", "name", "kind", "bytes", "origin")}
