"""Work that people do: scenes, scans, matches and files, beside what one would take instead."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from data import detector
from measure import Result, case, measured

_DEFAULT = "PreferenceIsolationForest"
_N = 20_000


def _eight_lines(n: int) -> np.ndarray:
    from piforest.datasets import make_lines

    return make_lines(8, sizes=n * 6 // 80, anomaly_share=0.4, random_state=0).data


def _one_line(n: int) -> np.ndarray:
    from piforest.datasets import make_lines

    return make_lines(1, sizes=n * 9 // 10, anomaly_share=0.1, random_state=0).data


def _room() -> np.ndarray:
    from piforest.datasets import make_room

    return make_room(11, sizes=16_363, anomaly_share=0.1, random_state=0).data


def _road() -> np.ndarray:
    """Every tenth pixel of a disparity map, column, row and disparity in pixels."""
    import cv2

    from piforest.datasets import data_folder

    path = data_folder() / "potholes" / "set1-01-disparity.png"
    disparity = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)[::10, ::10]
    row, column = np.nonzero(disparity)
    return np.column_stack([10.0 * column, 10.0 * row, disparity[row, column] / 64])


def _aloe() -> np.ndarray:
    from piforest.reproduction.real.photos import SCENES, matches

    return matches(*SCENES["aloe"])


def _results(family: str, make: Callable[[], np.ndarray], structures: bool = False) -> Result:
    X = make()

    def run() -> None:
        fitted = detector(_DEFAULT, family).fit(X)
        if structures:
            fitted.structures_  # noqa: B018
        else:
            fitted.labels_  # noqa: B018

    return measured(run, 3)


for _name, _family, _make in (
    ("20,000 points of 8 lines", "line", lambda: _eight_lines(_N)),
    ("20,000 points, 90 % on a line", "line", lambda: _one_line(_N)),
    ("a road surface, plane", "plane", _road),
    ("matches of a stereo pair, fundamental", "fundamental", _aloe),
):
    case(f"fit and labels, {_name}")(lambda family=_family, make=_make: _results(family, make))
case("fit and structures, a room of 200,000 points")(lambda: _results("plane", _room, True))


def _score(make: Callable[[int], np.ndarray]) -> Result:
    X = np.random.default_rng(0).permutation(make(2 * _N))
    fitted = detector(_DEFAULT, "line").fit(X[:_N])
    result = measured(lambda: fitted.anomaly_score(X[_N:]))
    return {**result, "points_per_cpu_s": _N / result["cpu_s"]}


_TREES = "score 20,000 points, IsolationForest"
case("score 20,000 points of 8 lines", beside=(_TREES,))(lambda: _score(_eight_lines))
case("score 20,000 points, 90 % on a line", beside=(_TREES,))(lambda: _score(_one_line))


@case(_TREES)
def _isolation_forest() -> Result:
    """scikit-learn's, 100 trees on the coordinates themselves."""
    from sklearn.ensemble import IsolationForest

    X = np.random.default_rng(0).permutation(_eight_lines(2 * _N))
    fitted = IsolationForest(random_state=0, n_jobs=1).fit(X[:_N])
    result = measured(lambda: fitted.score_samples(X[_N:]))
    return {**result, "points_per_cpu_s": _N / result["cpu_s"]}


@case("detect a million rows of a plane, CSV to CSV")
def _csv() -> Result:
    """The whole command, start and imports included, with the threads that it takes by itself."""
    rng, n = np.random.default_rng(0), 10**6
    X = rng.uniform(-5, 5, (n, 3))
    X[50_000:, 2] = X[50_000:] @ [0.3, -0.2, 0] + rng.normal(0, 0.01, n - 50_000)
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "plane.csv", Path(folder) / "scores.csv"
        np.savetxt(file, rng.permutation(X), "%.6f", ",", header="x,y,z", comments="")
        command = [sys.executable, "-m", "piforest", "detect", file, "--family", "plane",
                   "--out", out, "--quiet", "--force"]  # fmt: skip
        return measured(lambda: subprocess.run(command, check=True), 1, warm=False)
