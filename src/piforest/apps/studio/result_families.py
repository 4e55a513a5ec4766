"""The result of `suggest`: families with their evidence, and what a small picture needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._random import Stream
from .arrays import Arrays
from .diagnosing import chosen
from .running import RecordingOutput

# Proposals that are drawn; there are rarely more.
_DRAWN = 12


def proposals_result(arrays: Arrays, recorded: RecordingOutput) -> dict[str, Any]:
    """The table of families. Arrays `point:K`: the rows that were compared; `proposal:J`: the
    number of the structure of each of them, -1 for none."""
    from ...proposals.propose import compared_rows
    from ...report.payload import outline_data

    points, proposals = recorded.found["points"], recorded.found["proposals"]
    stream = Stream.from_random_state(recorded.found["args"].seed).child("proposals")
    X = compared_rows(points.X, stream)
    for k in range(X.shape[1]):
        arrays.write(f"point:{k}", X[:, k])
    rows = []
    for j, each in enumerate(proposals):
        labels = np.full(len(X), -1, np.int32)
        for k, structure in enumerate(each.structures):
            labels[structure.members] = k
        if j < _DRAWN:
            arrays.write(f"proposal:{j}", labels)
        rows.append({
            **each.to_dict(), "settings": chosen(each.name),
            "outlines": outline_data(each.structures, X) if j < _DRAWN else [],
            "equations": [structure.equation for structure in each.structures[:10]],
        })  # fmt: skip
    best = proposals.ranked[0]
    return {
        "headline": best.sentence if proposals.found else str(proposals).splitlines()[-1],
        "proposals": rows,
        "found": proposals.found,
        "taken_for": proposals.kind,
        # For matches, the candidates are the families of motions.
        "reason": "" if "suggest" in recorded.found["args"] else proposals.reason,
        "points": points.names,
        "total": len(points.X),
        "shown": len(X),
        "view": {"mode": _mode(proposals.kind, X.shape[1]),
                 "low": X.min(axis=0).tolist(), "high": X.max(axis=0).tolist()},
    }  # fmt: skip


def _mode(kind: str, d: int) -> str:
    if kind in ("matches", "segments"):
        return kind
    return "3d" if kind != "table" and d in (3, 6) else "2d"
