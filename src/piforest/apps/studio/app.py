"""The routes of Studio: thin, each asks `Studio`."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from starlette.exceptions import HTTPException

from ... import __version__
from ..server.batches import Problem
from ..server.guard import App, Guard, Refused
from ..server.limits import Limits
from . import routes_jobs, routes_projects
from .studio import Options, Studio

# The page loads its own modules, styles and data, and pictures that it makes.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; font-src 'self'; frame-src 'self' blob:; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'"
)
# Bodies other than uploads: settings, marks, code.
_MAX_BODY = 4_000_000
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html; charset=utf-8",
          ".svg": "image/svg+xml", ".png": "image/png", ".json": "application/json"}  # fmt: skip
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": text}
    for status, text in {
        400: "The request cannot be read",
        401: "No token",
        403: "Not allowed",
        404: "There is no such thing",
        409: "Not at this time",
        413: "Too many bytes",
        415: "No known format",
        421: "Another host",
        422: "Other content than is needed",
        507: "The folder of Studio is full",
    }.items()
}


def open_studio(
    options: Options, token: str | None, hosts: tuple[str, ...], port: int
) -> tuple[Studio, App]:
    """Studio and the application that answers its requests; `Studio.close` stops both."""
    studio = Studio(options)
    limits = Limits(
        token, hosts, max_bytes=_MAX_BODY,
        larger={"/api/sources": options.max_upload}, command="piforest studio",
        cookie=f"piforest_{port}", policy=POLICY,
    )  # fmt: skip
    studio.warm()
    return studio, Guard(make_app(studio), limits)


def make_app(studio: Studio) -> FastAPI:
    """The application of a Studio, without its guard."""
    app = FastAPI(title="piforest studio", version=__version__, docs_url=None, redoc_url=None)
    app.state.studio = studio

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> Response:
        return JSONResponse({"error": error.text}, error.status)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        return JSONResponse({"error": _in_words(error)}, 422)

    @app.exception_handler(HTTPException)
    async def unknown(_: Request, error: HTTPException) -> Response:
        return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)

    api = APIRouter(prefix="/api", responses=PROBLEMS)
    routes_projects.add(api, studio)
    routes_jobs.add(api, studio)
    app.include_router(api)
    _add_pages(app)
    return app


def _in_words(error: RequestValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    text = str(first["msg"]).removeprefix("Value error, ")
    return f"{place}: {text}." if place else f"{text}."


def _add_pages(app: FastAPI) -> None:
    """The page and its modules, from the package."""
    own = Path(str(files("piforest.apps.studio"))) / "static"
    shared = Path(str(files("piforest"))) / "web" / "static"

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return _static(own, "index.html")

    @app.get("/static/{name:path}", include_in_schema=False)
    async def module(name: str) -> Response:
        return _static(own, name)

    @app.get("/web/{name:path}", include_in_schema=False)
    async def common(name: str) -> Response:
        return _static(shared, name)


def _static(folder: Path, name: str) -> Response:
    """A file of a folder of the package; files of other folders are refused."""
    path = (folder / name).resolve() if "\0" not in name else folder
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        raise Refused(404, f"there is no page {name!r}.")
    return FileResponse(path, media_type=_TYPES.get(path.suffix, "application/octet-stream"))
