"""Readers of the published sets that the paper is measured on.

The files are not part of piforest. They are looked for in the folder that the
environment variable PIFOREST_DATA names, else in piforest's cache folder.
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
from ._render import as_bunch
from .resample import redraw

# Noise of the structured points around their own least-squares structures.
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
    """Where published sets are looked for: PIFOREST_DATA, else a folder in the user's cache."""
    named = os.environ.get("PIFOREST_DATA")
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "piforest"


def list_datasets() -> list[str]:
    """All published sets that the loaders know, whether or not their files are there."""
    return [*SYNTHETIC2D, *ADELAIDERMF]


def load_synthetic2d(
    name: str,
    *,
    anomaly_share: float = 0.5,
    n_samples: int | None = None,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """One of the paper's seven 2D sets, with anomalies drawn anew.

    Only the structured points are published. Anomalies are uniform in their
    bounding box, as many as make up `anomaly_share` of all points. With n_samples,
    the structured points too are drawn anew, on the published structures and with
    their noise, so that there are n_samples points in all.

    Returns a Bunch with data (n, 2), target (n,): 0 for anomalies, else the number
    of the structure; family and sigma, the noise of the structured points.
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
    """One of the 38 labelled image pairs of AdelaideRMF.

    Returns a Bunch with data (n, 4), rows (x1, y1, x2, y2) in pixels; target (n,):
    0 for anomalies, else the number of the structure; quality (n,), the score of
    each SIFT match, and images, the two pictures, both None where they were not
    published (johnsona, johnsonb); family.
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
    """Where the file of a set is looked for."""
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
    except Exception as error:  # whatever a broken file makes SciPy or NumPy raise
        raise ValueError(f"{path} cannot be read, it may be damaged: {error}") from error


def _table(path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy only warns of a file without rows
        return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


def _from_table(path: Path) -> Bunch:
    table = _table(path)
    target = table[:, 4].astype(np.int64)
    return Bunch(data=table[:, :4], target=target, quality=None, images=None)


def _from_mat(path: Path) -> Bunch:
    content = scipy.io.loadmat(path)
    return Bunch(
        # Rows 2 and 5 are the ones of homogeneous coordinates.
        data=np.ascontiguousarray(content["data"][[0, 1, 3, 4]].T, np.float64),
        target=content["label"].ravel().astype(np.int64),
        quality=content["score"].ravel().astype(np.float64),
        images=(content["img1"], content["img2"]),
    )
