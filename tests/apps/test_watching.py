from __future__ import annotations

import json

import numpy as np
import pytest

from piforest.apps.watching import LineFormat, bars


def started(first, **options):
    lines = LineFormat(options.get("columns"), options.get("delimiter"))
    return lines, lines.start(first)


def test_a_header_names_the_columns_and_gets_two_more():
    lines, header = started("id,x,y")
    assert header == "id,x,y,score,anomaly"
    row = lines.parse("a,1,2.5")
    assert (row.values, lines.names) == ([1.0, 2.5], ["x", "y"])
    assert lines.write(row, 0.75, -1) == "a,1,2.5,0.75,1"
    assert lines.write(row, 0.25, 1) == "a,1,2.5,0.25,0"
    assert lines.write(row, np.nan, 0) == "a,1,2.5,,"


def test_without_a_header_all_columns_count():
    lines, header = started("1;2;3")
    assert header is None
    assert lines.delimiter == ";"
    assert lines.parse("4;5;6").values == [4.0, 5.0, 6.0]
    assert lines.names == ["x0", "x1", "x2"]


def test_columns_may_be_chosen_and_must_exist():
    lines, _ = started("id,x,y", columns=["y", "x"])
    assert lines.parse("7,1,2").values == [2.0, 1.0]
    with pytest.raises(ValueError, match=r"no column z; its columns: id, x, y\. Select others"):
        started("id,x,y", columns=["z"])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1", "1 cells instead of 2"),
        ("1,2,3", "3 cells instead of 2"),
        ("1,abc", "x1 is 'abc', not a number"),
        ("1,", "x1 is '', not a number"),
        ("1,nan", "x1 is 'nan', not a number"),
        ('"1,2', "1 cells instead of 2"),
    ],
)
def test_a_broken_line_says_why(line, why):
    lines, _ = started("1,2")
    row = lines.parse(line)
    assert row.values is None
    assert row.error == why
    assert lines.write(row, np.nan, 0) == line + ",,"


def test_json_lines_keep_what_they_hold():
    lines, header = started('{"id": "a", "x": 1, "y": 2}')
    assert header is None
    row = lines.parse('{"id": "ä", "x": 1, "y": 2}')
    assert row.values == [1.0, 2.0]
    assert json.loads(lines.write(row, 0.5, -1)) == {
        "id": "ä", "x": 1, "y": 2, "score": 0.5, "anomaly": True
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "no JSON"),
        ("[1]", "no JSON object"),
        ('{"x": 1}', "y is None, not a number"),
        ('{"x": true, "y": 2}', "x is True, not a number"),
        ('{"x": NaN, "y": 2}', "x is nan, not a number"),
    ],
)
def test_broken_json_is_kept_with_the_reason(line, why):
    lines, _ = started('{"x": 1, "y": 2}')
    lines.parse('{"x": 1, "y": 2}')
    row = lines.parse(line)
    assert row.error.startswith(why)
    out = json.loads(lines.write(row, np.nan, 0))
    assert out["score"] is None
    assert out["anomaly"] is None
    assert out["error"].startswith(why)


def test_bars_grow_with_the_score():
    assert bars(np.array([0.0, 0.5, 1.0, np.nan]), 10) == "▁▅█·"
    assert len(bars(np.ones(50), 10)) == 10
