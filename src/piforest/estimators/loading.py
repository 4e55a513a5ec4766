"""Load a model file of any detector."""

from __future__ import annotations

from os import PathLike
from typing import Any, TypeVar

from ..fitted.file import load_model
from ..io.archive import damaged
from ..typing import FamilyLike
from ..windows.file import is_windows, load_windows
from .detector import Detector
from .local import LocalPreferenceIsolationForest
from .preference_isolation_forest import PreferenceIsolationForest
from .ruzhash_forest import RuzHashForest
from .voronoi_forest import VoronoiForest

__all__ = ["load"]

DETECTORS: dict[str, type[Detector]] = {
    kind.__name__: kind for kind in (PreferenceIsolationForest, RuzHashForest, VoronoiForest)
}

D = TypeVar("D", bound=Detector)


def load(path: str | PathLike[str], family: FamilyLike | None = None) -> Detector:
    """Read a model of any detector that `save` wrote.

    Scores are the same, bit for bit. A file is never unpickled and nothing in it is trusted.

    Parameters
    ----------
    path : str or path
        The file.
    family : ModelFamily or list or None, default=None
        The custom family that the model was fitted with, which a file cannot contain. A family
        that gives other distances is rejected.

    Returns
    -------
    Detector
        A fitted `PreferenceIsolationForest`, `LocalPreferenceIsolationForest`, `RuzHashForest` or
        `VoronoiForest`.

    Raises
    ------
    ValueError
        If the file is damaged, incomplete or not a model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import piforest
    >>> from piforest.datasets import make_lines
    >>> X = make_lines(3, random_state=0).data
    >>> detector = piforest.PreferenceIsolationForest("line", n_models=200, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     detector.save(Path(folder) / "model.pif")
    ...     again = piforest.load(Path(folder) / "model.pif")
    >>> type(again).__name__, bool((again.anomaly_score(X) == detector.scores_).all())
    ('PreferenceIsolationForest', True)
    """
    kind = LocalPreferenceIsolationForest if is_windows(path) else Detector
    return load_as(kind, path, family)


def load_as(cls: type[D], path: str | PathLike[str], family: FamilyLike | None = None) -> D:
    """Load a detector of this class or of a subclass."""
    stored: Any
    if issubclass(cls, LocalPreferenceIsolationForest):
        if family is not None:
            raise ValueError(f"windows have no custom family: leave family out, got {family!r}.")
        stored, kind = load_windows(path), cls
    else:
        kinds = {name: kind for name, kind in DETECTORS.items() if issubclass(kind, cls)}
        # A custom subclass of a detector reads the files of that detector.
        kinds = kinds or {kind.__name__: cls for kind in cls.__mro__ if kind in DETECTORS.values()}
        stored = load_model(path, tuple(kinds), family)
        kind = kinds[stored.kind]
    try:
        detector = kind(**stored.params)
    except TypeError as error:
        raise damaged(path, error) from error
    return detector._restore(stored)  # type: ignore[return-value]
