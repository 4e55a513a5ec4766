"""`piforest detect`."""

from __future__ import annotations

import argparse
from typing import Any

from ..._numbers import first_with
from ._detecting import DetectionTask, add_detector, detect_and_write, families_from
from ._input import Points, add_groups, add_table, missing_note, read_points
from ._options import add_common, add_seed
from ._output import Output
from ._plots import draw_detected
from ._proposing import prefer_pairs, propose_if_free
from ._writing import add_outputs, check_outputs, with_default_suffix

HELP = "find the rows of a file that belong to no structure"
DESCRIPTION = (
    "Find the points of a file that belong to no structure of a family, for any number of "
    "structures, and write their scores beside the columns of the file. Without --family, the "
    "families that suit the columns are compared first, and the best is taken."
)
_SHOWN = 8


def add(parser: argparse.ArgumentParser) -> None:
    add_table(
        parser,
        "points, one per row: .csv, .tsv, .txt, .json, .jsonl, .parquet, .feather, .xlsx, .npy, "
        ".npz, .mat, .xyz, .ply, .las or .laz; - reads text or JSON from standard input",
    )
    add_detector(parser, "auto")
    add_outputs(
        parser,
        "the rows of FILE with the columns score, anomaly (1 or 0), structure (its number, -1 for "
        "none) and distance to the nearest structure in its sigmas; the suffix gives the format "
        "(default: that of FILE); - for standard output",
    )
    add_groups(parser)
    add_seed(parser)
    add_common(parser)


def run(args: argparse.Namespace, output: Output) -> None:
    from ...io.tables import with_scores

    args.out = with_default_suffix(args.out, args.file)
    check_outputs(args, output)
    families = families_from(args)
    prepare = None if families or args.columns else prefer_pairs
    points = read_points(args, families, args.columns, prepare=prepare)
    points, proposals = propose_if_free(args, output, points)
    about, X, names = points.about(), points.X, points.names
    note = missing_note(about["skipped_rows"], "row lacks a number", "rows lack a number")
    task = DetectionTask(
        heading=f"points      {len(X):,} in columns {', '.join(names)} of {about['source']}{note}",
        shown=_shown(points),
        about=about,
        proposals=proposals,
        add_scores=with_scores,
        draw=lambda path, found: draw_detected(path, found.detector, X, found.scores, names),
    )
    detect_and_write(args, output, points.families, points, task)


def _shown(points: Points) -> dict[str, Any]:
    """The columns to show of a row: all, or those of the points if there are many."""
    names = points.table.names
    if len(names) > _SHOWN:
        names = first_with(points.names, _SHOWN, points.target)
    return {name: points.table.columns[name][points.scored] for name in names}
