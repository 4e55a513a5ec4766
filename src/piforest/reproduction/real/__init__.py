"""Evaluation on the data that users have: noise, rounding, units, photos, tables, scans."""
