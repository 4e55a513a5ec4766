"""The bodies of requests, checked."""

from __future__ import annotations

import ast
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Role = Literal["coordinate", "target", "group", "quality", "time", "ignore"]
JobKind = Literal["suggest", "detect", "score", "compare"]
ProjectKind = Literal["table", "scan", "matches", "map", "series", "pairs", "model"]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Key = Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$")]
Share = Annotated[float, Field(gt=0, lt=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
Row = Annotated[int, Field(ge=0, lt=2**53)]
# Characters of the two functions of a family.
_LONGEST_CODE = 20_000
_MOST_MARKS = 100_000


class _Body(BaseModel):
    """A body with the named fields and no others."""

    model_config = ConfigDict(extra="forbid")


class ThresholdRule(_Body):
    """How the threshold is chosen; automatically, if nothing is given."""

    contamination: Share | None = None
    false_alarm_rate: Share | None = None
    threshold: Positive | None = None

    @model_validator(mode="after")
    def _one(self) -> ThresholdRule:
        given = [name for name, value in self if value is not None]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} both choose the threshold: give one")
        return self


class Code(_Body):
    """Two functions in Python, `fit(points)` and `residuals(X, params)`, and `sample_size`."""

    source: Annotated[str, StringConstraints(min_length=1, max_length=_LONGEST_CODE)]


class Settings(_Body):
    """The settings of a job; what is left out has the default of the command."""

    roles: Annotated[dict[Name, Role], Field(max_length=2000)] = {}
    families: Annotated[list[Name], Field(min_length=1, max_length=10)] | Literal["auto"] = "auto"
    options: Annotated[dict[Name, bool | int | float | str], Field(max_length=20)] = {}
    sigma: Positive | Literal["auto"] = "auto"
    scale_columns: bool | Literal["auto"] = "auto"
    threshold_rule: ThresholdRule = ThresholdRule()
    missing: Literal["error", "skip"] = "error"
    models: Count | None = None
    trees: Count | None = None
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    connected: bool = False
    local: bool = False
    voxel: Positive | None = None
    window: Annotated[list[Positive], Field(min_length=1, max_length=10)] | None = None
    reference: Count | None = None
    features: Literal["sift", "orb", "akaze"] | None = None
    ratio: Annotated[float, Field(gt=0, le=1)] | None = None
    pair: tuple[Name, Name] | None = None
    dates: Literal["seconds", "minutes", "hours", "days", "years"] | None = None
    code: Code | None = None
    job: Key | None = None
    """of compare: the detection to compare with; of score: the one whose model scores"""
    source: Key | None = None
    """of score: the file to score"""


class NewJob(_Body):
    """A job to start."""

    kind: JobKind
    settings: Settings = Settings()


class FolderJobs(_Body):
    """The files of a folder to score, by path; settings as of score."""

    folder: Annotated[str, StringConstraints(min_length=1, max_length=4000)]
    settings: Settings = Settings()


class NewProject(_Body):
    """A project of one source, or of two images."""

    sources: Annotated[list[Key], Field(min_length=1, max_length=3)]
    name: Name | None = None
    kind: ProjectKind | None = None


class OpenProject(_Body):
    """A project file that was uploaded."""

    source: Key


class ProjectChange(_Body):
    """What may change in a project."""

    name: Name | None = None
    kind: ProjectKind | None = None
    settings: Settings | None = None
    structure_names: (
        Annotated[
            dict[Annotated[str, StringConstraints(pattern=r"^\d{1,4}$")], Name],
            Field(max_length=1000),
        ]
        | None
    ) = None


class Marks(_Body):
    """Rows, by their numbers in the file, that are known to be normal or anomalous."""

    normal: Annotated[list[Row], Field(max_length=_MOST_MARKS)] = []
    anomalous: Annotated[list[Row], Field(max_length=_MOST_MARKS)] = []

    @model_validator(mode="after")
    def _apart(self) -> Marks:
        if both := set(self.normal) & set(self.anomalous):
            raise ValueError(f"row {min(both)} is marked as normal and as anomalous")
        return self


class PathBody(_Body):
    """A file on this machine."""

    path: Annotated[str, StringConstraints(min_length=1, max_length=4000)]


class ExampleBody(_Body):
    """A built-in example."""

    name: Name


def check_code(source: str) -> None:
    """Raise an error if the code of a family lacks a definition; the code is not run."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"the functions are not valid Python: {error}") from None
    functions = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    assigned = {
        name.id
        for each in tree.body if isinstance(each, ast.Assign)
        for target in each.targets for name in ast.walk(target) if isinstance(name, ast.Name)
    }  # fmt: skip
    for name in ("fit", "residuals"):
        if name not in functions:
            raise ValueError(f"the code must define a function {name!r}.")
    if "sample_size" not in assigned | functions:
        raise ValueError("the code must set sample_size, the number of points of a model.")


def as_json(model: BaseModel) -> dict[str, Any]:
    """The fields that were given, as JSON holds them."""
    return model.model_dump(mode="json", exclude_unset=True)
