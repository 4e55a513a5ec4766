"""How a formula becomes compiled code."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from piforest.families import get_family
from piforest.families._compile import compiled, operations_of, source_of
from piforest.families._tape import run, tape_of

rng = np.random.default_rng(0)
X, THETA = rng.normal(size=(40, 3)).round(1), rng.normal(size=(4, 300)).round(1)


def in_numpy(formula):
    with np.errstate(all="ignore"):
        R = formula(list(X.T[:, :, None]), list(THETA[:, None]), np)
    return np.broadcast_to(R, (40, 300)).astype(float)


def arithmetic(x, theta, xp):
    return (1 - x[0]) * theta[0] / 3 + 2 / (x[1] + theta[1]) - (-x[2]) * 0.7 + (5 + theta[2])


def comparisons(x, theta, xp):
    some = [x[0] < theta[0], x[0] <= theta[0], x[0] > theta[0], x[0] >= theta[0], x[0] == theta[0],
            x[0] != theta[0], x[1] > 0, x[1] != 0]  # fmt: skip
    return sum(xp.where(each, 2.0**k, 0.0) for k, each in enumerate(some))


def decisions(x, theta, xp):
    one, two = x[0] > theta[0], x[1] > theta[1]
    some = [one & two, one | two, ~one, ~one & ~two, (one | ~two) & (x[2] > 0)]
    return sum(xp.where(each, 2.0**k, 0.0) for k, each in enumerate(some))


def not_numbers(x, theta, xp):
    root = xp.sqrt(x[0] * theta[0])
    return xp.where(root >= 0, root, np.inf) + xp.where(root != root, 1.0, 0.0)


def rows_alone(x, theta, xp):
    return abs(xp.sqrt(x[0] * x[0] + 1) - x[1])


def models_alone(x, theta, xp):
    return abs(theta[0] - theta[1] * theta[1])


def sums_of_products(x, theta, xp):
    product = x[0] * theta[0]
    total = sum(a * b for a, b in zip(x, theta)) + product * product + product
    return total + theta[3] * theta[3] + 2 * theta[0] + theta[1] * 0.3


def one_column(x, theta, xp):
    return theta[2] - 0


FORMULAS = [arithmetic, comparisons, decisions, not_numbers, rows_alone, models_alone,
            sums_of_products, one_column]  # fmt: skip


@pytest.mark.parametrize("formula", FORMULAS)
def test_compiled_code_and_tape_give_the_bits_of_numpy(formula):
    expected = in_numpy(formula)
    operations = operations_of(formula, 3, 4)
    for fast in (compiled(formula, 3, 4), lambda *a: run(tape_of(operations, 3, 4), *a)):
        out = np.empty((40, 300))
        fast(X, THETA, out)
        assert np.array_equal(out, expected, equal_nan=True)


def test_what_is_not_needed_is_left_out():
    def formula(x, theta, xp):
        xp.sqrt(x[0]) + theta[3]
        return x[1] + theta[1]

    names = [(each.name, each.value) for each in operations_of(formula, 3, 4)]
    assert names == [("x", 1), ("theta", 1), ("+", 0)]


@pytest.mark.parametrize(
    "formula",
    [
        lambda x, theta, xp: xp.exp(x[0]) * theta[0],
        lambda x, theta, xp: x[0] ** 2 + theta[0],
        lambda x, theta, xp: x[0] + theta[9],
        lambda x, theta, xp: theta[0] if x[0] > 0 else theta[1],
        lambda x, theta, xp: "far",
        lambda x, theta, xp: x[0] + np.ones(3),
    ],
    ids=["exp", "power", "no such column", "if", "a word", "an array"],
)
def test_other_formulas_are_left_to_numpy(formula):
    assert operations_of(formula, 3, 4) is None
    assert compiled(formula, 3, 4) is None


def test_a_formula_that_numpy_has_to_evaluate_works_all_the_same():
    class Exponential(type(get_family("circle"))):
        def formula(self, x, theta, xp):
            return abs(x[0] - xp.exp(theta[0]) * x[1])

    points, params = np.abs(X[:, :2]), np.abs(THETA[:3].T)
    expected = np.abs(points[:, :1] - np.exp(params[:, 0]) * points[:, 1:])
    assert np.array_equal(Exponential().residuals(points, params), expected)
    with pytest.raises(IndexError):
        type("Wrong", (Exponential,), {"formula": lambda self, x, t, xp: x[7]})().residuals(
            points, params
        )


def test_another_weight_is_not_another_compilation():
    sources = {
        source_of(operations_of(get_family("cone", normal_weight=weight).formula, 6, 8))[0]
        for weight in (0.1, 0.25, 0.3)
    }
    assert len(sources) == 1


@pytest.mark.parametrize(
    ("name", "options", "d", "p", "unrolled"),
    [("line", {}, 20, 40, True), ("line", {}, 22, 44, False), ("hyperplane", {}, 32, 64, True),
     ("hyperplane", {}, 33, 66, False), ("sphere", {}, 49, 50, True), ("sphere", {}, 50, 51, False),
     ("polynomial", {"degree": 20}, 2, 24, True), ("cone", {}, 6, 8, True)],
)  # fmt: skip
def test_only_short_formulas_are_unrolled(name, options, d, p, unrolled):
    fast = compiled(get_family(name, **options).formula, d, p)
    assert (getattr(fast, "func", None) is not run) == unrolled


CODE = """
import sys, time
import numpy as np
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__qualname__)
    def on_end(self, event):
        pass
event.register("numba:compile", Listener())
from piforest.families import get_family
rng = np.random.default_rng(0)
get_family("circle").residuals(rng.normal(size=(5, 2)), rng.normal(size=(7, 3)))
get_family("line").residuals(rng.normal(size=(5, 40)), rng.normal(size=(7, 80)))
print(len(compiled))
"""


@pytest.mark.slow
def test_a_second_process_compiles_nothing(tmp_path):
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    counts = [
        int(
            subprocess.run(
                [sys.executable, "-c", CODE],
                env=environment, capture_output=True, text=True, check=True,
            ).stdout
        )
        for _ in range(2)
    ]  # fmt: skip
    assert counts[0] >= 2
    assert counts[1] == 0
