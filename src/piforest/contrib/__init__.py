"""Adapters to other libraries, each imported with its library only."""
