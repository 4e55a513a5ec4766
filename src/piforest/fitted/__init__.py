"""What a fit found, as frozen values, and model files made of them."""

from .state import FittedEmbedding, FittedForest
from .training_rows import TrainingRows as TrainingRows

__all__ = ["FittedEmbedding", "FittedForest"]
