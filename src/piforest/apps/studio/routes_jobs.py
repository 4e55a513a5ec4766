"""Routes of jobs, their results, arrays and files."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import FileResponse

from .settings import FolderJobs, NewJob
from .studio import Studio

Key = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
Threshold = Annotated[float | None, Query(allow_inf_nan=False)]


def add(api: APIRouter, studio: Studio) -> None:
    """Add the routes."""
    _add_jobs(api, studio)
    _add_results(api, studio)


def _add_jobs(api: APIRouter, studio: Studio) -> None:
    @api.post("/projects/{key}/jobs", summary="Start a job", status_code=202)
    def start(key: Key, body: NewJob) -> dict[str, Any]:
        return studio.start(key, body.kind, body.settings)

    @api.post("/projects/{key}/score-folder", summary="Score the files of a folder",
              status_code=202)  # fmt: skip
    def score_folder(key: Key, body: FolderJobs) -> list[dict[str, Any]]:
        return studio.score_folder(key, body.folder, body.settings)

    @api.get("/jobs/{key}", summary="The state of a job")
    def job(key: Key) -> dict[str, Any]:
        return studio.jobs.describe(studio.store.job(key))

    @api.delete("/jobs/{key}", summary="Cancel a job")
    def cancel(key: Key) -> dict[str, Any]:
        studio.jobs.cancel(key)
        return studio.jobs.describe(studio.store.job(key))

    @api.post("/jobs/{key}/restart", summary="Start a job again that ended early")
    def restart(key: Key) -> dict[str, Any]:
        studio.jobs.restart(key)
        return studio.jobs.describe(studio.store.job(key))


def _add_results(api: APIRouter, studio: Studio) -> None:
    @api.get("/jobs/{key}/result", summary="What a job found")
    def result(key: Key) -> dict[str, Any]:
        return studio.results.result(key)

    @api.get("/jobs/{key}/arrays/{name:path}", summary="An array, as little-endian bytes",
             response_class=Response)  # fmt: skip
    def array(key: Key, name: str) -> Response:
        content, dtype, shape = studio.results.arrays(key).raw(name)
        kind = "application/json" if dtype == "json" else "application/octet-stream"
        headers = {"x-dtype": dtype, "x-shape": ",".join(map(str, shape))}
        return Response(content, media_type=kind, headers=headers)

    @api.get("/jobs/{key}/explain/{row}", summary="Why a row is anomalous, or not")
    def explain(
        key: Key, row: Annotated[int, Path(ge=0, lt=2**53)], threshold: Threshold = None
    ) -> dict[str, Any]:
        return studio.results.explain(key, row, threshold)

    @api.get("/jobs/{key}/found", summary="Defects or stretches at another threshold")
    def found(
        key: Key, threshold: Annotated[float, Query(gt=0, allow_inf_nan=False)]
    ) -> dict[str, Any]:
        return studio.results.found(key, threshold)

    @api.get("/jobs/{key}/files/{name}", summary="A file to take away",
             response_class=FileResponse)  # fmt: skip
    def file(
        key: Key, name: Annotated[str, Path(max_length=40)],
        threshold: Threshold = None,
    ) -> Response:  # fmt: skip
        texts = {"command.sh": studio.results.command_text, "script.py": studio.results.script_text}
        if name in texts:
            return _text(texts[name](key, threshold), name)
        path = studio.results.file(key, name, threshold)
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)


def _text(content: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type="text/plain; charset=utf-8", headers=headers)
