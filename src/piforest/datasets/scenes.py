"""Random scenes of lines and circles among uniform anomalies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._random import Stream
from .._validation import check_integer, check_share
from ..protocols import Floats
from .bunches import as_bunch

Rng = np.random.Generator


def make_lines(
    n_structures: int = 4,
    *,
    sizes: int | Sequence[int] = 100,
    noise: float = 0.01,
    anomaly_share: float = 0.5,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Segments of random lines across the square [-1, 1]^2, and uniform anomalies.

    sizes: points of each structure, one number for all or one each.
    noise: standard deviation of the distance from the line.
    anomaly_share: anomalies over all points; they fill the bounding box of the rest.

    Returns a Bunch with data (n, 2) and target (n,): 0 for anomalies, else the
    number of the structure. `return_X_y=True` gives (data, target); `as_frame=True`
    gives pandas objects.

    >>> make_lines(3, sizes=50, anomaly_share=0.25, random_state=0).data.shape
    (200, 2)
    """

    def segment(size: int, rng: Rng) -> Floats:
        angle = rng.uniform(0, np.pi)
        along = np.array([np.cos(angle), np.sin(angle)])
        across = np.array([-along[1], along[0]])
        middle = rng.uniform(-0.5, 0.5) * across
        t = rng.uniform(-1, 1, size)[:, None]
        offset = rng.normal(0, noise, size)[:, None]
        return np.asarray(middle + t * along + offset * across)

    return _scene(segment, n_structures, sizes, anomaly_share, random_state, return_X_y, as_frame)


def make_circles(
    n_structures: int = 3,
    *,
    sizes: int | Sequence[int] = 100,
    noise: float = 0.01,
    anomaly_share: float = 0.5,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Circles of random radii with centres in [-1, 1]^2, and uniform anomalies.

    Parameters and result as in `make_lines`; noise is that of the radius.

    >>> X, y = make_circles(2, sizes=[80, 40], random_state=0, return_X_y=True)
    >>> X.shape, sorted(set(y.tolist()))
    ((240, 2), [0, 1, 2])
    """

    def circle(size: int, rng: Rng) -> Floats:
        centre, radius = rng.uniform(-1, 1, 2), rng.uniform(0.3, 1.0)
        angle = rng.uniform(0, 2 * np.pi, size)
        r = (radius + rng.normal(0, noise, size))[:, None]
        return np.asarray(centre + r * np.column_stack([np.cos(angle), np.sin(angle)]))

    return _scene(circle, n_structures, sizes, anomaly_share, random_state, return_X_y, as_frame)


def _scene(
    structure: Callable[[int, Rng], Floats],
    n_structures: int,
    sizes: int | Sequence[int],
    anomaly_share: float,
    random_state: Any,
    return_X_y: bool,
    as_frame: bool,
) -> Any:
    check_integer("n_structures", n_structures, 1)
    counts = np.broadcast_to(sizes, n_structures).tolist() if np.ndim(sizes) == 0 else list(sizes)  # type: ignore[arg-type]
    if len(counts) != n_structures or min(counts) < 1:
        raise ValueError(
            f"sizes must be one number above 0 or one for each of the {n_structures} structures, "
            f"got {sizes!r}."
        )
    check_share("anomaly_share", anomaly_share)
    stream = Stream.from_random_state(random_state).child("scene")
    structures = [structure(size, stream.child(i).generator()) for i, size in enumerate(counts)]
    normal = np.concatenate(structures)
    n_anomalies = round(len(normal) * anomaly_share / (1 - anomaly_share))
    low, high = normal.min(axis=0), normal.max(axis=0)
    rng = stream.child("anomalies").generator()
    data = np.concatenate([normal, rng.uniform(low, high, (n_anomalies, 2))])
    labels = np.repeat(np.arange(1, n_structures + 1), counts)
    target = np.concatenate([labels, np.zeros(n_anomalies, labels.dtype)])
    return as_bunch(data, target, ["x", "y"], return_X_y, as_frame)
