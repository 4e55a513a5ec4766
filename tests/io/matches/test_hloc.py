"""HDF5 files of hloc."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from hloc_files import put_hloc, split
from piforest.io.matches import Verdict, open_matches, read_matches

h5py = pytest.importorskip("h5py")

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 500, (30, 4)).astype(np.float32).astype(float)
ONE, TWO, PAIRS = split(X)
PAIRS = PAIRS[np.argsort(PAIRS[:, 0])]
SCORES = RNG.uniform(0.2, 1, len(PAIRS)).astype(np.float16)
PAIR = ("db/a.jpg", "query/b_1.jpg")


def put(folder, **options):
    images = {PAIR[0]: ONE, PAIR[1]: TWO, "c.jpg": TWO[:9]}
    few = np.column_stack([np.arange(4), np.arange(4)])
    pairs = {PAIR: (PAIRS, SCORES), (PAIR[0], "c.jpg"): (few, SCORES[:4])}
    return put_hloc(folder, images, pairs, **options)


@pytest.mark.parametrize("old", [False, True])
def test_matches_and_keypoints_are_joined_by_their_names(tmp_path, old):
    matches, keypoints = put(tmp_path, old=old)
    file = open_matches(matches, keypoints=keypoints)
    assert set(file.pairs()) == {PAIR, (PAIR[0], "c.jpg")}
    found = file.read(PAIR)
    assert np.array_equal(found.index, PAIRS)
    assert np.allclose(found.X, np.column_stack([ONE[PAIRS[:, 0]], TWO[PAIRS[:, 1]]]), atol=1e-3)
    assert np.array_equal(found.quality, SCORES)
    turned = file.read(PAIR[::-1])
    assert np.array_equal(turned.X, found.X[:, [2, 3, 0, 1]])
    assert np.array_equal(turned.index, found.index[:, ::-1])
    table = read_matches(matches, keypoints=keypoints, pair=PAIR)
    assert table.names == ["x1", "y1", "x2", "y2", "index1", "index2", "quality"]


def test_dropped_matches_are_written_as_none_in_a_copy(tmp_path):
    matches, keypoints = put(tmp_path, lightglue=True)
    before = matches.read_bytes()
    file = open_matches(matches, keypoints=keypoints)
    kept = np.arange(len(PAIRS)) % 3 > 0
    out = tmp_path / "kept.h5"
    file.write(out, {PAIR: Verdict(kept)})
    assert matches.read_bytes() == before
    again = open_matches(out, keypoints=keypoints)
    assert np.array_equal(again.read(PAIR).index, PAIRS[kept])
    assert np.array_equal(again.read(PAIR).quality, SCORES[kept])
    other = (PAIR[0], "c.jpg")
    assert np.array_equal(again.read(other).index, file.read(other).index)
    with h5py.File(out) as stored, h5py.File(matches) as old:
        group = stored["db-a.jpg/query-b_1.jpg"]
        assert group["matches0"].dtype == np.int16
        assert group["matches0"].shape == old["db-a.jpg/query-b_1.jpg/matches0"].shape
        assert (group["matching_scores0"][()][group["matches0"][()] < 0] == 0).all()
        assert np.array_equal(group["matches"][()], PAIRS[kept])
        assert np.array_equal(group["scores"][()], SCORES[kept])
    assert {path.name for path in tmp_path.iterdir()} == {"kept.h5", "matches.h5", "features.h5"}


def test_dense_matches_need_no_other_file(tmp_path):
    path = tmp_path / "dense.h5"
    with h5py.File(path, "w") as file:
        group = file.create_group("a.jpg/b.jpg")
        group["keypoints0"], group["keypoints1"] = X[:, :2], X[:, 2:]
        group["scores"] = np.linspace(0, 1, len(X))
    file = open_matches(path)
    assert file.pairs() == [("a.jpg", "b.jpg")]
    found = file.read(("a.jpg", "b.jpg"))
    assert np.array_equal(found.X, X)
    assert found.quality[-1] == 1
    kept = np.arange(len(X)) < 5
    file.write(tmp_path / "out.h5", {("a.jpg", "b.jpg"): Verdict(kept)})
    again = open_matches(tmp_path / "out.h5").read(("a.jpg", "b.jpg"))
    assert np.array_equal(again.X, X[:5])
    assert np.array_equal(again.quality, found.quality[:5])


def change(path, do):
    with h5py.File(path, "r+") as file:
        do(file)


def _set(name, values):
    def do(file):
        if name in file:
            del file[name]
        file[name] = values

    return do


GROUP = "db-a.jpg/query-b_1.jpg"


@pytest.mark.parametrize(
    ("do", "message"),
    [
        (_set(f"{GROUP}/matches0", np.zeros(9)), "must be an array with 1 dimension of whole"),
        (_set(f"{GROUP}/matches0", np.zeros((3, 3), int)), "got int64 \\(3, 3\\)"),
        (
            _set(f"{GROUP}/matches0", np.full(len(ONE), 999)),
            "name keypoints of 'query/b_1.jpg' that are",
        ),
        (_set(f"{GROUP}/matching_scores0", np.zeros(3)), "has not the length of the matches"),
        (_set("new/pair/matches0", [1]), "its pair 'new/pair' is of images that .* does not have"),
        (lambda f: f.create_dataset("x/y/matches0", (2**40,), "i4", chunks=True), "'x/y' is of"),
        (lambda f: [f.pop(name) for name in list(f)], "holds no matches: no group has matches0"),
        (lambda f: f.__setitem__("loop", f["/"]), "there twice"),
    ],
)
def test_files_that_do_not_fit_are_one_line(tmp_path, do, message):
    matches, keypoints = put(tmp_path)
    change(matches, do)
    with pytest.raises(ValueError, match=message) as caught:
        open_matches(matches, keypoints=keypoints).read(PAIR)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_arrays_that_claim_more_than_the_file_holds_are_refused(tmp_path):
    matches, keypoints = put(tmp_path)
    change(keypoints, lambda f: f.pop("db"))
    change(keypoints, lambda f: f.create_dataset(
        "db/a.jpg/keypoints", (2**40, 2), "f8", chunks=(1024, 2)))  # fmt: skip
    with pytest.raises(ValueError, match=r"features.h5: /db/a.jpg/keypoints claims 2,199,0"):
        open_matches(matches, keypoints=keypoints).read(PAIR)
    change(keypoints, lambda f: f.pop("db"))
    change(keypoints, lambda f: f.__setitem__("db/a.jpg/keypoints", h5py.ExternalLink("b.h5", "x")))
    with pytest.raises(ValueError, match=r"images that .*features.h5 does not have"):
        open_matches(matches, keypoints=keypoints)


def test_keypoints_that_are_no_places_are_refused(tmp_path):
    matches, keypoints = put(tmp_path)
    change(keypoints, _set("db/a.jpg/keypoints", np.full((60, 2), np.nan)))
    with pytest.raises(ValueError, match=r"keypoints of 'db/a.jpg' are not finite"):
        open_matches(matches, keypoints=keypoints).read(PAIR)


def test_cut_empty_and_other_files_are_one_line(tmp_path):
    matches, keypoints = put(tmp_path)
    whole = matches.read_bytes()
    for content in (whole[: len(whole) // 2], b"no HDF5" * 99):
        matches.write_bytes(content)
        with pytest.raises(
            ValueError, match=r"matches.h5 cannot be read: it is damaged or no HDF5"
        ):
            open_matches(matches, keypoints=keypoints)
    matches.write_bytes(b"")
    with pytest.raises(ValueError, match=r"matches.h5 is empty"):
        open_matches(matches, keypoints=keypoints)
    matches.write_bytes(whole)
    with pytest.raises(ValueError, match=r"name the file that has the keypoints \(--keypoints"):
        open_matches(matches)
    with pytest.raises(FileNotFoundError, match=r"no.h5: there is no such file"):
        open_matches(matches, keypoints=tmp_path / "no.h5")
    shutil.copy(matches, keypoints)
    with pytest.raises(ValueError, match=r"features.h5 holds no keypoints") as caught:
        open_matches(matches, keypoints=keypoints)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=r"must end in .h5"):
        open_matches(dense(tmp_path / "d.h5")).check_writable(tmp_path / "a.csv")


def dense(path):
    with h5py.File(path, "w") as file:
        file["a/b/keypoints0"], file["a/b/keypoints1"] = X[:, :2], X[:, 2:]
    return path
