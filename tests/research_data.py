"""Reads the research data from the folder that PIFOREST_DATA names; see conftest.py."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io


def folder() -> Path:
    """Where the data lie; skips the test where they are absent."""
    named = os.environ.get("PIFOREST_DATA")
    if not named:
        pytest.skip("research data absent: set PIFOREST_DATA to the folder that holds them")
    path = Path(named)
    if not path.is_dir():
        pytest.fail(f"PIFOREST_DATA={named} is not a folder")
    return path


def synthetic2d(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The published structured points, and as many uniform anomalies in their bounding box."""
    table = np.loadtxt(folder() / "synthetic2d" / f"{name}.csv", delimiter=",", skiprows=1)
    normal, structure = table[:, :2], table[:, 2].astype(int)
    rng = np.random.default_rng(seed)
    anomalies = rng.uniform(normal.min(axis=0), normal.max(axis=0), normal.shape)
    return np.concatenate([normal, anomalies]), np.concatenate([structure, 0 * structure])


def adelaidermf(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Matches (x1, y1, x2, y2) and labels, 0 = anomaly."""
    content = scipy.io.loadmat(folder() / "adelaidermf" / f"{name}.mat")
    return np.ascontiguousarray(content["data"][[0, 1, 3, 4]].T, float), content["label"].ravel()
