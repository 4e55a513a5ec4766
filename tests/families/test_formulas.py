"""Every family's residuals are its formula: compiled, in NumPy, in torch.

NumPy rounds each operation on its own, as the compiled code does, so that all bits agree. So does
torch on the CPU, but for square roots, which may be one unit in the last place off.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from piforest.checks import CheckError, check_family
from piforest.families import extent, get_family, list_families
from piforest.families._formula import prepared_params, residuals_of
from scenes import (
    cylinder_points,
    flat_points,
    line_points,
    on_one_model,
    parabola_points,
    sphere_points,
)

VARIANTS = {
    "line in the plane": ("line", {}, partial(line_points, d=2)),
    "line in 7 columns": ("line", {}, partial(line_points, d=7)),
    "hyperplane in 5 columns": ("hyperplane", {}, partial(flat_points, d=5, r=4)),
    "sphere in the plane": ("sphere", {}, partial(on_one_model, "circle")),
    "fundamental of 7 points": (
        "fundamental",
        {"solver": "7-point"},
        partial(on_one_model, "fundamental"),
    ),
    "parabola of any direction": (
        "parabola",
        {"rotated": True},
        partial(parabola_points, angle=0.5),
    ),
    "polynomial of degree 1": ("polynomial", {"degree": 1}, partial(on_one_model, "polynomial")),
    "cylinder with normals": (
        "cylinder",
        {"normals": True},
        partial(cylinder_points, normals=True),
    ),
    "cylinder with normals of no weight": (
        "cylinder",
        {"normals": True, "normal_weight": 0.0},
        partial(cylinder_points, normals=True),
    ),
    "cone without normals": ("cone", {"normal_weight": 0.0}, partial(on_one_model, "cone")),
    "subspace of 3 in 6 columns": ("subspace", {"dimension": 3}, partial(flat_points, d=6, r=3)),
    "subspace through the origin": (
        "subspace",
        {"dimension": 1, "affine": False},
        partial(flat_points, d=4, r=3),
    ),
    "line in 30 columns": ("line", {}, partial(line_points, d=30)),
    "hyperplane in 35 columns": ("hyperplane", {}, partial(flat_points, 80, d=35, r=34)),
    "sphere in 55 columns": ("sphere", {}, partial(sphere_points, 80, seed=1, d=55)),
    "subspace of 3 in 30 columns": ("subspace", {"dimension": 3}, partial(flat_points, d=30, r=3)),
    "law of 39 features": ("linear_regression", {}, partial(flat_points, 80, d=40, r=39)),
    "law for the first column": (
        "linear_regression",
        {"target": 0},
        partial(on_one_model, "linear_regression"),
    ),
    "law of degree 3 for the second": (
        "polynomial_regression",
        {"target": 1, "degree": 3},
        partial(on_one_model, "polynomial_regression"),
    ),
}
CASES = {name: (name, {}, partial(on_one_model, name)) for name in list_families()} | VARIANTS


@pytest.fixture(params=CASES)
def scene(request):
    """A family, rows on and off its models, those that break formulas, and models."""
    name, options, make = CASES[request.param]
    X = make()
    family = get_family(name, **options)
    rng = np.random.default_rng(0)
    size = extent(family, X)
    X = np.concatenate([X, X + rng.normal(0, 0.3 * size, X.shape)])
    samples = np.array(
        [rng.choice(len(X), family.sample_size(X.shape[1]), replace=False) for _ in range(200)]
    )
    params, valid = family.solve(X[samples])
    theta = params[valid][:90]
    # A repeated row, far rows, rows without a normal, the centres, tips and epipoles of models,
    # and where a scale overflows.
    d = X.shape[1]
    places = theta[:20, :d] if theta.shape[1] >= d else X[:0]
    special = [X[:2], X[:2], 0 * X[:1], 1e8 * X[:3], -1e8 * X[:3], 1e150 * X[:2], places]
    nowhere = X[:3].copy()
    nowhere[:, d // 2 :] = 0
    return family, np.concatenate([X, *special, nowhere]), theta


def torch_or_skip():
    return pytest.importorskip("torch", reason="torch is not installed: make setup-gpu")


def close(R, family, X, theta):
    """To twelve digits of the coordinates that a distance is the difference of."""
    kernel = family.residuals(X, theta)
    digits = 1e-12 * np.maximum(extent(family, X[:40]), np.abs(X).max(axis=1, keepdims=True))
    return np.isclose(R, kernel, rtol=1e-12, atol=digits, equal_nan=True)


def test_the_compiled_formula_gives_the_bits_of_numpy(scene):
    family, X, theta = scene
    formula = residuals_of(family, X, theta)
    assert formula.dtype == np.float64
    assert np.array_equal(formula, family.residuals(X, theta), equal_nan=True)


def test_layout_and_precision_of_the_rows_do_not_matter(scene):
    family, X, theta = scene
    X = X[(np.abs(X) < 1e12).all(axis=1)].astype(np.float32)
    R = family.residuals(X.astype(np.float64), theta)
    assert np.array_equal(family.residuals(X, theta), R, equal_nan=True)
    assert np.array_equal(family.residuals(np.asfortranarray(X), theta), R, equal_nan=True)
    assert np.array_equal(family.residuals(X[::-1], theta)[::-1], R, equal_nan=True)
    assert family.residuals(X[:0], theta).shape == (0, len(theta))
    assert family.residuals(X, theta[:0]).shape == (len(X), 0)


def test_no_distance_is_not_a_number(scene):
    family, X, theta = scene
    usual = (np.abs(X) < 1e100).all(axis=1)
    assert (residuals_of(family, X[usual], theta) >= 0).all()


def test_tensors_give_tensors_as_near_as_the_kernel(scene):
    torch = torch_or_skip()
    family, X, theta = scene
    points, models = torch.from_numpy(X), torch.from_numpy(theta)
    R = family.residuals(points, models)
    assert isinstance(R, torch.Tensor)
    assert R.dtype == torch.float64
    assert close(R.numpy(), family, X, theta).all()
    assert torch.equal(torch.nan_to_num(R), torch.nan_to_num(family.residuals(points, theta)))


@pytest.mark.slow
@pytest.mark.parametrize("namespace", ["numpy", "torch"])
def test_single_precision_stays_single_and_close(scene, namespace):
    family, X, theta = scene
    size = extent(family, X[:40])
    X = X[(np.abs(X) < 1e12).all(axis=1)].astype(np.float32)
    exact = residuals_of(family, X.astype(np.float64), theta)
    R = residuals_of(family, torch_or_skip().from_numpy(X) if namespace == "torch" else X, theta)
    R = np.asarray(R)
    assert R.dtype == np.float32
    assert (R >= 0).all()
    # Next to where a formula divides by zero, few digits are left.
    assert np.isclose(R, exact, rtol=1e-3, atol=1e-4 * size).mean() > 0.98


@pytest.mark.slow
def test_a_formula_compiles_in_one_piece(scene):
    torch = torch_or_skip()
    family, X, theta = scene
    columns = torch.from_numpy(np.ascontiguousarray(prepared_params(family, theta).T))
    compiled = torch.compile(family.formula, backend="eager", fullgraph=True)
    R = compiled(list(torch.from_numpy(X).T[:, :, None]), list(columns[:, None]), torch)
    assert close(R.numpy(), family, X, theta).all()


# Matches of a camera that moves along its axis: both epipoles are at the origin.
FORWARD = np.array([[0, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0]], float)
# The horizon of the first image is x1 = -1; what lies beyond is behind the camera.
PLANE = np.array([[0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1]], float)
ELLIPSE = np.array([[1, 2, 1 / 9, 0, 1 / 4]])


@pytest.mark.parametrize("namespace", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("name", "row", "params", "distance"),
    [
        ("fundamental", [0, 0, 0, 0], FORWARD, 0),
        ("homography", [-2, 0, 2, 0], PLANE, np.inf),
        ("homography", [-1, 0, 2, 0], PLANE, np.inf),
        ("essential", [0, 0, 0, 0], FORWARD[:, 4:], 0),
        ("ellipse", [1, 2], ELLIPSE, 2),
        ("vanishing_point", [2, 3, 4, 3], [[3, 3, 0, 0, 1]], 0),
        ("cone", [0, 0, -3, 0, 0, 0], [[0, 0, 0, 0, 0, 1, 0.6, 0.8]], 3),
        ("polynomial", [1e30, 0], [[0, 0, 1e-30, 0, 0, 0, 1e250]], np.inf),
    ],
)
def test_formulas_keep_the_conventions(name, row, params, distance, namespace, dtype):
    family, X = get_family(name), np.array([row], dtype)
    kernel = family.residuals(X.astype(np.float64), np.asarray(params, float))
    R = residuals_of(family, torch_or_skip().from_numpy(X) if namespace == "torch" else X, params)
    assert kernel.item() == R.item() == distance


def test_whole_numbers_are_measured_in_double_precision():
    torch = torch_or_skip()
    params = np.array([[0.0, 0.0, 1.0]])
    for X in (np.array([[1, 1]]), torch.tensor([[1, 1]])):
        R = residuals_of(get_family("circle"), X, params)
        assert R.item() == pytest.approx(np.sqrt(2) - 1, rel=1e-15)


@pytest.mark.slow
def test_arrays_are_measured_without_torch():
    code = (
        "import sys, numpy as np\n"
        "from piforest.families import get_family\n"
        "get_family('line').residuals(np.ones((3, 2)), np.eye(4))\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class Tilted(type(get_family("line"))):
    """Lines whose formula is wrong."""

    def residuals(self, X, params):
        return get_family("line").residuals(X, params)

    def formula(self, x, theta, xp):
        return super().formula(x, theta, xp) * (1 + 1e-6)


class Forgetful(Tilted):
    def formula(self, x, theta, xp):
        return x[0]


class Array(Tilted):
    def formula(self, x, theta, xp):
        return x.mean()


@pytest.mark.parametrize(
    ("family", "law"),
    [
        (Tilted(), "formula must agree with residuals"),
        (Forgetful(), r"formula must give shape \(n, m\) = \(80, 60\), got \(80, 1\)"),
        (Array(), "formula must take columns .* it raised AttributeError"),
    ],
)
def test_the_checks_name_a_wrong_formula(family, law):
    with pytest.raises(CheckError, match=law):
        check_family(family)
