"""The built-in examples: six files with a story, each made from a seed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ..server.guard import Refused

_SEED = 7


class Example(NamedTuple):
    """Files and their description."""

    title: str
    story: str
    kind: str
    """of the project"""
    source: str
    """the kind of its files"""
    files: tuple[tuple[str, Callable[[Path], None]], ...]
    settings: dict[str, Any]
    """the settings of a new project"""


def listed() -> list[dict[str, str]]:
    """The examples, for a page."""
    return [
        {"name": name, "title": each.title, "story": each.story, "kind": each.kind}
        for name, each in EXAMPLES.items()
    ]


def find(name: str) -> Example:
    if name not in EXAMPLES:
        raise Refused(404, f"there is no example {name!r}; examples: {', '.join(EXAMPLES)}.")
    return EXAMPLES[name]


def _csv(path: Path, names: list[str], columns: list[Any]) -> None:
    from ...io.tables import Table, write_table

    write_table(path, Table(dict(zip(names, columns)), path.name))


def _motors(path: Path) -> None:
    """Electric power by speed and torque; some meters were read wrongly."""
    import numpy as np

    rng = np.random.default_rng(_SEED)
    speed, torque = rng.uniform(800, 3000, 600), rng.uniform(5, 60, 600)
    power = 0.9 * speed + 31 * torque + 120 + rng.normal(0, 15, 600)
    wrong = rng.permutation(600)[:42]
    power[wrong] = rng.uniform(power.min(), power.max(), 42)
    site = np.array([f"site {k}" for k in rng.integers(1, 5, 600)], object)
    _csv(path, ["site", "speed_rpm", "torque_nm", "power_w"],
         [site, speed.round(1), torque.round(2), power.round(1)])  # fmt: skip


def _circles(path: Path) -> None:
    from ...datasets import make_circles

    X = make_circles(3, sizes=160, anomaly_share=0.3, random_state=_SEED).data
    _csv(path, ["x", "y"], list(X.T.round(5)))


def _room(path: Path) -> None:
    from ...datasets import make_room
    from ...io.tables import Table, write_table

    X = make_room(5, sizes=600, noise=0.006, anomaly_share=0.15, random_state=_SEED).data
    write_table(path, Table(dict(zip("xyz", X.T.astype("f4"))), path.name, points=("x", "y", "z")))


def _photograph(which: int) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        from ...datasets import make_plane_pair
        from ...report.images import png

        pair = make_plane_pair(2, sizes=60, random_state=_SEED)
        path.write_bytes(png(pair.images[which]))

    return write


def _panel(path: Path) -> None:
    """The depth of a curved panel with two dents and a scratch, in millimetres."""
    import numpy as np

    rng = np.random.default_rng(_SEED)
    v, u = np.mgrid[:90, :120].astype(float)
    depth = 900 + 0.3 * u + 0.0036 * (u - 60) ** 2 + 0.12 * v + rng.normal(0, 0.25, u.shape)
    depth[(u - 35) ** 2 + (v - 30) ** 2 < 40] += 4.0
    depth[(u - 85) ** 2 + (v - 60) ** 2 < 30] -= 3.0
    depth[70:72, 15:55] += 2.5
    depth[:, :2] = np.nan  # the camera sees nothing there
    np.save(path, depth.astype(np.float32))


def _pump(path: Path) -> None:
    """Four channels of a pump; for a while its outlet is blocked, later a sensor drifts."""
    import numpy as np

    rng = np.random.default_rng(_SEED)
    seconds = np.arange(0, 1800, 2.0)
    load = 3 + np.sin(seconds / 90) + 0.4 * np.sin(seconds / 23)
    flow, pressure, current = 12 * load, 2.1 * load + 1, 0.8 * load + 0.5
    vibration = 0.3 * load
    blocked = (seconds >= 700) & (seconds < 780)
    flow, pressure = np.where(blocked, 0.55 * flow, flow), np.where(blocked, pressure + 2, pressure)
    drift = (seconds >= 1400) & (seconds < 1500)
    current = current + np.where(drift, (seconds - 1400) / 60, 0)
    channels = [flow, pressure, current, vibration]
    noisy = [each + rng.normal(0, 0.02 * each.std(), len(each)) for each in channels]
    _csv(path, ["seconds", "flow_l_min", "pressure_bar", "current_a", "vibration_mm_s"],
         [seconds, *(each.round(4) for each in noisy)])  # fmt: skip


EXAMPLES: dict[str, Example] = {
    "motors": Example(
        "Motors on a test bench",
        "Power follows speed and torque by one law; 42 of 600 readings do not.",
        "table", "table", (("motors.csv", _motors),),
        {"roles": {"site": "ignore", "speed_rpm": "coordinate", "torque_nm": "coordinate",
                   "power_w": "target"}},
    ),
    "circles": Example(
        "Three circles in a cloud of points",
        "480 points lie on three circles; the others lie anywhere.",
        "table", "table", (("circles.csv", _circles),), {},
    ),
    "room": Example(
        "The scan of a room",
        "The floor, the walls and a table of a room, and stray points on none of them.",
        "scan", "scan", (("room.ply", _room),), {},
    ),
    "photographs": Example(
        "Two photographs of a wall",
        "Two planes were photographed from two places; false matches between the photographs "
        "follow neither.",
        "matches", "image", (("left.png", _photograph(0)), ("right.png", _photograph(1))),
        {},
    ),
    "panel": Example(
        "The depth map of a panel",
        "A curved panel 0.9 m away has two dents and a scratch, 2.5 to 4 mm deep.",
        "map", "image", (("panel.npy", _panel),), {"families": ["polynomial_regression"]},
    ),
    "pump": Example(
        "A pump over half an hour",
        "Four channels rise and fall together, except while the outlet is blocked and while a "
        "sensor drifts.",
        "series", "table", (("pump.csv", _pump),), {"roles": {
            "seconds": "time", "flow_l_min": "coordinate", "pressure_bar": "coordinate",
            "current_a": "coordinate", "vibration_mm_s": "coordinate"}},
    ),
}  # fmt: skip
