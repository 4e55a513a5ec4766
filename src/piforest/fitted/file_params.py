"""Parameters of detectors as JSON: plain values, and built-in objects by their name and options."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..families import FAMILIES
from ..metrics import METRICS
from ..preferences import KERNELS
from ..protocols import ModelFamily
from ..sampling import SAMPLERS

_REGISTRIES = {"family": FAMILIES, "kernel": KERNELS, "metric": METRICS, "sampler": SAMPLERS}
# A file must not choose the device, and the machine that loads it may have others.
_NOT_STORED = ("device",)


def encode_params(params: dict[str, Any], families: Sequence[ModelFamily]) -> dict[str, Any]:
    """All parameters of a detector that was fitted with these families."""
    kept = {name: value for name, value in params.items() if name not in _NOT_STORED}
    return {name: encode(name, value, families) for name, value in kept.items()}


def decode_params(params: dict[str, Any], custom: ModelFamily | None) -> dict[str, Any]:
    """The parameters of a detector; custom: the family that a file cannot hold."""
    kept = {name: value for name, value in params.items() if name not in _NOT_STORED}
    return {name: decode(name, value, custom) for name, value in kept.items()}


def encode(name: str, value: Any, families: Sequence[ModelFamily] = ()) -> Any:
    """Encode one parameter; a custom family only by its name, and only if it is in `families`."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (list, tuple)) and name == "family":
        return [encode(name, each, families) for each in value]
    if isinstance(value, (np.integer, np.floating)):
        return value.item()
    if name == "random_state":
        return None
    known = _REGISTRIES[name].name_of(value) if name in _REGISTRIES else None
    if known is not None:
        return {"name": known, "options": dataclasses.asdict(value)}
    if name == "family" and any(value is family for family in families):
        return {"own": str(value.name)}
    if name == "family":
        raise ValueError(
            f"family={value!r} cannot be saved: it was set after fitting. Fit again before saving."
        )
    raise ValueError(
        f"{name}={value!r} cannot be saved: a model file can only name what is built in. "
        "Use pickle to keep custom objects."
    )


def decode(name: str, value: Any, custom: ModelFamily | None = None) -> Any:
    """Decode one parameter."""
    if isinstance(value, list):
        return [decode(name, each, custom) for each in value]
    if not isinstance(value, dict):
        return value
    return custom if "own" in value else built_in(name, value)


def built_in(name: str, value: dict[str, Any]) -> Any:
    """The built-in object that a file names."""
    return _REGISTRIES[name].get(value["name"], **value["options"])
