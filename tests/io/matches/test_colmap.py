"""Matches between two images: tables, and COLMAP's databases."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from colmap_files import PAIR, PAIRS, POINTS, put_colmap
from piforest.families import get_family
from piforest.io.matches import read_matches
from piforest.io.tables import pick_columns


def test_the_matches_of_the_only_pair_of_a_database_are_read(tmp_path):
    table = read_matches(put_colmap(tmp_path / "a.db"))
    assert table.names == ["x1", "y1", "x2", "y2", "index1", "index2", "verified"]
    X = table.numbers(pick_columns(table, None, get_family("homography")))
    assert np.allclose(X[:, :2], POINTS[2][PAIRS[:, 0], :2], atol=1e-4)
    assert np.allclose(X[:, 2:], POINTS[5][PAIRS[:, 1], :2], atol=1e-4)
    assert table.columns["verified"].tolist() == [True] * 12 + [False] * 8


def test_a_pair_is_read_in_the_order_of_its_names(tmp_path):
    path = put_colmap(tmp_path / "a.db")
    table, other = (read_matches(path, pair=pair) for pair in
                    (("left.jpg", "right.jpg"), ("right.jpg", "left.jpg")))  # fmt: skip
    assert np.array_equal(
        table.numbers(["x1", "y1", "index1"]), other.numbers(["x2", "y2", "index2"])
    )
    assert np.array_equal(
        table.numbers(["x2", "y2", "index2"]), other.numbers(["x1", "y1", "index1"])
    )
    assert table.columns["verified"].tolist() == other.columns["verified"].tolist()


def test_verified_matches_stand_in_where_raw_ones_were_not_kept(tmp_path):
    table = read_matches(put_colmap(tmp_path / "a.db", matches=()))
    assert len(table) == 12
    assert table.columns["verified"].all()


def test_a_database_that_cannot_answer_says_why(tmp_path):
    path = put_colmap(tmp_path / "a.db")
    with pytest.raises(ValueError, match=r"no image 'x.jpg'; its images: left.jpg, right.jpg, oth"):
        read_matches(path, pair=("left.jpg", "x.jpg"))
    with pytest.raises(ValueError, match=r"pair must be two images, got 'left.jpg' twice"):
        read_matches(path, pair=("left.jpg", "left.jpg"))
    with pytest.raises(ValueError, match=r"holds no matches between 'left.jpg' and 'other.jpg'"):
        read_matches(path, pair=("left.jpg", "other.jpg"))
    other = 5 * 2147483647 + 7
    put_colmap(tmp_path / "b.db", matches=((PAIR, PAIRS), (other, PAIRS)))
    with pytest.raises(ValueError, match=r"holds 2 pairs .*say which \(--pair\): left.jpg and r"):
        read_matches(tmp_path / "b.db")
    with pytest.raises(ValueError, match=r"name keypoints of 'other.jpg' that are not there"):
        read_matches(tmp_path / "b.db", pair=("right.jpg", "other.jpg"))
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        read_matches(tmp_path / "absent.db")


def test_damaged_databases_are_one_clear_line(tmp_path):
    path = put_colmap(tmp_path / "a.db")
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE matches SET rows = 21")
        database.commit()
    with pytest.raises(ValueError, match=r"an array in its table matches has not the size it says"):
        read_matches(path)
    whole = put_colmap(tmp_path / "b.db").read_bytes()
    for content in (whole[:3000], b"no database" * 100):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"damaged or no COLMAP database"):
            read_matches(path)
    with closing(sqlite3.connect(tmp_path / "c.db")) as database:
        database.execute("CREATE TABLE other (x)")
    with pytest.raises(ValueError, match=r"no COLMAP database \(no such table: images\)"):
        read_matches(tmp_path / "c.db")


def test_a_table_of_matches_has_four_named_columns_or_none(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("ratio,x1,y1,x2,y2\n.5,1,2,3,4\n")
    table = read_matches(path)
    assert pick_columns(table, None, get_family("fundamental")) == ["x1", "y1", "x2", "y2"]
    assert table.names[0] == "ratio"
    path.write_text("1,2,3,4,.5\n5,6,7,8,.6\n")
    assert read_matches(path).names == ["x1", "y1", "x2", "y2", "x4"]
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"must have the columns x1, y1, x2, y2; .*: a, b"):
        read_matches(path)
    path.write_text("x1,y1,x2,y2\n1,2,3,4\n")
    with pytest.raises(ValueError, match=r"a\.csv: a pair is chosen from COLMAP databases"):
        read_matches(path, pair=("a", "b"))
