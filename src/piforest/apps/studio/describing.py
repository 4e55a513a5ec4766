"""The families, as `piforest families --json` describes them. Runs in a helper."""

from __future__ import annotations

from typing import Any


def families() -> list[dict[str, Any]]:
    """Every family: its rows, its columns, its options and a sentence."""
    from ...families import get_family, list_families
    from ..cli.families import about_family

    found = [about_family(get_family(name)) for name in list_families()]
    return [{**each, "sentence": each["about"][0].split(". ")[0].rstrip(".") + "."}
            for each in found]  # fmt: skip


def prepare() -> None:
    """Import what explanations and files need, before they are requested."""
    from ... import estimators, report  # noqa: F401
