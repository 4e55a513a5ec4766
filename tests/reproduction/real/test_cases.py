from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from piforest.reproduction.real import anomalies, lines, robust, scenes, segments, tables, units
from piforest.reproduction.real.cases import Case, third
from piforest.reproduction.real.measures import UNKNOWN, fit, measure
from piforest.reproduction.real.parts import PARTS, Target


@pytest.mark.parametrize("part", PARTS)
def test_every_case_of_a_part_has_its_own_key_and_random_state(part):
    cases = PARTS[part].cases()
    assert {case.part for case in cases} <= {part}
    assert len({case.key for case in cases}) == len(cases)
    assert len({case.random_state(0) for case in cases}) == len(cases)


def test_the_quick_cases_are_one_run_of_a_third_of_the_cells():
    cases = [
        Case("a", "g", str(cell), run, lambda seed: {}) for cell in range(30) for run in (0, 1)
    ]
    chosen = third(cases)
    assert len(chosen) == 10
    assert all(case.run == 0 for case in chosen)
    assert {case.key for case in third(cases[::-1])} == {case.key for case in chosen}
    slow = [replace(case, slow=case.cell == "3") for case in cases]
    assert len(third(slow[:20])) == 6
    assert not any(case.slow for case in third(slow[:8]))
    assert len(third(cases[:8])) == 4  # all of them: they are fewer than six


def test_a_target_is_met_between_its_bounds_inclusive():
    target = Target("", "sigma", 0.5, 2)
    assert [target.is_met(x) for x in (0.49, 0.5, 2, 2.1, float("nan"))] == [
        False, True, True, False, False,
    ]  # fmt: skip


def test_the_noise_of_a_rounded_line_includes_the_rounding_where_it_is_larger():
    X, y, sigma = lines.noisy_line(0.01, 0.1, 3000, 0.1, 3)
    np.testing.assert_allclose(X, np.round(X, 1), atol=1e-9)
    assert (len(X), int(np.sum(y == 0))) == (3000, 300)
    points = X[y == 1] - X[y == 1].mean(axis=0)
    across = np.std(points @ np.linalg.svd(points, full_matrices=False)[2][1])
    assert across == pytest.approx(sigma, rel=0.15)
    assert lines.noisy_line(0.05, 0.01, 100, 0, 3)[2] == 0.05


def test_robust_regression_finds_the_law_and_the_noise_among_outliers():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, (400, 2))
    y = x @ [2, -1] + 5 + rng.normal(0, 0.3, 400)
    y[:80] += rng.uniform(5, 50, 80)
    residuals, scale = robust.robust_residuals(np.column_stack([x, y]))
    assert scale == pytest.approx(0.3, rel=0.35)
    assert residuals[:80].min() > 4
    assert np.median(residuals[80:]) == pytest.approx(0.2, rel=0.2)


@pytest.mark.parametrize("name", anomalies.SCENES)
def test_near_anomalies_are_3_to_10_sigmas_off_the_nearest_structure(name):
    X, y, sigma = anomalies.with_anomalies(name, "near", 0.1, 5)
    assert np.mean(y == 0) == pytest.approx(0.1, abs=0.005)
    in_target = anomalies.SCENES[name][0] == "linear_regression"
    laws = [anomalies._law(X[y == k], in_target) for k in range(1, y.max() + 1)]
    distances = np.min([np.abs((X - m) @ normal) for m, normal, _ in laws], axis=0) / sigma
    assert distances[y == 0].min() >= 3 - 1e-6
    assert distances[y == 0].max() <= 10 + 1e-6
    assert np.median(distances[y > 0]) < 1


def test_heaped_anomalies_are_nearer_to_each_other_than_far_ones():
    spread = {}
    for kind in ("heaped", "far"):
        X, y, _ = anomalies.with_anomalies("room", kind, 0.1, 5)
        gaps = np.linalg.norm(X[y == 0][:, None] - X[y == 0], axis=2)
        spread[kind] = np.sort(gaps, axis=1)[:, 5].mean()
    assert spread["heaped"] < 0.3 * spread["far"]
    assert (anomalies.with_anomalies("room", "", 0.0, 5)[1] > 0).all()


def test_rows_of_unknown_truth_are_fitted_but_not_evaluated():
    X, y, sigma = lines.noisy_line(0.01, 0, 300, 0.2, 0)
    fitted = fit("line", X, 0)
    values = measure(fitted, y, sigma)
    assert values["auc"] > 0.9
    assert values["f1 ratio"] == values["f1"] / values["best f1"]
    assert values["found"] == 1
    worst = np.argsort(fitted.detector.scores_ * (y > 0))[-5:]
    assert (
        measure(fitted, np.where(np.isin(np.arange(300), worst), UNKNOWN, y))["auc"] > values["auc"]
    )
    assert "auc" not in measure(fitted)


def test_the_shipped_tables_have_the_columns_that_are_named():
    for source, laws in (("load_diabetes", tables.DIABETES), ("load_linnerud", tables.LINNERUD)):
        for columns in laws.values():
            X = tables.rows_of(source, columns)
            assert X.shape[1] == len(columns)
    assert tables.rows_of("load_linnerud", ("Weight", "Waist"))[0].tolist() == [191, 36]


@pytest.mark.slow
def test_a_scene_in_other_units_is_compared_with_the_same_scene():
    values = units._measure("tables", 3)
    assert values["counted loss"] <= values["loss"] or values["loss"] < 0
    assert values["auc"] + values["loss"] <= 1


def test_the_wide_table_has_the_noise_that_its_name_says():
    X, y = scenes._WIDE(noise=0.0, random_state=1, return_X_y=True)
    spread = np.mean([np.std(X[y == k, -1]) for k in (1, 2)])
    assert spread == pytest.approx(scenes._WIDE_SPREAD, rel=0.35)


def test_segments_have_a_truth_by_their_distance_from_the_labelled_points(tmp_path):
    head = "point1_x point1_y point2_x point2_y\n"
    (tmp_path / "nyu-1-vps.csv").write_text("idx X Y\n0 1000 0\n")
    path = tmp_path / "nyu-1-lsd_lines.csv"
    path.write_text(head + "0 0 100 0\n0 100 0 200\n0 -2 100 2\n0 50 5 50\n")
    X, y = segments.segments_of(path)
    assert len(X) == 3  # the last one is short
    assert y.tolist() == [1, 0, UNKNOWN]
