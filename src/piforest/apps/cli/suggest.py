"""`piforest suggest`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._input import Points, add_groups, add_table, read_points
from ._options import add_printing, add_seed, names, picture
from ._output import Output
from ._plots import pyplot_for
from ._proposing import prefer_pairs, propose_for, say_proposals

if TYPE_CHECKING:
    from ...proposals import Proposal, Proposals

HELP = "say which family the structures of a file belong to"
DESCRIPTION = (
    "Compare the families that suit the columns of a file, and say which of them explain its rows, "
    "with how many structures and how much evidence. `piforest detect` without --family starts "
    "with the same comparison."
)
_ACROSS = 3


def add(parser: argparse.ArgumentParser) -> None:
    add_table(parser, "points, one per row, in any format that `piforest detect` reads")
    parser.add_argument(
        "--candidates", type=names, metavar="NAMES",
        help="compare these families, separated by commas (default: by the columns)",
    )  # fmt: skip
    parser.add_argument(
        "--plot", "--draw", type=picture, metavar="FILE",
        help="a picture of what each family finds, .png, .svg or .pdf",
    )  # fmt: skip
    add_groups(
        parser,
        "leave this column out, as `piforest detect --groups` does; families are compared without "
        "groups",
    )
    add_seed(parser)
    add_printing(parser)


def run(args: argparse.Namespace, output: Output) -> None:
    from ...families import get_family

    output.check_new(args.plot)
    candidates = None if args.candidates is None else [get_family(n) for n in args.candidates]
    prepare = prefer_pairs if candidates is None and args.columns is None else None
    points = read_points(args, candidates or [], args.columns, prepare=prepare)
    about = points.about()
    output.say(f"points      {len(points.X):,} in columns {', '.join(points.names)} of "
               f"{about['source']}")  # fmt: skip
    points.print_columns(output)
    points, proposals = propose_for(points, args.seed, candidates)
    output.keep(args=args, points=points, proposals=proposals)
    say_proposals(output, proposals)
    if args.plot is not None:
        draw_proposals(args.plot, points, proposals, args.seed)
        output.say(f"\nwrote {args.plot}")
    output.result({**about, **proposals.to_dict(), "points": len(points.X)})


def draw_proposals(path: Path, points: Points, proposals: Proposals, seed: int) -> None:
    """One panel for each row of the table: the rows of the comparison and the structures."""
    from ..._random import Stream
    from ...proposals.propose import compared_rows

    X = compared_rows(points.X, Stream.from_random_state(seed).child("proposals"))
    down = -(-len(proposals) // _ACROSS)
    with pyplot_for(path) as (plt, save):
        figure = plt.figure(figsize=(3.6 * _ACROSS, 3.5 * down), layout="constrained")
        in_3d = {"projection": "3d"} if proposals.kind != "table" and X.shape[1] in (3, 6) else {}
        for k, each in enumerate(proposals):
            ax = figure.add_subplot(down, _ACROSS, k + 1, **in_3d)
            _panel(ax, X, points.names, each, proposals.kind)
        save(figure)


def _panel(ax: Any, X: Any, columns: list[str], proposal: Proposal, kind: str) -> None:
    from ...plots import plot_structures

    title = f"{proposal.name}: {100 * proposal.share_explained:.0f} %"
    if kind != "table" and X.shape[1] <= 6:
        plot_structures(X, proposal.structures, ax, labels=columns, title=title)
        if ax.get_legend() is not None:
            ax.get_legend().remove()
        return
    # Of a table, the first column and the last one, which is its target.
    ax.scatter(X[:, 0], X[:, -1], s=4, color="0.75")
    for each in proposal.structures:
        ax.scatter(X[each.members, 0], X[each.members, -1], s=4)
    ax.set(xlabel=columns[0], ylabel=columns[-1], title=title)
