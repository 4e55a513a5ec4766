"""Shared by `suggest`, `detect` and `cloud`: the family that the rows suggest."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..._progress import report_progress
from ._input import Points
from ._output import Output

if TYPE_CHECKING:
    from ...io.tables import Table
    from ...proposals import Proposals


def prefer_pairs(table: Table) -> tuple[Table, list[str] | None]:
    """For `read_points` without a family: the columns of matches or segments, if there are such."""
    from ...io.tables.columns import is_constant, pair_of_points

    varied = [name for name in table.numeric() if not is_constant(table, name)]
    return table, pair_of_points(varied, "xyz") or pair_of_points(varied) or None


def propose_for(
    points: Points, seed: int, candidates: list[Any] | None = None
) -> tuple[Points, Proposals]:
    """The points with the family that they suggest, and the comparison."""
    from ..._random import Stream
    from ...families import resolve_families
    from ...proposals.propose import propose

    report_progress("comparing families")
    rows = points.X if points.fitted is None else points.X[points.fitted]
    stream = Stream.from_random_state(seed).child("proposals")
    if rows.shape[1] < 2:
        raise ValueError(_too_few_columns(points))
    proposals = propose(rows, points.names, stream, families=candidates)
    families = [family for family, _ in resolve_families(proposals.family)]
    return points._replace(families=families), proposals


def _too_few_columns(points: Points) -> str:
    """Why one column has no structure, with the way out if a column of dates was left out."""
    from ...io.tables.dates import is_date_column

    name, source = points.names[0], points.table.source
    dates = [each for each in points.left_out or {} if is_date_column(points.table, each)]
    if dates:
        return (
            f"{source} has one column of numbers, {name}, and structures need two. The dates in "
            f"{dates[0]} were left out: --dates days takes them as numbers, and `piforest series` "
            "looks for anomalies in time."
        )
    others = f" Left out: {', '.join(points.left_out)}." if points.left_out else ""
    return (
        f"{source} has one column of numbers, {name}, and structures need two. Add a column, or "
        f"select others with --columns.{others}"
    )


def propose_if_free(
    args: argparse.Namespace, output: Output, points: Points
) -> tuple[Points, Proposals | None]:
    """Print the comparison and take its best family, if none was given."""
    if points.families:
        return points, None
    if getattr(args, "fitted", None) is not None:
        families = [models.family for models in args.fitted.models_]
        return points._replace(families=families), None
    points, proposals = propose_for(points, args.seed)
    say_proposals(output, proposals)
    output.say()
    return points, proposals


def say_proposals(output: Output, proposals: Proposals) -> None:
    """Print the comparison of families as text."""
    for line in str(proposals).splitlines():
        output.say(line)
