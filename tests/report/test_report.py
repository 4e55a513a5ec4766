from __future__ import annotations

import base64
import colorsys
import copy
import hashlib
import html
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError

from piforest import PreferenceIsolationForest, VoronoiForest
from piforest.datasets import make_circles, make_lines, make_plane_pair, make_planes
from piforest.io.tables import Table
from piforest.plots._common import COLOURS as PALETTE
from piforest.report import write_report
from piforest.report.content import build_content
from piforest.report.page import template, template_fields
from piforest.report.parts import COLOURS
from piforest.report.payload import file_stem
from report_pages import decoded

HOSTILE = "</script><script>alert(1)</script>"


def fitted(family="line", X=None, **options):
    if X is None:
        X = make_lines(3, noise=0.01, random_state=0).data
    return PreferenceIsolationForest(family, random_state=0, n_models=1000, **options).fit(X), X


@pytest.fixture(scope="module")
def lines():
    return fitted()


@pytest.fixture(scope="module")
def few_anomalies():
    return fitted(X=make_lines(3, noise=0.01, anomaly_share=0.05, random_state=0).data)


@pytest.fixture
def write(tmp_path, lines):
    """The text of a page and its data."""

    def written(detector=lines[0], X=lines[1], **options):
        path = tmp_path / "report.html"
        write_report(path, detector, X, **options)
        text = path.read_text()
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
        return text, json.loads(found[1])

    return written


def plain(text):
    """The words of a page."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)))


@pytest.mark.slow
def test_the_page_holds_rows_and_scores_bit_for_bit(write, lines):
    detector, X = lines
    _, data = write(names=["left", "up"])
    assert [each["name"] for each in data["columns"]] == ["left", "up"]
    for k, each in enumerate(data["columns"]):
        assert np.array_equal(decoded(each), X[:, k])
    assert np.array_equal(decoded(data["scores"]), detector.anomaly_score(X))
    assert decoded(data["rows"]).tolist() == list(range(1, len(X) + 1))


def test_the_summary_has_the_results(write, lines):
    detector, X = lines
    text, _ = write(
        title="Lines", source="a.csv", date="2024-05-06", command="piforest x", seconds=1.5
    )
    flagged = int((detector.predict(X) == -1).sum())
    words = plain(text)
    for part in (
        f"{flagged} of {len(X)} points follow no line",
        f"Threshold {detector.threshold_:.4f} chosen automatically",
        f"Sigma {detector.sigma_:.4g} estimated",
        f"Structures {len(detector.structures_)} line",
        f"Models {detector.n_models_} of 1,000 drawn",
        "Time 1.5 s",
        "a.csv · 2024-05-06",
        "piforest x",
        "random_state 0",
        f"NumPy {np.__version__}",
    ):
        assert part in words, part
    assert "<title>Lines</title>" in text


@pytest.mark.slow
def test_a_threshold_that_was_set_by_hand_is_not_called_automatic(write, lines, tmp_path):
    detector = copy.copy(lines[0]).set_threshold(0.75)
    detector.save(tmp_path / "model.pif")
    for each in (detector, PreferenceIsolationForest.load(tmp_path / "model.pif")):
        words = plain(write(each)[0])
        assert "Threshold 0.7500 set by hand" in words
        assert ".fit(X).set_threshold(0.75)" in words
        assert f"Anomalies {(each.anomaly_score(lines[1]) > 0.75).sum()} above 0.7500" in words
        assert "refer to the threshold 0.7500" in words
    found = plain(write(detector.set_contamination("auto"))[0])
    assert f"Threshold {-lines[0].offset_:.4f} chosen automatically" in found
    assert "contamination 5 %" in plain(write(detector.set_contamination(0.05))[0])


@pytest.mark.slow
def test_a_page_without_structure_says_so_in_the_headline_and_a_banner(write, few_anomalies):
    X = np.random.default_rng(0).uniform(size=(90, 2))
    with pytest.warns(UserWarning, match="no point is flagged"):
        detector, _ = fitted(X=X)
    page, _ = write(detector, X)
    count = '<span class="together"><b id="flagged">0</b> of 90</span>'
    assert f"No line was found. {count} points are flagged" in page
    assert "flags nothing: no structure was found" in page
    assert '<section class="banner"' in page
    assert html.escape(detector.diagnosis_[0].advice) in page
    assert '<section class="banner"' not in write(*few_anomalies)[0]


def test_members_of_structures_are_those_that_the_threshold_keeps(write, lines):
    detector, X = lines
    moved = copy.copy(detector).set_threshold(float(np.quantile(detector.scores_, 0.5)))
    text, _ = write(moved)
    members = [int(each) for each in re.findall(r'data-name="Points">(\d+)', text)]
    counted = np.bincount(moved.structure_labels_[moved.structure_labels_ >= 0])
    assert members == counted[: len(members)].tolist()
    assert sum(members) <= len(X) / 2


def test_the_floor_of_p_is_named(write, lines):
    detector, X = lines
    least = min(detector.p_values(X))
    rows = round(1 / least) - 1
    floor = f"p is at least {least:.3g}, 1 in {rows + 1}: {rows} normal rows can show no less."
    assert floor in write()[0]


def test_the_most_anomalous_rows_have_the_explanation_of_the_detector(write, lines):
    detector, X = lines
    rows = np.arange(len(X)) * 2 + 10
    text, data = write(rows=rows)
    worst = int(np.argmax(detector.anomaly_score(X)))
    reason = detector.explain(X[worst : worst + 1])[0].text
    assert reason[1:] in plain(text)
    assert f'data-show="{worst}" aria-label="Show row {rows[worst]} in the view"' in text
    assert decoded(data["rows"])[worst] == rows[worst]


def test_rows_at_the_top_that_are_kept_are_marked_and_counted(write, few_anomalies):
    detector, X = copy.copy(few_anomalies[0]), few_anomalies[1]
    scores = np.sort(detector.anomaly_score(X))
    text, _ = write()
    assert '<tr class="kept">' not in text
    assert "p is the probability that a normal row scores as high" in plain(text)
    above = max(k for k in range(1, 20) if scores[-k] > scores[-k - 1])
    text, _ = write(detector.set_threshold((scores[-above] + scores[-above - 1]) / 2), X)
    assert text.count('<tr class="kept">') == 20 - above
    assert f"Only the first {above} are above it" in plain(text)
    assert "None of these rows is above it" in plain(write(detector.set_threshold(1.0), X)[0])


@pytest.mark.slow
def test_coordinates_far_from_zero_have_enough_digits_to_distinguish_them(write):
    X = 100 * make_lines(3, noise=0.01, random_state=0).data + [500_000, 4_000_000]
    detector, _ = fitted(X=X)
    text, data = write(detector, X)
    for k, name in enumerate("xy"):
        cells = re.findall(rf'<td class="num" data-name="{name}">([\d.]+)</td>', text)
        top = np.argsort(-detector.anomaly_score(X), kind="stable")[:20]
        assert len(cells) == 20
        assert np.abs(np.array(cells, float) - X[top, k]).max() <= np.ptp(X[:, k]) / 1000
    equation = re.search(r'<td class="code">([^<]+)</td>', text)[1]
    first = detector.structures_[0]
    a, b, c = map(float, re.fullmatch(r"(\S+) x \+ (\S+) y = (\S+)", equation).groups())
    away = np.abs(X @ [a, b] - c) - first.residuals(X)
    assert np.abs(away).max() < first.sigma
    assert _off_their_models(detector, data) < first.half_width / 1000


def test_structures_are_listed_and_drawn_if_the_family_has_an_outline(write, lines):
    detector, _ = lines
    text, data = write()
    assert text.count('data-structure="') == len(detector.structures_) == len(data["structures"])
    assert f"{detector.structures_[0].half_width:.4g}" in text
    assert _off_their_models(detector, data) < 1e-6


def _off_their_models(detector, data):
    """How far the lines that are drawn are from their structures, at most."""
    far = []
    for structure, each in zip(detector.structures_, data["structures"]):
        places = decoded(each["outline"]).reshape(-1, len(each["corner"])) + each["corner"]
        far.append(structure.residuals(places[~np.isnan(places[:, 0])]).max())
    return max(far)


@pytest.mark.slow
def test_structures_lie_on_points_that_are_far_from_zero_as_those_of_maps(write, lines):
    X = 10 * lines[1] + [512_345.6, 5_123_456.7]
    detector, X = fitted("line", X)
    _, data = write(detector, X)
    assert len(data["structures"]) == 3
    assert _off_their_models(detector, data) < 1e-5


def test_structures_have_the_hues_of_the_plots_in_the_same_order(write):
    style = write()[0]
    assert len(PALETTE) == COLOURS
    for k, colour in enumerate(PALETTE):
        found = re.findall(rf"--s{k}: (#\w{{6}});", style)
        assert len(found) == 3  # light, dark, and dark by the system's choice
        for each in found:
            away = abs(hue(each) - hue(colour))
            assert min(away, 1 - away) < 0.04, (k, each)


def hue(colour):
    return colorsys.rgb_to_hsv(*(int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)))[0]


@pytest.mark.slow
def test_the_same_input_gives_the_same_file(tmp_path):
    pages = []
    for name in ("a.html", "b.html"):
        detector, X = fitted(kernel=lambda r, sigma: np.exp(-r / sigma))
        write_report(tmp_path / name, detector, X)
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]


def test_every_field_is_in_the_template_and_nothing_else_is(lines):
    content = build_content(*lines, None, None, None, None, None)
    fields = template_fields(content, "", "", "", None, "")
    assert set(fields) == set(re.findall(r"\{\{(\w+)\}\}", template()))


def test_the_policy_allows_this_script_and_this_style_and_nothing_else(write):
    text, _ = write()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag, name in (('script type="module"', "script-src"), ("style", "style-src")):
        inside = re.search(rf"<{tag}>(.*?)</{tag.split()[0]}>", text, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert not re.search(r"<[^>]+\sstyle=", text)
    assert not re.search(r"<[^>]+\son\w+=", text)


def test_the_page_refers_to_nothing_outside(write):
    text, _ = write()
    for address in re.findall(r"(?:href|src)=[\"']?([^\"'\s>]+)", text):
        assert address.startswith(("#", "data:")), address
    assert "url(" not in text
    assert "@import" not in text


def test_text_of_the_user_is_never_markup(write, lines):
    _, X = lines
    table = Table({HOSTILE: X[:, 0], "b": X[:, 1], "note": np.array([HOSTILE] * len(X))}, HOSTILE)
    text, data = write(
        names=[HOSTILE, "b"],
        table=table,
        title=HOSTILE,
        source=HOSTILE,
        command=HOSTILE,
        date="{{data}}",
    )
    assert HOSTILE not in text
    assert "<script>alert" not in text
    assert text.count("<script") == 2
    assert data["columns"][0]["name"] == HOSTILE
    assert data["columns"][2]["text"][0] == HOSTILE
    # A date that looks like a field of the template is not replaced.
    assert text.count("{{data}}") == 1


def test_columns_of_the_table_are_kept_and_those_of_the_points_not_doubled(write, lines):
    _, X = lines
    names = np.array([f"n{k}" for k in range(len(X))])
    texts = np.array([repr(float(v)) for v in X[:, 1]])
    table = Table({"id": names, "x": X[:, 0], "y": texts}, "a.csv")
    _, data = write(names=["x", "y"], table=table)
    assert [each["name"] for each in data["columns"]] == ["id", "x", "y"]
    assert data["view"]["places"] == [1, 2]
    assert data["columns"][2]["text"] == texts.tolist()
    assert [each.get("drawn") for each in data["columns"]] == [False, None, True]


def test_masked_values_of_the_table_are_missing_on_the_page(write, lines):
    _, X = lines
    first = np.arange(len(X)) == 0
    columns = {"score": X[:, 0] + 5, "count": np.arange(len(X)), "flag": X[:, 0] > 0}
    masked = {name: np.ma.masked_array(values, first) for name, values in columns.items()}
    _, data = write(names=["x", "y"], table=Table({"x": X[:, 0], "y": X[:, 1], **masked}, "a.csv"))
    score, count, flag = data["columns"][2:]
    for packed, values in ((score, columns["score"]), (count, columns["count"])):
        assert np.array_equal(decoded(packed), np.where(first, np.nan, values), equal_nan=True)
    assert flag["text"] == ["", *map(str, columns["flag"][1:])]


def test_scored_values_that_differ_from_the_tables_stand_beside_them(write, lines):
    _, X = lines
    table = Table({"x": X[:, 0] * 100, "y": X[:, 1]}, "a.csv")
    _, data = write(names=["x", "y"], table=table)
    assert [each["name"] for each in data["columns"]] == ["x (scored)", "x", "y"]
    assert data["view"]["places"] == [0, 2]
    assert np.array_equal(decoded(data["columns"][0]), X[:, 0])


@pytest.mark.slow
def test_the_columns_of_a_data_frame_keep_their_names(write, lines):
    import pandas as pd

    detector, X = lines
    frame = pd.DataFrame(X, columns=["east", "north"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, data = write(clone(detector).fit(frame), frame)
    assert [each["name"] for each in data["columns"]] == ["east", "north"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plane", "space", "matches", "table"])
def test_ten_thousand_points_take_less_than_two_megabytes(kind, tmp_path):
    rng = np.random.default_rng(0)
    d = {"plane": 2, "space": 3, "matches": 4, "table": 3}[kind]
    scene = {2: make_lines, 3: make_planes, 4: make_plane_pair}[d]
    family = {2: "line", 3: "plane", 4: "homography"}[d]
    detector, train = fitted(family, scene(3, random_state=0).data)
    X = rng.uniform(train.min(), train.max(), (10_000, d))
    options = {}
    if kind == "matches":
        options["images"] = rng.integers(0, 256, (2, 480, 640, 3), dtype=np.uint8)
    if kind == "table":
        columns = {f"c{k}": rng.normal(size=10_000) for k in range(20)}
        options["table"] = Table({**columns, "text": np.array(["some words"] * 10_000)}, "a.csv")
    path = tmp_path / "report.html"
    write_report(path, detector, X, scores=rng.uniform(size=10_000), **options)
    assert path.stat().st_size < 2_000_000
    # A wide table leaves rows out; the page says so.
    data = json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(), re.S)[1])
    assert (len(decoded(data["rows"])) < data["total"]) == (kind == "table")


def test_of_many_points_the_page_shows_the_most_anomalous_and_counts_all(write, lines):
    detector, _ = lines
    rng = np.random.default_rng(0)
    X, scores = rng.normal(size=(30_000, 2)), rng.uniform(size=30_000)
    _, data = write(detector, X, scores=scores)
    shown = decoded(data["rows"]).astype(int) - 1
    assert len(shown) == 10_000
    assert np.array_equal(shown, np.unique(shown))
    assert set(np.argsort(-scores)[:5000]) <= set(shown)
    assert np.array_equal(decoded(data["scores"]), scores[shown])
    rest = shown[scores[shown] < np.sort(scores)[-5000]]
    assert abs(rest.mean() - 15_000) < 1000, "a random sample leans to no end"
    assert data["total"] == 30_000
    assert decoded(data["thresholds"]["above"])[0] == 30_000


def test_a_forest_without_models_has_a_report_too(write):
    X = np.random.default_rng(0).normal(size=(200, 2))
    text, data = write(VoronoiForest("euclidean", random_state=0).fit(X), X)
    assert "Metric euclidean" in plain(text)
    assert data["structures"] == []
    assert data["nearest"] is None


@pytest.mark.slow
def test_the_papers_detector_and_several_families_have_reports(write):
    X = make_circles(2, random_state=0).data
    text, _ = write(
        PreferenceIsolationForest.paper("circle", sigma=0.01, random_state=0, n_models=500).fit(X),
        X,
    )
    assert "Sigma 0.01 given" in plain(text)
    text, _ = write(*fitted(["line", "circle"], X))
    assert "points follow no line or circle" in plain(text)


def test_one_column_is_drawn_against_the_score(write):
    X = np.random.default_rng(0).normal(size=(100, 1))
    _, data = write(VoronoiForest("euclidean", random_state=0).fit(X), X)
    assert data["view"]["mode"] == "2d"
    assert data["view"]["places"] == [0]


@pytest.mark.slow
@pytest.mark.parametrize(("d", "mode"), [(2, "2d"), (3, "3d"), (4, "matches")])
def test_the_initial_view_depends_on_the_rows(write, d, mode):
    scene = {2: make_lines, 3: make_planes, 4: make_plane_pair}[d]
    detector, X = fitted({2: "line", 3: "plane", 4: "homography"}[d], scene(2, random_state=0).data)
    _, data = write(detector, X)
    assert data["view"]["mode"] == mode
    usual = {2: ["x", "y"], 3: ["x", "y", "z"], 4: ["x1", "y1", "x2", "y2"]}[d]
    assert [each["name"] for each in data["columns"]] == usual
    assert data["view"]["equal"]


@pytest.mark.parametrize(
    ("source", "stem"),
    [
        ("data/a b.csv", "a_b"),
        ("", "points"),
        ("../..", "points"),
        (HOSTILE, "script"),
        ("x" * 99, "x" * 60),
    ],
)
def test_downloads_are_named_after_the_source_in_plain_letters(source, stem):
    assert file_stem(source) == stem


ERRORS = {
    "X must be numeric of shape (n, d), got shape (3,)": {"X": np.zeros(3)},
    "X must be numeric of shape (n, d), got shape (2, 1) and dtype <U1": {"X": [["a"], ["b"]]},
    "X must be finite, but row 1 (from 0) is not": {
        "X": [[0, 0], [0, np.nan]], "scores": [0, 0]
    },
    "scores must have one value for each of the 2 rows of X, got shape (3,)": {"scores": [0, 0, 0]},
    "scores must be finite; remove": {"scores": [0, np.nan]},
    "names must be 2 different names of the columns of X, got ['a', 'a']": {"names": ["a", "a"]},
    "rows must have one value for each of the 2 rows of X": {"rows": [1]},
    "rows must be integers, got dtype float64": {"rows": [1.0, 2.0]},
    "but its column 'a' has shape (3,); remove the rows that were not scored": {
        "table": Table({"a": np.zeros(3)}, "f")
    },
    "images must be two arrays, got 1": {"images": [np.zeros((2, 2))]},
    "images are drawn under matches, rows (x1, y1, x2, y2), but X has 2 columns": {
        "images": [np.zeros((2, 2))] * 2
    },
}  # fmt: skip


@pytest.mark.parametrize("text", ERRORS)
def test_invalid_input_raises_an_error_of_one_line(text, tmp_path, lines):
    options = {"X": np.zeros((2, 2)), **ERRORS[text]}
    with pytest.raises(ValueError, match=re.escape(text)) as caught:
        write_report(tmp_path / "a.html", lines[0], options.pop("X"), **options)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_other_estimators_and_unfitted_detectors_raise_an_error(tmp_path):
    with pytest.raises(ValueError, match="or a VoronoiForest, got IsolationForest"):
        write_report(tmp_path / "a.html", IsolationForest(), np.zeros((2, 2)))
    with pytest.raises(NotFittedError):
        write_report(tmp_path / "a.html", PreferenceIsolationForest(), np.zeros((2, 2)))


def test_a_missing_folder_raises_an_error_before_anything_is_computed(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write_report(tmp_path / "no" / "a.html", None, None)


def test_text_with_commas_quotes_and_line_ends_reaches_the_page_unchanged(write, lines):
    _, X = lines
    odd = np.array(['a,"b"', "two\nlines", " padded ", "é"] * len(X))[: len(X)]
    _, data = write(table=Table({"x": X[:, 0], "y": X[:, 1], "odd": odd}, "a.csv"))
    assert data["columns"][2]["text"] == odd.tolist()


@pytest.mark.parametrize(("page", "count"), [("report.md", 2), ("studio.md", 6)])
def test_the_images_of_the_documentation_exist_and_are_small(page, count):
    path = Path(__file__).parents[2] / "docs" / page
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", path.read_text())
    assert len(pictures) == count
    for name in pictures:
        assert (path.parent / name).stat().st_size < 200_000


def test_rows_outside_the_ranges_of_the_fit_are_in_the_banner():
    X = make_lines(3, anomaly_share=0.3, random_state=0).data
    detector = PreferenceIsolationForest("line", n_models=300, random_state=0).fit(X)
    sentence = "are outside the ranges in which the model was fitted"
    assert sentence not in detector.report(X).page
    with pytest.warns(UserWarning, match=f"{len(X)} of {len(X)} rows {sentence}"):
        page = detector.report(X + 9).page
    assert f"<li>{len(X)} of {len(X)} rows {sentence}" in page
