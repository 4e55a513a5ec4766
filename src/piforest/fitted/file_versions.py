"""Conversion of headers of earlier versions of the file format."""

from __future__ import annotations

from typing import Any

from ..io.archive import ArchiveError

VERSION = 4

# The steps between drawing and embedding that version 3 added.
_STEPS = ("concentrate", "refit", "select", "bound")

# Version 1 had a separate class for the algorithm of the paper.
_PAPER = {
    "sampler": "uniform",
    "scale": "fixed",
    "weighting": "none",
    "own_votes": True,
    "path": "depth",
    "metric": "tanimoto",
    "branching": 2,
}


def to_current_version(path: Any, header: dict[str, Any]) -> dict[str, Any]:
    """Convert a header to the current version.

    Raises
    ------
    ArchiveError
        If the version is unknown.
    """
    version = header.get("version")
    # An exact type, because `True == 1`.
    if type(version) is not int or not 1 <= version <= VERSION:
        raise ArchiveError(
            f"{path} has version {version!r} of the model format; this piforest reads versions 1 "
            f"to {VERSION}. Update piforest, or save the model again."
        )
    if version == 1:
        header = _from_version_1(header)
    if version <= 2:
        header = _from_version_2(header)
    return {**header, "version": VERSION, "has_structures": False} if version <= 3 else header


def _from_version_1(header: dict[str, Any]) -> dict[str, Any]:
    new = {**header, "version": 2}
    params = {**header["params"]}
    if header["class"] == "PIF":
        new["class"] = "PreferenceIsolationForest"
        models = "paper" if params.get("n_models") == "auto" else params.get("n_models")
        params |= {**_PAPER, "n_models": models}
    if "own_votes" in params:
        params["in_sample_preferences"] = params.pop("own_votes")
    if params.get("scale") == "own":
        params["scale"] = "per_model"
    by_hand, share = header.get("by_hand") is True, params.get("contamination") != "auto"
    new |= {
        "params": params,
        "threshold": -header["offset"],
        "threshold_source": "given" if by_hand else "contamination" if share else "automatic",
        "n_features": header["n_features_in"],
        "feature_names": header["feature_names_in"],
    }
    if "embedding" in header:
        votes = header["embedding"]["params"]["own_votes"]
        new["embedding"] = {**header["embedding"], "in_sample_preferences": votes}
    return new


def _from_version_2(header: dict[str, Any]) -> dict[str, Any]:
    """Models were used as drawn."""
    new = {**header, "version": 3}
    if "embedding" in header:
        new["params"] = {**header["params"], **dict.fromkeys(_STEPS, False)}
        new["embedding"] = {
            **header["embedding"],
            "n_drawn": [0 for _ in header["embedding"]["families"]],
        }
    return new
