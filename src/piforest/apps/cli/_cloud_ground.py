"""`piforest cloud --ground`: the ground of an airborne scan."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from ._cloud_local import check_not_given
from ._colours import ground_colours
from ._input import Points
from ._options import UsageError, positive
from ._output import Output

if TYPE_CHECKING:
    from ...terrain import Ground

# Options that speak of scores and structures, and their values if not given.
_DETECTION: dict[str, Any] = {
    "surfaces": None, "report": None, "model": None, "false_alarm_rate": None, "groups": None,
    "models": None, "connected": False, "rows": False, "scale_columns": "auto", "device": "cpu",
    "local": False, "voxel": None, "threshold": None, "contamination": "auto", "sigma": "auto",
    "plot": None,
}  # fmt: skip


def add_ground(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("ground")
    group.add_argument(
        "--ground", action="store_true",
        help="tell the ground of an airborne scan from buildings and trees; the output has the "
        "columns ground and height, and with --classify class 2 for ground",
    )  # fmt: skip
    group.add_argument(
        "--cell", type=positive, metavar="SIDE",
        help="with --ground: side of the cells in which the lowest point stands for the others "
        "(default: twice the spacing of the points)",
    )  # fmt: skip


def check_ground(args: argparse.Namespace) -> None:
    if args.ground:
        check_not_given(args, _DETECTION, "is of a detection, not of the ground", "--ground")
    elif args.cell is not None:
        raise UsageError("--cell is the side of the cells of --ground: use them together.")


def run_ground(args: argparse.Namespace, output: Output, points: Points) -> None:
    from ...terrain import find_ground

    start = time.perf_counter()
    ground = find_ground(points.X, cell="auto" if args.cell is None else args.cell)
    summary = _summary(points, ground, time.perf_counter() - start)
    n, found = summary["points"], summary["ground"]
    output.say(f"points      {n:,} of {summary['source']}")
    output.say(f"cells       of {ground.cell:.4g}, tolerance {ground.tolerance:.3g}")
    output.say(
        f"ground      {found:,} points ({100 * found / n:.1f} %) of {ground.n_surfaces} surfaces, "
        f"seen in {100 * ground.share:.0f} % of the cells"
    )
    output.say(f"time        {summary['seconds']:.2f} s")
    written = {}
    if args.out is not None:
        _write(args, points, ground)
        written["out"] = str(args.out)
    output.finish(summary, written)


def _summary(points: Points, ground: Ground, seconds: float) -> dict[str, Any]:
    return {
        **points.about(),
        "points": len(points.X),
        "cell": ground.cell,
        "tolerance": ground.tolerance,
        "ground": int(ground.is_ground.sum()),
        "surfaces": ground.n_surfaces,
        "share_of_cells": ground.share,
        "seconds": seconds,
    }


def _write(args: argparse.Namespace, points: Points, ground: Ground) -> None:
    import numpy as np

    from ...io.tables import write_table

    known = points.scored
    is_ground, height = np.zeros(len(known), bool), np.full(len(known), np.nan)
    is_ground[known], height[known] = ground.is_ground, ground.height
    names = ("ground", "height")
    prefix = "piforest_" if set(names) & set(points.table.names) else ""
    columns: dict[str, Any] = {
        f"{prefix}ground": is_ground,
        f"{prefix}height": np.ma.masked_array(height, ~known),  # type: ignore[no-untyped-call]
    }
    if args.classify:
        columns["classification"] = np.where(is_ground, 2, 1).astype(np.uint8)
    if args.colours != "keep":
        columns |= ground_colours(ground.is_ground, known)
    write_table(args.out, points.table.with_columns(columns))
