"""Sample files to try the commands on, drawn from a seed: a table, two photos, a scan, points.

Tables and scans have the truth in a column that the commands leave alone, so that one can compare.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .._random import Stream
from ..datasets import make_lines, make_plane_pair, make_room
from ..io.atomic import atomic_write
from ..io.tables import Table, write_table
from ..report.images import png

# Price of a flat: a fixed part, and the price of a square metre in each district.
_LAWS = {"centre": (35_000, 6_400), "suburb": (20_000, 3_100)}
_FLATS, _WRONG = 320, 24
# Prices scatter by this share; a wrong one is at least eight times as far from both laws.
_SCATTER = 0.015
# Metres of a unit of `make_room`, and the points of each plane of the scan.
_METRES, _SURFACES = 2.5, (4000, 3000, 2500, 1000, 2000)


class Sample(NamedTuple):
    """What a sample shows, its files, a command to try, and the function that writes them."""

    about: str
    files: tuple[str, ...]
    command: str
    write: Callable[[list[Path], int], None]


def _write_points(paths: list[Path], seed: int) -> None:
    made = make_lines(3, sizes=60, noise=0.01, anomaly_share=0.3, random_state=seed)
    order = _generator(seed, "points").permutation(len(made.data))
    x, y = made.data[order].round(4).T.copy()
    truth = np.where(made.target > 0, "on a line", "on no line")[order].astype(object)
    write_table(paths[0], Table({"x": x, "y": y, "truth": truth}, "points"))


def _write_flats(paths: list[Path], seed: int) -> None:
    rng = _generator(seed, "flats")
    district = rng.choice(list(_LAWS), _FLATS)
    size = rng.integers(28, 140, _FLATS)
    laws = np.array([_LAWS[each] for each in district])
    price = (laws[:, 0] + laws[:, 1] * size) * rng.normal(1, _SCATTER, _FLATS)
    truth = np.full(_FLATS, "right", dtype=object)
    low, high = price.min(), price.max()
    for row in rng.choice(_FLATS, _WRONG, replace=False):
        price[row] = _odd_price(size[row], rng.uniform(low, high, 100))
        truth[row] = "wrong price"
    columns = {
        "id": np.array([f"flat {k:03d}" for k in range(1, _FLATS + 1)], dtype=object),
        "district": district.astype(object),
        "size": size,
        "price": 100 * np.rint(price / 100).astype(int),
        "truth": truth,
    }
    write_table(paths[0], Table(columns, "flats"))


def _odd_price(size: float, drawn: np.ndarray) -> float:
    """The first price that no district has for this size: ordinary alone, odd beside the size."""
    usual = np.array([fixed + metre * size for fixed, metre in _LAWS.values()])
    far = (np.abs(drawn[:, None] / usual - 1) > 8 * _SCATTER).all(axis=1)
    return float(drawn[far][0])


def _write_photos(paths: list[Path], seed: int) -> None:
    for path, pixels in zip(paths, make_plane_pair(2, random_state=seed).images):
        with atomic_write(path) as file:
            file.write(png(pixels))


def _write_scan(paths: list[Path], seed: int) -> None:
    n = len(_SURFACES)
    made = make_room(n, sizes=list(_SURFACES), anomaly_share=0.04, random_state=seed)
    xyz = (_METRES * made.data).astype(np.float32)
    columns = dict(zip("xyz", xyz.T.copy()))
    write_table(paths[0], Table({**columns, "truth": made.target.astype(np.uint8)}, "scan"))


def _generator(seed: int, name: str) -> np.random.Generator:
    return Stream.from_random_state(seed).child("samples", name).generator()


SAMPLES = {
    "table": Sample(
        f"{_FLATS} flats with size and price; {_WRONG} prices are wrong",
        ("flats.csv",),
        "piforest detect flats.csv --out checked.csv --report report.html",
        _write_flats,
    ),
    "photos": Sample(
        "two photos of two walls, taken from two places",
        ("left.png", "right.png"),
        "piforest matches left.png right.png --family homography --ratio 0.95 "
        "--out matches.csv --plot matches.jpg",
        _write_photos,
    ),
    "scan": Sample(
        "a room: floor, three walls and a table, with stray points",
        ("room.ply",),
        "piforest cloud room.ply --out cleaned.ply --plot room.png",
        _write_scan,
    ),
    "points": Sample(
        "points in the plane: three lines, and points on none",
        ("points.csv",),
        "piforest detect points.csv --out scored.csv --plot points.png",
        _write_points,
    ),
}
