"""`piforest detect`."""

from __future__ import annotations

import argparse
from typing import Any

from ._detecting import add_detector, families_from, found_in
from ._input import Points, add_table, lacking, read_points
from ._options import add_common, add_seed
from ._output import Output
from ._plots import draw_detected
from ._writing import add_outputs, check_outputs, conclude, out_like, rehearse

HELP = "find the rows of a file that follow no structure"
DESCRIPTION = (
    "Find the points of a file that lie on no structure of a family, however many structures "
    "there are, and write their scores beside the columns of the file."
)
_SHOWN = 8


def add(parser: argparse.ArgumentParser) -> None:
    add_table(
        parser,
        "points, one a row: .csv, .tsv, .txt, .parquet, .npy, .npz, .mat, .xyz, .ply, .las, .laz; "
        "- for text on standard input",
    )
    add_detector(parser)
    add_outputs(
        parser,
        "the rows of FILE in their order with the columns score and anomaly (1 or 0); the format "
        "is told by the name, without an ending that of FILE",
    )
    add_seed(parser)
    add_common(parser)


def run(args: argparse.Namespace, output: Output) -> None:
    import numpy as np

    from ...io.tables import with_scores

    args.out = out_like(args.out, args.file)
    check_outputs(args, output)
    families = families_from(args)
    points = read_points(args, families, args.columns)
    rehearse(args.out, points.table, lambda row: with_scores(row, np.ones(1), 0.5))
    skipped = len(points.table) - len(points.X)
    what = f"{len(points.X):,} in columns {', '.join(points.names)} of {points.table.source}"
    lack = lacking(skipped, "row lacks a number", "rows lack a number")
    output.say(f"points      {what}{lack}")
    found = found_in(args, output, families, points, _shown(points))
    threshold = found.answer["threshold"]
    conclude(
        args,
        output,
        points,
        found,
        about={"source": points.table.source, "columns": points.names, "skipped_rows": skipped},
        table=lambda: with_scores(points.table, found.scores, threshold, points.scored),
        draw=lambda path: draw_detected(path, found.detector, points.X, found.scores, points.names),
    )


def _shown(points: Points) -> dict[str, Any]:
    """The values to show of a row: all columns, or where they are many those of the points."""
    names = points.table.names
    if len(names) > _SHOWN:
        names = points.names[:_SHOWN]
    return {name: points.table.columns[name][points.scored] for name in names}
