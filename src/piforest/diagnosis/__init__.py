"""Diagnosis: what to know about the data and a result before trusting it.

>>> from piforest import PreferenceIsolationForest
>>> from piforest.datasets import make_lines
>>> X = make_lines(1, noise=0.01, anomaly_share=0.0, random_state=0).data
>>> detector = PreferenceIsolationForest("line", random_state=0).fit(X)
>>> [finding.code for finding in detector.diagnosis_]
['one_structure']
"""

from .diagnose import diagnose
from .finding import Finding

__all__ = ["Finding", "diagnose"]
