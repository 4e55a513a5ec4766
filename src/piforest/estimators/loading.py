"""Model files, whatever detector they hold."""

from __future__ import annotations

from os import PathLike
from typing import Any

from ._storage import load_detector
from .pif import PIF, PreferenceIsolationForest
from .voronoi import VoronoiForest

DETECTORS = (PreferenceIsolationForest, PIF, VoronoiForest)


def load(path: str | PathLike[str], family: Any = None) -> Any:
    """Read a model that `save` wrote: whichever detector the file holds.

    Scores are the same, bit for bit. A file is never unpickled, and nothing in it is trusted:
    one that is damaged, cut short or made up is a ValueError.

    Parameters
    ----------
    path
        The file.
    family
        The family that the model was fitted with, where it is not a built-in one; a file
        cannot hold it. Another one is refused: it has to give the same distances.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import piforest
    >>> from piforest.datasets import make_lines
    >>> X = make_lines(3, random_state=0).data
    >>> detector = piforest.PIF("line", sigma=0.01, n_models=200, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     detector.save(Path(folder) / "model.pif")
    ...     again = piforest.load(Path(folder) / "model.pif")
    >>> type(again).__name__, bool((again.anomaly_score(X) == detector.scores_).all())
    ('PIF', True)
    """
    return load_detector(path, DETECTORS, family)
