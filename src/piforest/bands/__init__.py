"""Bands of points around models: half-widths, evidence, the noise; steps of rounded columns."""

from .evidence import Bands, estimate_sigma

__all__ = ["Bands", "estimate_sigma"]
