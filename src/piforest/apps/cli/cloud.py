"""`piforest cloud`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._cloud_ground import add_ground, check_ground, run_ground
from ._cloud_local import add_local, check_local, run_local
from ._colours import colours_by_score, colours_by_structure, las_classes
from ._detecting import Detection, DetectionTask, add_detector, detect_and_write, families_from
from ._input import Points, add_groups, add_table, missing_note, read_points
from ._options import UsageError, add_common, add_seed, json_file, positive
from ._output import Output
from ._plots import draw_cloud
from ._proposing import propose_if_free
from ._writing import add_outputs, check_outputs, with_default_suffix

if TYPE_CHECKING:
    from ...io.tables import Table

HELP = "find the points of a scan that belong to no surface"
DESCRIPTION = (
    "Find the points of a scan that belong to no plane, or other surface, and write the scan with "
    "a score and a colour for each point. Normals are estimated if the family needs them and the "
    "scan has none. Without --family, planes, lines, spheres and cylinders are compared first, and "
    "the best is taken; with --local, it is planes."
)
# A comparison of families needs more points than the minimal sample of any surface.
_FEWEST_CELLS = 10
_LAS = (".las", ".laz")
_POINTS, _NORMALS = ["x", "y", "z"], ["nx", "ny", "nz"]
# Names of normals in files, in the order in which they are looked for.
_NAMES_OF_NORMALS = (_NORMALS, ["normal_x", "normal_y", "normal_z"])


def add(parser: argparse.ArgumentParser) -> None:
    add_table(parser, "a scan: .ply, .pcd, .las, .laz, .xyz, or any table with columns x, y and z")
    add_detector(parser, "auto")
    parser.add_argument(
        "--voxel", type=positive, metavar="SIZE",
        help="fit to one point of each cell of this size; all points are scored",
    )  # fmt: skip
    add_outputs(
        parser,
        "the scan with score, anomaly, structure, distance and colours: .ply, .pcd, .las, .laz or "
        "any format of tables",
        "the scan coloured by score, from two sides",
    )
    parser.add_argument(
        "--surfaces", type=json_file, metavar="FILE",
        help="the surfaces, with equations and bounds, .json",
    )  # fmt: skip
    parser.add_argument(
        "--colours", choices=("score", "structure", "keep"), default="score",
        help="colours of the output: blue for kept and red for flagged points; one for each "
        "structure; or those of the scan (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--classify", action="store_true",
        help="write the classes of a .las or .laz file: 7, noise, for anomalies; 64 and more for "
        "the structures (13 to 31 in old point formats); 1, unclassified, for the rest",
    )  # fmt: skip
    add_groups(parser)
    add_local(parser)
    add_ground(parser)
    add_seed(parser)
    add_common(parser)


def run(args: argparse.Namespace, output: Output) -> None:
    from ...families import layout_of

    args.out = with_default_suffix(args.out, args.file)
    check_outputs(args, output)
    check_local(args)
    check_ground(args)
    if args.classify and (args.out is None or args.out.suffix.lower() not in _LAS):
        raise UsageError("--classify is for LAS files: use it with --out and a .las or .laz file.")
    if args.local and args.family == ["auto"]:
        args.family = ["plane"]
    families = families_from(args)
    oriented = any(layout_of(each).kind == "oriented points" for each in families)
    normals = _Normals(args.columns)
    prepare = normals.prepare if oriented else None if families or args.columns else _coordinates
    points = read_points(args, families, args.columns, prepare=prepare)
    _check_cloud(points)
    if args.ground:
        return run_ground(args, output, points)
    points = _thinned(points, args.voxel)
    if args.local:
        return run_local(args, output, points)
    points, proposals = propose_if_free(args, output, points)
    about, X = points.about(), points.X
    note = missing_note(about["skipped_rows"], "lacks a coordinate", "lack a coordinate")
    painter = _Painter(args, points)
    task = DetectionTask(
        heading=f"points      {len(X):,} of {about['source']}{note}"
        + _fitted_note(points, args.voxel)
        + normals.note,
        shown={name: X[:, k] for k, name in enumerate(points.names)},
        about={**about, "normals": normals.source},
        proposals=proposals,
        add_scores=painter.add_scores,
        draw=lambda path, found: draw_cloud(
            path, X[:, :3], found.scores, found.summary["threshold"]
        ),
        after=painter.after,
    )
    detect_and_write(args, output, points.families, points, task)


def _coordinates(table: Table) -> tuple[Table, list[str] | None]:
    """For `read_points` without a family: the coordinates, if they have their usual names."""
    return table, _POINTS if set(_POINTS) <= set(table.names) else None


class _Normals:
    """The normals of a scan: its own, or estimated ones that are added to it."""

    def __init__(self, given: list[str] | None) -> None:
        self.given, self.note = given, ""
        self.source: str | None = None

    def prepare(self, table: Table) -> tuple[Table, list[str]]:
        """For `read_points`: the table with normals, and the columns of the oriented points."""
        import numpy as np

        from ...clouds import estimate_normals

        points = _POINTS if self.given is None else self.given
        if len(points) == 6:
            self.source = "given"
            return table, points
        for names in _NAMES_OF_NORMALS:
            if set(names) <= set(table.names):
                self.source = "given"
                return table, [*points, *names]
        self.source, self.note = "estimated", "\nnormals     estimated from 16 neighbours"
        kept = ~table.missing(points)
        normals = np.full((len(table), 3), np.nan)
        if kept.sum() >= 3:
            view = viewpoint_of(table)
            normals[kept] = estimate_normals(table.numbers(points)[kept], viewpoint=view)
            self.note += "" if view is None else ", towards the viewpoint of the scan"
        added = dict(zip(_NORMALS, np.ma.masked_invalid(normals).T))
        return table.with_columns(added), [*points, *_NORMALS]


def viewpoint_of(table: Table) -> list[float] | None:
    """The position of the sensor in a PCD file; None for the origin, which is the default value."""
    text = getattr(getattr(table.origin, "header", None), "viewpoint", "")
    try:
        place = [float(word) for word in str(text).split()[:3]]
    except ValueError:
        return None
    return place if len(place) == 3 and any(place) else None


def _thinned(points: Points, size: float | None) -> Points:
    import numpy as np

    from ..._validation import check_family_fits
    from ...clouds import voxel_sample

    if size is None:
        return points
    try:
        rows = voxel_sample(points.X[:, :3], size)
    except ValueError as error:
        raise ValueError(f"--voxel: {error}") from None
    least = max([_FEWEST_CELLS, *(each.sample_size(points.X.shape[1]) for each in points.families)])
    if len(rows) < least:
        size_of_scan = float(np.ptp(points.X[:, :3], axis=0).max())
        raise ValueError(
            f"--voxel {size:g} leaves {len(rows)} of {len(points.X):,} points, and a fit needs at "
            f"least {least}: the scan is {size_of_scan:.3g} wide. Give a smaller size."
        )
    for each in points.families:
        check_family_fits(each, points.X[rows])
    return points._replace(fitted=rows)


def _fitted_note(points: Points, size: float | None) -> str:
    if points.fitted is None:
        return ""
    return f"\nfitted      {len(points.fitted):,} points, one of each voxel of {size:g}"


def _check_cloud(points: Points) -> None:
    if len(points.names) not in (3, 6):
        raise ValueError(
            f"a cloud has three coordinates, or six with normals; got "
            f"{', '.join(points.names)}. Select them with --columns, or use `piforest detect`."
        )


class _Painter:
    """Adds scores, structures and colours to the scan, and writes the surfaces."""

    def __init__(self, args: argparse.Namespace, points: Points) -> None:
        self.colours, self.surfaces, self.points = args.colours, args.surfaces, points
        self.classify: bool = args.classify

    def after(self, found: Detection) -> None:
        """Write the surfaces, once the points are scored."""
        if self.surfaces is not None:
            _write_surfaces(self.surfaces, self.points, found)

    def add_scores(
        self, table: Table, scores: Any, threshold: float, scored: Any, assigned: Any
    ) -> Table:
        from ...io.tables import with_scores

        table = with_scores(table, scores, threshold, scored, assigned)
        if self.classify:
            table = table.with_columns(las_classes(table, assigned[0], scores > threshold, scored))
        if self.colours == "keep":
            return table
        if self.colours == "score":
            return table.with_columns(colours_by_score(scores, threshold, scored))
        return table.with_columns(colours_by_structure(assigned[0], scores > threshold, scored))


def _write_surfaces(path: Path, points: Points, found: Detection) -> None:
    from ...clouds import describe_surfaces
    from ...io.atomic import atomic_write

    X, assigned = points.X[:, :3], found.assigned
    if assigned.pieces is None:
        surfaces = describe_surfaces(found.detector.structures_, X, assigned.labels)
    else:
        pieces = found.detector.findings_.pieces(found.detector.backend_)
        surfaces = describe_surfaces(pieces.structures, X, assigned.pieces)
        numbered = enumerate(zip(surfaces, pieces.parents))
        surfaces = [{**each, "structure": k, "piece": number} for number, (each, k) in numbered]
    content = {"source": points.table.source, "surfaces": surfaces}
    with atomic_write(path) as file:
        file.write((json.dumps(content, indent=2, allow_nan=False) + "\n").encode())
