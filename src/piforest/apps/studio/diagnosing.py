"""Advice of findings as changes of the settings, for buttons."""

from __future__ import annotations

import re
from typing import Any

from ..cli._options import option
from .wording import plain


def with_actions(diagnosis: list[dict[str, str]], settings: dict[str, Any]) -> list[dict[str, Any]]:
    """The findings as a page shows them, with an action where other settings can help."""
    return [
        {"code": each["code"], "sentence": plain(each["text"]), "way_out": plain(each["advice"]),
         "action": _action(each, settings)}
        for each in diagnosis
    ]  # fmt: skip


def _action(finding: dict[str, str], settings: dict[str, Any]) -> dict[str, Any] | None:
    code, advice = finding["code"], finding["advice"]
    if code == "units_differ" and "scale_columns=True" in advice:
        return {"label": "Scale columns", "settings": {"scale_columns": True}}
    if code == "columns_scaled":
        return {"label": "Do not scale columns", "settings": {"scale_columns": False}}
    if code == "sigma_disagrees":
        return {"label": "Estimate the noise", "settings": {"sigma": "auto"}}
    if code in ("better_family", "parallax"):
        return _better(advice)
    if code == "no_structure" and settings.get("families", "auto") != "auto":
        return {"label": "Compare families", "settings": {"families": "auto", "options": {}}}
    return None


def _better(advice: str) -> dict[str, Any] | None:
    """The families that `Try family='polynomial (degree=3) + line'` names, with their options."""
    found = re.search(r"family='([^']+)'", advice)
    if found is None:
        return None
    settings = chosen(found[1])
    names = " and ".join(name.replace("_", " ") for name in settings["families"])
    return {"label": f"Try {names}", "settings": settings}


def chosen(text: str) -> dict[str, Any]:
    """Settings from the name of a proposal, such as "polynomial (degree=3) + line"."""
    parts = [re.fullmatch(r"(\w+)(?: \((.*)\))?", each) for each in text.split(" + ")]
    families = [part[1] for part in parts if part is not None]
    given = [each for part in parts if part is not None and part[2] for each in part[2].split(", ")]
    return {"families": families, "options": dict(map(option, given))}
