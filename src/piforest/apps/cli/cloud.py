"""`piforest cloud`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ._detecting import add_detector, families_from, found_in
from ._input import Points, add_table, lacking, read_points
from ._options import add_common, add_seed
from ._output import Output
from ._plots import draw_cloud
from ._writing import add_outputs, check_outputs, conclude, out_like, rehearse

if TYPE_CHECKING:
    from ...io.tables import Table

HELP = "find the points of a scan that lie on no surface"
DESCRIPTION = (
    "Find the points of a scan that lie on no plane, or other surface, and write the scan with a "
    "score and a colour for each: blue is kept, red is flagged."
)
_ORIENTED = ["x", "y", "z", "nx", "ny", "nz"]
# From the lowest score to the threshold, and from there on; the ends of the pictures' colours.
_KEPT = ((59, 76, 192), (170, 199, 253))
_FLAGGED = ((247, 184, 156), (180, 4, 38))
_UNSCORED = 128


def add(parser: argparse.ArgumentParser) -> None:
    add_table(parser, "a scan: .ply, .las, .laz, .xyz, or any table with columns x, y and z")
    add_detector(parser, "plane")
    add_outputs(
        parser,
        "the scan with score, anomaly and colours, .ply, .las, .laz or any format of tables",
        "the scan by its scores, from two sides",
    )
    parser.add_argument(
        "--keep-colours", action="store_true", help="leave the colours of the scan as they are"
    )
    add_seed(parser)
    add_common(parser)


def run(args: argparse.Namespace, output: Output) -> None:
    import numpy as np

    from ...families import layout_of

    args.out = out_like(args.out, args.file)
    check_outputs(args, output)
    families = families_from(args)
    oriented = any(layout_of(each).kind == "oriented points" for each in families)
    points = read_points(args, families, args.columns or (_ORIENTED if oriented else None))
    _check_cloud(points)
    coloured = not args.keep_colours

    def answered(table: Table, scores: Any, threshold: float, scored: Any) -> Table:
        return _with_answer(table, scores, threshold, scored, coloured)

    rehearse(args.out, points.table, lambda row: answered(row, np.ones(1), 0.5, np.ones(1, bool)))
    skipped = len(points.table) - len(points.X)
    what = f"{len(points.X):,} of {points.table.source}"
    lack = lacking(skipped, "lacks a coordinate", "lack a coordinate")
    output.say(f"points      {what}{lack}")
    shown = {name: points.X[:, k] for k, name in enumerate(points.names)}
    found = found_in(args, output, families, points, shown)
    threshold = found.answer["threshold"]
    conclude(
        args,
        output,
        points,
        found,
        about={"source": points.table.source, "columns": points.names, "skipped_rows": skipped},
        table=lambda: answered(points.table, found.scores, threshold, points.scored),
        draw=lambda path: draw_cloud(path, points.X[:, :3], found.scores, threshold),
    )


def _check_cloud(points: Points) -> None:
    if len(points.names) not in (3, 6):
        raise ValueError(
            f"a cloud has three coordinates, or six with normals; got "
            f"{', '.join(points.names)}. Name them with --columns, or use `piforest detect`."
        )


def _with_answer(table: Table, scores: Any, threshold: float, scored: Any, coloured: bool) -> Table:
    from ...io.tables import with_scores

    table = with_scores(table, scores, threshold, scored)
    return table.with_columns(_colours(scores, threshold, scored)) if coloured else table


def _colours(scores: Any, threshold: float, scored: Any) -> dict[str, Any]:
    """(rows,) bytes of red, green and blue; grey for rows without a score."""
    import numpy as np

    low, high = np.percentile(scores, [2, 98])
    reach = max(float(threshold - low), 0.2 * float(high - threshold), 1e-3)
    flagged = (scores > threshold)[:, None]
    along = np.abs(scores - threshold).clip(0, reach)[:, None] / reach
    kept = np.array(_KEPT[1]) * (1 - along) + np.array(_KEPT[0]) * along
    red = np.array(_FLAGGED[0]) * (1 - along) + np.array(_FLAGGED[1]) * along
    rgb = np.full((len(scored), 3), _UNSCORED, np.uint8)
    rgb[scored] = np.rint(np.where(flagged, red, kept)).astype(np.uint8)
    return dict(zip(("red", "green", "blue"), rgb.T.copy()))
