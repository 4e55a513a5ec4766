"""The results of a run that its Python script needs: columns and families. Runs in the worker."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from .running import RecordingOutput

_Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w{0,60}$")]
_Value = bool | int | float | str | None
_Values = _Value | list[_Value] | list[list[_Value]]


class FamilyInput(BaseModel):
    """A family by its name and the options that are not the default ones."""

    model_config = ConfigDict(extra="forbid")

    name: str
    options: dict[_Identifier, _Values] = {}


class ScriptInputs(BaseModel):
    """The checked result of `script_inputs`: it becomes code, so names must be names."""

    model_config = ConfigDict(extra="forbid")

    columns: Annotated[list[str], Field(max_length=100_000)] = []
    families: list[FamilyInput] = []
    many: bool = False
    options: dict[_Identifier, _Values] = {}
    normals: str = ""
    viewpoint: list[float] | None = None


def script_inputs(recorded: RecordingOutput) -> dict[str, Any]:
    """The columns of the points, the families by name and options, and how scans got normals."""
    found = recorded.found
    args = found["args"]
    if "pairs" in found:
        from ..cli._match_pairs import pair_options

        return {"many": True, "options": _changed(pair_options(args))}
    if recorded.blocks:
        return {"columns": recorded.summary["columns"]}
    if "series" in found:
        families = _given(args) if args.option else []
        return {"columns": list(found["series"].names), "families": families}
    if "surface" in found:
        return {"families": _given(args)}
    points = found["points"]
    inputs = {"columns": points.names, "families": [_family(each) for each in points.families]}
    if "found" in found and not inputs["families"]:  # as in `matches`
        from ...families import resolve_families

        given = resolve_families(found["found"].detector.family)
        inputs["families"] = [_family(family) for family, _ in given]
    if recorded.summary.get("normals") == "estimated":
        from ..cli.cloud import viewpoint_of

        inputs |= {"normals": "estimated", "viewpoint": viewpoint_of(points.table)}
    return inputs


def _given(args: Any) -> list[dict[str, Any]]:
    from ..cli._detecting import families_from

    return [_family(each) for each in families_from(args)]


def _family(family: Any) -> dict[str, Any]:
    """A family by its name and the options that are not the default ones."""
    return {"name": family.name, "options": _changed(family)}


def _changed(value: Any) -> dict[str, Any]:
    """The fields of a dataclass that are not the default ones; functions are in their file."""
    found = {
        each.name: getattr(value, each.name)
        for each in (fields(value) if is_dataclass(value) else ())
        if getattr(value, each.name) != each.default
    }
    return {name: each for name, each in found.items() if not callable(each)}
