"""Model files of earlier versions, damaged files and malicious files."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import piforest
from piforest import PreferenceIsolationForest, VoronoiForest
from piforest.fitted.file_versions import VERSION
from piforest.io import archive as archives

MODELS = Path(__file__).parents[1] / "models"
KINDS = {
    "default": PreferenceIsolationForest,
    "mixed": PreferenceIsolationForest,
    "pif": PreferenceIsolationForest,
    "refined": PreferenceIsolationForest,
    "voronoi": VoronoiForest,
    "voronoi_sparse": VoronoiForest,
}
STORED = list(KINDS)
# Models have been refitted, selected and bounded since version 3.
FIRST_VERSION = {"refined": 3}
FILES = [
    (name, version) for name in KINDS for version in range(FIRST_VERSION.get(name, 1), VERSION + 1)
]
NEW = np.load(MODELS / "scores.npz")["new"]


def rows_for(name):
    if name == "default":
        return pd.DataFrame(NEW, columns=["east", "north"])
    return np.abs(NEW) if name == "voronoi_sparse" else NEW


@pytest.mark.parametrize(("name", "version"), FILES)
def test_a_model_of_any_version_gives_the_stored_scores(name, version):
    detector = piforest.load(MODELS / f"{name}.v{version}.pif")
    assert type(detector) is KINDS[name]
    with np.load(MODELS / "scores.npz") as stored:
        scores, labels = stored[f"{name}.scores"], stored[f"{name}.labels"]
    # The last step of a score is a power, whose last bit depends on the machine.
    assert np.allclose(detector.anomaly_score(rows_for(name)), scores, rtol=1e-13, atol=0)
    assert np.array_equal(detector.predict(rows_for(name)), labels)
    if name in ("default", "mixed", "pif", "refined"):
        assert len(detector.explain(rows_for(name)[:2])) == 2


def outcome(path, name):
    """The scores, or None if the file is rejected with an error of one line that names it."""
    try:
        return piforest.load(path).anomaly_score(rows_for(name))
    except (ValueError, OSError) as error:
        message = str(error)
    assert str(path) in message
    assert "\n" not in message
    return None


@pytest.mark.slow
@pytest.mark.parametrize("name", STORED)
def test_flipped_bytes_and_cuts_are_refused_or_change_nothing(name, tmp_path):
    stored = MODELS / f"{name}.v{FIRST_VERSION.get(name, 1)}.pif"
    whole, expected = stored.read_bytes(), outcome(stored, name)
    rng, path, refused = np.random.default_rng(0), tmp_path / "m.pif", 0
    for k in range(120):
        content = bytearray(whole)
        if k % 4 == 3:
            content = content[: rng.integers(len(whole))]
        else:
            # Half of the flips are in the directory of the archive.
            low = 0 if k % 2 else max(0, len(whole) - 2500)
            for i in rng.integers(low, len(whole), 1 + k % 3):
                content[i] ^= 1 << rng.integers(8)
        path.write_bytes(content)
        scores = outcome(path, name)
        refused += scores is None
        assert scores is None or np.array_equal(scores, expected)
    assert refused > 60


def rebuilt(source, path, change):
    """A copy of an archive; change(name, content) gives the content of each part, or None."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            content = change(part, old.read(part))
            if content is not None:
                new.writestr(part, content)
    return path


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def with_header(name, path, change):
    """A copy of a stored model with a changed header and correct checksums."""

    def changed(part, content):
        if part != "header.npy":
            return content
        header = json.loads(str(np.load(io.BytesIO(content))))
        change(header)
        return npy(np.array(json.dumps(header)))

    return rebuilt(MODELS / f"{name}.v1.pif", path, changed)


def peak_while_rejecting(path, match):
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=match):
            piforest.load(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_a_zip_bomb_is_not_unpacked(tmp_path):
    zeros = npy(np.zeros(12_000_000))
    path = rebuilt(MODELS / "voronoi.v1.pif", tmp_path / "m.pif",
                   lambda part, content: zeros if part == "pool.npy" else content)  # fmt: skip
    assert path.stat().st_size < 1e6
    assert peak_while_rejecting(path, r"damaged: \d+ bytes that unpack to 96\d+ are no model") < 5e6


def test_an_array_that_claims_to_be_larger_is_not_allocated(tmp_path):
    huge = npy(np.zeros(5)).replace(b"(5,), }" + b" " * 12, b"(5000000000000,), }")
    path = rebuilt(MODELS / "voronoi.v1.pif", tmp_path / "m.pif",
                   lambda part, content: huge if part == "pool.npy" else content)  # fmt: skip
    message = r"damaged: its array 'pool': it has not the size that it says"
    assert peak_while_rejecting(path, message) < 5e6


@pytest.mark.parametrize(
    ("part", "content", "message"),
    [
        ("pool.npy", npy(np.array([{}]), allow_pickle=True), "its array 'pool': it holds object"),
        ("pool.npy", npy(np.zeros(3, [("a", "f8")])), "its array 'pool': it holds"),
        ("pool.npy", npy(np.zeros(3, "M8[s]")), "its array 'pool': it holds datetime64"),
        ("pool.npy", npy(np.zeros(3, complex)), "its array 'pool': it holds complex128"),
        ("pool.npy", b"\x93NUMPY\x07\x00", "magic|format|version"),
        ("pool.npy", b"", "magic string"),
        ("pool.npy", npy(np.zeros((3, 2))), "its (pool|trees)"),
        ("pool.npy", npy(np.zeros((0, 2))), "its (pool|trees)"),
        ("header.npy", npy(np.array("[" * 100_000)), "recursion|nested|Expecting|overflow"),
        ("header.npy", npy(np.array("{'a'")), "Expecting"),
        ("header.npy", npy(np.array(["a", "b"])), "Expecting"),
        ("header.npy", None, "it has no 'header'"),
        ("pool.npy", None, "'pool'"),
    ],
    ids=range(13),
)
def test_parts_that_are_not_arrays_are_rejected(part, content, message, tmp_path):
    path = rebuilt(MODELS / "voronoi.v1.pif", tmp_path / "m.pif",
                   lambda name, old: content if name == part else old)  # fmt: skip
    with pytest.raises(ValueError, match=f"not a piforest model, or it is damaged: .*({message})"):
        piforest.load(path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../../evil.npy", r"it has a part '../../evil.npy'"),
        ("/etc/evil.npy", r"it has a part '/etc/evil.npy'"),
        ("code.py", r"it has a part 'code.py'"),
        ("pool.npy", r"it has two parts 'pool'"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_parts_with_unexpected_names_are_rejected(name, message, tmp_path):
    path = tmp_path / "m.pif"
    path.write_bytes((MODELS / "voronoi.v1.pif").read_bytes())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, npy(np.zeros(3)))
    with pytest.raises(ValueError, match=f"damaged: {message}"):
        piforest.load(path)


def test_thousands_of_parts_and_other_compressions_are_rejected(tmp_path):
    with zipfile.ZipFile(tmp_path / "m.pif", "w") as archive:
        for k in range(2001):
            archive.writestr(f"a{k}.npy", b"")
    with pytest.raises(ValueError, match="damaged: it has 2001 parts"):
        piforest.load(tmp_path / "m.pif")
    with zipfile.ZipFile(tmp_path / "m.pif", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("header.npy", npy(np.array("{}")))
    with pytest.raises(ValueError, match="its part 'header' is packed in another way"):
        piforest.load(tmp_path / "m.pif")


HOSTILE = [
    ("voronoi", {"max_samples": 10**12}, "its trees are not valid"),
    ("voronoi", {"branching": "2"}, "its header has a bad branching"),
    ("voronoi", {"offset": float("nan")}, "its header has a bad threshold"),
    ("voronoi", {"offset": "0"}, "damaged: bad operand type"),
    ("voronoi", {"key": -1}, "its header has a bad key"),
    ("voronoi", {"n_training": True}, "its header has a bad n_training"),
    ("voronoi", {"feature_names_in": ["a"]}, "its header has a bad feature_names"),
    ("voronoi", {"class": ["PIF"]}, "its header has a bad class"),
    ("voronoi", {"params": []}, "damaged"),
    ("pif", {"n_features_in": 10**6}, "its models do not fit together"),
    ("voronoi_sparse", {"n_features_in": 2**40, "pool": {"layout": "sparse", "n_columns": 2**40}},
     "its pool does not fit the rest"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "message"), HOSTILE, ids=range(len(HOSTILE)))
def test_headers_with_huge_or_invalid_values_are_rejected(name, change, message, tmp_path):
    path = with_header(name, tmp_path / "m.pif", lambda header: header.update(change))
    assert peak_while_rejecting(path, message) < 20e6


def paths(node, path=()):
    """The paths of all values of a header."""
    if path:
        yield path
    if isinstance(node, (dict, list)):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from paths(value, (*path, key))


UNEXPECTED = ["x", -1, None, 1e300, float("nan"), [], {}, 10**30, True, {"own": "a"}, ["a"] * 3]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["default", "voronoi_sparse"])
@pytest.mark.filterwarnings("ignore:no structure")
def test_unexpected_values_of_the_header_are_rejected_or_harmless(name, tmp_path):
    header, arrays = archives.read_archive(MODELS / f"{name}.v1.pif")
    refused = 0
    for k, path in enumerate(paths(header)):
        for shift in (0, 4):
            changed = json.loads(json.dumps(header))
            node = changed
            for key in path[:-1]:
                node = node[key]
            node[path[-1]] = UNEXPECTED[(k + shift) % len(UNEXPECTED)]
            archives.write_archive(tmp_path / "m.pif", changed, arrays, 1)
            try:
                scores = piforest.load(tmp_path / "m.pif").anomaly_score(rows_for(name))
            except ValueError:
                refused += 1
            else:
                assert len(scores) == len(NEW)
    assert refused > 20


def test_families_and_threads_in_the_header_are_limited(tmp_path):
    def many_threads(header):
        header["params"]["n_jobs"] = 10**6

    def large_family(header):
        header["n_features_in"] = 50_000
        header["embedding"]["families"] = [{"name": "hyperplane", "options": {}}]

    path = with_header("default", tmp_path / "m.pif", many_threads)
    assert peak_while_rejecting(path, "its header has a bad n_jobs") < 20e6
    path = with_header("pif", tmp_path / "m.pif", large_family)
    assert peak_while_rejecting(path, "its models do not fit together") < 20e6


def test_a_model_with_a_high_compression_ratio_is_stored_uncompressed(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "_FREE_BYTES", 0)
    monkeypatch.setattr(archives, "_RATIO", 2)
    X = np.zeros((300, 50))
    X[::2, 0] = np.arange(150)
    detector = VoronoiForest("euclidean", n_estimators=5, random_state=0).fit(X)
    detector.save(tmp_path / "m.pif")
    with zipfile.ZipFile(tmp_path / "m.pif") as archive:
        assert archive.getinfo("pool.npy").compress_type == zipfile.ZIP_STORED
        # The compressed attempt is not in the file any more.
        assert min(member.header_offset for member in archive.infolist()) == 0
    assert np.array_equal(piforest.load(tmp_path / "m.pif").anomaly_score(X), detector.scores_)


def test_an_unknown_class_and_missing_files_raise_an_error(tmp_path):
    path = with_header(
        "voronoi", tmp_path / "m.pif", lambda header: header.update({"class": "Custom"})
    )
    with pytest.raises(ValueError, match=r"holds a Custom, not a PreferenceIsolationForest"):
        piforest.load(path)
    with pytest.raises(FileNotFoundError):
        piforest.load(tmp_path / "absent.pif")
    with pytest.raises(IsADirectoryError):
        piforest.load(tmp_path)
