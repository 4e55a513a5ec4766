"""The application: one fitted model, four addresses and a page about them."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse

from ... import __version__
from .batches import ARROW, JSON, Batch, Problem, Scores, read_rows, write_scores
from .guard import App, Guard, Refused
from .limits import Limits
from .metrics import Metrics
from .page import api_page

_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            JSON: {"schema": Batch.model_json_schema()},
            ARROW: {"schema": {"type": "string", "format": "binary"}},
        },
    }
}
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": text}
    for status, text in {
        400: "The request cannot be read",
        401: "No token",
        403: "A page of another origin",
        413: "Too many rows or bytes",
        415: "Another type of body",
        421: "Another host",
        422: "Other rows than those of the model",
    }.items()
}


def make_app(detector: Any, name: str, limits: Limits, concurrent: int = 1) -> App:
    """The application of a fitted detector.

    Parameters
    ----------
    detector : Detector
        A fitted detector.
    name : str
        The name of the model, to show.
    limits : Limits
        Who may ask, and for how much.
    concurrent : int, default=1
        Requests that are scored at the same time.

    Returns
    -------
    App
        An ASGI application.
    """
    metrics, model = Metrics(), _Model(detector, name, limits, concurrent)
    app = FastAPI(
        title="piforest", version=__version__, docs_url=None, redoc_url=None,
        description="Scores rows with one fitted model.",
    )  # fmt: skip

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> Response:
        return JSONResponse({"error": error.text}, error.status)

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def page() -> Response:
        text, policy = api_page(app.openapi(), model.about())
        return HTMLResponse(text, headers={"content-security-policy": policy})

    @app.get("/health", summary="Whether the server lives; needs no token")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/metrics", summary="Counters, in the text format of Prometheus",
             response_class=PlainTextResponse, responses=_PROBLEMS)  # fmt: skip
    async def counters() -> str:
        return metrics.text()

    @app.get("/model", summary="The model, and what it expects", responses=_PROBLEMS)
    async def about() -> dict[str, Any]:
        return model.about()

    @app.post("/score", summary="Score rows", openapi_extra=_BODY,
              responses={**_PROBLEMS, 200: {"model": Scores, "content": {ARROW: {}}}})  # fmt: skip
    async def score(request: Request) -> Response:
        kind = _kind(request.headers.get("content-type", JSON))
        rows = model.rows(await request.body(), kind)
        start = time.perf_counter()
        scores = await model.scores(rows)
        metrics.count_rows(len(rows), time.perf_counter() - start)
        wanted = ARROW if ARROW in request.headers.get("accept", "") else JSON
        return Response(write_scores(scores, model.threshold, wanted), media_type=wanted)

    return Guard(app, limits, metrics.count_request)


class _Model:
    """A detector as requests see it."""

    def __init__(self, detector: Any, name: str, limits: Limits, concurrent: int) -> None:
        self.detector, self.name, self.limits = detector, name, limits
        self.names = [str(each) for each in getattr(detector, "feature_names_in_", [])]
        self.d = int(detector.n_features_in_)
        self.threshold = float(detector.threshold_)
        self._concurrent = concurrent
        self._limiter: CapacityLimiter | None = None

    def about(self) -> dict[str, Any]:
        """What a client needs to know."""
        families = [models.family.name for models in getattr(self.detector, "models_", [])]
        return {
            "model": self.name,
            "families": families,
            "columns": self.names or self.d,
            "threshold": self.threshold,
            "threshold_source": self.detector.threshold_source_,
            "max_rows": self.limits.max_rows,
            "max_bytes": self.limits.max_bytes,
        }

    def rows(self, body: bytes, kind: str) -> Any:
        return read_rows(body, kind, self.names, self.d, self.limits)

    async def scores(self, rows: Any) -> Any:
        """Scores, in a thread, so that the server answers meanwhile."""
        if not len(rows):
            return np.empty(0)
        if self._limiter is None:  # belongs to the running event loop
            self._limiter = CapacityLimiter(self._concurrent)
        return await to_thread.run_sync(self._score, rows, limiter=self._limiter)

    def _score(self, rows: Any) -> Any:
        with warnings.catch_warnings():
            # Rows without names are in the order of the model's columns.
            warnings.simplefilter("ignore")
            try:
                return self.detector.anomaly_score(rows)
            except ValueError as error:
                raise Refused(422, " ".join(str(error).split())) from None


def _kind(content_type: str) -> str:
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in (JSON, ARROW):
        raise Refused(415, f"the body must be {JSON} or {ARROW}, got {kind!r}.")
    return kind
