"""Which family the rows suggest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import piforest
from naive import mixtures as naive
from piforest import PreferenceIsolationForest, propose_families
from piforest._random import Stream
from piforest.datasets import make_circles, make_lines
from piforest.families import get_family, null_rows
from piforest.families._samples import freedom
from piforest.proposals.better import better_family, less_than_proposed
from piforest.proposals.candidates import candidates_for
from piforest.proposals.description import (
    Described,
    _each_alone,
    _null_means,
    added,
    best_description,
    describe,
    kernel,
    mixture,
    price,
    scales_of,
)
from piforest.proposals.search import _directions
from piforest.proposals.values import Proposal, Proposals, advice_of

CIRCLES = make_circles(2, random_state=3).data
LINES = make_lines(3, noise=0.01, random_state=3).data
RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def circles():
    return propose_families(CIRCLES, random_state=0)


@pytest.mark.slow
def test_the_best_family_is_first_and_its_structures_are_those_of_the_scene(circles):
    assert circles.found
    assert circles[0].name == "circle"
    assert circles[0].n_structures == 2
    assert [each.evidence for each in circles[1:]] == sorted(
        (each.evidence for each in circles[1:]), reverse=True
    )


@pytest.mark.slow
def test_one_seed_gives_one_answer(circles):
    again = propose_families(CIRCLES, random_state=0)
    assert again.to_dict() == circles.to_dict()


@pytest.mark.slow
def test_the_table_is_text_html_and_json(circles):
    assert "circle" in str(circles)
    assert "<table>" in circles._repr_html_()
    assert circles.to_dict()["proposals"][0]["family"] == "circle"
    assert "2 structures of family circle explain" in circles[0].sentence
    assert repr(circles[0]).startswith("Proposal(circle, 2 structures")


@pytest.mark.parametrize(
    "X", [RNG.random((300, 2)), RNG.normal(size=(300, 3)), RNG.random((300, 5))], ids=str
)
def test_none_of_these_is_an_answer(X):
    found = propose_families(X, random_state=0)
    assert not found.found
    assert found.best is None
    assert "None of these explains the rows" in str(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seed"), [("line", 7), ("ellipse", 7), ("plane", 7), ("sphere", 7), ("rigid", 7),
                       ("vanishing_point", 7), ("linear_regression", 7), ("translation", 7)],
)  # fmt: skip
def test_the_family_of_a_scene_is_found(name, seed):
    X = get_family(name).scene.make(random_state=seed, as_frame=True).data
    assert propose_families(X, random_state=seed)[0].name == name


@pytest.mark.slow
def test_structures_of_two_kinds_give_both_families():
    lines = make_lines(2, sizes=150, noise=0.005, anomaly_share=0.0, random_state=1).data
    circles = make_circles(2, sizes=150, noise=0.005, anomaly_share=0.0, random_state=2).data
    found = propose_families(np.concatenate([lines, circles]), random_state=0)
    assert {family.name for family in found[0].families} == {"line", "circle"}
    assert found[0].family == list(found[0].families)


@pytest.mark.parametrize(
    ("names", "d", "kind"),
    [
        (None, 2, "points"),
        (["x", "y"], 2, "points"),
        (["x [mm]", "y [mm]"], 2, "points"),
        (["temp_min", "temp_max"], 2, "table"),
        (["x", "y", "z"], 3, "points"),
        (["hp", "weight", "mpg"], 3, "table"),
        (["x1", "y1", "x2", "y2"], 4, "matches or segments"),
        (["point1_x", "point1_y", "point2_x", "point2_y"], 4, "matches or segments"),
        (["x1", "x2", "x3", "y"], 4, "table"),
        (["x0", "x1", "x2", "x3"], 4, "table"),
        (["x", "y", "z", "nx", "ny", "nz"], 6, "oriented points"),
        (["x", "y", "z", "x'", "y'", "z'"], 6, "matches of clouds"),
        (["x1", "x2", "x3", "x4", "x5", "x6"], 6, "table"),
        (None, 9, "table"),
    ],
)
def test_names_and_number_of_columns_decide_what_rows_are(names, d, kind):
    X = np.random.default_rng(1).random((200, d))
    tried = candidates_for(X, names)
    assert tried.kind == kind
    assert tried.reason.endswith(".")
    assert tried.null(X, 50, Stream(0)).shape == (50, d)


def test_unnamed_columns_are_matches_if_the_views_agree_and_normals_if_they_are_unit_vectors():
    rng = np.random.default_rng(2)
    first = rng.random((200, 2))
    pairs = np.hstack([first, first + rng.normal(0, 0.05, (200, 2))])
    assert candidates_for(pairs, None).kind == "matches or segments"
    normals = rng.normal(size=(200, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    assert candidates_for(np.hstack([rng.random((200, 3)), normals]), None).kind == (
        "oriented points"
    )


def test_one_column_has_no_structure():
    with pytest.raises(ValueError, match=r"needs at least 2 columns; X has 1 feature\(s\)"):
        propose_families(RNG.random((50, 1)))


@pytest.mark.slow
def test_candidates_can_be_given_and_must_fit():
    found = propose_families(LINES, ["line", "circle"], random_state=0)
    assert {each.name for each in found} == {"line", "circle"}
    with pytest.raises(ValueError, match="'plane' needs 3 columns"):
        propose_families(LINES, ["plane"])
    with pytest.raises(ValueError, match="candidates must name at least one family, got none"):
        propose_families(LINES, [])
    with pytest.raises(ValueError, match="max_rows must be"):
        propose_families(LINES, max_rows=1)


@pytest.mark.parametrize(
    ("name", "d", "number"),
    [("line", 2, 2), ("line", 3, 4), ("circle", 2, 3), ("ellipse", 2, 5), ("plane", 3, 3),
     ("homography", 4, 8), ("fundamental", 4, 7), ("rigid", 6, 6), ("similarity3d", 6, 7)],
)  # fmt: skip
def test_the_price_counts_the_parameters_of_a_model(name, d, number):
    family = get_family(name)
    assert freedom(family, d) == number
    assert price(family, 100, d) == pytest.approx(0.5 * (number + 2) * np.log(100))


def test_the_density_of_a_structure_is_a_density():
    """Its mean relative to the null model, over null rows, is 1."""
    family, X = get_family("line"), np.random.default_rng(5).random((400, 2))
    null = null_rows(family, X, 4000, Stream(1))
    params = family.solve(np.array([[[0.1, 0.1], [0.9, 0.8]]]))[0][0, 0]
    found = describe(family, params, null, scales_of(family, params, null, np.array([0.1])))
    assert np.mean(found.ratios) == pytest.approx(1.0)


def test_the_evidence_is_that_of_a_plain_sum():
    """Against the likelihood of the mixture, maximised over a grid of shares."""
    family, rng = get_family("line"), np.random.default_rng(6)
    x = rng.random(200)
    on_line = np.column_stack([x, 0.5 * x + rng.normal(0, 0.01, 200)])
    X = np.concatenate([on_line, rng.random((100, 2))])
    null = rng.random((8000, 2))
    params = family.solve(np.array([[[0.0, 0.0], [1.0, 0.5]]]))[0][0, 0]
    found = describe(family, params, X, scales_of(family, params, null, np.array([0.02])))
    r, r0 = (family.residuals(rows, params[None])[:, 0] for rows in (X, null))
    ratio = np.exp(-(r**2) / (2 * 0.02**2)) / np.mean(np.exp(-(r0**2) / (2 * 0.02**2)))
    plain = max(np.sum(np.log(1 - s + s * ratio)) for s in np.linspace(0.001, 0.999, 999))
    assert found.evidence == pytest.approx(plain, rel=1e-3)
    assert mixture(found.ratios[:, None])[0] == pytest.approx(plain, rel=1e-3)


def test_structures_that_do_not_pay_are_dropped():
    family = get_family("line")
    good = np.where(np.arange(100) < 60, 20.0, 0.01)
    made = [
        Described(family, np.zeros(4), 0.1, ratios, 0.0, 10.0)
        for ratios in (good, good * 0.99, np.ones(100))
    ]
    chosen = best_description(made)
    assert len(chosen.structures) == 1
    assert chosen.structures[0] is made[0]
    assert chosen.explained == pytest.approx(0.6, abs=0.03)
    assert best_description([]).evidence == 0.0


def test_compiled_mixtures_are_those_of_plain_arithmetic():
    rng = np.random.default_rng(8)
    r, r0 = np.abs(rng.standard_cauchy((300, 6))), np.abs(rng.standard_cauchy(2000))
    ratios = kernel(r, 0.1) / rng.uniform(1e-4, 0.1, 6)
    for share, rounds in ((0.2, 25), (0.15, 8)):
        expected = naive.evidence_of_one(ratios, share, rounds)
        np.testing.assert_allclose(_each_alone(ratios, share, rounds), expected, rtol=1e-9)
    value, shares = mixture(ratios)
    expected, expected_shares = naive.mixture(ratios, 25)
    assert value == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(shares, expected_shares, rtol=1e-9)
    sigmas = np.array([0.1, 0.3, 0.7, 3.0])  # a hundred rows or more are near each
    expected = naive.kernel_means(r0, sigmas)
    np.testing.assert_allclose(_null_means(r0, sigmas, 1), expected, rtol=1e-9)


def test_what_a_structure_adds_counts_beside_the_others():
    """A copy of another structure adds nothing; alone, both have the same evidence."""
    family = get_family("line")
    first, second = (np.where(np.arange(100) // 50 == k, 20.0, 0.01) for k in (0, 1))
    made = [Described(family, np.zeros(4), 0.1, each, 0.0, 10.0) for each in (first, second)]
    alone = added(made, [])
    assert alone[0] == pytest.approx(alone[1])
    beside = added(made, made[:1])
    assert beside[0] == pytest.approx(0.0, abs=0.5)
    assert beside[1] > 50


@pytest.mark.slow
def test_a_wide_line_through_three_circles_does_not_replace_one_of_them():
    X = get_family("circle").scene.make(random_state=900).data
    best = propose_families(X, random_state=900)[0]
    assert (best.name, best.n_structures) == ("circle", 3)


@pytest.mark.parametrize(("name", "moved"), [("line", 4), ("affinity", 6), ("rigid", 9)])
def test_steps_move_all_points_but_of_matches_the_second_ones(name, moved):
    family = get_family(name)
    d = {"line": 2, "affinity": 4, "rigid": 6}[name]
    directions = _directions(family, np.zeros((family.sample_size(d), d)))
    assert directions.shape == (moved, family.sample_size(d), d)
    assert np.all(directions.sum(axis=(1, 2)) == 1)
    if name != "line":
        assert not directions[:, :, : d // 2].any()


def test_the_kernel_never_vanishes():
    assert kernel(np.array([1e100]), 1.0)[0] > 0


@pytest.mark.slow
def test_a_detector_without_a_family_takes_the_best_one(circles):
    detector = PreferenceIsolationForest(random_state=0).fit(CIRCLES)
    assert detector.family == "auto"
    assert detector.family_.name == "circle"
    assert detector.proposals_[0].name == "circle"
    named = PreferenceIsolationForest("circle", random_state=0).fit(CIRCLES)
    np.testing.assert_array_equal(detector.scores_, named.scores_)
    assert named.proposals_ is None
    assert named.family_ == detector.family_
    assert detector.embedding_.family == detector.family_


@pytest.mark.slow
def test_a_saved_detector_keeps_the_family_that_was_chosen(tmp_path):
    detector = PreferenceIsolationForest(random_state=0).fit(CIRCLES)
    detector.save(tmp_path / "model.pif")
    again = PreferenceIsolationForest.load(tmp_path / "model.pif")
    assert again.family_.name == "circle"
    assert again.proposals_ is None
    np.testing.assert_array_equal(again.anomaly_score(CIRCLES), detector.scores_)


def test_without_structure_the_simplest_family_is_fitted_and_nothing_is_flagged():
    X = np.random.default_rng(8).random((200, 2))
    with pytest.warns(UserWarning, match="no structure"):
        detector = PreferenceIsolationForest(random_state=0).fit(X)
    assert detector.family_.name == "line"
    assert not detector.proposals_.found
    assert not detector.found_structure_
    assert detector.structures_ == []
    assert (detector.labels_ == 1).all()


@pytest.mark.slow
def test_a_named_family_that_is_clearly_beaten_is_a_finding():
    found = better_family(CIRCLES, None, get_family("line"), Stream(0))
    assert [each.code for each in found] == ["better_family"]
    assert "Try family='circle'" in found[0].advice
    assert better_family(CIRCLES, None, get_family("circle"), Stream(0)) == []
    assert better_family(CIRCLES, None, get_family("hyperplane"), Stream(0)) == []


def table_of_a_plane(units):
    """Four columns of which the last two follow the others, in these units."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    rest = np.column_stack([x.sum(axis=1), x[:, 0] - x[:, 1]]) + 0.02 * rng.normal(size=(300, 2))
    return pd.DataFrame(np.column_stack([x, rest]) * units, columns=["age", "size", "cost", "time"])


@pytest.mark.slow
def test_the_units_of_a_table_do_not_decide():
    plain, other = (
        propose_families(table_of_a_plane(units), random_state=0)
        for units in (np.ones(4), np.array([1.0, 1000.0, 1.0, 0.01]))
    )
    assert plain[0].name == other[0].name == "subspace"
    assert (plain[0].scale_columns, other[0].scale_columns) == (False, True)
    assert other[0].evidence == pytest.approx(plain[0].evidence, rel=0.05)
    assert other[0].to_dict()["scale_columns"]
    assert other[0].family == get_family("subspace")


@pytest.mark.slow
def test_a_detector_measures_as_the_families_were_compared(tmp_path):
    X = table_of_a_plane(np.array([1.0, 1000.0, 1.0, 0.01]))
    detector = PreferenceIsolationForest(n_models=500, n_estimators=20, random_state=0).fit(X)
    assert detector.units_.tolist() == [1.0, 1000.0, 1.0, 0.01]
    detector.save(tmp_path / "model.pif")
    loaded = piforest.load(tmp_path / "model.pif")
    assert np.array_equal(loaded.anomaly_score(X), detector.scores_)
    kept = PreferenceIsolationForest(
        n_models=500, n_estimators=20, scale_columns=False, random_state=0
    )
    with pytest.warns(UserWarning, match="times as much as"):
        assert kept.fit(X).units_.tolist() == [1.0] * 4


def test_a_fit_that_explains_much_less_than_its_comparison_is_a_finding(circles):
    proposals = circles
    share = proposals[0].share_explained
    used = proposals[0].families
    assert less_than_proposed(proposals, used, share - 0.1, 2) == []
    for less, fewer in ((share - 0.2, "1 structure."), (0.0, "0 structures.")):
        (found,) = less_than_proposed(proposals, used, less, int(fewer[0]))
        assert found.code == "less_than_proposed"
        assert f"explained {100 * share:.0f} % of the rows with " in found.text
        assert found.text.endswith(fewer)
        name = proposals[1].name
        assert f"compare with family={name!r} (--family {name})" in found.advice


def proposal(name, n_structures=1, **options):
    families = tuple(get_family(each, **options) for each in name.split("+"))
    structures = propose_families(LINES, ["line"], random_state=0)[0].structures[:n_structures]
    return Proposal(families, structures, 0.9, 100.0, "")


def test_advice_can_be_typed_as_it_is():
    assert advice_of(proposal("line")) == "family='line' (--family line)"
    assert advice_of(proposal("subspace", dimension=3)) == (
        "family=piforest.families.get_family('subspace', dimension=3) "
        "(--family subspace --option dimension=3)"
    )
    assert advice_of(proposal("line+circle")) == "family=['line', 'circle'] (--family line,circle)"
    scaled = replace(proposal("subspace"), scale_columns=True)
    assert advice_of(scaled) == (
        "family='subspace', scale_columns=True (--family subspace --scale-columns)"
    )


def test_the_family_that_was_used_is_no_advice():
    best, other, empty = proposal("line"), proposal("circle"), proposal("ellipse", 0)
    for rest, said in (((empty, other), True), ((empty,), False), ((best,), False)):
        proposals = Proposals((best, *rest), True, "points", "", 100)
        (found,) = less_than_proposed(proposals, best.families, 0.1, 1)
        assert ("compare with family='circle' (--family circle)" in found.advice) == said
        assert ("compare with" in found.advice) == said


def test_the_warning_of_no_structure_says_that_families_were_compared():
    X = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.warns(UserWarning, match="or of another family that was compared, is significant"):
        PreferenceIsolationForest(random_state=0).fit(X)


@pytest.mark.slow
@pytest.mark.parametrize(("levels", "columns"), [(5, 4), (7, 5)])
def test_answers_at_random_have_no_structure(levels, columns):
    answers = np.random.default_rng(0).integers(1, levels + 1, (300, columns)).astype(float)
    table = pd.DataFrame(answers, columns=[f"q{k}" for k in range(columns)])
    assert not propose_families(table, random_state=0).found
    for family in ("auto", get_family("subspace", dimension=1)):
        with pytest.warns(UserWarning, match="significant"):
            detector = PreferenceIsolationForest(family, random_state=0).fit(table)
        assert not detector.found_structure_
        assert (detector.labels_ == 1).all()


def test_a_plane_of_a_table_with_many_zeros_is_found():
    rng = np.random.default_rng(50)
    x = np.where(rng.random(300) < 0.4, 0.0, rng.uniform(0, 10, 300))
    table = np.column_stack([x, 2 * x, rng.uniform(size=300), 3 * x + rng.normal(0, 0.05, 300)])
    found = propose_families(pd.DataFrame(table, columns=list("qrst")), random_state=0)
    (plane,) = (each for each in found if each.name == "subspace")
    assert plane.n_structures == 1
    assert plane.share_explained > 0.9


@pytest.mark.slow
def test_points_on_a_coordinate_axis_or_plane_are_a_structure():
    x, y = np.random.default_rng(0).uniform(0, 10, (2, 300))
    found = {
        "line in space": propose_families(np.column_stack([x, 0 * x, 0 * x]), random_state=0),
        "line": propose_families(np.column_stack([0 * x, x]), random_state=0),
        "plane": propose_families(np.column_stack([x, 0 * x + 2, y]), random_state=0),
    }
    for name, proposals in found.items():
        assert proposals.found
        assert proposals[0].name == name.split()[0]
        assert (proposals[0].n_structures, proposals[0].share_explained > 0.99) == (1, True)


@pytest.mark.parametrize("scatter", [0.02, 0.3, 0.8])
def test_a_law_of_few_rows_is_compared_whatever_its_noise(scatter):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(38, 7))
    target = features.sum(axis=1)
    target += scatter * target.std() * rng.normal(size=38)
    table = pd.DataFrame(np.column_stack([features, target])).add_prefix("c")
    proposals = propose_families(table, random_state=0)
    assert proposals.found == (scatter < 0.5)
    if proposals.found:
        assert (proposals[0].name, proposals[0].n_structures) == ("linear_regression", 1)
