"""What is run: sets, methods, sigmas, and the numbers that the paper prints."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any

from ..datasets.published import ADELAIDERMF, SYNTHETIC2D

# k of LOF, as in the paper "from 10 to 500".
NEIGHBOURS = (10, 25, 50, 75, 80, 100, 125, 150, 200, 250, 300, 400, 500)
# One sigma for all image pairs of a family, in pixels; the true noise for the 2D sets.
PIXELS = 4.0

_IN_THE_PLANE = ("lof_l2", "ifor_l2", "eifor_l2", "pif_l2")
_BINARY = ("lof_jac", "ifor_bin", "eifor_bin", "pif_jac")
_PREFERENCE = ("lof_tani", "ifor_pref", "eifor_pref", "pif")


@dataclass(frozen=True)
class Table:
    """One table of the paper: its sets, its columns by embedding, and how they are run."""

    name: str
    title: str
    sets: tuple[str, ...]
    spaces: tuple[tuple[str, tuple[str, ...]], ...]
    """(embedding, methods), the competitors of one embedding together"""
    models_per_point: int

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(method for _, methods in self.spaces for method in methods)

    def family(self, name: str) -> str:
        return SYNTHETIC2D[name][0] if name in SYNTHETIC2D else ADELAIDERMF[name]

    def sigma(self, name: str) -> float:
        return SYNTHETIC2D[name][1] if name in SYNTHETIC2D else PIXELS

    def published(self) -> dict[str, dict[str, float]]:
        """set -> method -> AUC as printed, "Mean" among the sets."""
        rows = _read(f"table_{self.name}_auc.csv")
        columns = [column for column in rows[0] if column != "dataset"]
        return {
            row["dataset"]: {m: float(row[c]) for m, c in zip(self.methods, columns)}
            for row in rows
        }


def _read(file: str) -> list[dict[str, str]]:
    path = resources.files("piforest.experiments").joinpath("published", file)
    return list(csv.DictReader(path.read_text().splitlines()))


def _real(family: str) -> tuple[str, ...]:
    return tuple(name for name, kind in ADELAIDERMF.items() if kind == family)


TABLES = {
    "synthetic": Table(
        "synthetic",
        "Lines and circles in the plane",
        tuple(SYNTHETIC2D),
        (("Euclidean", _IN_THE_PLANE), ("Preference binary", _BINARY), ("Preference", _PREFERENCE)),
        10,
    ),
    "homography": Table(
        "homography", "Homographies", _real("homography"), (("Preference", _PREFERENCE),), 6
    ),
    "fundamental": Table(
        "fundamental",
        "Fundamental matrices",
        _real("fundamental"),
        (("Preference", _PREFERENCE),),
        6,
    ),
}


@dataclass(frozen=True)
class Job:
    """All methods on one set in one run: what a finished cell file holds."""

    table: str
    dataset: str
    run: int
    seed: int
    n_estimators: int = 100
    max_samples: int = 256

    @property
    def key(self) -> str:
        return f"{self.table}-{self.dataset}-{self.run}"

    def settings(self) -> dict[str, Any]:
        """What the result depends on; a cell of other settings is not used."""
        table = TABLES[self.table]
        return {
            **asdict(self),
            "sigma": table.sigma(self.dataset),
            "models_per_point": table.models_per_point,
            "neighbours": list(NEIGHBOURS),
        }


def published_neighbours() -> list[dict[str, str]]:
    """The paper's best k of LOF, a row for each family."""
    return _read("lof_best_k.csv")
