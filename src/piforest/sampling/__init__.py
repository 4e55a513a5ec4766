"""Samplers choose the points of minimal samples. One module and one line here for each.

>>> from piforest.sampling import list_samplers
>>> list_samplers()
['grouped', 'local', 'mixed', 'stratified', 'uniform', 'weighted']
"""

from __future__ import annotations

from typing import Any

from .._registry import Registry
from ..protocols import Sampler

__all__ = ["get_sampler", "list_samplers"]

SAMPLERS = Registry(
    "sampler",
    {
        "grouped": "piforest.sampling.grouped:GroupedSampler",
        "local": "piforest.sampling.local:LocalSampler",
        "mixed": "piforest.sampling.mixed:MixedSampler",
        "stratified": "piforest.sampling.stratified:StratifiedSampler",
        "uniform": "piforest.sampling.uniform:UniformSampler",
        "weighted": "piforest.sampling.weighted:WeightedSampler",
    },
)


def list_samplers() -> list[str]:
    """List the names that `sampler=` takes.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from piforest.sampling import list_samplers
    >>> "mixed" in list_samplers()
    True
    """
    return SAMPLERS.names()


def get_sampler(name: str, **options: Any) -> Sampler:
    """Get a sampler by its name.

    Parameters
    ----------
    name : str
        One of `list_samplers()`.
    **options : dict
        The options of the sampler, such as scale of "local".

    Returns
    -------
    Sampler

    Examples
    --------
    >>> from piforest.sampling import get_sampler
    >>> get_sampler("local", scale=0.1).name
    'local'
    """
    sampler: Sampler = SAMPLERS.get(name, **options)
    return sampler


def resolve_sampler(sampler: Any) -> Sampler:
    """The sampler of a name, or of an object with a `draw` method."""
    if isinstance(sampler, str):
        return get_sampler(sampler)
    draws = callable(getattr(sampler, "draw", None)) and hasattr(sampler, "name")
    if isinstance(sampler, type) or not draws:
        raise ValueError(
            f"sampler must be one of {list_samplers()} or an object with the members of "
            f"piforest.protocols.Sampler, got {sampler!r}."
        )
    return sampler  # type: ignore[no-any-return]
