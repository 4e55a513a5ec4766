"""Routes of sources, folders, examples and projects."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import FileResponse

from . import examples, projectfile
from .settings import ExampleBody, Marks, NewProject, OpenProject, PathBody, ProjectChange, as_json
from .studio import Studio, public_source

Key = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
_RAW = {"requestBody": {"required": True, "content": {
    "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}}  # fmt: skip


def add(api: APIRouter, studio: Studio) -> None:
    """Add the routes."""
    _add_sources(api, studio)
    _add_projects(api, studio)
    _add_contents(api, studio)


def _add_sources(api: APIRouter, studio: Studio) -> None:
    @api.get("/about", summary="The version, the limits, the families")
    def about() -> dict[str, Any]:
        return studio.about()

    @api.get("/examples", summary="The built-in examples")
    def listed() -> list[dict[str, str]]:
        return examples.listed()

    @api.post("/sources", summary="Upload a file, as the body", openapi_extra=_RAW)
    async def upload(
        request: Request, name: Annotated[str, Query(min_length=1, max_length=300)]
    ) -> dict[str, Any]:
        return public_source(await studio.sources.upload(name, request.stream()))

    @api.post("/sources/path", summary="A file of this machine, read where it is")
    def by_path(body: PathBody) -> dict[str, Any]:
        return public_source(studio.sources.by_path(body.path))

    @api.post("/sources/example", summary="The files of an example")
    def example(body: ExampleBody) -> list[dict[str, Any]]:
        return [public_source(each) for each in studio.sources.example(body.name)]

    @api.get("/folders", summary="The files of a folder that may be read")
    def folder(path: Annotated[str, Query(max_length=4000)] = "") -> dict[str, Any]:
        return studio.sources.listing(path)


def _add_projects(api: APIRouter, studio: Studio) -> None:
    @api.get("/projects", summary="All projects, the newest first")
    def projects() -> list[dict[str, Any]]:
        return studio.projects()

    @api.post("/projects", summary="A new project")
    def new(body: NewProject) -> dict[str, Any]:
        return studio.new_project(body)

    @api.post("/projects/open", summary="Open an uploaded project file")
    def open_project(body: OpenProject) -> dict[str, Any]:
        return studio.project(projectfile.open_file(studio, body.source))

    @api.get("/projects/{key}/file", summary="The project as one file, which opens again",
             response_class=FileResponse)  # fmt: skip
    def whole(key: Key) -> Response:
        path = projectfile.write_file(studio, key)
        return FileResponse(path, media_type="application/zip", filename=path.name)

    @api.get("/projects/{key}", summary="A project")
    def project(key: Key) -> dict[str, Any]:
        return studio.project(key)

    @api.patch(
        "/projects/{key}", summary="Change the name, the kind, the settings, names of structures"
    )
    def change(key: Key, body: ProjectChange) -> dict[str, Any]:
        given = {name: value for name, value in as_json(body).items() if value is not None}
        return studio.change_project(key, given)

    @api.delete("/projects/{key}", summary="Remove a project, its jobs and its files",
                status_code=204, response_model=None)  # fmt: skip
    def remove(key: Key) -> None:
        studio.remove_project(key)


def _add_contents(api: APIRouter, studio: Studio) -> None:
    @api.get("/projects/{key}/columns", summary="The columns, or the images, of a project")
    def columns(key: Key) -> dict[str, Any]:
        return studio.columns(key)

    @api.get("/projects/{key}/images/{which}", summary="An image of a project")
    def image(key: Key, which: Annotated[int, Path(ge=0, le=1)]) -> Response:
        return FileResponse(studio.image(key, which))

    @api.get("/projects/{key}/sources/{which}", summary="A file of a project, as it is")
    def source(key: Key, which: Annotated[int, Path(ge=0, le=1000)]) -> Response:
        path, name = studio.source_file(key, which)
        return FileResponse(path, filename=name, media_type="application/octet-stream")

    @api.put("/projects/{key}/marks", summary="Rows that are surely normal or anomalous")
    def mark(key: Key, body: Marks) -> dict[str, Any]:
        studio.store.change_project(key, {"marks": body.model_dump()})
        return studio.results.marks(key, None, None)

    @api.get("/projects/{key}/marks", summary="The marks, with precision and recall")
    def marks(
        key: Key,
        job: Annotated[str | None, Query(pattern="^[0-9a-f]{16}$")] = None,
        threshold: Annotated[float | None, Query(allow_inf_nan=False)] = None,
    ) -> dict[str, Any]:
        return studio.results.marks(key, job, threshold)
