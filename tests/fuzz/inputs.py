"""Input number i of a seed."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from . import mutations, structures
from .mutations import pick

_MUTATORS = {
    ".csv": mutations.mutate_text,
    ".tsv": mutations.mutate_text,
    ".txt": mutations.mutate_text,
    ".xyz": mutations.mutate_text,
    ".jsonl": mutations.mutate_json_lines,
    ".npy": structures.mutate_npy,
    ".npz": structures.mutate_npz,
    ".mat": structures.mutate_mat,
    ".pcd": structures.mutate_pcd,
    ".ply": structures.mutate_ply,
    ".las": structures.mutate_las,
    ".laz": structures.mutate_las,
    ".parquet": structures.mutate_parquet,
    ".yml": mutations.mutate_text,
    ".json": mutations.mutate_text,
    ".xlsx": structures.mutate_excel,
}
_BYTES = (".arrow", ".arrows", ".feather")
_IMAGES = (".png", ".jpg")
# The keypoints that the matches of hloc refer to.
KEYPOINTS = "features.h5"
# The number of models and commands among ten inputs; the others are files for the readers.
_MODELS, _COMMANDS = 3, 2
_OUT = (
    ".csv", ".parquet", ".npy", ".ply", ".las", ".laz", ".tsv", ".xyz", ".csv.gz", ".jsonl.zst",
    ".feather", ".txt.zip", ".xlsx", ".pcd",
)  # fmt: skip
_ARGUMENTS = (
    "--json", "--quiet", "--missing=skip",
    "--dates=days", "--groups=id", "--sheet=points", "--header", "--no-header", "--force", "--help",
    "--decimal=,", "--delimiter=;", "--delimiter=", "--delimiter=\x00", "--columns=x,y",
    "--columns=x", "--columns=", "--columns=x,x", "--columns=y,note", "--array=X", "--array=",
    "--sigma=1e-300", "--sigma=nan", "--sigma=1e300", "--contamination=0.5",
    "--contamination=1e-9", "--family=circle", "--family=line,line", "--family=",
    "--family=homography", "--family=polynomial", "--option=degree=3", "--option=degree=0",
    "--option=degree=99999999999", "--option=degree=[1]", "--option=a", "--seed=4294967295",
    "--seed=-1", "--models=1", "--trees=1", "--jobs=1", "--jobs=0", "--device=cuda", "--device=x",
    "--threshold=0.5", "--threshold=2", "--row=1", "--row=99999", "--row=0",
)  # fmt: skip


class Input(NamedTuple):
    kind: str
    """model, reader or command"""
    name: str
    """of the file that it was made from"""
    path: Path
    raw: bool = False
    """were bytes changed and nothing made to fit them, not even a checksum?"""
    command: tuple[str, ...] = ()


def make_input(seed, number, corpus, folder):
    """The input, and its file in a folder that is empty but for it."""
    rng = np.random.default_rng([seed, number])
    tenth = int(rng.integers(10))
    if tenth < _MODELS:
        return _model(rng, corpus, folder)
    files = [name for name in corpus if Path(name).suffix not in (".pif", *_IMAGES)]
    if tenth >= _MODELS + _COMMANDS:
        name = pick(rng, files)
        (folder / KEYPOINTS).write_bytes(corpus[KEYPOINTS])
        return Input("reader", name, _put(rng, name, corpus, folder))
    return _command(rng, files, corpus, folder)


def _model(rng, corpus, folder):
    name = pick(rng, [each for each in corpus if each.endswith(".pif")])
    raw = rng.random() < 0.25
    change = mutations.mutate_bytes if raw else structures.mutate_model
    path = folder / "input.pif"
    path.write_bytes(change(rng, corpus[name]))
    return Input("model", name, path, raw)


def _put(rng, name, corpus, folder):
    """A changed file, now and then under a name of another format."""
    content, suffix = corpus[name], Path(name).suffix
    if suffix in (".db", ".h5"):
        change = structures.mutate_database if suffix == ".db" else structures.mutate_hdf5
        content = change(rng, content, folder.parent)
    elif suffix in mutations.PACKERS:
        content = mutations.mutate_packed(rng, content, suffix)
    else:
        content = _MUTATORS.get(suffix, mutations.mutate_bytes)(rng, content)
    if rng.random() < 0.03:
        suffix = pick(rng, [*_MUTATORS, *_BYTES, *mutations.PACKERS])
    path = folder / f"input{'.csv' * (suffix in mutations.PACKERS)}{suffix}"
    path.write_bytes(content)
    return path


def _command(rng, files, corpus, folder):
    command = pick(rng, ("detect", "score", "explain", "cloud", "matches"))
    name = pick(rng, files)
    if command == "matches":
        name = pick(rng, [each for each in corpus if Path(each).suffix in _IMAGES])
    path = folder / f"input{''.join(Path(name).suffixes[-2:])}"
    pack = mutations.PACKERS.get(Path(name).suffix, bytes)
    path.write_bytes(pack(corpus[name]))
    if rng.random() < 0.5:
        path.unlink()
        path = _put(rng, name, corpus, folder)
    few = ["--models", "40", "--trees", "3", "--jobs", "1"]
    out = ["--out", folder / f"out{pick(rng, _OUT)}"]
    if command in ("score", "explain"):
        (folder / "model.pif").write_bytes(corpus["new_default.pif"])
        words = [path, "--model", folder / "model.pif", *(out if command == "score" else [])]
    elif command == "matches":
        (folder / "other.png").write_bytes(corpus["image.png"])
        words = [path, folder / "other.png", "--family", "homography", *few, *out]
    else:
        family = pick(rng, ("line", "hyperplane", "plane", "linear_regression"))
        words = [path, "--family", family, *few, *out]
    options = [pick(rng, _ARGUMENTS) for _ in range(int(rng.integers(3)))]
    return Input("command", name, path, command=tuple(map(str, (command, *words, *options))))
