"""`piforest families`."""

from __future__ import annotations

import argparse
from typing import Any

from ._output import Output

HELP = "list the kinds of structures, and what a row must look like"
DESCRIPTION = (
    "List the families that --family takes: what a row of the data must look like, and how many "
    "rows make a minimal sample. With a NAME, all about one and its options."
)
_LONGEST = 60


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="one family, in detail")
    parser.add_argument("--json", action="store_true", help="print one JSON object, for machines")


def run(args: argparse.Namespace, output: Output) -> None:
    from ...families import get_family, list_families

    if args.name is not None:
        about = about_family(get_family(args.name))
        output.say(_details(about))
        output.result(about)
        return
    listed = [about_family(get_family(name)) for name in list_families()]
    rows = [
        (each["name"], each["row"], str(each["sample"]), _first(each["about"])) for each in listed
    ]
    for line in _aligned([("family", "a row", "sample", "structures"), *rows]):
        output.say(line)
    output.say("\nd: columns of the data. `piforest families NAME` tells more, and the options.")
    output.result({"families": listed})


def about_family(family: Any) -> dict[str, Any]:
    from dataclasses import fields, is_dataclass

    from ...families import layout_of

    layout = layout_of(family)
    known = fields(family) if is_dataclass(family) else ()
    least = family.n_features or next(d for d in range(1, 100) if family.codimension(d) >= 1)
    sample = _sample(family)
    return {
        "name": family.name,
        "row": layout.brief,
        "kind": layout.kind,
        "columns": family.n_features,
        "least_columns": least,
        "sample": int(sample) if sample.isdecimal() else sample,
        "about": _text(type(family).__doc__ or ""),
        "options": {each.name: getattr(family, each.name) for each in known},
    }


def _sample(family: Any) -> str:
    """How many rows a minimal sample has, as a number or a formula in d where it is one."""
    if family.n_features is not None:
        return str(family.sample_size(family.n_features))
    sizes = [family.sample_size(d) for d in (3, 4, 5, 6)]
    if len(set(sizes)) == 1:
        return str(sizes[0])
    more = sizes[0] - 3
    if sizes == [d + more for d in (3, 4, 5, 6)]:
        return "d" + (f" {'+' if more > 0 else '-'} {abs(more)}" if more else "")
    return f"{sizes[0]} (d = 3)"


def _text(docstring: str) -> list[str]:
    """Paragraphs, without line breaks; the signature that dataclasses write is no text."""
    parts = [" ".join(part.split()) for part in docstring.split("\n\n")]
    return [part for part in parts if part and ">>>" not in part]


def _first(paragraphs: list[str]) -> str:
    """The first sentence, cut where it is long."""
    text = paragraphs[0].split(". ")[0].rstrip(".").replace("`", "")
    return text if len(text) <= _LONGEST else text[:_LONGEST].rsplit(" ", 1)[0] + " …"


def _details(about: dict[str, Any]) -> str:
    import textwrap

    options = about["options"]
    lines = [
        f"{about['name']}",
        f"  a row     {about['row']}",
        f"  kind      {about['kind']}",
        f"  columns   {about['columns'] or 'at least ' + str(about['least_columns'])}",
        f"  sample    {about['sample']} row{'' if about['sample'] == 1 else 's'}",
        "  options   " + (", ".join(f"{k}={v}" for k, v in options.items()) or "none"),
    ]
    if options:
        name, value = next(iter(options.items()))
        lines.append(f"            on the command line: --option {name}={value}")
    for part in about["about"]:
        lines += ["", *textwrap.wrap(part, 88)]
    return "\n".join(lines)


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]
