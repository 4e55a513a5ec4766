"""A COLMAP database as tests need it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np

RNG = np.random.default_rng(0)
POINTS = {2: RNG.uniform(0, 500, (30, 6)), 5: RNG.uniform(0, 500, (40, 4)), 7: np.ones((3, 2))}
NAMES = {2: "left.jpg", 5: "right.jpg", 7: "other.jpg"}
PAIRS = np.column_stack([RNG.permutation(30)[:20], RNG.permutation(40)[:20]])
PAIR = 2 * 2147483647 + 5


def put_colmap(path, matches=((PAIR, PAIRS),), kept=((PAIR, PAIRS[:12]),)):
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE images (image_id INTEGER, name TEXT, camera_id INTEGER)")
        database.execute("CREATE TABLE keypoints (image_id INTEGER, rows, cols, data BLOB)")
        database.execute("CREATE TABLE matches (pair_id INTEGER, rows, cols, data BLOB)")
        database.execute(
            "CREATE TABLE two_view_geometries (pair_id INTEGER, rows, cols, data BLOB, config, F)"
        )
        for number, points in POINTS.items():
            blob = points.astype(np.float32).tobytes()
            database.execute("INSERT INTO images VALUES (?, ?, 1)", (number, NAMES[number]))
            database.execute(
                "INSERT INTO keypoints VALUES (?, ?, ?, ?)", (number, *points.shape, blob)
            )
        for table, rows, more in (
            ("matches", matches, ""),
            ("two_view_geometries", kept, ", 2, 0"),
        ):
            for pair, each in rows:
                values = (pair, *each.shape, each.astype(np.uint32).tobytes())
                database.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?{more})", values)
        database.commit()
    return path
