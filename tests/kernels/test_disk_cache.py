"""Compiled kernels on disk: what is damaged is compiled again, many processes share one folder."""

from __future__ import annotations

import importlib.util
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from numba.core import config

SOURCE = """
from piforest._kernels.jit import jit

@jit
def total(values):
    sum = values[0] - values[0]
    for value in values:
        sum += value
    return sum
"""
KINDS = [np.float64, np.float32, np.int64, np.int32, np.uint8, np.complex128]


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Imports the kernel anew, as another process would, with an empty cache at first."""
    (tmp_path / "one.py").write_text(SOURCE)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))

    def imported():
        spec = importlib.util.spec_from_file_location("one", tmp_path / "one.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "one", module)
        spec.loader.exec_module(module)
        return module.total

    return imported


def hits(kernel):
    assert kernel(np.arange(4.0)) == 6
    return sum(kernel.stats.cache_hits.values())


def files(tmp_path, suffix):
    return sorted((tmp_path / "cache").rglob(f"*{suffix}"))


def test_a_kernel_is_compiled_once(kernel, tmp_path):
    assert [hits(kernel()), hits(kernel()), hits(kernel())] == [0, 1, 1]
    assert len(files(tmp_path, ".nbi")) == len(files(tmp_path, ".nbc")) == 1


DAMAGE = {
    "empty": lambda content: b"",
    "cut in the middle": lambda content: content[: len(content) // 2],
    "cut at the end": lambda content: content[:-1],
    "other bytes": lambda content: b"\xff" * len(content),
    "another pickle": lambda content: b"\x80\x04K\x01.",
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_damaged_file_is_compiled_and_written_again(damage, suffix, kernel, tmp_path):
    hits(kernel())
    [path] = files(tmp_path, suffix)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert hits(kernel()) == 0
    assert hits(kernel()) == 1


def test_a_lost_file_of_code_is_compiled_and_written_again(kernel, tmp_path):
    hits(kernel())
    files(tmp_path, ".nbc")[0].unlink()
    assert [hits(kernel()), hits(kernel())] == [0, 1]


def test_an_index_that_is_damaged_while_the_kernel_compiles_is_written_again(kernel, tmp_path):
    hits(kernel())
    first = kernel()
    files(tmp_path, ".nbi")[0].write_bytes(b"")
    assert first(np.arange(4)) == 6  # another signature: its index cannot be read before or after
    assert hits(kernel()) == 0
    assert hits(kernel()) == 1


@pytest.mark.slow
def test_every_signature_has_a_file_of_its_own_name(kernel, tmp_path):
    """So that two processes never write the code of two signatures under one name."""
    names = []
    for order in (KINDS, KINDS[::-1]):
        for path in files(tmp_path, ".nbi"):
            path.unlink()  # as if the other process had not seen it yet
        compiled = kernel()
        for kind in order:
            assert compiled(np.arange(4, dtype=kind)) == 6
        index = compiled._cache._cache_file._load_index()
        names.append({str(key[0]): name for key, name in index.items()})
    assert names[0] == names[1]
    assert len(set(names[0].values())) == len(files(tmp_path, ".nbc")) == len(KINDS)


def test_code_is_on_disk_before_the_index_names_it(kernel, tmp_path, monkeypatch):
    compiled = kernel()
    cache = compiled._cache._cache_file

    def killed(overloads):
        raise KeyboardInterrupt

    monkeypatch.setattr(cache, "_save_index", killed)
    with pytest.raises(KeyboardInterrupt):
        compiled(np.arange(4.0))
    assert len(files(tmp_path, ".nbc")) == 1
    assert not files(tmp_path, ".nbi")


# Forked where numba is already imported, which takes longer than the compilations, and so at once.
RUN = """
import multiprocessing, sys
import numpy as np
import piforest._kernels.jit

def run(kinds):
    from one import total
    same = all(total(np.arange(4, dtype=kind)) == 6 for kind in kinds)
    return same, sum(total.stats.cache_hits.values())

def at_once(orders):
    with fork.Pool(len(orders), maxtasksperchild=1) as pool:
        return pool.map(run, orders, chunksize=1)

fork = multiprocessing.get_context("fork")
orders = [order.split(",") for order in sys.argv[1:]]
print([same for same, _ in at_once(orders)] == [True] * 8)
# What one of them left out of the index is compiled again, at most; then all is there.
at_once(orders[:1])
print(*at_once(orders[:1]))
"""


@pytest.mark.slow
def test_eight_processes_share_a_cold_cache(tmp_path):
    (tmp_path / "one.py").write_text(SOURCE)
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": path}
    names = [np.dtype(kind).name for kind in KINDS]
    orders = [",".join(o) for o in itertools.islice(itertools.permutations(names), 0, 700, 90)]
    assert len(orders) == 8
    result = subprocess.run(
        [sys.executable, "-c", RUN, *orders],
        env=environment, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert result.stdout.split("\n")[:2] == ["True", f"(True, {len(KINDS)})"]
