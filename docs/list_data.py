"""Write reproduction/data.md: the published data, with sources, sizes and hashes.

PIFOREST_DATA=folder python docs/list_data.py
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

PAGE = Path(__file__).parent / "reproduction" / "data.md"
# Folder: what it is, where it comes from, which command reads it.
SOURCES = {
    "synthetic2d": (
        "the paper's seven 2D sets, points of the structures",
        "Leveni, Magri, Boracchi, Alippi, ICPR 2020, as the authors published them with later work",
        "`piforest reproduce`",
    ),
    "adelaidermf": (
        "38 image pairs with matches and their motions",
        "AdelaideRMF: Wong, Chin, Yu, Suter, ICCV 2011",
        "`piforest reproduce`, `make bench-peers`",
    ),
    "tables": ("cars, Seattle weather", "vega_datasets", "`piforest reproduce --real`"),
    "scans": ("three scans of a box on a floor", "test data of pyRANSAC-3D", "`--real`"),
    "segments": (
        "line segments of nine images with vanishing points",
        "NYU-VP and YUD+: Kluger et al., CVPR 2020",
        "`--real`",
    ),
    "images": (
        "graf, leuven and aloe",
        "examples of pydegensac, samples of OpenCV",
        "`--real`, `make bench-peers`",
    ),
    "terrain": (
        "five samples of laser scans with ground truth",
        "ISPRS filter test: Sithole and Vosselman 2004",
        "`python benchmarks/windows.py`",
    ),
    "potholes": (
        "two road surfaces",
        "Fan et al., IEEE T-IP 2019",
        "`python benchmarks/windows.py`",
    ),
    "skab": (
        "six runs of a water circuit, eight sensors",
        "SKAB: Katser and Kozitsin 2020",
        "`python benchmarks/windows.py`",
    ),
}
TEXT = """\
# The data

None of the published data is part of the package or the repository: they belong to others. Put them into one folder, with the names below, and set `PIFOREST_DATA` to it. `piforest doctor` counts what is there. Without them, `piforest reproduce` says so and exits with code 1; `piforest reproduce --scenes` runs on [scenes by seed](scenes.md) that stand for the seven 2D sets.

`piforest.datasets.fetch_adelaidermf(base_url=...)` downloads AdelaideRMF from a server that you name, and checks the hash of every file.

| folder | what | published by | files | MB | read by | hash |
|---|---|---|---|---|---|---|
{rows}

The hash is the first 16 digits of the SHA-256 of the lines `hash  name` of its files, as `sha256sum *` prints them in the order of the names: `sha256sum * | sha256sum | cut -c1-16`. This page is written by `python docs/list_data.py`.

## The seven 2D sets

| file | bytes | SHA-256 |
|---|---|---|
{sets}
"""  # noqa: E501


def main() -> None:
    root = Path(os.environ["PIFOREST_DATA"])
    rows = []
    for name, (what, source, reader) in SOURCES.items():
        files = _files(root / name)
        size = sum(path.stat().st_size for path in files) / 1e6
        listed = "".join(f"{_hash(path)}  {path.name}\n" for path in files)
        digest = hashlib.sha256(listed.encode()).hexdigest()[:16]
        rows.append([f"`{name}`", what, source, len(files), f"{size:.1f}", reader, f"`{digest}`"])
    sets = [
        [f"`{path.name}`", f"{path.stat().st_size:,}", f"`{_hash(path)}`"]
        for path in _files(root / "synthetic2d")
    ]
    PAGE.write_text(TEXT.format(rows=_lines(rows), sets=_lines(sets)))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _lines(rows: list[list[object]]) -> str:
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


if __name__ == "__main__":
    main()
