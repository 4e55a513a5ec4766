"""Which family do the structures of the data belong to?

>>> from piforest import propose_families
>>> from piforest.datasets import make_circles
>>> propose_families(make_circles(2, random_state=0).data, random_state=0)[0].name
'circle'
"""

from .propose import propose_families
from .values import Proposal, Proposals

__all__ = ["Proposal", "Proposals", "propose_families"]
