"""Malicious model files: small files that would crash, hang or exhaust the memory."""

from __future__ import annotations

import json
import os
import threading

import numpy as np
import pytest

import piforest
from piforest import PreferenceIsolationForest, RuzHashForest, VoronoiForest
from piforest.datasets import make_lines
from piforest.fitted.file_versions import VERSION
from piforest.io.archive import read_archive, write_archive

X = make_lines(2, sizes=40, noise=0.01, anomaly_share=0.3, random_state=0).data
SMALL = {"n_estimators": 4, "random_state": 0}
DETECTORS = {
    "default": PreferenceIsolationForest("line", n_models=40, **SMALL),
    "voronoi": VoronoiForest("euclidean", **SMALL),
    "hashed": RuzHashForest(**SMALL),
    "three": VoronoiForest("euclidean", branching=3, **SMALL),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    for name, detector in DETECTORS.items():
        detector.fit(np.abs(X)).save(folder / f"{name}.pif")
    return folder


@pytest.fixture
def refused(saved, tmp_path):
    """Changes a model and expects an error of one line that names the file and the reason."""

    def check(name, reason, change=lambda header, arrays: None):
        header, arrays = read_archive(saved / f"{name}.pif")
        arrays = {part: array.copy() for part, array in arrays.items()}
        change(header, arrays)
        path = tmp_path / "m.pif"
        write_archive(path, header, arrays, VERSION)
        with pytest.raises(ValueError, match=reason) as error:
            piforest.load(path)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)

    return check


def set_header(**changes):
    return lambda header, arrays: header.update(changes)


def put(name, at, value):
    def change(header, arrays):
        arrays[name][at] = value

    return change


def replaced(**new):
    return lambda header, arrays: arrays.update(
        {name.replace("__", "."): array for name, array in new.items()}
    )


def nodes(model, saved):
    return len(read_archive(saved / f"{model}.pif")[1]["forest.seed"])


class TestTrees:
    """Values just out of range are rejected, not only very large ones."""

    @pytest.mark.parametrize("branching", [2**63 - 1, 2**62, 97, 1])
    def test_a_branching_that_overflows_or_exceeds_the_points_of_a_tree(self, refused, branching):
        refused("voronoi", "its (trees|header)", set_header(branching=branching))

    def test_roots_that_cancel_out(self, refused, saved):
        roots = [0, 2**62, -(2**63), -(2**62), nodes("voronoi", saved)]
        refused("voronoi", "its trees", replaced(forest__roots=np.array(roots, np.int64)))

    def test_roots_that_do_not_ascend_or_do_not_end_with_the_nodes(self, refused, saved):
        for at, value in ((0, 1), (1, 0), (-1, nodes("voronoi", saved) + 1)):
            refused("voronoi", "its trees", put("forest.roots", at, value))

    @pytest.mark.parametrize("name", ["roots", "first_child", "seed", "size"])
    def test_other_types(self, refused, name):
        other = np.int32 if name == "roots" else np.int64

        def change(header, arrays):
            arrays[f"forest.{name}"] = arrays[f"forest.{name}"].astype(other)

        refused("voronoi", "its trees", change)

    def test_children_close_to_the_largest_integer(self, refused, saved):
        children = np.full(nodes("voronoi", saved), 2**63 - 2, np.int64)
        refused("voronoi", "its trees", replaced(forest__first_child=children))

    def test_a_child_one_past_the_end_of_its_tree(self, refused, saved):
        _, arrays = read_archive(saved / "voronoi.pif")
        size = int(np.diff(arrays["forest.roots"])[0])
        refused("voronoi", "its trees", put("forest.first_child", 0, size - 1))
        piforest.load(saved / "voronoi.pif")

    def test_a_child_that_is_its_own_parent(self, refused):
        refused("voronoi", "its trees", put("forest.first_child", 0, 0))

    def test_a_seed_one_past_the_pool(self, refused):
        refused("voronoi", "its trees", put("forest.seed", 1, len(X)))

    def test_a_leaf_with_one_point_more_than_its_tree(self, refused):
        size = DETECTORS["voronoi"].max_samples_
        refused("voronoi", "its trees", put("forest.size", 0, size + 1))

    def test_a_tree_with_one_point_more_than_the_pool(self, refused):
        refused("voronoi", "its trees", set_header(max_samples=len(X) + 1))


class TestHashedTrees:
    """One word holds the first child and the number of points of a node."""

    @pytest.mark.parametrize("branching", [2**63 - 1, 97, 1])
    def test_a_branching_out_of_range(self, refused, branching):
        refused("hashed", "its (trees|header)", set_header(branching=branching))

    @pytest.mark.parametrize("name", ["roots", "nodes"])
    def test_other_types(self, refused, name):
        def change(header, arrays):
            arrays[f"forest.{name}"] = arrays[f"forest.{name}"].astype(np.uint32)

        refused("hashed", "its trees", change)

    def test_a_child_one_past_the_end_of_its_tree(self, refused, saved):
        _, arrays = read_archive(saved / "hashed.pif")
        size = int(np.diff(arrays["forest.roots"])[0])
        points = int(arrays["forest.nodes"][0]) % 2**32
        # Two labels and the leaf of rows that exceed no threshold are three children.
        refused("hashed", "its trees", put("forest.nodes", 0, (size - 2 << 32) + points))
        refused("hashed", "its trees", put("forest.nodes", 0, (2**32 - 1 << 32) + points))
        piforest.load(saved / "hashed.pif")

    def test_a_child_that_is_before_its_parent(self, refused, saved):
        _, arrays = read_archive(saved / "hashed.pif")
        inner = np.flatnonzero(arrays["forest.nodes"] >> np.uint64(32))[1]
        refused("hashed", "its trees", put("forest.nodes", inner, (1 << 32) + 1))

    def test_a_leaf_with_one_point_more_than_its_tree(self, refused):
        size = DETECTORS["hashed"].max_samples_
        refused("hashed", "its trees", put("forest.nodes", -1, size + 1))

    @pytest.mark.parametrize("top", [0, -1.0, "1", None, True, 1e300])
    def test_a_largest_value_that_is_none(self, refused, top):
        refused("hashed", "bad hashing", set_header(hashing={"key": 1, "top": top}))

    def test_a_largest_value_that_is_not_that_of_the_pool(self, refused):
        refused("hashed", "its hashes", set_header(hashing={"key": 1, "top": 1e-80}))

    @pytest.mark.parametrize("key", [-1, 2**64, 1.5, "1"])
    def test_a_key_out_of_range(self, refused, key):
        refused("hashed", "bad hashing", set_header(hashing={"key": key, "top": 1.0}))

    def test_hashes_of_another_class_and_a_class_without_hashes(self, refused):
        refused("hashed", "bad hashing", lambda header, arrays: header.pop("hashing"))
        refused("voronoi", "bad hashing", set_header(hashing={"key": 1, "top": 1.0}))
        refused("hashed", "bad hashing", set_header(soft=True))


class TestPools:
    def test_a_column_one_past_the_last(self, refused):
        def change(header, arrays):
            at = arrays["pool.indptr"][1] - 1
            arrays["pool.indices"][at] = header["pool"]["n_columns"]

        refused("default", "its pool", change)

    def test_rows_that_cancel_out(self, refused):
        def change(header, arrays):
            entries = len(arrays["pool.indices"])
            ends = np.full(len(arrays["pool.indptr"]) - 4, entries)
            arrays["pool.indptr"] = np.array([0, 2**62, -(2**63), -(2**62), *ends], np.int64)

        refused("default", "its pool", change)

    def test_a_repeated_column(self, refused):
        refused("default", "its pool", lambda header, arrays: arrays["pool.indices"].__setitem__(
            1, arrays["pool.indices"][0]))  # fmt: skip

    @pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e200])
    def test_coordinates_that_are_not_finite(self, refused, value):
        refused("voronoi", "its pool", put("pool", (0, 0), value))
        refused("default", "its pool has no points", put("pool.points", (0, 0), value))
        refused("default", "its subset has no points", put("subset.points", (0, 0), value))
        if not np.isfinite(value):
            refused("default", "its models", put("models.0.params", (0, 0), value))

    def test_rows_of_the_pool_out_of_range_or_repeated(self, refused):
        refused("voronoi", "its scores", put("pool.rows", -1, len(X)))
        refused("voronoi", "its scores", put("pool.rows", 1, 0))
        refused("voronoi", "its scores", put("pool.rows", 0, -1))


class TestHeaders:
    @pytest.mark.parametrize("value", [True, 1.0, "2", None, 0, VERSION + 1, [2]])
    def test_versions(self, refused, value):
        refused("voronoi", "has version", set_header(version=value))

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("n_training", 80.0), ("n_training", 10**30), ("key", 1.5), ("key", 2**64),
            ("max_samples", 80.0), ("branching", 2.0), ("threshold", float("inf")),
            ("threshold", True), ("threshold_source", "chance"), ("soft", 1), ("pool", []),
            ("feature_names", ["a", "b", "c"]), ("n_features", 2.0), ("class", 3),
        ],
    )  # fmt: skip
    def test_values_of_another_type_or_size(self, refused, name, value):
        refused("voronoi", f"bad {name}", set_header(**{name: value}))

    @pytest.mark.parametrize(
        ("name", "value"),
        [("n_degenerate", 0.5), ("n_degenerate", -1), ("sigma", 0), ("sigma", float("nan")),
         ("sigma_source", "x"), ("in_sample_preferences", 0), ("families", [])],
    )  # fmt: skip
    def test_values_of_the_embedding(self, refused, name, value):
        refused("default", f"bad {name}", lambda header, arrays: header["embedding"].update(
            {name: value}))  # fmt: skip

    def test_nesting(self, refused):
        deep: list = []
        for _ in range(900):
            deep = [deep]
        refused("default", "nested too deeply", lambda header, arrays: header["params"].update(
            family=deep))  # fmt: skip

    def test_a_device_is_not_taken_from_a_file(self, saved, tmp_path):
        header, arrays = read_archive(saved / "default.pif")
        header["params"]["device"] = "cuda"
        write_archive(tmp_path / "m.pif", header, arrays, VERSION)
        assert piforest.load(tmp_path / "m.pif").device == "cpu"

    def test_soft_paths_need_distances_of_at_most_one(self, refused):
        refused("voronoi", "path='soft' needs a metric", set_header(soft=True))

    def test_a_detector_without_its_embedding_or_with_a_foreign_one(self, refused):
        refused("default", "bad embedding", lambda header, arrays: header.pop("embedding"))
        refused("voronoi", "bad (embedding|families)", set_header(embedding={"families": []}))

    def test_a_long_header_is_refused_when_read_and_when_written(self, tmp_path, refused):
        detector = VoronoiForest("euclidean", **SMALL).fit(X)
        with pytest.raises(ValueError, match="Use shorter names, or pickle"):
            detector.save(tmp_path / "m.pif", feature_names=["x" * 2**21, "y"])
        assert list(tmp_path.iterdir()) == []
        np.savez(tmp_path / "m.npz", header=np.array(json.dumps({"a": "x" * 2**22})))
        with pytest.raises(ValueError, match="its header is too long"):
            piforest.load(tmp_path / "m.npz")


class TestCosts:
    def test_many_points_in_trees_of_three_branches(self, refused):
        def change(header, arrays):
            n = 400_000
            header.update(n_training=n, max_samples=n)
            arrays.update({"pool": np.zeros((n, 2)), "pool.rows": np.arange(n)})
            arrays.update({"pool.scores": np.ones(n), "subset.scores": np.ones(50_000)})

        refused("three", "bad max_samples", change)

    @pytest.mark.slow
    def test_millions_of_trees(self, refused):
        t = 3_000_000
        trees = {"roots": np.arange(t + 1), "first_child": np.full(t, -1, np.int32),
                 "seed": np.full(t, -1, np.int32), "size": np.full(t, 2, np.int32)}  # fmt: skip
        refused("voronoi", "its trees", replaced(**{f"forest__{k}": v for k, v in trees.items()}))

    def test_many_trees_are_scored_in_smaller_blocks(self):
        few = VoronoiForest("euclidean", n_estimators=5, random_state=0).fit(X)
        many = VoronoiForest("euclidean", n_estimators=20_000, max_samples=2, random_state=0).fit(X)
        assert few.forest_.block_rows == 256
        assert many.forest_.block_rows * 20_000 * 8 < 9e6


class TestSpecialFiles:
    def test_loading_a_pipe_does_not_block(self, tmp_path):
        os.mkfifo(tmp_path / "pipe.pif")
        result = []

        def load():
            try:
                piforest.load(tmp_path / "pipe.pif")
            except ValueError as error:
                result.append(str(error))

        thread = threading.Thread(target=load, daemon=True)
        thread.start()
        thread.join(20)
        assert "pipe.pif is not a regular file" in result[0]

    def test_an_endless_device_is_not_read(self):
        with pytest.raises(ValueError, match="/dev/zero is not a regular file"):
            piforest.load("/dev/zero")
