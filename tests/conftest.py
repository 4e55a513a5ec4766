"""Shared by all tests: hypothesis without chance; no data test is skipped in silence."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("fixed")

_skipped_data_tests: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and "data" in report.keywords:
        _skipped_data_tests.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where the data are said to be there, a skipped data test fails the run."""
    if os.environ.get("PIFOREST_DATA") and _skipped_data_tests:
        print(f"\nPIFOREST_DATA is set, yet data tests were skipped: {_skipped_data_tests}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
