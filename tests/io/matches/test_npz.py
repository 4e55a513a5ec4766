"""NPZ files of LightGlue, SuperGlue and LoFTR, and tables with other names."""

from __future__ import annotations

import numpy as np
import pytest

from hloc_files import split
from piforest.io.matches import UNNAMED, Verdict, open_matches, read_matches

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 500, (30, 4)).astype(np.float32)
ONE, TWO, PAIRS = split(X)
PAIRS = PAIRS[np.argsort(PAIRS[:, 0])]
SCORES = RNG.uniform(0.2, 1, len(PAIRS)).astype(np.float32)
KEPT = np.arange(len(PAIRS)) % 3 > 0


def by_keypoint(n, rows, values, nothing, dtype):
    out = np.full(n, nothing, dtype)
    out[rows] = values
    return out


MATCHES0 = by_keypoint(len(ONE), PAIRS[:, 0], PAIRS[:, 1], -1, np.int64)
SCORES0 = by_keypoint(len(ONE), PAIRS[:, 0], SCORES, 0, np.float32)
LAYOUTS = {
    # The arrays that each program saves, or gives to be saved.
    "superglue": {
        "keypoints0": ONE, "keypoints1": TWO, "matches": MATCHES0, "match_confidence": SCORES0,
    },
    "lightglue": {
        "keypoints0": ONE, "keypoints1": TWO, "matches": PAIRS, "scores": SCORES,
        "matches0": MATCHES0, "matching_scores0": SCORES0,
        "matches1": by_keypoint(len(TWO), PAIRS[:, 1], PAIRS[:, 0], -1, np.int64),
        "matching_scores1": by_keypoint(len(TWO), PAIRS[:, 1], SCORES, 0, np.float32),
        "stop": np.array(7),
    },
    "lightglue, a batch of one": {
        "keypoints0": ONE[None], "keypoints1": TWO[None], "matches": PAIRS[None],
        "scores": SCORES[None],
    },
    "loftr": {
        "mkpts0_f": ONE[PAIRS[:, 0]], "mkpts1_f": TWO[PAIRS[:, 1]], "mconf": SCORES,
        "hw0_i": np.array([480, 640]),
    },
    "kornia": {
        "keypoints0": ONE[PAIRS[:, 0]], "keypoints1": TWO[PAIRS[:, 1]], "confidence": SCORES,
        "batch_indexes": np.zeros(len(PAIRS), np.int64),
    },
}  # fmt: skip


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_are_read_and_written_back_without_the_dropped_matches(tmp_path, layout, packed):
    path, out = tmp_path / "a.npz", tmp_path / "kept.npz"
    (np.savez_compressed if packed else np.savez)(path, **LAYOUTS[layout])
    file = open_matches(path)
    found = file.read(UNNAMED)
    assert np.allclose(found.X, np.column_stack([ONE[PAIRS[:, 0]], TWO[PAIRS[:, 1]]]))
    assert np.allclose(found.quality, SCORES)
    assert found.index is None or np.array_equal(found.index, PAIRS)
    file.write(out, {UNNAMED: Verdict(KEPT)})
    again = open_matches(out).read(UNNAMED)
    assert np.array_equal(again.X, found.X[KEPT])
    assert np.array_equal(again.quality, found.quality[KEPT])
    with np.load(out) as stored:
        assert set(stored.files) == set(LAYOUTS[layout])
        for name, old in LAYOUTS[layout].items():
            assert stored[name].dtype == old.dtype
            assert stored[name].ndim == old.ndim
        if layout == "lightglue":
            matches1, scores1 = stored["matches1"], stored["matching_scores1"]
            assert set(np.flatnonzero(matches1 >= 0)) == set(PAIRS[KEPT, 1])
            assert (scores1[matches1 < 0] == 0).all()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": X}, r"no keypoints0 and keypoints1.*its arrays: a. --array names one"),
        ({"keypoints0": ONE, "keypoints1": TWO[:3]}, "must have the same length without matches"),
        ({"keypoints0": ONE[:, 0], "keypoints1": TWO}, r"keypoints0 must be an array \(n, 2\)"),
        ({"keypoints0": ONE, "keypoints1": TWO, "matches": PAIRS * 1.0}, "must be pairs"),
        ({"keypoints0": ONE, "keypoints1": TWO, "matches": PAIRS + 99}, "that are not there"),
        ({"keypoints0": ONE, "keypoints1": TWO, "matches": PAIRS * 0 - 5}, "that are not there"),
        ({"mkpts0_f": ONE * np.nan, "mkpts1_f": ONE}, "keypoints of 'image 1' are not finite"),
        ({"keypoints0": np.array([{}])}, "Python objects, which could run code"),
    ],
)
def test_arrays_that_are_no_matches_are_one_line(tmp_path, arrays, message):
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=message) as caught:
        open_matches(path).read(UNNAMED)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_cut_and_other_files_are_one_line(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, **LAYOUTS["loftr"])
    whole = path.read_bytes()
    for content in (whole[:200], b"no zip" * 50, whole[:-30]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"a.npz cannot be read: it is damaged or no NumPy"):
            open_matches(path)
    np.savez_compressed(path, keypoints0=np.zeros((20_000_000, 2)), keypoints1=np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"it claims 2 arrays of 320,000,\d+ bytes"):
        open_matches(path)
    np.savez(path, **LAYOUTS["loftr"])
    with pytest.raises(ValueError, match=r"are written back as \.npz"):
        open_matches(path).check_writable(tmp_path / "a.csv")


def test_other_columns_and_arrays_are_named(tmp_path):
    path = tmp_path / "a.csv"
    rows = "\n".join(",".join(map(str, row)) for row in np.column_stack([SCORES, X]).tolist())
    path.write_text("conf,u,v,uu,vv\n" + rows)
    table = read_matches(path, columns=["u", "v", "uu", "vv"])
    assert table.points == ("u", "v", "uu", "vv")
    assert np.allclose(table.numbers(table.points), X)
    with pytest.raises(ValueError, match=r"matches are four columns x1, y1, x2, y2, got 2: u, v"):
        read_matches(path, columns=["u", "v"])
    with pytest.raises(ValueError, match="has no column 'w'"):
        read_matches(path, columns=["u", "v", "uu", "w"])
    with pytest.raises(ValueError, match="Name others with --columns"):
        read_matches(path)
    np.savez(tmp_path / "b.npz", good=X, other=X[:2])
    assert np.allclose(read_matches(tmp_path / "b.npz", array="good").numbers()[:, :4], X)
    with pytest.raises(ValueError, match="--columns is no option of this kind of file"):
        read_matches(put_db(tmp_path), columns=["u"])


def put_db(folder):
    from colmap_files import put_colmap

    return put_colmap(folder / "a.db")


def test_rows_of_a_table_are_written_without_the_dropped_ones(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x1,y1,x2,y2,name\n1,2,3,4,a\n5,6,7,8,b\n")
    open_matches(path).write(tmp_path / "b.csv", {UNNAMED: Verdict(np.array([False, True]))})
    assert (tmp_path / "b.csv").read_text() == "x1,y1,x2,y2,name\n5,6,7,8,b\n"
