"""What `detect`, `matches`, `cloud` and `explain` share: a detector from options, and its answer
in words and numbers."""

from __future__ import annotations

import argparse
from typing import Any

from ._options import auto_or_positive, auto_or_share, count, names
from ._output import Output

_TOP = 10


def add_detector(parser: argparse.ArgumentParser, family: str | None = None) -> None:
    """The options of a detector; `family` is the default, None if it has to be given."""
    group = parser.add_argument_group("detector")
    group.add_argument(
        "--family", type=names, required=family is None, metavar="NAME",
        default=None if family is None else [family],
        help="what a structure is; several separated by commas; `piforest families` lists them"
        + ("" if family is None else " (default: %(default)s)"),
    )  # fmt: skip
    group.add_argument(
        "--sigma", type=auto_or_positive, default="auto", metavar="NUMBER",
        help="the noise of the structures in the units of the data (default: estimated)",
    )  # fmt: skip
    group.add_argument(
        "--contamination", type=auto_or_share, default="auto", metavar="SHARE",
        help="share of the points to flag (default: found out)",
    )  # fmt: skip
    group.add_argument(
        "--models", type=count, metavar="N", help="random models to draw (default: 5,000 to 10,000)"
    )
    group.add_argument("--trees", type=count, default=100, metavar="N", help="default: %(default)s")


def detector_from(args: argparse.Namespace, output: Output) -> Any:
    """The default detector with the given options, not fitted."""
    from ..estimators import PreferenceIsolationForest
    from ..families import resolve_family

    for name in args.family:
        resolve_family(name)  # an unknown name is told at once
    return PreferenceIsolationForest(
        args.family[0] if len(args.family) == 1 else args.family,
        sigma=args.sigma,
        contamination=args.contamination,
        n_models=args.models or "auto",
        n_estimators=args.trees,
        n_jobs=args.jobs,
        random_state=args.seed,
        verbose=output.verbose,
    )


def summary_of(detector: Any, scores: Any, rows: Any, seconds: float) -> dict[str, Any]:
    """What was found, as JSON has it. rows (n,): the numbers of the scored rows as the user
    counts them."""
    import numpy as np

    threshold = -float(detector.offset_)
    flagged = scores > threshold
    order = np.argsort(-scores, kind="stable")[:_TOP]
    return {
        "points": len(scores),
        "family": [models.family.name for models in detector.models_],
        "models": int(detector.n_models_),
        "degenerate_samples": int(detector.n_degenerate_),
        "sigma": float(detector.sigma_),
        "sigma_source": detector.sigma_source_,
        "threshold": threshold,
        "anomalies": int(flagged.sum()),
        "structures": [
            {
                "family": each.family.name,
                "members": len(each.members),
                "width": float(each.width),
                "log_ratio": float(each.log_ratio),
                "params": [float(value) for value in each.params],
            }
            for each in detector.structures_
        ],
        "seconds": seconds,
        "most_anomalous": [
            {"row": int(rows[at]), "score": float(scores[at]), "anomaly": bool(flagged[at])}
            for at in order
        ],
    }
