"""Every law on everything that is registered."""

from __future__ import annotations

import numpy as np
import pytest

from piforest.checks import (
    BrokenLaw,
    check_family,
    check_forest,
    check_kernel,
    check_metric,
    check_sampler,
)
from piforest.families import get_family, list_families
from piforest.forest import FlatForest
from piforest.metrics import list_metrics
from piforest.preferences import list_kernels
from piforest.protocols import Forest, Kernel, Metric, ModelFamily, Sampler
from piforest.sampling import get_sampler, list_samplers
from scenes import on_one_model

FAMILIES = [get_family(name) for name in list_families()]
FAMILIES.append(get_family("fundamental", solver="7-point"))


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_family_obeys_its_laws(family):
    assert isinstance(family, ModelFamily)
    notes = check_family(family, on_one_model(family.name))
    assert notes[0].startswith("rows are stable")


@pytest.mark.parametrize("name", ["line", "circle", "homography"])
def test_minimal_families_go_through_any_sample(name):
    check_family(name)


@pytest.mark.parametrize("name", list_samplers())
def test_sampler_obeys_its_laws(name):
    assert isinstance(get_sampler(name), Sampler)
    check_sampler(name)


@pytest.mark.parametrize("name", [name for name in list_metrics() if name != "precomputed"])
def test_metric_obeys_its_laws(name):
    check_metric(name)


@pytest.mark.parametrize("name", list_kernels())
def test_kernel_obeys_its_laws(name):
    check_kernel(name)


@pytest.mark.parametrize(("max_samples", "branching"), [(2, 2), (32, 2), (60, 3), (5, 7)])
def test_forest_obeys_its_laws(max_samples, branching):
    forest = FlatForest(max_samples, branching)
    assert isinstance(forest, Forest)
    check_forest(forest)


# The checks themselves must be able to fail, each for its own reason.


def broken(family, **changes):
    return type("Broken", (type(family),), changes)()


LINE = get_family("line")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"sample_size": lambda self, d: 0}, "sample_size"),
        ({"codimension": lambda self, d: 0}, "codimension"),
        ({"symmetries": frozenset({"mirror"})}, "symmetries"),
        ({"residuals": lambda self, X, p: -type(LINE).residuals(self, X, p)}, "negative"),
        ({"residuals": lambda self, X, p: type(LINE).residuals(self, X, p).T}, "shape"),
        ({"residuals": lambda self, X, p: type(LINE).residuals(self, X, p) * np.nan}, "NaN"),
        ({"residuals": lambda self, X, p: type(LINE).residuals(self, X, p) + 1}, "own minimal"),
        ({"residuals": lambda self, X, p: type(LINE).residuals(self, X, p) ** 2}, "under scale"),
        ({"solve": lambda self, s: type(LINE).solve(self, s)[0][:, 0]}, None),
        (
            {"solve": lambda self, s: (type(LINE).solve(self, s)[0], np.ones((len(s), 1), bool))},
            "repeated must be called degenerate",
        ),
    ],
)
def test_check_family_says_what_is_broken(changes, says):
    with pytest.raises((BrokenLaw, ValueError), match=says):
        check_family(broken(LINE, **changes))


def test_check_family_tells_unstable_rows_without_failing():
    def by_matrix_product(self, X, params):
        normal = np.column_stack([-params[:, 3], params[:, 2]])
        # A product whose last bits depend on the number of rows, made certain.
        wobble = 1 + 1e-13 * len(X)
        return np.abs(X @ normal.T - np.sum(normal * params[:, :2], axis=1)) * wobble

    family = broken(LINE, residuals=by_matrix_product, n_features=2)
    assert check_family(family)[0].startswith("rows are not stable")


def test_check_metric_says_what_is_broken():
    with pytest.raises(BrokenLaw, match="symmetric"):
        check_metric(lambda a, b: float(a @ a))
    with pytest.raises(BrokenLaw, match="itself"):
        check_metric(lambda a, b: 1.0)


def test_check_kernel_says_what_is_broken():
    class Rising:
        cutoff = 3.0

        def __call__(self, r, sigma):
            return np.where(sigma < 1, r / (3.1 * sigma), 0.5)

    class Large(Rising):
        def __call__(self, r, sigma):
            return np.where(sigma < 1, 2 - r / sigma, 0.5)

    with pytest.raises(BrokenLaw, match="increase"):
        check_kernel(Rising())
    with pytest.raises(BrokenLaw, match=r"\[0, 1\]"):
        check_kernel(Large())


def test_check_sampler_says_what_is_broken():
    class Repeats:
        name = "repeats"

        def draw(self, X, size, n_samples, stream, **_):
            return np.zeros((n_samples, size), int)

    with pytest.raises(BrokenLaw, match="repeat a point"):
        check_sampler(Repeats())


def test_protocols_know_their_implementations():
    from piforest.metrics import get_metric
    from piforest.preferences import resolve_kernel

    assert isinstance(get_metric("tanimoto"), Metric)
    assert isinstance(resolve_kernel("gaussian"), Kernel)
    assert not isinstance(object(), Metric)
