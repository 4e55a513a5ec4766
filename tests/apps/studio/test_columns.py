"""The columns of a file before a run: roles, missing values, steps, units."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="piforest[studio] is not installed")
from piforest.apps.studio import columns


def described(tmp_path, text, kind="table", roles=None, name="a.csv"):
    (tmp_path / name).write_text(text)
    return columns.describe(str(tmp_path / name), kind, roles or {})


def table(rows):
    return "\n".join(["id,when,x,y,note", *rows, ""])


@pytest.fixture
def text():
    rng = np.random.default_rng(0)
    rows = [
        f"{k},2024-01-{1 + k % 28:02d},{rng.normal():.5f},{1000 * rng.integers(0, 90) / 10},n{k}"
        for k in range(200)
    ]
    rows[7] = "7,2024-01-02,,300.0,lost"
    return table(rows)


def test_columns_have_roles_with_reasons(tmp_path, text):
    found = described(tmp_path, text)
    roles = {each["name"]: (each["role"], each["type"]) for each in found["columns"]}
    assert roles == {
        "id": ("ignore", "number"), "when": ("ignore", "date"), "x": ("coordinate", "number"),
        "y": ("coordinate", "number"), "note": ("ignore", "text"),
    }  # fmt: skip
    reasons = {each["name"]: each["reason"] for each in found["columns"]}
    assert reasons["id"] == "the points are x, y" or "row" in reasons["id"]
    assert found["rows"] == found["looked_at"] == 200
    assert len(found["preview"]) == 20
    assert found["preview"][0][0] == "0"


def test_missing_numbers_units_and_steps_are_findings_with_ways_out(tmp_path, text):
    found = described(tmp_path, text)
    by_code = {each["code"]: each for each in found["findings"]}
    assert set(by_code) == {"missing", "units_differ", "rounded_columns"}
    assert by_code["missing"]["action"]["settings"] == {"missing": "skip"}
    assert by_code["units_differ"]["action"]["settings"] == {"scale_columns": True}
    x, y = found["columns"][2:4]
    assert (x["missing"], x["step"], y["step"]) == (1, None, pytest.approx(100))


def test_chosen_roles_stay(tmp_path, text):
    found = described(tmp_path, text, "series", {"y": "target"})
    roles = {each["name"]: (each["role"], each["reason"]) for each in found["columns"]}
    assert roles["y"] == ("target", "chosen")
    assert roles["when"][0] == "time"


def test_the_beginning_of_a_large_file_is_enough(tmp_path, monkeypatch):
    whole = "\n".join(["x,y", *(f"{k},{k % 7}.5" for k in range(500)), ""])
    every = described(tmp_path, whole)
    assert (every["rows"], every["looked_at"]) == (500, 500)
    monkeypatch.setattr(columns, "_MOST_ROWS", 100)
    some = described(tmp_path, whole)
    assert (some["rows"], some["looked_at"]) == (None, 100)
    assert some["findings"][-1]["text"] == "The first 100 rows were looked at."
    assert some["columns"][0]["high"] == 99


def test_blocks_are_joined_as_one_table(tmp_path, monkeypatch):
    """Of a format that is read in parts, with missing values in some of them."""
    import pandas as pd

    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"x": np.arange(400.0), "n": pd.array([None, *range(399)], "Int64")})
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=50)
    found = columns.describe(str(tmp_path / "a.parquet"), "table", {})
    assert found["rows"] == 400
    assert [each["missing"] for each in found["columns"]] == [0, 1]


def test_a_table_without_numbers_says_so(tmp_path):
    found = described(tmp_path, "a,b\nx,y\nu,v\n")
    assert found["findings"][0]["code"] == "no_columns"
    assert "no numeric column" in found["findings"][0]["text"]


def test_the_units_of_a_law_may_differ(tmp_path):
    rows = "\n".join(f"{k / 7:.5f},{k / 7 * 3000:.2f}" for k in range(1, 100))
    codes = {name: [each["code"] for each in described(tmp_path, f"{name}\n{rows}\n")["findings"]]
             for name in ("x,y", "size,price")}  # fmt: skip
    assert "units_differ" in codes["x,y"]
    assert "units_differ" not in codes["size,price"]


def test_numbers_of_single_precision_have_its_digits(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[0.1, 2.5], [3.0, 4.25]], np.float32))
    found = columns.describe(str(tmp_path / "a.npy"), "table", {})
    assert found["preview"] == [["0.1", "2.5"], ["3.0", "4.25"]]


def prices(n=120, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.integers(30, 140, n)
    price = np.round((3000 * size + 20000 + rng.normal(0, 4000, n)) / 100) * 100
    return "size,price\n" + "\n".join(f"{a},{b:.0f}" for a, b in zip(size, price)) + "\n"


def test_the_column_that_laws_predict_is_shown_as_the_target(tmp_path):
    size, price = described(tmp_path, prices())["columns"]
    assert (size["role"], price["role"]) == ("coordinate", "target")
    assert price["suggested"] is True
    chosen = described(tmp_path, prices(), roles={"size": "target"})["columns"]
    assert [each["role"] for each in chosen] == ["target", "coordinate"]
    assert not any(each.get("suggested") for each in chosen)


def test_a_column_of_few_digits_is_said_to_be_rounded_and_only_a_coarse_one_is_a_finding(tmp_path):
    found = described(tmp_path, prices())
    assert [each["step"] for each in found["columns"]] == [1, 100]
    texts = [each["text"] for each in found["findings"]]
    assert "Values are rounded: size to 1." in texts
    fine = described(tmp_path, "x,y\n" + "".join(f"{k / 7:.9f},{k % 3}\n" for k in range(90)))
    assert [each["step"] for each in fine["columns"]] == [None, None]


def test_a_date_that_is_none_makes_the_column_text_and_is_named(tmp_path):
    rows = [f"2024-01-{1 + k % 28:02d} 0{k % 9}:00:00,{k},{k * k}" for k in range(1100)]
    rows[1050] = "2024-01-01 25:00:00,5,6"
    found = described(tmp_path, "when,a,b\n" + "\n".join(rows) + "\n")
    assert found["columns"][0]["type"] == "text"
    [bad] = [each for each in found["findings"] if each["code"] == "bad_date"]
    assert bad["text"].startswith("Row 1051 of column 'when' is '2024-01-01 25:00:00', not a date")


def test_text_that_is_chosen_as_a_coordinate_is_named_and_the_page_stays(tmp_path):
    text = "place,x,y\n" + "".join(f"p{k % 3},{k * 1.37 % 5:.3f},{k}\n" for k in range(60))
    found = described(tmp_path, text, roles={"place": "coordinate"})
    assert found["columns"][0]["role"] == "coordinate"
    [said] = [each for each in found["findings"] if each["code"] == "no_numbers"]
    assert said["text"] == "No numbers are in place."
