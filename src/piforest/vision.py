"""Matches between images."""
