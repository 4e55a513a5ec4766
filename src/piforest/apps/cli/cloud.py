"""`piforest cloud`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ._detecting import add_detector, detect_and_write, families_from
from ._input import Points, add_table, missing_note, read_points
from ._options import add_common, add_seed
from ._output import Output
from ._plots import draw_cloud
from ._writing import add_outputs, check_outputs, with_default_suffix

if TYPE_CHECKING:
    from ...io.tables import Table

HELP = "find the points of a scan that belong to no surface"
DESCRIPTION = (
    "Find the points of a scan that belong to no plane, or other surface, and write the scan with "
    "a score and a colour for each point: kept points are blue, flagged points red."
)
_ORIENTED = ["x", "y", "z", "nx", "ny", "nz"]
# Colours from the lowest score to the threshold and above it; the ends are those of plots.
_KEPT = ((59, 76, 192), (170, 199, 253))
_FLAGGED = ((247, 184, 156), (180, 4, 38))
_UNSCORED = 128


def add(parser: argparse.ArgumentParser) -> None:
    add_table(parser, "a scan: .ply, .las, .laz, .xyz, or any table with columns x, y and z")
    add_detector(parser, "plane")
    add_outputs(
        parser,
        "the scan with score, anomaly and colours: .ply, .las, .laz or any format of tables",
        "the scan coloured by score, from two sides",
    )
    parser.add_argument(
        "--keep-colours", action="store_true", help="do not change the colours of the scan"
    )
    add_seed(parser)
    add_common(parser)


def run(args: argparse.Namespace, output: Output) -> None:
    from ...families import layout_of
    from ...io.tables import with_scores

    args.out = with_default_suffix(args.out, args.file)
    check_outputs(args, output)
    families = families_from(args)
    oriented = any(layout_of(each).kind == "oriented points" for each in families)
    points = read_points(args, families, args.columns or (_ORIENTED if oriented else None))
    _check_cloud(points)
    about, X = points.about(), points.X
    note = missing_note(about["skipped_rows"], "lacks a coordinate", "lack a coordinate")
    detect_and_write(
        args,
        output,
        families,
        points,
        heading=f"points      {len(X):,} of {about['source']}{note}",
        shown={name: X[:, k] for k, name in enumerate(points.names)},
        about=about,
        add_scores=with_scores if args.keep_colours else _with_scores_and_colours,
        draw=lambda path, found: draw_cloud(
            path, X[:, :3], found.scores, found.summary["threshold"]
        ),
    )


def _check_cloud(points: Points) -> None:
    if len(points.names) not in (3, 6):
        raise ValueError(
            f"a cloud has three coordinates, or six with normals; got "
            f"{', '.join(points.names)}. Select them with --columns, or use `piforest detect`."
        )


def _with_scores_and_colours(table: Table, scores: Any, threshold: float, scored: Any) -> Table:
    from ...io.tables import with_scores

    table = with_scores(table, scores, threshold, scored)
    return table.with_columns(_colours(scores, threshold, scored))


def _colours(scores: Any, threshold: float, scored: Any) -> dict[str, Any]:
    """(rows,) bytes of red, green and blue; grey for rows without a score."""
    import numpy as np

    from ...plots._common import colour_reach

    reach = colour_reach(scores, threshold)
    flagged = (scores > threshold)[:, None]
    along = np.abs(scores - threshold).clip(0, reach)[:, None] / reach
    kept = np.array(_KEPT[1]) * (1 - along) + np.array(_KEPT[0]) * along
    red = np.array(_FLAGGED[0]) * (1 - along) + np.array(_FLAGGED[1]) * along
    rgb = np.full((len(scored), 3), _UNSCORED, np.uint8)
    rgb[scored] = np.rint(np.where(flagged, red, kept)).astype(np.uint8)
    return dict(zip(("red", "green", "blue"), rgb.T.copy()))
