"""Distances between rows: one module for each kind, one line here for each name.

>>> from piforest.metrics import get_metric
>>> get_metric("tanimoto").pairwise([[1.0, 0.5, 0.0]], [[1.0, 0.5, 0.0], [0.0, 0.0, 1.0]])
array([[0., 1.]])
"""

from __future__ import annotations

from typing import Any

from .._registry import Registry
from ..protocols import Metric

__all__ = ["get_metric", "list_metrics"]

METRICS = Registry(
    "metric",
    {
        "braycurtis": "piforest.metrics.cdist:BrayCurtis",
        "canberra": "piforest.metrics.cdist:Canberra",
        "chebyshev": "piforest.metrics.cdist:Chebyshev",
        "cosine": "piforest.metrics.overlap:Cosine",
        "euclidean": "piforest.metrics.lp:Euclidean",
        "hamming": "piforest.metrics.cdist:Hamming",
        "jaccard": "piforest.metrics.overlap:Jaccard",
        "manhattan": "piforest.metrics.lp:Manhattan",
        "minkowski": "piforest.metrics.cdist:Minkowski",
        "precomputed": "piforest.metrics.custom:Precomputed",
        "ruzicka": "piforest.metrics.overlap:Ruzicka",
        "tanimoto": "piforest.metrics.overlap:Tanimoto",
    },
)


def list_metrics() -> list[str]:
    """List the names that `metric=` takes.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from piforest.metrics import list_metrics
    >>> "tanimoto" in list_metrics()
    True
    """
    return METRICS.names()


def get_metric(name: str, **options: Any) -> Metric:
    """Get a metric by its name.

    Parameters
    ----------
    name : str
        One of `list_metrics()`.
    **options : dict
        The options of the metric, such as p of "minkowski".

    Returns
    -------
    Metric

    Examples
    --------
    >>> from piforest.metrics import get_metric
    >>> get_metric("minkowski", p=3).name
    'minkowski'
    """
    metric: Metric = METRICS.get(name, **options)
    return metric


def resolve_metric(metric: Any) -> Metric:
    """The metric of a name, an object with `pairwise`, or any function d(a, b)."""
    if isinstance(metric, str):
        return get_metric(metric)
    members = all(hasattr(metric, member) for member in ("name", "empty_rows", "pairwise"))
    if members and not isinstance(metric, type):
        return metric  # type: ignore[no-any-return]
    if callable(metric) and not isinstance(metric, type):
        from .custom import Callable

        return Callable(metric)
    raise ValueError(
        f"metric must be one of {list_metrics()}, a function d(a, b), or an object with the "
        f"members of piforest.protocols.Metric, got {metric!r}."
    )
