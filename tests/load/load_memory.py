"""Memory does not grow with the number of rows, and hardly with that of columns."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from load.measured import measured
from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines

ROWS = int(os.environ.get("PIFOREST_LOAD_ROWS", 10_000_000))
FEW = 50_000
BLOCK = 100_000
LIMIT = 4 * 2**30


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A small one: the rows are what is tried."""
    X = make_lines(3, sizes=200, noise=0.01, anomaly_share=0.2, random_state=0).data
    path = tmp_path_factory.mktemp("model") / "m.pif"
    options = {"n_models": 50, "n_estimators": 5, "max_samples": 32, "pool_size": 64}
    PreferenceIsolationForest("line", random_state=0, **options).fit(X).save(path)
    return path


def put(path, rows):
    """Random points, written in blocks."""
    rng = np.random.default_rng(0)
    blocks = (rng.normal(size=(min(BLOCK, rows - k), 2)) for k in range(0, rows, BLOCK))
    if path.suffix == ".npy":
        out = np.lib.format.open_memmap(path, "w+", float, (rows, 2))
        for k, block in enumerate(blocks):
            out[k * BLOCK : k * BLOCK + len(block)] = block
        out.flush()
    elif path.suffix == ".parquet":
        schema = pa.schema([("x", pa.float64()), ("y", pa.float64())])
        with pq.ParquetWriter(path, schema) as writer:
            for block in blocks:
                writer.write_table(pa.table(dict(zip("xy", block.T.copy()))))
    else:
        with open(path, "w") as file:
            file.write("x,y\n")
            for block in blocks:
                np.savetxt(file, block, delimiter=",", fmt="%.5f")
    return path


def score(path, model, out):
    command = ["-m", "piforest", "score", path, "--model", model, "--out", out, "--force"]
    ended = measured([*command, "--jobs", 2], out.parent, LIMIT)
    assert ended.code == 0, ended.out
    return ended


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".parquet"])
def test_ten_million_rows_are_scored_in_the_memory_of_a_few(suffix, model, tmp_path):
    out = tmp_path / f"out{suffix}"
    few = score(put(tmp_path / f"few{suffix}", FEW), model, out)
    many = score(put(tmp_path / f"many{suffix}", ROWS), model, out)
    print(f"{suffix}: {ROWS:,} rows in {many.seconds:.0f} s and {many.peak / 1e6:.0f} MB, "
          f"{FEW:,} in {few.peak / 1e6:.0f} MB")  # fmt: skip
    assert f"rows        {ROWS:,} in columns" in many.out
    assert many.peak < 700e6
    assert many.peak < few.peak + 100e6


FIT = """
import sys, warnings
import numpy as np
from piforest import PreferenceIsolationForest
warnings.simplefilter("ignore")
family, models = sys.argv[1], int(sys.argv[2])
X = np.random.default_rng(0).normal(size=(1100, 1000))
detector = PreferenceIsolationForest(family, n_models=models, n_estimators=10, random_state=0)
print(detector.fit(X).anomaly_score(X[:20]).shape)
"""


@pytest.mark.parametrize(
    ("family", "models"), [("hyperplane", 40), ("linear_regression", 40), ("subspace", 2000)]
)
def test_a_thousand_columns_take_less_than_a_gigabyte(family, models, tmp_path):
    ended = measured(["-c", FIT, family, models], tmp_path)
    print(f"{family}: {models} models in {ended.seconds:.0f} s and {ended.peak / 1e6:.0f} MB")
    assert ended.out == "(20,)\n"
    assert ended.peak < 1e9
