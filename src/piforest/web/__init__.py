"""What the pages of the report, of Studio and of notebooks share: ES modules and a style."""

from .bundle import STATIC, bundled, static

__all__ = ["STATIC", "bundled", "static"]
