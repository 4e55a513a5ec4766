"""Fitted models as frozen values, and their model files."""

from .state import FittedEmbedding, FittedForest
from .training_rows import TrainingRows as TrainingRows

__all__ = ["FittedEmbedding", "FittedForest"]
