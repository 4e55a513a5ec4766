from __future__ import annotations

import json

import numpy as np
import pytest

from piforest.reproduction import beyond, beyond_page
from piforest.reproduction.beyond import FREE, KNOWN, PLAIN, VARIANTS, WRONG, Trial
from piforest.reproduction.reproduce import reproduce
from piforest.reproduction.run import compute, run_jobs
from research_data import adelaidermf, synthetic2d


def test_variants_of_a_run_share_its_points_and_differ_in_their_detector():
    trials = beyond.set_trials(["circle4", "physics"], 4, 0)
    assert len(trials) == len(VARIANTS) * (4 + 2)
    assert len({trial.key for trial in trials}) == len(trials)
    first = [trial for trial in trials if (trial.dataset, trial.run) == ("circle4", 0)]
    assert len({trial.random_state for trial in first}) == 1
    detectors = {t.variant: beyond._detector(t, "circle", 0.01, 100) for t in first}
    params = [str(sorted(d.get_params().items())) + type(d).__name__ for d in detectors.values()]
    assert len(set(params)) == len(VARIANTS)
    assert detectors[FREE].sigma == "auto"
    for name, (base, factor) in WRONG.items():
        assert detectors[name].sigma == 0.01 * factor
        assert type(detectors[name]) is type(detectors[base])


@pytest.mark.slow
@pytest.mark.parametrize("family", beyond.FAMILIES)
def test_scenes_are_what_their_condition_says(family):
    for condition in ("0 %", "20 %"):
        X, y, name, sigma = beyond.scene(family, condition, 5)
        assert name == family
        assert len(X) == len(y)
        assert np.mean(y == 0) == pytest.approx(float(condition[:-2]) / 100, abs=0.01)
        assert sigma > 0
    if family in ("line", "circle"):
        plain = beyond.scene(family, "40 %", 5)
        large = beyond.scene(family, "times 1000", 5)
        np.testing.assert_allclose(large[0], 1000 * plain[0])
        assert large[3] == 1000 * plain[3]
        blobs = beyond.scene(family, "clustered anomalies", 5)
        assert np.array_equal(blobs[0][blobs[1] > 0], plain[0][plain[1] > 0])
        assert not np.array_equal(blobs[0], plain[0])
        assert len(beyond.scene(family, "unequal noise", 5)[0]) == len(plain[0])


@pytest.mark.slow
def test_a_scene_is_evaluated_by_scores_labels_and_structures():
    values = compute(Trial("scene", "line", "20 %", FREE, 0, 3))["values"]
    assert values["auc"] > 0.9
    assert 0 < values["f1"] <= values["best_f1"] + 0.1
    assert 0 <= values["error"] < 0.4
    clean = compute(Trial("scene", "line", "0 %", FREE, 0, 3))["values"]
    assert "auc" not in clean
    assert clean["flagged"] < 0.2
    halves = compute(Trial("halves", "circle", "400", FREE, 0, 3))["values"]
    assert set(halves) == {"normal fitted", "normal new", "anomalous fitted", "anomalous new"}


def test_the_error_of_perfect_structures_is_zero():
    class Perfect:
        labels_ = np.array([1, 1, 1, 1, -1])

        class Structure:
            half_width = 1.0

            def __init__(self, place):
                self.place = place

            def residuals(self, X):
                return np.abs(X[:, 0] - self.place)

        structures_ = (Structure(5.0), Structure(0.0))

    X = np.array([[0.0], [0.1], [5.0], [5.2], [2.0]])
    y = np.array([1, 1, 2, 2, 0])
    assert beyond._misclassified(Perfect, X, y) == (0.0, 0.0)
    assert beyond._misclassified(Perfect, X, np.array([1, 1, 1, 2, 0])) == (pytest.approx(0.2), 0.0)
    assert beyond.f1(y == 0, y == 0) == 1.0
    assert beyond.best_f1(y == 0, np.array([0.1, 0.2, 0.3, 0.9, 0.5])) == pytest.approx(2 / 3)


def artificial(runs=3):
    """Trials with artificial values: ours one hundredth better than PIF."""
    rng = np.random.default_rng(0)
    trials = beyond.set_trials(["circle4", "physics"], runs, 0)
    trials += beyond.share_trials(["stair3"], (0.1, 0.9), runs, 0) + beyond.scene_trials(2, 0)
    cells = []
    for trial in trials:
        auc = 0.9 if trial.variant.startswith(PLAIN) else 0.91
        values = {"auc": auc + rng.normal(0, 1e-4), "sigma": 1.0, "oracle": 0.95, "models": 40.0}
        if trial.variant == FREE and trial.kind != "share":
            values |= {"f1": 0.9, "best_f1": 0.95, "flagged": 0.3, "error": 0.1, "surplus": 0.0}
        if trial.kind == "halves":
            parts = ("normal fitted", "normal new", "anomalous fitted", "anomalous new")
            values = dict.fromkeys(parts, 0.25)
        if trial.condition == "0 %":
            values = {"flagged": 0.02, "error": 0.1, "surplus": 0.0}
        cells.append({"settings": trial.settings(), "values": values, "cpu_s": 1.0})
    return cells


def test_the_page_has_the_results_of_the_trials():
    blocks = beyond_page.content(artificial(), {})
    grids = {block.title: block for block in blocks if hasattr(block, "rows")}
    first = dict(zip(grids["Summary"].head, grids["Summary"].rows[0]))
    assert first[PLAIN].startswith("0.900")
    assert first[KNOWN].startswith("0.910")
    assert first["sigma free lower by > 0.01"] == "none"
    below = dict(zip(grids["Summary"].head, grids["Summary"].rows[1]))
    assert below["sigma free lower by > 0.01"] == "physics"  # published: 1.000
    assert grids["Automatic labels"].rows[0][3] == "0.947"
    assert grids["Structures"].rows[0][1:] == ["0.100", "0.100", "100 %"]
    wrong = {row[0]: row[1] for row in grids["Mean AUC"].rows}
    assert set(WRONG) <= set(wrong)
    texts = " ".join(block.text for block in blocks if hasattr(block, "text"))
    conditions = 2 * (5 + len(beyond.STRESSES)) + 2 * 5
    assert f"to three decimals, in {conditions} of {conditions} conditions" in texts
    halves = grids["Fitted on one half of n points: share flagged in both halves"]
    assert len(halves.rows) == 6
    curves = beyond_page.share_curves(artificial())
    assert list(curves["stair3"]) == ["PIF", "piforest"]
    np.testing.assert_allclose(curves["stair3"]["piforest"].mean, 0.91, atol=1e-3)


@pytest.mark.slow
def test_an_incomplete_trial_is_computed_again(tmp_path, capsys):
    trial = Trial("halves", "line", "200", FREE, 0, 3)
    (cell,) = run_jobs([trial], tmp_path, 1)
    path = tmp_path / f"{trial.key}.json"
    path.write_text(json.dumps({**cell, "values": {"auc": None}}))
    assert run_jobs([trial], tmp_path, 1)[0]["values"] == cell["values"]
    assert "is damaged" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.data
def test_the_command_makes_a_page_of_its_own(tmp_path, monkeypatch):
    synthetic2d("circle4")
    adelaidermf("physics")
    from piforest.reproduction import reproduce as reproducing

    monkeypatch.setattr(reproducing, "QUICK", ("physics",))
    monkeypatch.setattr(reproducing, "QUICK_SHARES", (0.5,))
    monkeypatch.setattr(reproducing, "QUICK_SCENES", 0)
    reproduce(tmp_path, only=["beyond"], runs=1, quick=True, n_jobs=1, log=lambda text: None)
    page = (tmp_path / "beyond.html").read_text()
    assert "physics" in page
    assert page.count("data:image/png;base64") == 2
    rows = (tmp_path / "beyond.csv").read_text().splitlines()
    assert rows[0] == "kind,dataset,condition,variant,run,name,value"
    assert any(row.startswith("set,physics,,sigma free,0,error,") for row in rows)
