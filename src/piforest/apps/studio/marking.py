"""Marks of a person against a threshold: what was found of what is surely anomalous."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import Arrays


def judged(marks: dict[str, list[int]], arrays: Arrays, threshold: float) -> dict[str, Any]:
    """Precision and recall on the marked rows that have a score; None where nothing is counted.

    They do not cover other rows, and nothing is fitted to them.
    """
    rows, scores = np.asarray(arrays.read("rows")), np.asarray(arrays.read("scores"))
    order = np.argsort(rows, kind="stable")
    flagged: dict[str, int] = {}
    known: dict[str, int] = {}
    for kind in ("normal", "anomalous"):
        wanted = np.array(sorted(marks[kind]), np.int64)
        at = np.searchsorted(rows[order], wanted)
        at = np.minimum(at, len(rows) - 1)
        there = rows[order][at] == wanted if len(rows) else np.zeros(len(wanted), bool)
        found = scores[order][at[there]]
        known[kind], flagged[kind] = len(found), int((found > threshold).sum())
    called = flagged["normal"] + flagged["anomalous"]
    return {
        "threshold": threshold,
        "precision": flagged["anomalous"] / called if called else None,
        "recall": flagged["anomalous"] / known["anomalous"] if known["anomalous"] else None,
        "counts": {
            "true_positives": flagged["anomalous"],
            "false_positives": flagged["normal"],
            "false_negatives": known["anomalous"] - flagged["anomalous"],
            "true_negatives": known["normal"] - flagged["normal"],
            "without_score": len(marks["normal"]) + len(marks["anomalous"]) - sum(known.values()),
        },
    }
