"""What holds for every run of pytest: modules that need PyTorch, and what becomes of skips.

A run writes down what it skipped, one argument of pytest a line, so that `make test-skipped` can
run it on a machine that has more: PyTorch, Chromium, the research data.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

_TESTS = Path(__file__).parent / "tests"


def _has_torch() -> bool:
    """Whether PyTorch is there, not only a folder of its name; importing it takes seconds."""
    spec = find_spec("torch")
    folders = [] if spec is None else spec.submodule_search_locations or []
    return any(Path(folder, "version.py").exists() for folder in folders)


# Doctests are collected from every module, and these import PyTorch, which `make test` does not
# install, or Triton, which comes with PyTorch for GPUs only.
if not _has_torch():
    collect_ignore = ["src/piforest/engines/torch"]
elif find_spec("triton") is None:
    collect_ignore = ["src/piforest/engines/torch/kernels.py"]
else:
    collect_ignore = []

# The workers of pytest-xdist share the cores. With as many threads in each, BLAS and OpenMP spend
# a third of the time waiting for one another.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# Tests and libraries make millions of objects that stay; with the usual thresholds the collector
# goes through them so often that it takes a twentieth of the time.
gc.set_threshold(100_000, 50, 50)

_skipped: set[str] = set()
_skipped_data: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="a skipped test fails the run")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector]]:
    """Look for examples in the package and the documents only: tests have none, and to look there
    imports every helper, PyTorch's included, in every worker."""
    collectors = yield
    if _TESTS in file_path.parents:
        collectors = [each for each in collectors if not isinstance(each, DoctestModule)]
    return collectors


def pytest_collection_finish() -> None:
    """What is there now stays to the end: no collection of garbage goes through it again."""
    gc.freeze()


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        _skipped.add(report.nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        _skipped.add(report.nodeid)
        if "data" in report.keywords:
            _skipped_data.add(report.nodeid)


def pytest_runtest_teardown() -> None:
    """Close the figures of a test or an example, of which matplotlib allows twenty."""
    pyplot = sys.modules.get("matplotlib.pyplot")  # None where a test hides matplotlib
    if pyplot is not None:
        pyplot.close("all")


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if hasattr(config, "workerinput"):  # a worker of pytest-xdist: the main process knows all
        return
    forbidden = _skipped_data if os.environ.get("PIFOREST_DATA") else set()
    if config.option.no_skips:
        forbidden = _skipped
    elif hasattr(config, "cache"):
        record = config.cache.mkdir("skipped") / "tests.txt"
        record.write_text("".join(f"{each}\n" for each in sorted({*collect_ignore, *_skipped})))
    if forbidden:
        print(f"\nSkipped, but must not be: {sorted(forbidden)}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
