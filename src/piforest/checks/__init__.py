"""Checks of the requirements of each protocol, for testing custom classes.

>>> from piforest.checks import check_family
>>> from piforest.families import get_family
>>> for note in check_family(get_family("circle")):
...     print(note)
rows are stable: a row's residuals do not depend on its block
"""

from ._require import CheckError
from .components import check_forest, check_kernel, check_metric, check_sampler
from .family import check_family

__all__ = [
    "CheckError",
    "check_family",
    "check_forest",
    "check_kernel",
    "check_metric",
    "check_sampler",
]
