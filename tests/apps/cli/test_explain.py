from __future__ import annotations

import json

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest.apps import cli
from piforest.datasets import make_lines, make_plane_pair, make_regressions


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Points, and a model that was fitted to them."""
    made = tmp_path_factory.mktemp("explain")
    X = make_lines(3, sizes=60, noise=0.01, anomaly_share=0.3, random_state=0).data
    np.savetxt(made / "points.csv", X, delimiter=",", header="east,north", comments="")
    command = ["detect", str(made / "points.csv"), "--family", "line", "--quiet"]
    assert cli.main([*command, "--model", str(made / "m.pif")]) == 0
    return made


@pytest.fixture(scope="module")
def detector(folder):
    X = np.loadtxt(folder / "points.csv", delimiter=",", skiprows=1)
    return PreferenceIsolationForest("line", random_state=0).fit(X), X


def run(capsys, *arguments):
    code = cli.main(["explain", *(str(each) for each in arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.slow
@pytest.mark.parametrize("row", [1, 200])
def test_a_row_is_explained_in_words_and_numbers(row, folder, detector, capsys):
    fitted, X = detector
    fitted.findings_.name_columns(["east", "north"])
    reason = fitted.explain(X[row - 1 : row])[0]
    command = [folder / "points.csv", "--row", row, "--family", "line"]
    code, printed, err = run(capsys, *command)
    assert (code, err) == (0, "")
    assert reason.text in printed
    assert f"row {row} of" in printed
    assert f"east = {X[row - 1, 0]:.6g}" in printed
    code, printed, err = run(capsys, *command, "--json")
    answer = json.loads(printed)
    assert (answer["text"], answer["score"]) == (reason.text, reason.score)
    assert answer["anomaly"] == (row == 200)  # the lines come first
    assert [each["structure"] for each in answer["nearest"]] == [
        each.structure for each in reason.nearest
    ]
    first = fitted.structures_[reason.nearest[0].structure]
    assert answer["nearest"][0]["params"] == first.params.tolist()
    assert answer["nearest"][0]["support"] == first.support


@pytest.mark.slow
def test_a_stored_model_explains_the_same_and_knows_its_columns(folder, tmp_path, capsys):
    fresh = json.loads(run(capsys, folder / "points.csv", "--family", "line", "--json")[1])
    stored = json.loads(
        run(capsys, folder / "points.csv", "--model", folder / "m.pif", "--json")[1]
    )
    assert fresh == stored
    # A new row in another file, with other columns.
    (tmp_path / "new.csv").write_text("id,north,more,east\n7,0.91,3,-0.4\n")
    code, printed, err = run(capsys, tmp_path / "new.csv", "--model", folder / "m.pif", "--json")
    assert (code, err) == (0, "")
    assert json.loads(printed)["values"] == {"east": -0.4, "north": 0.91}


@pytest.mark.slow
def test_without_a_row_the_most_anomalous_is_explained(folder, detector, capsys):
    worst = int(detector[0].scores_.argmax())
    answer = json.loads(run(capsys, folder / "points.csv", "--family", "line", "--json")[1])
    assert answer["row"] == worst + 1


def write_regression(folder):
    np.save(folder / "p.npy", make_regressions(n_features=3, random_state=0).data)
    return [folder / "p.npy", "--family", "linear_regression"]


def write_matches(folder):
    np.save(folder / "p.npy", make_plane_pair(2, random_state=0).data)
    return [folder / "p.npy", "--family", "homography"]


@pytest.mark.slow
@pytest.mark.parametrize("made", [write_regression, write_matches, None])
def test_the_row_is_drawn_over_its_structures(made, folder, tmp_path, capsys):
    command = (
        [folder / "points.csv", "--model", folder / "m.pif"] if made is None else made(tmp_path)
    )
    plot = tmp_path / "p.png"
    code, _, err = run(capsys, *command, "--row", 3, "--plot", plot)
    assert (code, err) == (0, "")
    assert plot.read_bytes().startswith(b"\x89PNG")
    code, _, err = run(capsys, *command, "--row", 3, "--plot", plot)
    assert code == 1
    assert "--force" in err


@pytest.mark.slow
def test_the_plot_has_the_row_number_of_the_file(folder, tmp_path, capsys):
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none"}):  # text stays text
        plot = tmp_path / "p.svg"
        run(capsys, folder / "points.csv", "--family", "line", "--row", 17, "--plot", plot)
    drawn = plot.read_text()
    assert drawn.count("row 17") == 2  # in the title and the legend
    assert "row 16" not in drawn
    assert "east" in drawn


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--row", "500", "--family", "line"], "has rows 1 to 257, got --row 500"),
        (["--row", "1", "--family", "circle", "--columns", "east"], "needs 2 columns, got 1"),
        (["--row", "1", "--model", "points.csv"], "not a piforest model"),
        (["--row", "1", "--model", "none.pif"], "none.pif"),
        (["--row", "1", "--model", "m.pif", "--columns", "east"], "needs|fitted to 2 columns"),
    ],
)
def test_bad_input_is_one_line(extra, message, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    code, printed, err = run(capsys, "points.csv", *extra)
    assert (code, printed) == (1, "")
    assert any(part in err for part in message.split("|"))
    assert err.startswith("piforest: ")
    assert err.count("\n") == 1


@pytest.mark.slow
def test_a_row_that_lacks_a_number_has_no_explanation(folder, tmp_path, capsys):
    lines = (folder / "points.csv").read_text().splitlines()
    lines[4] = "nan,1"
    (tmp_path / "gone.csv").write_text("\n".join(lines) + "\n")
    command = [tmp_path / "gone.csv", "--family", "line", "--missing", "skip", "--row"]
    code, _, err = run(capsys, *command, 4)
    assert code == 1
    assert "row 4 of" in err
    assert "lacks a number" in err
    assert "row 5 of" in run(capsys, *command, 5)[1]


@pytest.mark.parametrize("extra", [[], ["--family", "line", "--model", "m.pif"], ["--row", "0"]])
def test_an_invalid_command_line_exits_with_two(extra, folder):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["explain", str(folder / "points.csv"), *extra])
    assert stopped.value.code == 2
