"""Every law on everything that is registered."""

from __future__ import annotations

import numpy as np
import pytest

from piforest.checks import (
    CheckError,
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
from piforest.protocols import Forest, Kernel, Metric, ModelFamily, RowLayout, Sampler
from piforest.sampling import get_sampler, list_samplers
from scenes import on_one_model, scene

FAMILIES = [get_family(name) for name in list_families()]
VARIANTS = [
    get_family("fundamental", solver="7-point"),
    get_family("cylinder", normals=True),
    get_family("parabola", rotated=True),
    get_family("polynomial", degree=5),
    get_family("subspace", dimension=1, affine=False),
    get_family("subspace", dimension=9),
    get_family("linear_regression", target=0),
    get_family("polynomial_regression", degree=3),
    get_family("polynomial_regression", target=1),
]


@pytest.mark.parametrize("family", FAMILIES + VARIANTS, ids=str)
def test_family_obeys_its_laws_on_rows_of_its_scene(family):
    assert isinstance(family, ModelFamily)
    assert check_family(family)[0].startswith("rows are stable")


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_every_family_declares_its_rows_and_its_scene(family):
    X, _ = scene(family.name)
    assert family.n_features in (None, X.shape[1])
    assert (family.layout.columns is None) == (family.n_features is None)
    assert all(len(view) == X.shape[1] // 2 for view in family.layout.views)
    assert family.scene.about


# Their samples have more coordinates than a model has parameters.
AVERAGING = ["cone", "fundamental", "rigid", "rotation", "similarity3d"]


@pytest.mark.parametrize("name", [name for name in list_families() if name not in AVERAGING])
def test_minimal_families_go_through_any_sample(name):
    d = get_family(name).n_features or 3
    check_family(name, np.random.default_rng(0).uniform(-1, 1, (40, d)))


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


def _writes_into_x(self, X, params):
    R = type(LINE).residuals(self, X, params)
    X[:] = 0
    return R


def _random_null(self, X, n, stream):
    return np.random.default_rng().normal(size=(n, X.shape[1]))


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
        ({"residuals": lambda self, X, p: np.zeros((len(X), len(p)))}, "larger for points off"),
        ({"residuals": lambda self, X, p: type(LINE).residuals(self, X, p) * X.max()}, "row only"),
        ({"residuals": _writes_into_x}, "residuals must not write into its input"),
        ({"solve": lambda self, s: type(LINE).solve(self, s)[0]}, "must return two arrays"),
        ({"solve": lambda self, s: type(LINE).solve(self, s)[::-1]}, "solve must give params"),
        ({"symmetries": None}, "symmetries must be a frozenset"),
        ({"sample_size": 2}, "sample_size must be a method"),
        ({"n_features": "2"}, "n_features must be an integer or None"),
        ({"extent": lambda self, X: -1.0}, "extent of family 'line' must be a finite number above"),
        ({"__hash__": None}, "hashable"),
        ({"layout": 3, "n_features": 2}, "layout must be a RowLayout, got 3"),
        ({"layout": RowLayout("points", tuple("xyz"))}, "n_features is 3, X has 2 columns"),
        ({"layout": RowLayout("points", tuple("xyz")), "n_features": 2}, "is 2, layout has 3"),
        ({"layout": RowLayout("matches", ("x", "y"), ((0,), (2,)))}, r"got \(\(0,\), \(2,\)\)"),
        ({"scene": "make_lines"}, "scene must be a Scene, got 'make_lines'"),
        ({"null_rows": lambda self, X, n, stream: X}, r"null_rows must give .* \(43, 2\)"),
        ({"null_rows": _random_null}, "null_rows must depend on X, n and the stream only"),
        (
            {"reason_to_reject": lambda self, X: "no"},
            "reason_to_reject must return None .* got 'no'",
        ),
        ({"outline": lambda self, *_: np.zeros((2, 3))}, "outline must give a list"),
        ({"outline": lambda self, *_: []}, "outline draws nothing"),
        ({"outline": lambda self, *_: [np.zeros((2, 3))]}, r"shape \(\., 2\), got \(2, 3\)"),
        ({"outline": lambda self, p, low, high: [high[None] + 1]}, "within the box"),
        ({"outline": lambda self, p, low, high: [low[None]]}, "points on the model"),
        (
            {"solve": lambda self, s: (type(LINE).solve(self, s)[0], np.ones((len(s), 1), bool))},
            "one repeated point must not be valid",
        ),
    ],
)
def test_check_family_says_what_is_broken(changes, says):
    with pytest.raises(CheckError, match=says):
        check_family(broken(LINE, **changes))


CIRCLE = get_family("circle")


def test_check_family_finds_models_of_repeated_points():
    def circle_of_radius_zero(self, samples):
        params, valid = type(CIRCLE).solve(self, samples)
        point = np.column_stack([samples[:, 0], np.zeros(len(samples))])[:, None]
        spread = np.abs(samples - samples[:, :1]).max(axis=(1, 2)) > 0
        return np.where(valid[:, :, None], params, point), spread[:, None]

    def line_of_any_direction(self, samples):
        params, _ = type(LINE).solve(self, samples)
        return np.where(params == 0, 0.5, params), np.abs(samples).max(axis=(1, 2))[:, None] > 0.5

    with pytest.raises(CheckError, match="go through its own minimal sample"):
        check_family(broken(CIRCLE, solve=circle_of_radius_zero))
    with pytest.raises(CheckError, match="one repeated point"):
        check_family(broken(LINE, solve=line_of_any_direction))


@pytest.mark.parametrize(
    ("residuals", "says"),
    [
        (lambda self, X, p: type(CIRCLE).residuals(self, X, p) ** 2, "under scale"),
        (
            lambda self, X, p: np.abs(X[:, :1] - p[:, 0]) * type(CIRCLE).residuals(self, X, p),
            "under",
        ),
    ],
    ids=["squared", "along x"],
)
def test_rows_on_one_model_hide_no_broken_law(residuals, says):
    with pytest.raises(CheckError, match=says):
        check_family(broken(CIRCLE, residuals=residuals), on_one_model("circle"))


def test_check_family_names_what_is_wrong_with_x():
    with pytest.raises(CheckError, match=r"X must be a table of rows, got shape \(5,\)"):
        check_family(LINE, np.zeros(5))
    with pytest.raises(CheckError, match="n_features is 2, X has 3 columns"):
        check_family(CIRCLE, np.zeros((9, 3)))
    with pytest.raises(CheckError, match="less than the 2 rows of X"):
        check_family(CIRCLE, np.zeros((2, 2)))


def test_check_family_tells_unstable_rows_without_failing():
    def by_matrix_product(self, X, params):
        normal = np.column_stack([-params[:, 3], params[:, 2]])
        # A product whose last bits depend on the number of rows, made certain.
        wobble = 1 + 1e-13 * len(X)
        return np.abs(X @ normal.T - np.sum(normal * params[:, :2], axis=1)) * wobble

    family = broken(LINE, residuals=by_matrix_product, n_features=2)
    assert check_family(family)[0].startswith("rows are not stable")


def test_check_metric_says_what_is_broken():
    with pytest.raises(CheckError, match="symmetric"):
        check_metric(lambda a, b: float(a @ a))
    with pytest.raises(CheckError, match="itself"):
        check_metric(lambda a, b: 1.0)


def test_check_kernel_says_what_is_broken():
    class Rising:
        cutoff = 3.0

        def __call__(self, r, sigma):
            return np.where(sigma < 1, r / (3.1 * sigma), 0.5)

    class Relative(Rising):
        def __call__(self, r, sigma):
            return 1 - r / max(r.max(), 1e-9)

    with pytest.raises(CheckError, match="each distance separately"):
        check_kernel(Relative())

    class Large(Rising):
        def __call__(self, r, sigma):
            return np.where(sigma < 1, 2 - r / sigma, 0.5)

    with pytest.raises(CheckError, match="increase"):
        check_kernel(Rising())
    with pytest.raises(CheckError, match=r"\[0, 1\]"):
        check_kernel(Large())


def test_check_sampler_says_what_is_broken():
    class Repeats:
        name = "repeats"

        def draw(self, X, size, n_samples, stream, **_):
            return np.zeros((n_samples, size), int)

    class Wants(Repeats):
        needs = "quality"

    with pytest.raises(CheckError, match="repeat a point"):
        check_sampler(Repeats())
    with pytest.raises(CheckError, match="needs must be a tuple of 'quality', 'groups'"):
        check_sampler(Wants())


def test_a_layout_of_matches_says_which_columns_belong_together():
    with pytest.raises(ValueError, match=r"a layout of matches needs views, .* got \(\)"):
        RowLayout("matches", ("x1", "y1", "x2", "y2"))
    assert str(RowLayout("segments", ("a", "b"), hint=" or so")) == (
        "(a, b), the ends of a segment or so"
    )
    assert [str(RowLayout(kind)) for kind in ("points", "table")] == [
        "of coordinates",
        "of features and a target",
    ]


def test_protocols_know_their_implementations():
    from piforest.metrics import get_metric
    from piforest.preferences import resolve_kernel

    assert isinstance(get_metric("tanimoto"), Metric)
    assert isinstance(resolve_kernel("gaussian"), Kernel)
    assert not isinstance(object(), Metric)
