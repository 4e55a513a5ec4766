"""The parts of the evaluation, in the order of the page: what they are about, and their targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import anomalies, lines, photos, scans, scenes, segments, tables, units
from .cases import Case


@dataclass(frozen=True)
class Target:
    """What a value must be, in every run, or in the mean of each cell, each group or the part."""

    text: str
    value: str
    low: float = float("-inf")
    high: float = float("inf")
    each: str = "run"
    """ "run", "cell", "group" or "part" """

    def is_met(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Part:
    """A section of the page."""

    title: str
    about: str
    cases: Callable[[], list[Case]]
    targets: tuple[Target, ...]
    columns: tuple[str, ...]
    """the measured values that the page shows, besides those of the targets"""


_LINES = Part(
    "Noise and rounding",
    "One line in a square of side 2: noise of .005 to .3, values rounded to steps of .01, of .1 "
    "or not at all, 100 to 5,000 points, none or 10 % of them anomalies, uniform in the square. "
    "sigma is compared with the noise, and with the noise and the rounding together where the "
    "step is larger than the noise.",
    lines.cases,
    (
        Target("normal points flagged ≤ 3 %", "flagged normal", high=0.03),
        Target("one structure", "structures", 1, 1),
        Target("sigma within a factor of 2", "sigma", 0.5, 2),
    ),
    ("auc",),
)
_TABLES = Part(
    "Tables",
    "Records with one noisy law (`linear_regression`), beside a robust regression (least trimmed "
    "squares): the ratio of the two sigmas, and the rank correlation of the anomaly score with the "
    "residual of the robust regression. Cars and Seattle weather come from vega_datasets, the "
    "others with scikit-learn.",
    tables.cases,
    (
        Target("sigma within a factor of 2 of the robust regression's", "sigma", 0.5, 2),
        Target("flagged ≤ 12 %", "flagged", 0, 0.12),
        Target("one structure", "structures", 1, 1),
        Target("rank correlation with the robust residual ≥ .65", "rank correlation", 0.65),
    ),
    (),
)
_SCANS = Part(
    "Scans",
    "Three scans of a box on a floor by a depth camera, from the test data of pyRANSAC-3D, family "
    "`plane`. The depth z is in whole steps. `explained` is the share of points that belong to a "
    "structure; `narrowest` is the smallest half-width, in steps of the depth.",
    scans.cases,
    (
        Target("at least one plane, at most 6", "structures", 1, 6),
        Target("no plane narrower than the step of the depth", "narrowest", 1),
    ),
    ("explained", "flagged"),
)
_UNITS = Part(
    "Units",
    "Scenes whose columns are multiplied by 1, 1000 and .001, in turn. `loss` is the AUC of the "
    "unscaled scene minus that of the scaled one. It is not counted where a warning names the "
    "units and nothing is flagged. `scaled loss` is the same with `scale_columns=True`.",
    units.cases,
    (
        Target("AUC within .01 of the unscaled scene, or a warning and no labels", "counted loss",
               high=0.01),
        Target("AUC within .01 of the unscaled scene with scale_columns=True", "scaled loss",
               high=0.01),
    ),
    ("auc", "loss", "warned", "flagged"),
)  # fmt: skip
_UNRELATED = Part(
    "Nothing there",
    "SIFT matches that pass the ratio test, mutual and not, of photos of different scenes (graf "
    "and leuven from the examples of pydegensac, aloe from the samples of OpenCV): no structure "
    "connects them. `found` is the share of runs that claim one.",
    photos.unrelated_cases,
    (Target("a structure claimed in at most 5 % of the runs", "found", high=0.05, each="group"),),
    ("flagged",),
)
_RELATED = Part(
    "Pairs of photos",
    "The matches, not mutual, of photos of one scene, beside OpenCV's USAC_MAGSAC. Aloe is a "
    f"rectified stereo pair: a match is true if its rows differ by less than {photos.ROWS:g} "
    f"pixels and its disparity is positive and below {photos.DISPARITY:g}. In graf, it is true "
    f"within {photos.NEAR:g} pixels of the published homography, and false beyond {photos.FAR:g}. "
    "Leuven has no truth: `agreement` is the share of matches that both label alike.",
    photos.related_cases,
    (
        Target("aloe: as many true matches kept as by MAGSAC", "more true", 0),
        Target("aloe: at most as many false matches kept", "more false", high=0),
    ),
    ("true kept", "true kept by MAGSAC", "false kept", "false kept by MAGSAC", "agreement"),
)
_SEGMENTS = Part(
    "Vanishing points",
    "Line segments of six NYU-VP and three York Urban (YUD+) images, Kluger et al., CVPR 2020, "
    f"from {segments.SHORTEST:g} pixels on, family `vanishing_point`. A segment is normal within "
    f"{segments.NEAR:g} pixels of a labelled vanishing point, anomalous beyond {segments.FAR:g} "
    "pixels of all; those between are fitted but not counted.",
    segments.cases,
    (
        Target("mean AUC ≥ .95", "auc", 0.95, each="part"),
        Target("mean F1 of the labels ≥ .85 of the best threshold's", "f1 ratio", 0.85,
               each="part"),
    ),
    ("f1", "best f1", "structures", "surplus", "flagged"),
)  # fmt: skip
_ANOMALIES = Part(
    "Where the anomalies are",
    "Scenes of 800 to 1,100 normal points with 2, 10 or 30 % anomalies: near (3 to 10 sigmas off a "
    "structure, and at least 3 off all), heaped (in one to three Gaussian heaps) or far (uniform "
    "in the box of the data). `f1 ratio` is the F1 of the labels over that of the best threshold.",
    anomalies.cases,
    (
        Target("F1 ≥ .9 of the best threshold's in the mean", "f1 ratio", 0.9, each="part"),
        Target("F1 ≥ .75 of the best threshold's in each cell", "f1 ratio", 0.75, each="cell"),
        Target("clean scenes: flagged ≤ 1 %", "flagged clean", high=0.01, each="cell"),
    ),
    ("auc", "f1", "best f1", "flagged", "surplus"),
)
_SCENES = Part(
    "Accuracy on other scenes",
    "AUC on synthetic scenes with uniform anomalies, 2 to 60 %, mean of the runs. The dominant "
    "line holds 90 % of the normal points. The wide table has two laws of 20 features, 10 % "
    "anomalies, and noise of 2 or 10 % of the standard deviation of the target. `sigma` is a mean "
    "of ratios: a run in which structures are missed has the sigma of a wide band, and one or two "
    "of them decide the mean (cylinders, 60 % anomalies).",
    scenes.cases,
    (),
    ("auc", "f1", "best f1", "surplus", "sigma", "models", "cpu_s"),
)
PARTS = {
    "lines": _LINES,
    "tables": _TABLES,
    "scans": _SCANS,
    "units": _UNITS,
    "unrelated": _UNRELATED,
    "related": _RELATED,
    "segments": _SEGMENTS,
    "anomalies": _ANOMALIES,
    "scenes": _SCENES,
}
