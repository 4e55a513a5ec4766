"""The research data for tests: skips with a reason where they are absent; see conftest.py."""

from __future__ import annotations

import os

import numpy as np
import pytest

from piforest.datasets import load_adelaidermf, load_synthetic2d


def _present() -> None:
    named = os.environ.get("PIFOREST_DATA")
    if not named:
        pytest.skip("research data absent: set PIFOREST_DATA to the folder that holds them")
    if not os.path.isdir(named):
        pytest.fail(f"PIFOREST_DATA={named} is not a folder")


def synthetic2d(name, **options):
    _present()
    return load_synthetic2d(name, **options)


def adelaidermf(name, **options):
    _present()
    return load_adelaidermf(name, **options)


def with_anomalies(name, seed):
    """Structured points, and as many uniform anomalies in their bounding box."""
    normal, structure = synthetic2d(name, anomaly_share=0, return_X_y=True)
    rng = np.random.default_rng(seed)
    anomalies = rng.uniform(normal.min(axis=0), normal.max(axis=0), normal.shape)
    return np.concatenate([normal, anomalies]), np.concatenate([structure, 0 * structure])
