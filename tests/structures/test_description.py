"""Structures for a reader: named parameters, equations, extents, matrices."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines
from piforest.families import from_functions, get_family, list_families
from piforest.structures.description import Structure

NONE = np.empty(0, np.int64)


def structure(family, params, X=None, names=None, sigma=0.01):
    family = get_family(family) if isinstance(family, str) else family
    made = Structure(family, np.asarray(params, float), 2 * sigma, 50.0, NONE, sigma)
    if X is None:
        return made if names is None else made.with_description(np.empty((0, len(names))), names)
    return made.with_description(np.asarray(X, float), names or tuple("xyz"[: X.shape[1]]))


def value_of(equation, values):
    """Left minus right side of an equation that is linear in its names."""
    left, right = equation.split(" = ")
    return _sum(left, values) - _sum(right, values)


def _sum(text, values):
    found = 0.0
    for sign, number, name in re.findall(r"(^-|[+-] |)([\d.e+-]*\d|)\s?([a-z]\w*|)", text):
        if number or name:
            size = float(number or 1) * (values[name] if name else 1)
            found += -size if sign.strip() == "-" else size
    return found


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(-1, 1), min_size=3, max_size=3),
    st.sampled_from([0.0, 1e3, 5e6]),
    st.sampled_from([1e-3, 0.1]),
)
def test_the_equation_of_a_plane_holds_within_the_noise_far_from_the_origin_too(u, far, sigma):
    normal = np.array([*u[:2], u[2] + 2])
    normal /= np.linalg.norm(normal)
    anchor = np.array([far, far / 2, -far])
    X = anchor + np.random.default_rng(0).uniform(-5, 5, (30, 3))
    made = structure("plane", [*anchor, *normal], X, sigma=sigma)
    for row in X:
        away = abs(value_of(made.equation, dict(zip("xyz", row))))
        assert away == pytest.approx(made.residuals(row[None])[0], abs=sigma)


def test_equations_are_those_a_reader_expects():
    line = structure("line", [0, 1, 0.6, 0.8], names=("x", "y"))
    assert line.equation == "0.8 x - 0.6 y = -0.6"
    assert structure("line", [0, 1, 0.6, 0.8]).equation == "params = (0, 1, 0.6, 0.8)"
    assert structure("circle", [1, -2, 3]).equation == "(x - 1)^2 + (y + 2)^2 = 3^2"
    assert structure("plane", [0, 0, 1.5, 0, 0, -1]).equation == "z = 1.5"
    law = get_family("linear_regression")
    params, _ = law.solve(np.array([[[0, 0, 45.6], [100, 0, 40.9], [0, 1000, 39.8]]], float))
    car = structure(law, params[0, 0], names=("hp", "weight", "mpg"))
    assert car.equation == "mpg = 45.6 - 0.047 hp - 0.0058 weight"
    assert car.parameters["coefficients"] == pytest.approx(
        {"intercept": 45.6, "hp": -0.047, "weight": -0.0058}
    )
    assert structure("polynomial", [1, 0, 2, 0, 2, 4, 0]).equation == "y = -x + x^2"
    assert structure("translation", [3, -4]).equation == "(x2, y2) = (x1, y1) + (3, -4)"
    assert structure("vanishing_point", [1, 2, 3, 4, 0.5]).equation == "edges meet at (7, 10)"
    assert structure("vanishing_point", [1, 2, 0, 4, 0]).parameters == {"direction": [0, 1]}


@pytest.mark.parametrize("degree", [2, 3])
def test_coefficients_of_a_polynomial_law_give_its_predictions(degree):
    rng = np.random.default_rng(degree)
    law = get_family("polynomial_regression", degree=degree)
    samples = rng.uniform(2, 9, (1, law.sample_size(3), 3))
    params, valid = law.solve(samples)
    assert valid.all()
    made = structure(law, params[0, 0], names=("a", "b", "y"))
    a, b, y = samples[0].T
    found = 0
    for word, value in made.parameters["coefficients"].items():
        factors = [] if word == "intercept" else word.split("*")
        product = 1.0
        for factor in factors:
            name, _, power = factor.partition("^")
            product = product * {"a": a, "b": b}[name] ** int(power or 1)
        found = found + value * product
    assert found == pytest.approx(y, rel=1e-6)


@pytest.mark.parametrize("name", list_families())
def test_every_family_describes_its_models_in_plain_values(name):
    family = get_family(name)
    X = family.scene.on_one_model()
    k = family.sample_size(X.shape[1])
    params, valid = family.solve(X[None, :k])
    names = tuple(f"column {j}" for j in range(X.shape[1]))
    made = structure(family, params[valid][0], X, names)
    content = made.as_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert "\n" not in content["equation"]
    assert set(content["extent"]["bounds"]) == set(names)
    assert content["parameters"].keys() != {"params"}, "it has names of its own"


def test_a_family_without_a_description_has_its_parameters():
    family = from_functions(
        lambda points: points.mean(axis=0), lambda X, c: np.abs(X - c).max(axis=1), sample_size=1,
        n_features=2,
    )  # fmt: skip
    made = structure(family, [1.5, 2], np.array([[1.0, 2], [2, 3]]))
    assert made.parameters == {"params": [1.5, 2]}
    assert made.equation == "params = (1.5, 2)"
    assert made.extent == {"bounds": {"x": [1, 2], "y": [2, 3]}}
    with pytest.raises(AttributeError, match="family 'custom' has no matrix"):
        _ = made.matrix


@pytest.mark.parametrize("name", ["homography", "fundamental", "affine_fundamental"])
def test_matrices_are_scaled_as_in_opencv(name):
    family = get_family(name)
    X = family.scene.on_one_model()
    params, valid = family.solve(X[None, : family.sample_size(4)])
    made = structure(family, params[valid][0])
    plain = family.matrices(params[valid][:1])[0]
    assert made.matrix[2, 2] == 1
    assert made.matrix * plain[2, 2] == pytest.approx(plain)
    plain = np.array([[0.0, 1, 2], [3, 4, 5], [6, 7, 0]])
    from piforest.families._describe import scaled_matrix

    assert np.linalg.norm(scaled_matrix(plain)) == pytest.approx(1)


def test_extents_are_ends_arcs_and_hulls_of_the_members():
    t = np.linspace(-2, 3, 20)
    segment = structure("line", [1, 1, 0.6, 0.8], np.column_stack([1 + 0.6 * t, 1 + 0.8 * t]))
    assert np.allclose(segment.extent["ends"], [[-0.2, -0.6], [2.8, 3.4]])
    assert segment.extent["length"] == pytest.approx(5)
    angles = np.radians(np.linspace(-40, 100, 50))
    arc = structure("circle", [0, 0, 2], 2 * np.column_stack([np.cos(angles), np.sin(angles)]))
    assert arc.extent["angles"] == pytest.approx([320, 460])
    square = np.array([[0, 0, 1], [4, 0, 1], [4, 2, 1], [0, 2, 1], [2, 1, 1.01]], float)
    patch = structure("plane", [0, 0, 1, 0, 0, 1], square)
    assert sorted(map(tuple, np.round(patch.extent["hull"], 9))) == sorted(map(tuple, square[:4]))
    assert np.allclose(patch.extent["centre"], [2, 1, 1])
    matches = np.random.default_rng(0).uniform(0, 9, (30, 4))
    made = structure("translation", [1, 1], matches, ("x1", "y1", "x2", "y2"))
    assert np.array(made.extent["hull2"]).max(axis=0) == pytest.approx(matches[:, 2:].max(axis=0))
    assert structure("line", [1, 1, 0.6, 0.8], np.empty((0, 2))).extent == {}


def test_structures_have_the_names_of_a_data_frame():
    pd = pytest.importorskip("pandas")
    X = make_lines(1, noise=0.01, anomaly_share=0.2, random_state=0).data
    detector = PreferenceIsolationForest("line", n_models=300, random_state=0)
    found = detector.fit(pd.DataFrame(X, columns=["east", "north"])).structures_[0]
    assert re.fullmatch(r"-?\S+ east [+-] \S+ north = -?\S+", found.equation)
    detector.findings_.name_columns(["u", "v"])
    assert " u " in detector.structures_[0].equation
    assert list(detector.structures_[0].extent["bounds"]) == ["u", "v"]


def test_rounding_errors_are_no_coefficients():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 9, 60)
    tiny = 8.674e-19
    line = get_family("line")
    params, _ = line.solve(np.array([[[5.4, tiny], [7.0, -tiny]]]))
    assert line.describe(params[0, 0], ["x", "y"]).equation == "y = 0"
    plane = get_family("plane")
    params, _ = plane.solve(np.array([[[1.0, 2, tiny], [4, 1, 0], [7, 9, -tiny]]]))
    assert plane.describe(params[0, 0], ["x", "y", "z"]).equation == "z = 0"
    X = np.column_stack([x, rng.uniform(size=60), 3 * x + 2])
    for name in ("linear_regression", "polynomial_regression"):
        law = get_family(name)
        params, _ = law.solve(X[None, : law.sample_size(3)])
        assert law.describe(params[0, 0], ["x", "w", "z"]).equation == "z = 2 + 3 x"


def test_a_small_coefficient_of_large_numbers_is_one():
    nanoseconds = 1.7e18 + np.linspace(0, 1e13, 50)
    X = np.column_stack([nanoseconds, 1e6 + 1e-12 * (nanoseconds - 1.7e18)])
    law = get_family("linear_regression")
    params, _ = law.solve(X[None, [0, 49]])
    described = law.describe(params[0, 0], ["t", "y"])
    assert described.parameters["coefficients"]["t"] == pytest.approx(1e-12, rel=1e-3)
    assert described.equation.endswith("e-12 t") or described.equation.endswith("1e-12 t")
