"""`piforest surface`."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._progress import report_progress
from ._detecting import families_from
from ._options import (
    add_contamination,
    add_family_option,
    add_seed,
    add_sigma,
    count,
    file,
    names,
    names_given,
    picture,
)
from ._output import Output
from ._summary import diagnosis_of, say_diagnosis
from ._windows import (
    add_threads,
    add_threshold,
    add_window,
    check_outputs,
    window_summary,
    write_records,
)

if TYPE_CHECKING:
    from ...surfaces import SurfaceResult

HELP = "find the defects of a surface: a depth, disparity or height map"
DESCRIPTION = (
    "Find the parts of a depth, disparity or height map that are off the smooth surface around "
    "them, by detectors in overlapping windows, and write a picture and a table of the defects."
)
_SHOWN = 10
_DEFECT = ("area", "depth", "left", "top", "right", "bottom", "score")


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="a map of one channel: .png or .tif of 8, 16 or 32 bits, .npy"
    )
    parser.add_argument(
        "--zero", choices=("auto", "missing", "valid"), default="auto",
        help="what 0 means: missing in maps of whole numbers and a value in maps of floats, or "
        "the same in both; NaN is missing (default: %(default)s)",
    )  # fmt: skip
    group = parser.add_argument_group("detector")
    group.add_argument(
        "--family", type=names, metavar="NAME", default=["polynomial_regression"],
        help="what the surface is in a window, for rows x, y, value (default: "
        "polynomial_regression, quadratic)",
    )  # fmt: skip
    add_family_option(group)
    add_window(group, "pixels")
    add_sigma(group, "noise of the map in its units")
    add_contamination(group, "anomalous pixels")
    add_threshold(group)
    group.add_argument(
        "--step", type=count, metavar="N",
        help="score one pixel of N times N (default: at most 250,000 pixels are scored)",
    )  # fmt: skip
    group.add_argument(
        "--min-area", type=count, default=20, metavar="N",
        help="defects with fewer scored pixels are not listed (default: %(default)s)",
    )  # fmt: skip
    group = parser.add_argument_group("output")
    group.add_argument(
        "--out", type=picture, metavar="FILE",
        help="the map with the scores and the defects on it, .png, .jpg, .svg or .pdf",
    )  # fmt: skip
    group.add_argument(
        "--table", type=file, metavar="FILE", help="the defects, .csv or .json: area, depth, box"
    )
    group.add_argument("--scores", type=file, metavar="FILE", help="the score of each pixel, .npy")
    # `families_from` checks it.
    parser.set_defaults(false_alarm_rate=None)
    add_seed(parser)
    add_threads(parser)


def run(args: argparse.Namespace, output: Output) -> None:
    from ...surfaces import inspect_surface, read_map

    check_outputs(args, output, {"table": (".csv", ".json"), "scores": (".npy",)})
    families = families_from(args)
    start = time.perf_counter()
    report_progress("reading")
    values = read_map(args.file, zero=args.zero)
    if getattr(args, "known_scores", None) is not None:
        found = _from_known_scores(args, values)
        output.keep(args=args, surface=found)
        write_found(args, found)
        return
    found = inspect_surface(
        values,
        family=families[0] if len(families) == 1 else families,
        window=args.window,
        sigma=args.sigma,
        contamination=args.contamination,
        zero="valid",  # `read_map` has masked them
        step=args.step or "auto",
        min_area=args.min_area,
        n_jobs=args.jobs,
        random_state=args.seed,
        verbose=output.verbose,
    )
    if args.threshold is not None:
        found = found.with_threshold(args.threshold)
    output.keep(args=args, surface=found)
    summary = _summary(args, found, time.perf_counter() - start)
    _print(output, summary)
    written = write_found(args, found)
    output.finish(summary, written)


def _from_known_scores(args: argparse.Namespace, values: Any) -> SurfaceResult:
    """The result from the scores of an earlier run, which a program passes."""
    from ...surfaces import SurfaceResult, chosen_step, found_at

    step = chosen_step(values, args.step or "auto")
    at = {"step": step, "threshold": args.threshold, "min_area": args.min_area}
    found = found_at(values, args.known_scores, **at)
    # Plots and tables do not use the detector.
    return SurfaceResult(values, args.known_scores, **found, **at, detector=None)  # type: ignore[arg-type]


def _summary(args: argparse.Namespace, found: SurfaceResult, seconds: float) -> dict[str, Any]:
    """The result, as in JSON."""
    import numpy as np

    detector, (h, w) = found.detector, found.values.shape
    return {
        "source": Path(args.file).name,
        "width": w,
        "height": h,
        "valid_pixels": int(np.sum(~np.isnan(found.values))),
        "step": found.step,
        **window_summary(detector),
        "threshold": found.threshold,
        "threshold_source": detector.threshold_source_ if args.threshold is None else "given",
        "flagged_pixels": int(found.flagged.sum()),
        "defects": records_of(found),
        "min_area": found.min_area,
        "smaller_defects": found.n_smaller,
        "diagnosis": diagnosis_of(detector),
        "seconds": seconds,
    }


def records_of(found: SurfaceResult) -> list[dict[str, Any]]:
    """The defects, as in JSON."""
    return [_record(each) for each in found.defects]


def _record(defect: Any) -> dict[str, Any]:
    import math

    left, top, right, bottom = defect.box
    depth = defect.depth if math.isfinite(defect.depth) else None
    return {
        "area": defect.area, "depth": depth, "left": left, "top": top, "right": right,
        "bottom": bottom, "score": defect.score,
    }  # fmt: skip


def _print(output: Output, summary: dict[str, Any]) -> None:
    share = summary["valid_pixels"] / (summary["width"] * summary["height"])
    output.say(
        f"map         {summary['width']} x {summary['height']} pixels of {summary['source']}, "
        f"{100 * share:.4g} % valid"
    )
    if summary["step"] > 1:
        output.say(f"scored      one pixel of {summary['step']} x {summary['step']}; see --step")
    sides = ", ".join(f"{side:.4g}" for side in summary["window_sides"])
    output.say(f"windows     {summary['windows']} with sides of {sides} pixels")
    output.say(f"sigma       {summary['sigma']:.4g}, {summary['sigma_source']}")
    if summary["threshold_source"] == "no structure":
        output.say("defects     none: no window has a surface that stands out from chance")
    else:
        smaller = f"; {summary['smaller_defects']} of fewer than {summary['min_area']} scored "
        smaller += "pixels are not listed: see --min-area"
        output.say(
            f"defects     {len(summary['defects'])}, {summary['flagged_pixels']:,} pixels score "
            f"above {summary['threshold']:.3f}{smaller if summary['smaller_defects'] else ''}"
        )
    for k, each in enumerate(summary["defects"][:_SHOWN], start=1):
        depth = "unknown" if each["depth"] is None else f"{each['depth']:.4g}"
        output.say(
            f"  {k:>2}  {each['area']:,} pixels, depth {depth}, x {each['left']} to "
            f"{each['right']}, y {each['top']} to {each['bottom']}"
        )
    if len(summary["defects"]) > _SHOWN:
        output.say(f"  and {len(summary['defects']) - _SHOWN} more")
    output.say(f"time        {summary['seconds']:.2f} s")
    say_diagnosis(output, summary["diagnosis"])


def write_found(args: argparse.Namespace, found: SurfaceResult) -> dict[str, str]:
    """Write the files of the options; return their names."""
    import numpy as np

    from ...io.atomic import atomic_write

    if args.out is not None:
        from ._surface_picture import draw_surface

        draw_surface(args.out, found)
    if args.table is not None:
        write_records(args.table, records_of(found), _DEFECT)
    if args.scores is not None:
        with atomic_write(args.scores) as stream:
            np.save(stream, found.scores)
    return names_given(args, ("out", "table", "scores"))
