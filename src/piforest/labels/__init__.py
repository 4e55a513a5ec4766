"""Scores to labels: votes against random points, thresholds, calibrated p-values."""

__all__ = []
