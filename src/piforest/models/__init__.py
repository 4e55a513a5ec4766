"""The models of a family: drawn from minimal samples, refitted, bounded; their residuals."""

from .drawing import ModelSet

__all__ = ["ModelSet"]
