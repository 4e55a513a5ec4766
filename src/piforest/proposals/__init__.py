"""Which family do the structures of the data belong to?

>>> from piforest import propose_families
>>> from piforest.datasets import make_circles
>>> propose_families(make_circles(2, random_state=0).data, random_state=0)[0].name
'circle'
"""

from .better import better_family
from .propose import compared_rows, propose, propose_families
from .values import Proposal, Proposals, family_text

__all__ = [
    "Proposal",
    "Proposals",
    "better_family",
    "compared_rows",
    "family_text",
    "propose",
    "propose_families",
]
