"""COLMAP databases as tests need them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np

from match_scenes import rotation

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


def put_real_colmap(path, model="SIMPLE_RADIAL", wrong=40):
    """A database that COLMAP itself writes: three images of points in space, with matches that are
    wrong by the share; a fourth image with too few matches. Returns the rotations and translations
    of the three, and the true matches of each pair."""
    import pycolmap

    rng = np.random.default_rng(0)
    params = {"SIMPLE_RADIAL": [700, 320, 240, -0.05], "PINHOLE": [700, 700, 320, 240]}[model]
    camera = pycolmap.Camera(model=model, width=640, height=480, params=params)
    camera.has_prior_focal_length = model == "PINHOLE"
    points = rng.uniform([-1.6, -1.2, 4], [1.6, 1.2, 8], (120, 3))
    poses = [(rotation([0.1, 1, 0], 5 * k), np.array([0.5, 0.05, 0.1]) * k) for k in range(3)]
    database = pycolmap.Database.open(path)
    number = database.write_camera(camera)
    names = ("a.png", "b.png", "c.png", "d.png")
    ids = [database.write_image(pycolmap.Image(name=name, camera_id=number)) for name in names]
    for each, (R, t) in zip(ids, [*poses, poses[0]]):
        pixels = np.asarray(camera.img_from_cam(points @ R.T + t)) + rng.normal(0, 0.3, (120, 2))
        database.write_keypoints(each, pixels.astype(np.float32))
    true = {}
    for i, j in ((0, 1), (0, 2), (1, 2)):
        index = np.column_stack([np.arange(120)] * 2).astype(np.uint32)
        index[:wrong, 1] = np.roll(index[:wrong, 1], 7)
        database.write_matches(ids[i], ids[j], index)
        true[names[i], names[j]] = np.arange(120) >= wrong
    database.write_matches(ids[0], ids[3], np.column_stack([np.arange(9)] * 2).astype(np.uint32))
    database.close()
    return poses, true
