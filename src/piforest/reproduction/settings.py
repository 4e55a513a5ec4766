"""The experiments: datasets, methods, sigmas, and the published numbers."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from .. import __version__
from .._random import Stream
from ..datasets.published import ADELAIDERMF, SYNTHETIC2D, data_file

# k of LOF, as in the paper "from 10 to 500".
NEIGHBOURS = (10, 25, 50, 75, 80, 100, 125, 150, 200, 250, 300, 400, 500)
# iFor and EiFor on preferences need a far larger sigma than PIF: they get the best of these
# multiples of the sigma of PIF for each family, as LOF gets its best k.
WIDTHS = (1, 8, 16, 32, 128)
# One sigma for all image pairs, in pixels; the 2D datasets have their true noise.
PIXELS = 4.0

# The embedding of the paper.
PAPER: dict[str, Any] = {
    "sampler": "uniform",
    "scale": "fixed",
    "weighting": "none",
    "in_sample_preferences": True,
}

# Shares of anomalies among 1,000 points, on two datasets.
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SHARE_SETS = ("stair3", "circle5")
SHARE_SAMPLES = 1000

_IN_THE_PLANE = ("lof_l2", "ifor_l2", "eifor_l2", "pif_l2")
_BINARY = ("lof_jac", "ifor_bin", "eifor_bin", "pif_jac")
_PREFERENCE = ("lof_tani", "ifor_pref", "eifor_pref", "pif")

Spaces = tuple[tuple[str, tuple[str, ...]], ...]
"""(embedding, methods) pairs; methods of one embedding are compared"""


@dataclass(frozen=True)
class Table:
    """A table of the paper: datasets, methods by embedding, number of models."""

    name: str
    title: str
    sets: tuple[str, ...]
    spaces: Spaces
    models_per_point: int

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(method for _, methods in self.spaces for method in methods)

    def space(self, method: str) -> str:
        return next(space for space, methods in self.spaces if method in methods)

    def published(self) -> dict[str, dict[str, float]]:
        """dataset -> method -> published AUC; "Mean" is one of the datasets."""
        rows = _read(f"table_{self.name}_auc.csv")
        columns = [column for column in rows[0] if column != "dataset"]
        return {
            row["dataset"]: {m: float(row[c]) for m, c in zip(self.methods, columns)}
            for row in rows
        }


def _read(file: str) -> list[dict[str, str]]:
    path = resources.files("piforest.reproduction").joinpath("published", file)
    return list(csv.DictReader(path.read_text().splitlines()))


def _real(family: str) -> tuple[str, ...]:
    return tuple(name for name, kind in ADELAIDERMF.items() if kind == family)


_ALONE: Spaces = (("Preference", _PREFERENCE),)
TABLES = {
    "synthetic": Table(
        "synthetic",
        "Lines and circles in the plane",
        tuple(SYNTHETIC2D),
        (("Euclidean", _IN_THE_PLANE), ("Preference binary", _BINARY), ("Preference", _PREFERENCE)),
        10,
    ),
    "homography": Table("homography", "Homographies", _real("homography"), _ALONE, 6),
    "fundamental": Table("fundamental", "Fundamental matrices", _real("fundamental"), _ALONE, 6),
}


def family_of(name: str) -> str:
    return SYNTHETIC2D[name][0] if name in SYNTHETIC2D else ADELAIDERMF[name]


def sigma_of(name: str) -> float:
    return SYNTHETIC2D[name][1] if name in SYNTHETIC2D else PIXELS


def table_of(name: str) -> Table:
    return next(table for table in TABLES.values() if name in table.sets)


def candidates(method: str) -> tuple[int, ...]:
    """The settings that a method gets the best of: k of LOF, sigma factors of iFor and EiFor."""
    if method.startswith("lof"):
        return NEIGHBOURS
    return WIDTHS if method.endswith(("_bin", "_pref")) else (1,)


@dataclass(frozen=True)
class Variant:
    """Another setting of PIF and LOF than in the tables, to measure its effect."""

    name: str
    kernel: str = "gaussian"
    sigma: float = 1.0
    """a factor of that of the tables"""
    models: int = 1
    """a factor of that of the tables"""


VARIANTS = (
    Variant("as in the tables"),
    Variant("sigma / 4", sigma=0.25),
    Variant("sigma / 2", sigma=0.5),
    Variant("sigma x 2", sigma=2),
    Variant("sigma x 4", sigma=4),
    Variant("the paper's kernel", kernel="paper"),
    Variant("the paper's kernel, sigma / 2", kernel="paper", sigma=0.5),
    Variant("the paper's kernel, sigma x 2", kernel="paper", sigma=2),
    Variant("models x 2", models=2),
    Variant("models x 5", models=5),
)
VARIANT_RUNS = 5


@dataclass(frozen=True)
class Job:
    """All methods on one dataset in one run, with everything that the result depends on."""

    part: str
    dataset: str
    run: int
    seed: int
    spaces: Spaces
    sigma: float
    models_per_point: int
    kernel: str = "gaussian"
    """of the embedding "Preference" """
    widths: tuple[int, ...] = WIDTHS
    neighbours: tuple[int, ...] = NEIGHBOURS
    label: str = ""
    anomaly_share: float = 0.5
    n_samples: int | None = None
    n_estimators: int = 100
    max_samples: int = 256
    data: str = ""
    """digest of the file"""
    version: str = __version__

    @property
    def key(self) -> str:
        label = "".join(c if c.isalnum() or c == "." else "_" for c in self.label)
        return "-".join(filter(None, (self.part, self.dataset, label, str(self.run))))

    @property
    def random_state(self) -> int:
        """The same for variants as for the table: they use the same points and models."""
        if self.part == "share":
            path: tuple[str | int, ...] = (self.part, self.dataset, self.label, self.run)
        else:
            path = (table_of(self.dataset).name, self.dataset, self.run)
        return int(Stream(self.seed).child(*path).key % 2**31)

    @property
    def counts(self) -> dict[str, int]:
        """method -> number of settings."""
        tried = {"lof": len(self.neighbours), "ifor": len(self.widths), "eifor": len(self.widths)}
        return {
            method: 1 if method in ("ifor_l2", "eifor_l2") else tried.get(method.split("_")[0], 1)
            for _, methods in self.spaces
            for method in methods
        }

    def is_complete(self, cell: dict[str, Any]) -> bool:
        """Whether a cell has an AUC for every setting of every method."""
        aucs = cell["auc"]
        return all(
            len(aucs[method]) == count and all(0 <= auc <= 1 for auc in aucs[method])
            for method, count in self.counts.items()
        )

    def settings(self) -> dict[str, Any]:
        """What the result depends on; cells with other settings are not used."""
        return asdict(self)


def table_jobs(name: str, sets: Sequence[str], runs: int, seed: int) -> list[Job]:
    table = TABLES[name]
    return [
        Job(
            name, dataset, run, seed, table.spaces, sigma_of(dataset), table.models_per_point,
            data=digest(data_file(dataset)),
        )
        for dataset in sets
        for run in range(runs)
    ]  # fmt: skip


def share_jobs(sets: Sequence[str], shares: Sequence[float], runs: int, seed: int) -> list[Job]:
    return [
        Job(
            "share", dataset, run, seed, _ALONE, sigma_of(dataset), 10, widths=(1, 32),
            label=str(share), anomaly_share=share, n_samples=SHARE_SAMPLES,
            data=digest(data_file(dataset)),
        )
        for dataset in sets
        for share in shares
        for run in range(runs)
    ]  # fmt: skip


def variant_jobs(sets: Sequence[str], runs: int, seed: int) -> list[Job]:
    return [
        Job(
            "variants", dataset, run, seed, (("Preference", ("lof_tani", "pif")),),
            sigma_of(dataset) * variant.sigma,
            table_of(dataset).models_per_point * variant.models,
            kernel=variant.kernel, widths=(1,), label=variant.name,
            data=digest(data_file(dataset)),
        )
        for dataset in sets
        for variant in VARIANTS
        for run in range(min(runs, VARIANT_RUNS))
    ]  # fmt: skip


@cache
def digest(path: Path) -> str:
    """A digest of the content of a file; empty if it does not exist."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else ""


def published_neighbours() -> list[dict[str, str]]:
    """The best k of LOF in the paper, a row for each family."""
    return _read("lof_best_k.csv")


def published_sizes() -> dict[str, str]:
    """dataset -> sizes of its structures in the paper."""
    return {row["dataset"]: row["sizes"] for row in _read("synthetic_settings.csv")}
