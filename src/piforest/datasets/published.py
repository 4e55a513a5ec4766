"""Loaders of the published data sets of the paper's experiments.

The files are not part of piforest. They are read from the folder in the environment variable
PIFOREST_DATA, or from the cache folder of piforest if it is not set.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
from sklearn.utils import Bunch

from .._random import Stream
from .._validation import check_choice, check_integer, check_share
from ..typing import RandomStateLike
from ._render import as_bunch
from .resample import redraw

# The noise of the structured points about the least-squares fits of their structures.
SYNTHETIC2D = {
    "stair3": ("line", 0.0053),
    "stair4": ("line", 0.0071),
    "star5": ("line", 0.0136),
    "star11": ("line", 0.0074),
    "circle3": ("circle", 0.0107),
    "circle4": ("circle", 0.0067),
    "circle5": ("circle", 0.0047),
}
_PLANES = (
    "barrsmith bonhall bonython elderhalla elderhallb hartley johnsona johnsonb ladysymon library "
    "napiera napierb neem nese oldclassicswing physics sene unihouse unionhouse"
)
_MOTIONS = (
    "biscuit biscuitbook biscuitbookbox boardgame book breadcartoychips breadcube breadcubechips "
    "breadtoy breadtoycar carchipscube cube cubebreadtoychips cubechips cubetoy dinobooks game "
    "gamebiscuit toycubecar"
)
_WITHOUT_IMAGES = ("johnsona", "johnsonb")
ADELAIDERMF = {
    **dict.fromkeys(_PLANES.split(), "homography"),
    **dict.fromkeys(_MOTIONS.split(), "fundamental"),
}
_SYNTHETIC2D_TEXT = """\
{name}: points on {n} structures of family {family!r}, from the experiments of F. Leveni, L. Magri,
G. Boracchi, C. Alippi, "PIF: Anomaly detection via preference embedding", ICPR 2020, as the authors
published them later, with anomalies drawn uniformly in their bounding box."""
CITATION = """\
To cite: H. S. Wong, T.-J. Chin, J. Yu, D. Suter, "Dynamic and Hierarchical Multi-Structure
Geometric Model Fitting", ICCV 2011."""


def data_folder() -> Path:
    """Get the folder that published sets are read from.

    Returns
    -------
    Path
        The folder in PIFOREST_DATA, or a folder in the user's cache.

    Examples
    --------
    >>> from piforest.datasets import data_folder
    >>> data_folder().is_absolute()
    True
    """
    named = os.environ.get("PIFOREST_DATA")
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "piforest"


def list_datasets() -> list[str]:
    """List the published sets that can be loaded, whether or not their files exist.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from piforest.datasets import list_datasets
    >>> "circle3" in list_datasets()
    True
    """
    return [*SYNTHETIC2D, *ADELAIDERMF]


def load_synthetic2d(
    name: str,
    *,
    anomaly_share: float = 0.5,
    n_samples: int | None = None,
    random_state: RandomStateLike = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Load one of the paper's seven 2D sets and add random anomalies.

    Only the structured points are published. Anomalies are uniform in their bounding box.

    Parameters
    ----------
    name : str
        The name of the set, such as "circle3"; see `list_datasets`.
    anomaly_share : float, default=0.5
        The share of anomalies.
    n_samples : int or None, default=None
        If given, the structured points are random, too: they are drawn on the published structures
        with their noise, so that the set has n_samples points.
    random_state : int, RandomState, Generator or None, default=None
        The seed.
    return_X_y : bool, default=False
        If True, return (data, target) instead of a Bunch.
    as_frame : bool, default=False
        If True, return pandas objects instead of arrays.

    Returns
    -------
    Bunch
        data (n, 2); target (n,), 0 for anomalies, else the number of the structure; family;
        sigma, the noise of the structured points.

    Examples
    --------
    >>> from piforest.datasets import load_synthetic2d
    >>> X, y = load_synthetic2d("circle3", random_state=0, return_X_y=True)  # doctest: +SKIP
    """
    check_choice("name", name, list(SYNTHETIC2D))
    check_share("anomaly_share", anomaly_share)
    family, sigma = SYNTHETIC2D[name]
    table = _read(name, _table)
    normal, structure = table[:, :2], table[:, 2].astype(np.int64)
    stream = Stream.from_random_state(random_state)
    low, high = normal.min(axis=0), normal.max(axis=0)
    n_anomalies = round(len(normal) * anomaly_share / (1 - anomaly_share))
    if n_samples is not None:
        n_anomalies = round(check_integer("n_samples", n_samples, 1) * anomaly_share)
        rng = stream.child("structures").generator()
        normal, structure = redraw(normal, structure, n_samples - n_anomalies, family, sigma, rng)
    anomalies = stream.child("anomalies").generator().uniform(low, high, (n_anomalies, 2))
    text = _SYNTHETIC2D_TEXT.format(name=name, n=structure.max(), family=family)
    return as_bunch(
        np.concatenate([normal, anomalies]),
        np.concatenate([structure, np.zeros(n_anomalies, np.int64)]),
        ["x", "y"],
        return_X_y,
        as_frame,
        family=family,
        sigma=sigma,
        DESCR=text,
    )


def load_adelaidermf(name: str, *, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load one of the 38 labelled image pairs of AdelaideRMF.

    Parameters
    ----------
    name : str
        The name of the pair; see `list_datasets`.
    return_X_y : bool, default=False
        If True, return (data, target) instead of a Bunch.
    as_frame : bool, default=False
        If True, return pandas objects instead of arrays.

    Returns
    -------
    Bunch
        data (n, 4), rows (x1, y1, x2, y2) in pixels; target (n,), 0 for anomalies, else the
        number of the structure; quality (n,), the score of each SIFT match, and images, both
        None if they were not published (johnsona, johnsonb); family.

    Examples
    --------
    >>> from piforest.datasets import load_adelaidermf
    >>> X, y = load_adelaidermf("johnsona", return_X_y=True)  # doctest: +SKIP
    """
    check_choice("name", name, list(ADELAIDERMF))
    parts = _read(name, _from_table if name in _WITHOUT_IMAGES else _from_mat)
    return as_bunch(
        parts["data"],
        parts["target"],
        ["x1", "y1", "x2", "y2"],
        return_X_y,
        as_frame,
        quality=parts["quality"],
        images=parts["images"],
        family=ADELAIDERMF[name],
        DESCR=f"{name} of AdelaideRMF: matches between two images, labelled by hand. {CITATION}",
    )


def data_file(name: str) -> Path:
    """The path of the file of a set."""
    kind = "synthetic2d" if name in SYNTHETIC2D else "adelaidermf"
    suffix = "csv" if name in (*SYNTHETIC2D, *_WITHOUT_IMAGES) else "mat"
    return data_folder() / kind / f"{name}.{suffix}"


def _read(name: str, reader: Callable[[Path], Any]) -> Any:
    path = data_file(name)
    if not path.is_file():
        kind = path.parent.name
        raise FileNotFoundError(
            f"there is no {path}. Set the environment variable PIFOREST_DATA to the folder that "
            f"holds {kind}/"
            + (", or get it with fetch_adelaidermf." if kind == "adelaidermf" else ".")
        )
    try:
        return reader(path)
    except Exception as error:  # SciPy and NumPy raise many types for a damaged file
        raise ValueError(f"{path} cannot be read, it may be damaged: {error}") from error


def _table(path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy only warns about a file without rows
        return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


def _from_table(path: Path) -> Bunch:
    table = _table(path)
    target = table[:, 4].astype(np.int64)
    return Bunch(data=table[:, :4], target=target, quality=None, images=None)


def _from_mat(path: Path) -> Bunch:
    content = scipy.io.loadmat(path)
    return Bunch(
        # Rows 2 and 5 are the third homogeneous coordinate, 1.
        data=np.ascontiguousarray(content["data"][[0, 1, 3, 4]].T, np.float64),
        target=content["label"].ravel().astype(np.int64),
        quality=content["score"].ravel().astype(np.float64),
        images=(content["img1"], content["img2"]),
    )
