"""What only a run knows, and its Python script needs: the columns, the families. In the worker."""

from __future__ import annotations

from typing import Any

from .running import Keeper


def told_by(keeper: Keeper) -> dict[str, Any]:
    """The columns of the points, the families by name and options, and how scans got normals."""
    found = keeper.found
    args = found["args"]
    if "pairs" in found:
        from ..cli._match_pairs import pair_options

        return {"many": True, "options": _call(pair_options(args))}
    if keeper.blocks:
        return {"columns": keeper.summary["columns"]}
    if "series" in found:
        families = _given(args) if args.option else []
        return {"columns": list(found["series"].names), "families": families}
    if "surface" in found:
        return {"families": _given(args)}
    points = found["points"]
    told = {"columns": points.names, "families": [_family(each) for each in points.families]}
    if "found" in found:
        told["families"] = told["families"] or _given(args)
    if keeper.summary.get("normals") == "estimated":
        from ..cli.cloud import viewpoint_of

        told |= {"normals": "estimated", "viewpoint": viewpoint_of(points.table)}
    return told


def _given(args: Any) -> list[dict[str, Any]]:
    from ..cli._detecting import families_from

    return [_family(each) for each in families_from(args)]


def _call(options: Any) -> str:
    """The arguments of a dataclass that are not the default ones."""
    from dataclasses import fields

    return ", ".join(
        f"{each.name}={getattr(options, each.name)!r}"
        for each in fields(options)
        if getattr(options, each.name) != each.default
    )


def _family(family: Any) -> dict[str, Any]:
    """A family by its name and the options that are not the default ones."""
    from dataclasses import fields, is_dataclass

    changed = {
        each.name: getattr(family, each.name)
        for each in (fields(family) if is_dataclass(family) else ())
        if getattr(family, each.name) != each.default
    }
    return {"name": family.name, "options": changed}
