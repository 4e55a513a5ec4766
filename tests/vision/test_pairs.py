"""Many pairs in one run: COLMAP databases that COLMAP wrote, and what COLMAP reads of them."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from colmap_files import put_real_colmap
from hloc_files import put_hloc, split
from match_scenes import calibrated_pair
from piforest.vision import filter_matches, filter_pairs
from piforest.vision.journal import Journal
from piforest.vision.pairs import PairOptions, run_pairs

pycolmap = pytest.importorskip("pycolmap")
CONFIG = pycolmap.TwoViewGeometryConfiguration


def geometry(path, first, second):
    """What COLMAP reads of a pair."""
    database = pycolmap.Database.open(path)
    ids = [database.read_image_with_name(name).image_id for name in (first, second)]
    found = database.read_two_view_geometry(*ids)
    database.close()
    return found


def angle(a, b):
    cosine = np.dot(a, b) if a.ndim == 1 else (np.trace(a.T @ b) - 1) / 2
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("colmap") / "database.db"
    return path, *put_real_colmap(path)


@pytest.fixture(scope="module")
def calibrated(database, tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "kept.db"
    return out, filter_pairs(database[0], family="essential", out=out)


@pytest.mark.slow
def test_colmap_reads_the_geometries_that_are_written(database, calibrated):
    _, poses, true = database
    out, results = calibrated
    assert [each.pair for each in results] == [*list(true)[:2], ("a.png", "d.png"), list(true)[2]]
    for result in results:
        found = geometry(out, *result.pair)
        assert np.array_equal(found.inlier_matches[:, 0], np.flatnonzero(result.kept))
        if result.pair == ("a.png", "d.png"):
            assert found.config == CONFIG.DEGENERATE
            assert result.note == "too few matches: 9"
            continue
        assert found.config == CONFIG.CALIBRATED
        kept = true[result.pair]
        assert np.mean(kept[result.kept]) > 0.97
        assert np.mean(result.kept[kept]) > 0.9
        (R1, t1), (R2, t2) = (poses["abc".index(name[0])] for name in result.pair)
        R = R2 @ R1.T
        t = t2 - R @ t1
        pose = found.cam2_from_cam1
        assert angle(pose.rotation.matrix(), R) < 1
        assert angle(np.array(pose.translation), t / np.linalg.norm(t)) < 6
        assert np.allclose(found.E, result.E)
        assert np.allclose(found.F, result.F)
        assert result.parallax > 1


@pytest.mark.slow
def test_the_copy_keeps_all_other_tables(database, calibrated):
    path, out = database[0], calibrated[0]
    with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(out)) as new:
        tables = [
            name for (name,) in old.execute("SELECT name FROM sqlite_master WHERE type='table'")
        ]
        for table in tables:
            if table != "two_view_geometries":
                query = f"SELECT * FROM {table}"
                assert old.execute(query).fetchall() == new.execute(query).fetchall(), table
        assert old.execute("SELECT count(*) FROM two_view_geometries").fetchone() == (0,)
    assert [each.name for each in out.parent.iterdir()] == ["kept.db"]


def test_reading_leaves_nothing_beside_the_database(database, calibrated):
    assert [each.name for each in database[0].parent.iterdir()] == ["database.db"]


@pytest.mark.slow
def test_colmap_maps_what_was_kept(calibrated, tmp_path):
    """The mapper goes on from the copy: all three images, and points where they are."""
    options = pycolmap.IncrementalPipelineOptions()
    options.min_model_size = 2
    options.mapper.init_min_tri_angle = 2
    models = pycolmap.incremental_mapping(calibrated[0], tmp_path, tmp_path / "out", options)
    assert max(model.num_reg_images() for model in models.values()) == 3


@pytest.mark.slow
def test_the_result_does_not_depend_on_the_processes(database, calibrated):
    again = filter_pairs(database[0], family="essential", n_jobs=2)
    for one, other in zip(calibrated[1], again):
        assert one.row() == pytest.approx(other.row(), nan_ok=True)
        assert np.array_equal(one.scores, other.scores, equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "config"), [("fundamental", 3), ("homography", 1)])
def test_uncalibrated_families_write_their_own_matrix(database, tmp_path, family, config):
    results = filter_pairs(database[0], family=family, out=tmp_path / "kept.db")
    found = geometry(tmp_path / "kept.db", "a.png", "c.png")
    result = next(each for each in results if each.pair == ("a.png", "c.png"))
    assert int(found.config) in (config, 6, 8)
    assert found.inlier_matches.shape == (result.kept.sum(), 2)
    if family == "fundamental":
        assert np.allclose(found.F, result.F)
        assert found.E is None or not np.any(found.E)


@pytest.mark.slow
def test_the_largest_motion_is_one_geometry(tmp_path):
    one, other = calibrated_pair(seed=1, wrong=0), calibrated_pair(seed=2, wrong=20, n=60,
                                                                   t=(-0.5, 0.6, 0.1))  # fmt: skip
    X = np.concatenate([one.X, other.X])
    path = tmp_path / "a.npz"
    np.savez(path, mkpts0_f=X[:, :2], mkpts1_f=X[:, 2:])
    (both,) = filter_pairs(path)
    (largest,) = filter_pairs(path, keep="largest")
    assert both.motions >= 2
    assert both.geometry == "several motions"
    assert largest.motions == 1
    assert largest.kept.sum() < both.kept.sum()
    assert np.mean(np.flatnonzero(largest.kept) < len(one.X)) > 0.9


@pytest.mark.slow
def test_a_pair_is_judged_as_by_filter_matches(tmp_path):
    pair = calibrated_pair()
    points1, points2, index = split(pair.X)
    index = index[np.argsort(index[:, 0])]
    images = {"a.jpg": points1, "b.jpg": points2}
    scores = np.ones(len(index))
    matches, keypoints = put_hloc(tmp_path, images, {("a.jpg", "b.jpg"): (index, scores)})
    (result,) = filter_pairs(matches, keypoints=keypoints, out=tmp_path / "out.h5", n_jobs=1)
    X = np.column_stack([points1[index[:, 0]], points2[index[:, 1]]])
    X = X.astype(np.float32).astype(float)
    expected = filter_matches(X[:, :2], X[:, 2:], random_state=0)
    assert np.array_equal(result.scores, expected.scores)
    assert np.array_equal(result.kept, expected.mask)
    assert np.allclose(result.F, expected.models[0])
    (again,) = filter_pairs(tmp_path / "out.h5", keypoints=keypoints)
    assert len(again.kept) == result.kept.sum()
    with pytest.raises(
        ValueError, match=r"needs the camera of 'a.jpg' and 'b.jpg', which the file"
    ):
        filter_pairs(matches, keypoints=keypoints, family="essential")
    weighted = filter_pairs(matches, keypoints=keypoints, quality=True)[0]
    assert np.mean(weighted.kept == result.kept) > 0.9


@pytest.mark.slow
def test_a_run_that_was_interrupted_goes_on(database, tmp_path):
    from piforest.io.matches import open_matches

    file = open_matches(database[0])
    options = PairOptions(n_models=300)
    journal = Journal(tmp_path / "run", {"a": 1})
    first = next(run_pairs(file, file.pairs(), options, 1, journal))
    assert len(list((tmp_path / "run").glob("*.npz"))) >= 1
    whole = list(run_pairs(file, file.pairs(), options, 1))
    seen = []

    class Watched:
        path = file.path

        def read(self, pair):
            seen.append(pair)
            return file.read(pair)

        def camera(self, image):
            return None

    journal = Journal(tmp_path / "run", {"a": 1})
    for path in list((tmp_path / "run").glob("*.npz"))[1:]:
        path.write_bytes(b"cut")
    results = list(run_pairs(Watched(), file.pairs(), options, 1, journal))
    assert len(seen) == len(file.pairs()) - 1
    for one, other in zip(whole, results):
        assert one.row() == pytest.approx(other.row(), nan_ok=True)
        assert np.array_equal(one.kept, other.kept)
        assert (one.F is None) == (other.F is None)
    assert first.pair == whole[0].pair
    with pytest.raises(FileExistsError, match="a run with other options or another input"):
        Journal(tmp_path / "run", {"a": 2})
    Journal(tmp_path / "run", {"a": 2}, force=True).remove()
    assert not (tmp_path / "run").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "photo.jpg").touch()
    with pytest.raises(FileExistsError, match="is in the way of the finished pairs"):
        Journal(tmp_path / "mine", {}, force=True)


def test_cameras_that_colmap_does_not_have_are_named(database, tmp_path):
    path = tmp_path / "a.db"
    shutil.copy(database[0], path)
    with closing(sqlite3.connect(path)) as changed:
        changed.execute("UPDATE cameras SET model = 7")
        changed.commit()
    with pytest.raises(
        ValueError, match=r"a.db: camera 1: camera model 'number 7' is not supported"
    ):
        filter_pairs(path, family="essential")
    with closing(sqlite3.connect(path)) as changed:
        changed.execute("UPDATE cameras SET params = x'00'")
        changed.commit()
    with pytest.raises(ValueError, match=r"a.db is damaged: its camera 1 has no parameters"):
        filter_pairs(path, family="essential")
    with pytest.raises(ValueError, match=r"a copy of a COLMAP database must end in \.db"):
        filter_pairs(path, out=tmp_path / "a.csv")
    with pytest.raises(ValueError, match="keep must be one of"):
        filter_pairs(path, keep="some")
