from __future__ import annotations

import pickle

import numpy as np
import pytest

import scenes
from piforest.families import Family, extent, get_family, list_families, null_rows
from piforest.families import marginal_rows as marginal
from piforest.families.scaled import ScaledFamily, column_units, has_formula, units_of, unscaled
from piforest.models.drawing import draw_models
from piforest.models.refit import can_refit, normalisation
from piforest.protocols import Stream
from piforest.sampling import get_sampler

# Powers of two, so that scaling is exact.
UNITS = (1.0, 1024.0, 0.25, 4.0)
SCALABLE = [
    name for name in list_families()
    if getattr(get_family(name), "layout", None) is None
    or get_family(name).layout.kind in ("points", "table")
]  # fmt: skip


def scene(name):
    X = scenes.scene(name)[0][:120]
    units = tuple(np.resize(UNITS, X.shape[1]))
    return X, X * np.array(units), ScaledFamily(get_family(name), units)


@pytest.mark.parametrize("name", SCALABLE)
def test_a_scaled_family_sees_scaled_rows_as_its_base_sees_the_rows(name):
    base, (X, scaled_rows, family) = get_family(name), scene(name)
    d = X.shape[1]
    assert (family.name, family.sample_size(d)) == (base.name, base.sample_size(d))
    models, _ = draw_models(X, base, get_sampler("mixed"), 40, Stream(1))
    again, _ = draw_models(scaled_rows, family, get_sampler("mixed"), 40, Stream(1))
    assert np.array_equal(models.samples, again.samples)  # the same neighbours
    assert np.array_equal(models.params, again.params)
    expected = base.residuals(X, models.params)
    assert np.array_equal(family.residuals(scaled_rows, models.params), expected)
    assert extent(family, scaled_rows) == extent(base, X)
    charts = zip(
        base.coordinates(X, models.params), family.coordinates(scaled_rows, models.params),
        strict=True,
    )  # fmt: skip
    assert all(np.array_equal(*pair, equal_nan=True) for pair in charts)
    for rows in (null_rows, marginal):
        one, two = rows(base, X, 30, Stream(2)), rows(family, scaled_rows, 30, Stream(2))
        np.testing.assert_allclose(two, one * np.array(family.units), rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in SCALABLE if can_refit(get_family(name))])
def test_refits_of_a_scaled_family_are_those_of_its_base(name):
    base, (X, scaled_rows, family) = get_family(name), scene(name)
    assert can_refit(family)
    frames = normalisation(base, X), normalisation(family, scaled_rows)
    lifts = base.lift(frames[0].normalised(X)), family.lift(frames[1].normalised(scaled_rows))
    np.testing.assert_allclose(*lifts, rtol=1e-9, atol=1e-12)
    S = [(lifted.T @ lifted)[None] for lifted in lifts]
    one, two = base.refit(S[0], frames[0])[0], family.refit(S[1], frames[1])[0]
    np.testing.assert_allclose(
        base.residuals(X, one), family.residuals(scaled_rows, two), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("name", ["line", "plane", "circle"])
def test_outlines_are_in_the_units_of_the_data(name):
    base, (X, scaled_rows, family) = get_family(name), scene(name)
    params = draw_models(X, base, get_sampler("uniform"), 1, Stream(0))[0].params[0]
    plain = base.outline(params, X.min(axis=0), X.max(axis=0))
    drawn = family.outline(params, scaled_rows.min(axis=0), scaled_rows.max(axis=0))
    for one, two in zip(plain, drawn, strict=True):
        np.testing.assert_allclose(one * np.array(family.units), two)


def test_tensors_are_scaled_on_their_device():
    torch = pytest.importorskip("torch")
    _, rows, family = scene("circle")
    params = draw_models(rows, family, get_sampler("uniform"), 5, Stream(0))[0].params
    found = family.residuals(torch.as_tensor(rows), params)
    np.testing.assert_allclose(found.numpy(), family.residuals(rows, params))
    assert has_formula(family)


def test_members_that_a_base_lacks_are_missing():
    family = ScaledFamily(get_family("ellipse"), (1.0, 10.0))
    assert hasattr(family, "lift") == hasattr(get_family("ellipse"), "lift")
    assert not hasattr(family, "matrices")
    assert not has_formula(ScaledFamily(OnlyResiduals(), (1.0, 10.0)))
    assert ScaledFamily(OnlyResiduals(), (1.0, 10.0)).coordinates(np.zeros((2, 2)), None) == []
    again = pickle.loads(pickle.dumps(family))
    assert again == family
    assert hash(again) == hash(family)
    assert unscaled(family) == get_family("ellipse")
    assert isinstance(family, Family)


class OnlyResiduals:
    name, n_features, max_models = "custom", 2, 1
    symmetries = frozenset()

    def residuals(self, X, params):
        return np.abs(X[:, :1] - params[:, 0])


def test_units_are_powers_of_ten_relative_to_the_first_column_or_the_target():
    X = np.random.default_rng(0).uniform(size=(200, 3)) * [2, 1500, 0.0008]
    assert units_of([get_family("plane")], X) == (1.0, 1000.0, 0.001)
    assert units_of([get_family("linear_regression")], X) == (1000.0, 1e6, 1.0)
    assert units_of([get_family("plane")], X * [1, 0, 1]) == (1.0, 1.0, 0.001)
    assert units_of([get_family("plane")], X * [0, 1, 1]) == (1.0, 1.0, 1e-6)
    assert units_of([get_family("plane")], X * 0) == (1.0, 1.0, 1.0)
    far = np.concatenate([X, np.full((15, 3), 1e9)])
    assert units_of([get_family("plane")], far) == (1.0, 1000.0, 0.001)
    mostly_equal = X.copy()
    mostly_equal[:190, 1] = 0.0
    assert units_of([get_family("plane")], mostly_equal)[1] == 100.0  # its standard deviation
    assert np.array_equal(column_units(get_family("plane"), 3), np.ones(3))


@pytest.mark.parametrize("name", ["homography", "vanishing_point", "cone", "rigid"])
def test_columns_with_one_unit_by_definition_are_not_scaled(name):
    family = get_family(name)
    with pytest.raises(ValueError, match=rf"^scale_columns=True does not apply to family '{name}'.*"
                       r" Convert the columns to one unit instead\.$"):  # fmt: skip
        units_of([family], np.ones((10, family.n_features)))


@pytest.mark.parametrize(
    ("name", "d"),
    [("line", 2), ("line", 3), ("hyperplane", 2), ("plane", 3), ("linear_regression", 4)],
)
def test_parameters_without_units_are_the_same_model(name, d):
    rng, units = np.random.default_rng(0), np.array([1.0, 1000.0, 0.01, 10.0])[:d]
    family = get_family(name)
    X = rng.normal(size=(family.sample_size(d), d)) * units
    scaled = ScaledFamily(family, tuple(units))
    params = scaled.solve(X[None])[0][0, 0]
    plain = family.unscaled_params(params, units)
    assert np.allclose(family.residuals(X, plain[None]), 0, atol=1e-9 * units.max())
    names = ["a", "b", "c", "d"][:d]
    assert scaled.describe(params, names) == family.describe(plain, names)
    assert scaled.covered_part(params, X, names) == family.covered_part(plain, X, names)


def test_other_families_are_described_in_scaled_columns():
    scaled = ScaledFamily(get_family("circle"), (1.0, 1000.0))
    X = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1000.0]])
    params = scaled.solve(X[None])[0][0, 0]
    assert "y/1000" in scaled.describe(params, ["x", "y"]).equation
