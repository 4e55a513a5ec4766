"""`piforest score`: saved models, new rows, constant memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from piforest import PreferenceIsolationForest, VoronoiForest, load
from piforest.apps import cli
from piforest.datasets import make_lines
from piforest.families import from_functions
from piforest.io.tables import read_blocks

X, Y = make_lines(3, sizes=60, noise=0.01, anomaly_share=0.25, random_state=0, return_X_y=True)
SMALL = {"n_models": 150, "n_estimators": 10, "random_state": 0}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.pif"
    frame = pd.DataFrame(X, columns=["east", "north"])
    PreferenceIsolationForest("line", **SMALL).fit(frame).save(path)
    return path


def expected(model, rows):
    detector = load(model)
    names = getattr(detector, "feature_names_in_", None)
    rows = rows if names is None else pd.DataFrame(rows, columns=names)
    return detector.anomaly_score(rows), detector.predict(rows) == -1


def put(path, rows=X):
    text = [f'"p, {k}",{a!r},{b!r}' for k, (a, b) in enumerate(rows.tolist())]
    path.write_text("name,north,east\n" + "\n".join(text) + "\n")
    return path


def score(*args):
    return cli.main(["score", *map(str, args)])


@pytest.mark.parametrize("rows_at_once", [50, 16_384])
def test_scores_are_written_beside_the_columns_in_the_order_of_the_file(
    model, tmp_path, monkeypatch, capsys, rows_at_once
):
    monkeypatch.setattr("piforest.apps.cli.score._ROWS", rows_at_once)
    path = put(tmp_path / "new.csv")
    assert score(path, "--model", model, "--out", tmp_path / "out.csv") == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    scores, anomalies = expected(model, X[:, ::-1])
    out = pd.read_csv(tmp_path / "out.csv")
    assert out.columns.tolist() == ["name", "north", "east", "score", "anomaly", "structure",
                                    "distance"]  # fmt: skip
    assert out["name"].tolist() == [f"p, {k}" for k in range(len(X))]
    assert np.allclose(out["score"], scores, rtol=1e-15)
    assert np.array_equal(out["anomaly"] == 1, anomalies)
    lines = path.read_text().splitlines(), (tmp_path / "out.csv").read_text().splitlines()
    assert all(after.startswith(before + ",") for before, after in zip(*lines))
    worst = int(np.argmax(scores)) + 1
    for part in (f"{len(X)} in columns east, north", "a PreferenceIsolationForest",
                 f"{anomalies.sum()} of {len(X)}", f"  {worst}  {scores.max():.3f}",
                 f"wrote {tmp_path / 'out.csv'}"):  # fmt: skip
        assert part in captured.out


def test_json_is_one_object(model, tmp_path, capsys):
    out = tmp_path / "out.parquet"
    assert (
        score(put(tmp_path / "a.csv"), "--model", model, "--out", out, "--json", "--jobs", 1) == 0
    )
    answer = json.loads(capsys.readouterr().out)
    scores, anomalies = expected(model, X[:, ::-1])
    assert answer["rows"] == len(X)
    assert answer["anomalies"] == anomalies.sum()
    assert answer["columns"] == ["east", "north"]
    assert answer["score_columns"] == ["score", "anomaly", "structure", "distance"]
    assert answer["written"] == {"out": str(out)}
    best = np.argsort(-scores, kind="stable")[:10]
    assert [each["row"] for each in answer["most_anomalous"]] == (best + 1).tolist()
    assert answer["most_anomalous"][0]["values"] == {
        "east": X[best[0], 1], "north": X[best[0], 0]
    }  # fmt: skip
    table = pq.read_table(out)
    assert np.array_equal(table["score"], scores)
    assert str(table.schema.field("anomaly").type) == "bool"


def test_rows_that_lack_a_number_are_not_scored_with_missing_skip(model, tmp_path, capsys):
    rows = X.copy()
    path = put(tmp_path / "a.csv", rows)
    lines = path.read_text().splitlines()
    lines[3] = '"p, 2",,0.5'
    path.write_text("\n".join(lines))
    assert score(path, "--model", model, "--out", tmp_path / "o.csv") == 1
    printed = capsys.readouterr().err
    assert "row 3 of column 'north' has no number; --missing skip keeps such rows" in printed
    assert printed.count("\n") == 1
    assert os.listdir(tmp_path) == ["a.csv"]
    assert score(path, "--model", model, "--out", tmp_path / "o.csv", "--missing", "skip") == 0
    assert f"{len(X) - 1} in columns east, north" in (printed := capsys.readouterr().out)
    assert "1 more lacks a number" in printed
    written = (tmp_path / "o.csv").read_text().splitlines()
    assert written[3] == '"p, 2",,0.5,,,-1,'
    scores, _ = expected(model, X[:, ::-1])
    assert float(written[4].split(",")[-4]) == scores[3]
    path.write_text("east,north\n,1\n2,\n")
    assert score(path, "--model", model, "--missing", "skip") == 1
    assert "every row lacks one of east, north" in capsys.readouterr().err


@pytest.mark.parametrize("make", [PreferenceIsolationForest.paper, VoronoiForest])
def test_a_model_without_names_takes_the_columns_of_numbers(make, tmp_path, capsys):
    first = (
        {"family": "line", "sigma": 0.01, **SMALL}
        if make is not VoronoiForest
        else {"metric": "euclidean"}
    )
    detector = make(**{"n_estimators": 10, "random_state": 0, **first}).fit(X)
    detector.save(tmp_path / "m.pif")
    np.save(tmp_path / "a.npy", X)
    out = tmp_path / "o.npy"
    assert score(tmp_path / "a.npy", "--model", tmp_path / "m.pif", "--out", out, "--quiet") == 0
    assert capsys.readouterr() == ("", "")
    assert np.array_equal(np.load(out)[:, :2], X)
    assert np.array_equal(np.load(out)[:, 2], detector.scores_)
    put(tmp_path / "b.csv")
    assert score(tmp_path / "b.csv", "--model", tmp_path / "m.pif", "--columns", "name,east") == 1
    assert "row 1 of column 'name' is 'p, 0', not a number" in capsys.readouterr().err
    np.save(tmp_path / "c.npy", np.ones((4, 3)))
    assert score(tmp_path / "c.npy", "--model", tmp_path / "m.pif") == 1
    assert "the model needs 2 columns, and" in capsys.readouterr().err


def test_columns_of_the_model_that_the_file_lacks_are_an_error(model, tmp_path, capsys):
    np.savetxt(tmp_path / "a.csv", X, delimiter=",")
    assert score(tmp_path / "a.csv", "--model", model) == 1
    printed = capsys.readouterr().err
    assert "was fitted to the columns east, north, and" in printed
    assert "has no east, north; its columns: x0, x1. Select others with --columns." in printed
    assert score(tmp_path / "a.csv", "--model", model, "--columns", "x0,x1", "--json") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["columns"] == ["x0", "x1"]
    assert captured.err == ""


@pytest.mark.slow
def test_a_model_with_a_custom_family_needs_python(tmp_path, capsys):
    custom = from_functions(
        lambda points: np.polyfit(points[:, 0], points[:, 1], 1),
        lambda rows, params: np.abs(rows[:, 1] - np.polyval(params, rows[:, 0])),
        sample_size=2, n_features=2, name="slope",
    )  # fmt: skip
    PreferenceIsolationForest.paper(custom, sigma=0.02, **SMALL).fit(X).save(tmp_path / "m.pif")
    assert score(put(tmp_path / "a.csv"), "--model", tmp_path / "m.pif") == 1
    printed = capsys.readouterr().err
    assert "a custom family, 'slope', which a file cannot hold: pass it again in Python" in printed
    assert printed.count("\n") == 1


def test_errors_of_files_are_one_line(model, tmp_path, capsys):
    path = put(tmp_path / "a.csv")
    cases = {
        "absent.csv: there is no such file": [tmp_path / "absent.csv", "--model", model],
        "absent.pif: there is no such file": [path, "--model", tmp_path / "absent.pif"],
        "is not a piforest model, or it is damaged": [path, "--model", path],
        "already exists; --force overwrites it": [path, "--model", model, "--out", path],
        "a name must end in one of": [path, "--model", model, "--out", tmp_path / "o.doc"],
        "holds numbers, and column 'name'": [path, "--model", model, "--out", tmp_path / "o.ply"],
        "there is no folder": [path, "--model", model, "--out", tmp_path / "no" / "o.csv"],
    }
    for message, args in cases.items():
        assert score(*args) == 1
        captured = capsys.readouterr()
        assert message in captured.err
        assert captured.err.count("\n") == 1
        assert captured.out == ""
    assert os.listdir(tmp_path) == ["a.csv"]
    assert score(path, "--model", model, "--out", path, "--force") == 0
    assert path.read_text().startswith("name,north,east,score,anomaly,structure,distance\n")


def test_another_threshold_can_be_given(model, tmp_path, capsys):
    path = put(tmp_path / "a.csv")
    assert score(path, "--model", model, "--threshold", "0.5", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    scores, _ = expected(model, X[:, ::-1])
    assert answer["threshold"] == 0.5
    assert answer["anomalies"] == (scores > 0.5).sum()


def test_a_bad_row_late_in_the_file_leaves_no_output(model, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("piforest.apps.cli.score._ROWS", 50)
    path = put(tmp_path / "a.csv")
    path.write_text(path.read_text() + "last,1,abc\n")
    assert score(path, "--model", model, "--out", tmp_path / "o.parquet") == 1
    message = f"row {len(X) + 1} of column 'east' is 'abc', not a number"
    assert message in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["a.csv"]


def test_the_count_of_rows_is_shown_on_a_terminal_only(model, tmp_path, monkeypatch, capsys):
    path = put(tmp_path / "a.csv")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert score(path, "--model", model) == 0
    assert f"piforest: {len(X)} rows\r" in capsys.readouterr().err
    monkeypatch.setattr("piforest.apps.cli.score._ROWS", len(X) // 2)
    np.save(tmp_path / "a.npy", X[: len(X) // 2 * 2])
    assert score(tmp_path / "a.npy", "--model", model, "--columns", "x0,x1") == 0
    printed = capsys.readouterr().err
    assert f"rows of {len(X) // 2 * 2} [{'=' * 15}{' ' * 15}]\r" in printed
    assert f"[{'=' * 30}]" in printed
    assert score(path, "--model", model, "--quiet") == 0
    assert capsys.readouterr().err == ""


LIMITED = """
    import resource, sys
    import numpy as np
    from piforest import PreferenceIsolationForest
    from piforest.apps import cli
    from piforest.datasets import make_lines

    def score(path, out):
        return cli.main(
            ["score", path, "--model", "m.pif", "--out", out, "--quiet", "--columns", "x0,x1"]
        )

    X = make_lines(3, noise=0.01, anomaly_share=0.25, random_state=0).data
    PreferenceIsolationForest(
        "line", n_models=200, n_estimators=5, pool_size=100, random_state=0
    ).fit(X).save("m.pif")
    small, large, warm, out = sys.argv[1:]
    code = score(small, warm)  # compiled, imported and started before the limit
    used = int(next(l for l in open("/proc/self/status") if l.startswith("VmData")).split()[1])
    limit = 1024 * used + 48 * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    try:
        np.ones(2**23)
        sys.exit("there is no limit")
    except MemoryError:
        pass
    sys.exit(score(large, out) or code)
"""


def put_large(path, n):
    """n rows of 24 columns, the same 1,000 again and again."""
    few = np.random.default_rng(0).uniform(-1, 1, (1000, 24))
    if path.suffix == ".npy":
        np.save(path, np.tile(few, (n // 1000, 1)))
    elif path.suffix == ".parquet":
        columns = {f"x{k}": np.tile(few[:, k], n // 1000) for k in range(24)}
        pq.write_table(pa.table(columns), path, row_group_size=n, use_dictionary=False)
    else:
        text = "\n".join(",".join(map(repr, row)) for row in few.tolist()) + "\n"
        with open(path, "w") as file:
            file.write(",".join(f"x{k}" for k in range(24)) + "\n")
            file.writelines(text for _ in range(n // 1000))
    return str(path)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux's RLIMIT_DATA")
@pytest.mark.parametrize(
    ("end", "n"), [(".npy", 300_000), (".parquet", 300_000), (".csv", 120_000)]
)
def test_scoring_a_file_takes_the_same_memory_for_any_length(end, n, tmp_path):
    """48 MB more than before are enough for files that hold 55 MB and more."""
    paths = [put_large(tmp_path / f"{rows}{end}", rows) for rows in (20_000, n)]
    assert os.path.getsize(paths[1]) > 50e6 or end == ".parquet"
    out = tmp_path / f"out{end}"
    command = [sys.executable, "-c", textwrap.dedent(LIMITED), *paths, f"warm{end}", str(out)]
    # The allocator of Arrow would reserve a gigabyte before the limit is set.
    env = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, env=env
    )
    assert result.returncode == 0, result.stderr
    assert sum(len(block) for block in read_blocks(out, 50_000)) == n


@pytest.mark.parametrize("rows_at_once", [7, 16_384])
@pytest.mark.parametrize("n", [0, 5, 40])
def test_rows_outside_the_ranges_of_the_model_are_counted(
    model, tmp_path, monkeypatch, capsys, rows_at_once, n
):
    monkeypatch.setattr("piforest.apps.cli.score._ROWS", rows_at_once)
    rows = X.copy()
    rows[:n] += 9
    path = put(tmp_path / "new.csv", rows)
    assert score(path, "--model", model, "--json") == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert json.loads(captured.out)["outside_ranges"] == n
    assert score(path, "--model", model) == 0
    line = f"outside     {n} of {len(X)} rows are outside the ranges in which the model was fitted"
    assert (line in capsys.readouterr().out) == (n == 40)
