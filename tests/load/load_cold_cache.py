"""Many processes that begin at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from load.measured import measured

FIT = """
import numpy as np
from piforest import PreferenceIsolationForest
X = np.random.default_rng(0).uniform(size=(200, 2))
detector = PreferenceIsolationForest("circle", n_models=200, n_estimators=10, random_state=0)
scores = detector.fit(X).scores_
print(scores.tobytes().hex())
from piforest._kernels.jit import seconds_compiling
import sys; print(seconds_compiling() == 0, file=sys.stderr)
"""


COMMAND = ["-W", "ignore", "-c", FIT]


def test_eight_processes_fit_at_once_on_one_cold_cache(tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    folders = [tmp_path / str(k) for k in range(8)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(8) as executor:
        ended = list(executor.map(lambda each: measured(COMMAND, each, **cache), folders))
    assert [each.code for each in ended] == [0] * 8
    assert len({each.out.split()[0] for each in ended}) == 1
    # What two of them wrote at once may be lost from an index: compiled once more, at most.
    measured(COMMAND, tmp_path, **cache)
    again = measured(COMMAND, tmp_path, **cache)
    assert again.out.split() == [ended[0].out.split()[0], "True"]
    print(f"8 processes took {max(each.seconds for each in ended):.0f} s, one with a warm cache "
          f"{again.seconds:.0f} s")  # fmt: skip
