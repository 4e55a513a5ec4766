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
        'F. Leveni, L. Magri, G. Boracchi, C. Alippi, "PIF: Anomaly detection via preference '
        'embedding", ICPR 2020; the authors published the files with later work',
        "`piforest reproduce`",
    ),
    "adelaidermf": (
        "38 image pairs with matches and their motions",
        'AdelaideRMF: H. S. Wong, T.-J. Chin, J. Yu, D. Suter, "Dynamic and hierarchical '
        'multi-structure geometric model fitting", ICCV 2011',
        "`piforest reproduce`, `make bench-peers`",
    ),
    "tables": (
        "cars, Seattle weather",
        "the Python package vega_datasets (github.com/altair-viz/vega_datasets)",
        "`piforest reproduce --real`",
    ),
    "scans": (
        "three scans of a box on a floor",
        "test data of pyRANSAC-3D (github.com/leomariga/pyRANSAC-3D)",
        "`--real`, `python benchmarks/windows.py dents`",
    ),
    "segments": (
        "line segments of nine images with vanishing points",
        "NYU-VP (github.com/fkluger/nyu_vp) and YUD+ (github.com/fkluger/yud_plus): F. Kluger, "
        'E. Brachmann, H. Ackermann, C. Rother, M. Y. Yang, B. Rosenhahn, "CONSAC: Robust '
        'multi-model fitting by conditional sample consensus", CVPR 2020',
        "`--real`",
    ),
    "images": (
        "graf, leuven and aloe",
        "examples of pydegensac (github.com/ducha-aiki/pydegensac), samples of OpenCV",
        "`--real`, `make bench-peers`",
    ),
    "terrain": (
        "five samples of laser scans with ground truth",
        'ISPRS filter test: G. Sithole, G. Vosselman, "Experimental comparison of filter '
        'algorithms for bare-Earth extraction from airborne laser scanning point clouds", ISPRS '
        "Journal of Photogrammetry and Remote Sensing 59 (2004), "
        "doi:10.1016/j.isprsjprs.2004.05.004; "
        "by way of the test data of the Point Cloud Library, which moved them to UTM",
        "`python benchmarks/terrain.py`",
    ),
    "potholes": (
        "two road surfaces",
        "github.com/ruirangerfan/stereo_pothole_datasets: R. Fan, U. Ozgunalp, B. Hosking, M. Liu, "
        'I. Pitas, "Pothole detection based on disparity transformation and road surface '
        'modeling", IEEE Transactions on Image Processing 2019',
        "`python benchmarks/windows.py potholes`",
    ),
    "skab": (
        "six runs of a water circuit, eight sensors",
        'I. D. Katser, V. O. Kozitsin, "Skoltech Anomaly Benchmark (SKAB)", 2020 '
        "(github.com/waico/SKAB, folder valve1)",
        "`python benchmarks/windows.py skab`",
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

## Files

Of AdelaideRMF, the hashes are in [adelaidermf.sha256](../../src/piforest/datasets/adelaidermf.sha256).

| file | bytes | SHA-256 |
|---|---|---|
{files}
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
    listed_files = [
        [f"`{name}/{path.name}`", f"{path.stat().st_size:,}", f"`{_hash(path)}`"]
        for name in SOURCES
        if name != "adelaidermf"
        for path in _files(root / name)
    ]
    PAGE.write_text(TEXT.format(rows=_lines(rows), files=_lines(listed_files)))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file() and path.suffix != ".md")


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _lines(rows: list[list[object]]) -> str:
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


if __name__ == "__main__":
    main()
