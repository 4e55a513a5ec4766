"""The results of jobs: what a page shows, explains and downloads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..server.guard import Refused
from . import commands
from .arrays import Arrays
from .helper import Helpers
from .marking import judged
from .running import parsed
from .scripts import comparison_script, script_of
from .store import Store

# A file of many rows takes longer than other requests.
_PATIENCE = 600.0


class Results:
    """The results of the jobs of a store. code: whether functions of jobs may run."""

    def __init__(self, store: Store, helpers: Helpers, code: bool) -> None:
        self.store, self.helpers, self.code = store, helpers, code

    def finished(self, key: str) -> dict[str, Any]:
        """A job that is done."""
        job = self.store.job(key)
        if job["state"] != "done":
            why = f": {job['error']}" if job["error"] else ""
            raise Refused(409, f"the job is {job['state']}, it has no result{why}")
        return job

    def content(self, job: dict[str, Any]) -> dict[str, Any]:
        folder = self.store.job_folder(job["id"])
        found: dict[str, Any] = json.loads((folder / "result.json").read_text())
        return found

    def result(self, key: str) -> dict[str, Any]:
        """The result of a job, with the command."""
        job = self.finished(key)
        spec = self.spec(job)
        found = {**self.content(job), "python": self._script(job, spec, None)}
        found["command"] = None if "argv" not in spec else commands.to_repeat(spec["argv"])
        found["files"] = commands.files_of(spec.get("argv"))
        return found

    def found(self, key: str, threshold: float) -> dict[str, Any]:
        """The defects of a map, or the stretches of a series, at another threshold."""
        folder = str(self.store.job_folder(self.finished(key)["id"]))
        found: dict[str, Any] = self.helpers.ask("found", folder=folder, threshold=threshold)
        return found

    def explain(self, key: str, row: int, threshold: float | None = None) -> dict[str, Any]:
        """Why a row is anomalous, or not."""
        job = self.finished(key)
        result = self.content(job)
        if "runs" in result:
            own = result["summary"]["threshold"] if threshold is None else threshold
            runs = (result if threshold is None else self.found(key, threshold))["runs"]
            return _of_run(runs, own, self.arrays(key), row)
        if "points" not in result or job["kind"] in ("compare", "suggest"):
            raise Refused(422, "this result has no rows that can be explained one by one.")
        folder = str(self.store.job_folder(job["id"]))
        found: dict[str, Any] = self.helpers.ask(
            "explain", folder=folder, row=row, points=result.get("points", []),
            threshold=threshold, code=self.code,
        )  # fmt: skip
        return found

    def file(self, key: str, name: str, threshold: float | None) -> Path:
        """The path of a file for download."""
        job = self.finished(key)
        self.store.check_space()
        made = self.helpers.ask(
            "file", patience=_PATIENCE, folder=str(self.store.job_folder(job["id"])), name=name,
            threshold=threshold, code=self.code,
        )  # fmt: skip
        return Path(made)

    def command_text(self, key: str, threshold: float | None) -> str:
        """The command that repeats a job, as a shell script."""
        spec = self.spec(self.finished(key))
        if "argv" not in spec:
            raise Refused(404, "a comparison is no command; script.py repeats it.")
        return f"#!/bin/sh\n{commands.to_repeat(spec['argv'], threshold)}\n"

    def script_text(self, key: str, threshold: float | None) -> str:
        """The Python script that repeats a job."""
        job = self.finished(key)
        return self._script(job, self.spec(job), threshold)

    def _script(self, job: dict[str, Any], spec: dict[str, Any], threshold: float | None) -> str:
        if "argv" not in spec:
            return comparison_script(self.script_text(spec["other_id"], None), spec["seed"])
        command = commands.to_repeat(spec["argv"], threshold)
        inputs = self.content(job)["told"]
        return script_of(parsed(spec["argv"]), inputs, command, threshold)

    def spec(self, job: dict[str, Any]) -> dict[str, Any]:
        """The input of the worker of a job."""
        folder = self.store.job_folder(job["id"])
        spec: dict[str, Any] = json.loads((folder / "job.json").read_text())
        return spec

    def arrays(self, key: str) -> Arrays:
        job = self.finished(key)
        return Arrays(self.store.job_folder(job["id"]) / "arrays")

    def marks(self, key: str, job: str | None, threshold: float | None) -> dict[str, Any]:
        """The marks of a project; precision and recall, if there is a result to judge."""
        project = self.store.project(key)
        marks = project["marks"]
        done = [each["id"] for each in project["jobs"]
                if each["kind"] in ("detect", "score") and each["state"] == "done"]  # fmt: skip
        if job is None and not done:
            return {**marks, "job": None, "precision": None, "recall": None, "counts": None}
        chosen = self.finished(job or done[-1])
        arrays = self.arrays(chosen["id"])
        if "rows" not in arrays:
            return {**marks, "job": None, "precision": None, "recall": None, "counts": None}
        if threshold is None:
            threshold = float(self.content(chosen)["summary"]["threshold"])
        return {**marks, "job": chosen["id"], **judged(marks, arrays, threshold)}


def _of_run(
    runs: list[dict[str, Any]], threshold: float, arrays: Arrays, row: int
) -> dict[str, Any]:
    """Of a series: the run that a row is in, and its reason."""
    at = np.flatnonzero(arrays.read("rows") == row)
    if not len(at):
        raise Refused(404, f"row {row} has no score: it lacks a number, or is not shown.")
    score = float(arrays.read("scores")[at[0]])
    inside = next((each for each in runs if each["first"] <= row <= each["last"]), None)
    word = "anomalous" if score > threshold else "normal"
    text = f"{word} (score {score:.3f}, threshold {threshold:.3f})"
    if inside is not None:
        text += f", from {inside['start']} to {inside['end']}: {inside['reason']}"
    return {"row": row, "text": text, "score": score, "threshold": threshold, "run": inside,
            "nearest": [], "changes": []}  # fmt: skip
