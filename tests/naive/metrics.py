"""Distances between rows."""

from __future__ import annotations

from math import sqrt

import numpy as np


def tanimoto(a, b):
    """Equation (4); 1 where a row is empty."""
    dot = a @ b
    union = a @ a + b @ b - dot
    return 1 - dot / union if union > 0 else 1.0


def jaccard(a, b):
    either = np.sum((a != 0) | (b != 0))
    return 1 - np.sum((a != 0) & (b != 0)) / either if either else 1.0


def ruzicka(a, b):
    union = np.sum(np.maximum(a, b))
    return 1 - np.sum(np.minimum(a, b)) / union if union > 0 else 1.0


def cosine(a, b):
    norms = np.linalg.norm(a) * np.linalg.norm(b)
    return 1 - a @ b / norms if norms > 0 else 1.0


DISTANCE = {
    "tanimoto": tanimoto,
    "jaccard": jaccard,
    "ruzicka": ruzicka,
    "cosine": cosine,
    "euclidean": lambda a, b: sqrt(np.sum((a - b) ** 2)),
    "manhattan": lambda a, b: np.sum(np.abs(a - b)),
    "chebyshev": lambda a, b: np.max(np.abs(a - b)),
    "hamming": lambda a, b: np.mean(a != b),
    "minkowski": lambda a, b: np.sum(np.abs(a - b) ** 3) ** (1 / 3),
}


def table(name, A, B):
    return np.array([[DISTANCE[name](a, b) for b in B] for a in A], dtype=float)
