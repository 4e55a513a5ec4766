"""What it costs to start: imports, the command line, compiling once, and the cache afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from measure import Result, case, measured

# Kernels compiled by the first fit of the default, with everything that can be asked of it.
_FIRST = """
import warnings; warnings.simplefilter("ignore")
from piforest import PreferenceIsolationForest
from piforest.datasets import make_circles
X = make_circles(3, anomaly_share=0.3, random_state=0).data
detector = PreferenceIsolationForest("circle", random_state=0).fit(X)
detector.labels_, detector.structures_, detector.explain(X[:1]), detector.p_values(X[:1])
"""


def _process(*command: str, repeats: int = 5, **environment: str) -> Result:
    def run() -> None:
        full = {**os.environ, **environment}
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL, env=full)

    return measured(run, repeats)


case("Python alone")(lambda: _process("-c", "pass"))
case("import piforest", beside=("Python alone",))(lambda: _process("-c", "import piforest"))
case("piforest --help", beside=("Python alone",))(lambda: _process("-m", "piforest", "--help"))


@case("import piforest.estimators")
def _estimators() -> Result:
    """With NumPy, SciPy, scikit-learn and numba."""
    return _process("-c", "import piforest.estimators")


@case("first fit, everything compiled", beside=("second fit, from the cache",))
def _first() -> Result:
    def run() -> None:
        with tempfile.TemporaryDirectory() as cache:
            full = {**os.environ, "NUMBA_CACHE_DIR": cache}
            subprocess.run([sys.executable, "-c", _FIRST], check=True, env=full)

    return measured(run, repeats=3, warm=False)


@case("second fit, from the cache", beside=("import piforest.estimators",))
def _second() -> Result:
    with tempfile.TemporaryDirectory() as cache:
        return _process("-c", _FIRST, repeats=3, NUMBA_CACHE_DIR=cache)
