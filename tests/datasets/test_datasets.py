from __future__ import annotations

import re
from inspect import signature

import numpy as np
import pytest

from piforest import datasets
from piforest.datasets import (
    data_folder,
    list_datasets,
    load_adelaidermf,
    load_synthetic2d,
    make_circle_scene,
    make_circles,
    make_lines,
    make_stair,
    make_star,
)
from piforest.datasets.published import ADELAIDERMF, SYNTHETIC2D
from piforest.datasets.resample import redraw
from piforest.families import get_family
from research_data import adelaidermf, synthetic2d

MAKERS = [getattr(datasets, name) for name in datasets.__all__ if name.startswith("make_")]


@pytest.mark.parametrize("make", MAKERS)
def test_every_parameter_of_a_scene_is_documented(make):
    parameters = list(signature(make).parameters)
    section = make.__doc__.split("Parameters\n----------\n")[1].split("\n\nReturns\n")[0]
    assert re.findall(r"^(\w+) : \S", section, re.M) == parameters
    assert "Examples\n--------\n>>> " in make.__doc__


@pytest.mark.slow
@pytest.mark.parametrize("make", [make for make in MAKERS if make not in (make_stair, make_star)])
def test_structures_do_not_depend_on_the_others(make):
    """Structure i and its noise come from (random_state, i) alone, if its place does not depend
    on how many there are."""
    few, many = (make(k, sizes=20, anomaly_share=0.3, random_state=2) for k in (2, 3))
    moved = ("make_circle_scene", "make_plane_pair", "make_motion_pair", "make_essential_pair",
             "make_segments")  # fmt: skip
    same = np.array_equal(few.data[few.target > 0], many.data[:40])
    assert same == (make.__name__ not in moved)


@pytest.mark.parametrize("make", MAKERS)
def test_every_scene_names_bad_options(make):
    with pytest.raises(ValueError, match="noise must be a finite number of at least 0, got -1"):
        make(noise=-1)
    with pytest.raises(ValueError, match="n_structures must be an integer of at least"):
        make(0)
    with pytest.raises(ValueError, match="anomaly_share must be"):
        make(anomaly_share=1.0)
    with pytest.raises(ValueError, match="sizes must be one number above 0 or one for each of"):
        make(4, sizes=[1, 2, 3])


@pytest.mark.parametrize("make", [make_lines, make_circles])
def test_scenes_have_the_asked_shape(make):
    scene = make(3, sizes=[50, 20, 30], anomaly_share=0.75, random_state=0)
    assert scene.data.shape == (400, 2)
    assert np.bincount(scene.target).tolist() == [300, 50, 20, 30]
    normal = scene.data[scene.target > 0]
    anomalies = scene.data[scene.target == 0]
    assert (anomalies >= normal.min(axis=0)).all()
    assert (anomalies <= normal.max(axis=0)).all()
    X, y = make(3, sizes=[50, 20, 30], anomaly_share=0.75, random_state=0, return_X_y=True)
    assert np.array_equal(X, scene.data)
    assert np.array_equal(y, scene.target)
    assert not np.array_equal(
        X, make(3, sizes=[50, 20, 30], anomaly_share=0.75, random_state=1).data
    )
    assert len(make(2, anomaly_share=0, random_state=0).data) == 200


@pytest.mark.parametrize(("make", "name"), [(make_lines, "line"), (make_circles, "circle")])
def test_structures_have_the_asked_noise(make, name):
    family = get_family(name)
    exact = make(2, sizes=200, noise=0.0, random_state=3)
    noisy = make(2, sizes=200, noise=0.02, random_state=3)
    k = family.sample_size(2)
    for structure in (1, 2):
        theta, valid = family.solve(exact.data[exact.target == structure][None, :k])
        assert valid.all()
        on = family.residuals(exact.data[exact.target == structure], theta[0])
        assert on.max() < 1e-9
        off = family.residuals(noisy.data[noisy.target == structure], theta[0])
        assert np.sqrt(np.mean(off**2)) == pytest.approx(0.02, rel=0.2)


@pytest.mark.parametrize("make", [make_lines, make_circles])
def test_scenes_come_as_frames_too(make):
    scene = make(2, random_state=0, as_frame=True)
    assert list(scene.frame.columns) == ["x", "y", "target"]
    X, y = make(2, random_state=0, as_frame=True, return_X_y=True)
    assert np.array_equal(X.to_numpy(), make(2, random_state=0).data)
    assert y.name == "target"


SCENES = [make_lines, make_circles, make_stair, make_star, make_circle_scene]


@pytest.mark.parametrize("make", SCENES)
@pytest.mark.parametrize("n_structures", [3, 4, 7])
def test_every_scene_takes_every_option(make, n_structures):
    sizes = list(range(10, 10 + n_structures))
    scene = make(
        n_structures,
        sizes=sizes,
        noise=0.0,
        anomaly_share=0.5,
        box=([-5, -6], [7, 8]),
        random_state=3,
        as_frame=True,
    )
    assert np.bincount(scene.target).tolist() == [sum(sizes), *sizes]
    anomalies = scene.data[scene.target == 0].to_numpy()
    assert (anomalies > [-5, -6]).all()
    assert (anomalies < [7, 8]).all()
    assert anomalies.max() > 2
    family = get_family("circle" if "circle" in make.__name__ else "line")
    for structure in range(1, n_structures + 1):
        points = scene.data[scene.target == structure].to_numpy()
        theta, valid = family.solve(points[None, : family.sample_size(2)])
        assert valid.all()
        assert family.residuals(points, theta[0]).max() < 1e-9


@pytest.mark.parametrize(
    ("make", "k", "counts"),
    [
        (make_stair, 3, [400, 272, 64, 64]),
        (make_stair, 4, [200] + 4 * [50]),
        (make_star, 5, [250] + 5 * [50]),
        (make_star, 11, [550] + 11 * [50]),
        (make_circle_scene, 3, [500, 376, 62, 62]),
        (make_circle_scene, 4, [200] + 4 * [50]),
        (make_circle_scene, 5, [250] + 5 * [50]),
    ],
)
def test_named_scenes_have_the_papers_cardinalities(make, k, counts):
    assert np.bincount(make(k).target).tolist() == counts


def test_structures_of_a_named_scene_are_distinct():
    for make, k in ((make_stair, 4), (make_star, 11), (make_star, 6), (make_circle_scene, 5)):
        scene = make(k, noise=0, anomaly_share=0, sizes=60, random_state=0)
        family = get_family("circle" if make is make_circle_scene else "line")
        samples = np.stack([scene.data[scene.target == s][:3] for s in range(1, k + 1)])
        theta = family.solve(samples[:, : family.sample_size(2)])[0][:, 0]
        off = family.residuals(samples[:, 2], theta)
        assert (off[~np.eye(k, dtype=bool)] > 1e-3).mean() > 0.9


def test_scenes_name_bad_options():
    with pytest.raises(ValueError, match="noise must be a finite number of at least 0, got -1"):
        make_stair(noise=-1)
    with pytest.raises(ValueError, match=r"box must be \(lowest x, lowest y\)"):
        make_star(box=([0, 0], [0, 1]))
    with pytest.raises(ValueError, match="n_structures must be an integer of at least 3, got 2"):
        make_star(2)
    with pytest.raises(ValueError, match="sizes must be one number above 0"):
        make_circle_scene(sizes=0)
    assert len(make_stair(sizes=np.int64(5), anomaly_share=0).data) == 15


SIZES = {
    "stair3": 400,
    "stair4": 200,
    "star5": 250,
    "star11": 550,
    "circle3": 500,
    "circle4": 200,
    "circle5": 250,
}


@pytest.mark.data
@pytest.mark.parametrize("name", SYNTHETIC2D)
def test_published_points_come_with_fresh_anomalies(name):
    scene = synthetic2d(name, random_state=0)
    n = SIZES[name]
    assert scene.data.shape == (2 * n, 2)
    assert np.sum(scene.target == 0) == n
    assert scene.target.max() == int(name.lstrip("acdeirlst"))
    again, other = synthetic2d(name, random_state=0), synthetic2d(name, random_state=1)
    assert np.array_equal(again.data, scene.data)
    assert not np.array_equal(other.data, scene.data)
    assert np.array_equal(other.data[:n], scene.data[:n])
    assert len(synthetic2d(name, anomaly_share=0.2).data) == round(1.25 * n)
    # The structures have the noise that the set names.
    family = get_family(scene.family)
    points = scene.data[scene.target == 1]
    rng = np.random.default_rng(0)
    k = family.sample_size(2)
    samples = points[np.array([rng.choice(len(points), k, replace=False) for _ in range(300)])]
    theta, valid = family.solve(samples)
    best = np.median(family.residuals(points, theta[valid]), axis=0).min()
    assert 0.2 < best / scene.sigma < 1.5


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", ADELAIDERMF)
def test_labelled_pairs_are_read_whole(name):
    pair = adelaidermf(name)
    n = len(pair.target)
    assert pair.data.shape == (n, 4)
    assert pair.target.min() == 0 < pair.target.max()
    if pair.images is None:
        assert name in ("johnsona", "johnsonb")
        assert pair.quality is None
    else:
        assert pair.quality.shape == (n,)
        height, width = pair.images[0].shape[:2]
        assert (pair.data[:, :2].max(axis=0) <= [width + 1, height + 1]).all()
    assert "Wong" in pair.DESCR


@pytest.mark.parametrize(("make", "family"), [(make_lines, "line"), (make_circles, "circle")])
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_redrawn_points_lie_on_the_same_structures(make, family, noise):
    scene = make(2, sizes=[300, 100], noise=0.002, anomaly_share=0, random_state=3)
    rng = np.random.default_rng(0)
    points, structure = redraw(scene.data, scene.target, 1000, family, noise, rng)
    assert np.bincount(structure).tolist() == [0, 750, 250]
    exact = make(2, sizes=[300, 100], noise=0.0, anomaly_share=0, random_state=3)
    solver = get_family(family)
    for label in (1, 2):
        # Of the exact scene, three points far apart give the structure itself.
        on = exact.data[exact.target == label]
        sample = on[np.linspace(0, len(on) - 1, solver.sample_size(2)).astype(int)]
        params, valid = solver.solve(sample[None])
        assert valid.all()
        distances = solver.residuals(points[structure == label], params[0])
        assert abs(np.sqrt(np.mean(distances**2)) - noise) < 0.002


@pytest.mark.data
def test_published_structures_can_have_any_number_of_points():
    synthetic2d("stair3")
    for share in (0.05, 0.9):
        scene = load_synthetic2d("stair3", anomaly_share=share, n_samples=1000, random_state=0)
        assert len(scene.data) == 1000
        assert np.sum(scene.target == 0) == round(1000 * share)
        shares = np.bincount(scene.target)[1:] / np.sum(scene.target > 0)
        np.testing.assert_allclose(shares, [50 / 400, 50 / 400, 300 / 400], atol=0.006)
    with pytest.raises(ValueError, match="n_samples must be"):
        load_synthetic2d("stair3", n_samples=0)


@pytest.mark.data
def test_the_real_unihouse_is_not_the_duplicated_one():
    assert len(adelaidermf("unihouse").data) == 2084
    frame = adelaidermf("physics", as_frame=True).frame
    assert list(frame.columns) == ["x1", "y1", "x2", "y2", "target"]


def test_absent_files_are_named_with_the_way_out(tmp_path, monkeypatch):
    monkeypatch.setenv("PIFOREST_DATA", str(tmp_path))
    for load, name in ((load_synthetic2d, "stair3"), (load_adelaidermf, "physics")):
        with pytest.raises(FileNotFoundError, match=rf"there is no .*{name}.*Set .*PIFOREST_DATA"):
            load(name)


def test_data_are_looked_for_where_the_variable_points_else_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PIFOREST_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.delenv("PIFOREST_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "piforest"


def test_unknown_sets_are_named():
    assert len(list_datasets()) == 45
    with pytest.raises(ValueError, match="Did you mean 'circle3'"):
        load_synthetic2d("circle33")
    with pytest.raises(ValueError, match="Did you mean 'physics'"):
        load_adelaidermf("fysics")


@pytest.mark.parametrize(
    ("place", "name", "load"),
    [
        ("synthetic2d/stair3.csv", "stair3", load_synthetic2d),
        ("adelaidermf/physics.mat", "physics", load_adelaidermf),
        ("adelaidermf/johnsona.csv", "johnsona", load_adelaidermf),
    ],
)
@pytest.mark.parametrize("content", [b"", b"x,y,structure\n", b"MATLAB 5.0 MAT-file" * 9])
def test_damaged_files_are_named(tmp_path, monkeypatch, place, name, load, content):
    monkeypatch.setenv("PIFOREST_DATA", str(tmp_path))
    path = tmp_path / place
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{path.name} cannot be read, it may be damaged"):
        load(name)
