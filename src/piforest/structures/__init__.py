"""Bands to structures: the search, their description, their rows, pieces and ends."""

from .greedy import Structure

__all__ = ["Structure"]
