"""What tests of the report read from its pages."""

from __future__ import annotations

import base64

import numpy as np

_KINDS = {"u8": "<u1", "u16": "<u2", "i16": "<i2", "i32": "<i4", "f32": "<f4", "f64": "<f8"}


def decoded(entry):
    """The numbers of an array in the page's data."""
    values = np.frombuffer(base64.b64decode(entry["data"]), _KINDS[entry["kind"]])
    return values.astype(np.float64) / entry.get("divide", 1)
