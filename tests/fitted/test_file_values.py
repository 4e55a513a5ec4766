"""Each value of a model file: what is accepted at the limit, and the first that is refused."""

from __future__ import annotations

import copy
from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from piforest._random import Stream
from piforest._rows import sparse_rows
from piforest._validation import LARGEST
from piforest.families import get_family
from piforest.fitted import file as files
from piforest.fitted import file_checks as checks
from piforest.fitted.family_fingerprint import _close, fingerprint
from piforest.fitted.file_measuring import decode_measuring
from piforest.fitted.file_params import decode, decode_params, encode, encode_params
from piforest.fitted.file_versions import VERSION, to_current_version
from piforest.forest import FlatForest, PooledForest
from piforest.io import archive as archives
from piforest.io.archive import ArchiveError, read_archive, write_archive
from piforest.metrics import get_metric
from piforest.models.bounds import CELLS, Bounds
from piforest.models.drawing import draw_models
from piforest.preferences import Gaussian
from piforest.sampling import get_sampler

LINE = get_family("line")
X = np.random.default_rng(0).normal(size=(30, 2))


def drawn(n_models=6):
    return draw_models(X, LINE, get_sampler("uniform"), n_models, Stream(0))[0]


def refused(match):
    return pytest.raises(ValueError, match=match)


class TestMeasuring:
    good: ClassVar[dict] = {"steps": [0.0, 0.5], "key": 7, "widths": [3.0, 2.0, 1.0], "n_wide": 1}

    def decoded(self, d=2, **changes):
        return decode_measuring([{**self.good, **changes}], 1, d)[0]

    def test_what_is_stored_is_read(self):
        found = self.decoded()
        assert found.resolution.steps.tolist() == [0.0, 0.5]
        assert found.resolution.key == 7
        assert found.grid.widths.tolist() == [3.0, 2.0, 1.0]
        assert found.grid.n_wide == 1
        assert decode_measuring(None, 3, 2) is None
        assert decode_measuring([], 0, 2) == ()
        assert len(decode_measuring([self.good] * 2, 2, 2)) == 2

    @pytest.mark.parametrize(
        "changes",
        [
            {"steps": [0.0, 0.0]}, {"steps": [np.nextafter(LARGEST, 0), 1e-300]},
            {"widths": [1.0]}, {"widths": list(range(18, 0, -1)), "n_wide": 18}, {"key": 0},
            {"widths": [np.nextafter(LARGEST, 0), 5e-324]}, {"key": 2**64 - 1}, {"n_wide": 0},
            {"n_wide": 3},
        ],
        ids=str,
    )  # fmt: skip
    def test_up_to_the_limits(self, changes):
        self.decoded(**changes)

    @pytest.mark.parametrize(
        "changes",
        [
            {"steps": [0.0]}, {"steps": [[0.0, 0.0]]}, {"steps": [-1e-300, 0.0]},
            {"steps": [LARGEST, 0.0]}, {"steps": [float("nan"), 0.0]}, {"widths": [], "n_wide": 0},
            {"widths": [[3.0], [2.0]]}, {"widths": 3.0}, {"widths": list(range(19, 0, -1))},
            {"widths": [1.0, 0.0]}, {"widths": [LARGEST, 1.0]}, {"widths": [2.0, 2.0]},
            {"widths": [2.0, 2.5]}, {"widths": [float("nan")]}, {"key": -1}, {"key": 2**64},
            {"key": 1.0}, {"key": True}, {"n_wide": -1}, {"n_wide": 4}, {"n_wide": 1.0},
            {"n_wide": True}, {"widths": [1.0, -1.0]},
        ],
        ids=str,
    )  # fmt: skip
    def test_beyond_the_limits(self, changes):
        with refused("bad measuring|only 0-dimensional|len\\(\\) of unsized"):
            try:
                self.decoded(**changes)
            except TypeError as error:
                raise ValueError(str(error)) from error

    def test_one_for_each_family(self):
        for stored, families in ([self.good], 2), ([self.good] * 2, 1), ({"a": self.good}, 1):
            with refused("bad measuring"):
                decode_measuring(stored, families, 2)


HASHED = {"top": 1.0, "key": 5}


class TestHashes:
    def checked(self, kind, hashing, soft=False):
        header = {"class": kind, "soft": soft}
        checks._check_hashing(header if hashing is None else {**header, "hashing": hashing})

    def test_headers(self):
        self.checked("RuzHashForest", HASHED)
        self.checked("PreferenceIsolationForest", HASHED)
        self.checked("PreferenceIsolationForest", None)
        self.checked("VoronoiForest", None)
        self.checked("VoronoiForest", None, soft=True)
        self.checked("RuzHashForest", {"top": 5e-324, "key": 2**64 - 1})
        for kind, hashing, soft in [
            ("RuzHashForest", None, False), ("VoronoiForest", HASHED, False),
            ("RuzHashForest", HASHED, True), ("RuzHashForest", {**HASHED, "top": 0.0}, False),
            ("RuzHashForest", {**HASHED, "key": 2**64}, False), ("RuzHashForest", [], False),
        ]:  # fmt: skip
            with refused("its header has a bad hashing"):
                self.checked(kind, hashing, soft)

    def test_the_largest_value_is_that_of_the_pool_and_one_for_zeros(self):
        def check(rows, top, metric="ruzicka"):
            pool = sparse_rows(np.array(rows)) if isinstance(rows, list) else rows
            checks.check_hashed(SimpleNamespace(top=top), pool, get_metric(metric))

        check([[0.0, 0.5], [0.25, 0.0]], 0.5)
        check([[0.0, 0.0]], 1.0)
        check([[0.0, 3.0]], 3.0)
        for rows, top, metric in [
            ([[0.0, 0.5]], 1.0, "ruzicka"), ([[0.0, 0.0]], 0.0, "ruzicka"),
            ([[0.0, 0.0]], 1.25, "ruzicka"), ([[0.0, 3.0]], np.nextafter(3.0, 0), "ruzicka"),
            ([[0.0, 0.5]], 0.5, "tanimoto"), (np.array([[0.0, 0.5]]), 0.5, "ruzicka"),
        ]:  # fmt: skip
            with refused("its hashes do not fit the pool"):
                check(rows, top, metric)


def test_units_and_shapes_of_an_embedding():
    good = {
        "sigma": 1.0, "sigma_source": "given", "in_sample_preferences": True, "n_degenerate": 0,
        "families": [{}], "n_drawn": [0],
    }  # fmt: skip
    checks._check_embedding(good, 2)
    for units in (None, [1.0, 2], [5e-324, 0.5]):
        checks._check_embedding({**good, "units": units}, 2)
    for units in ([], [1.0], [1.0, 2.0, 3.0], [1.0, 0.0], [0, 1], [1.0, -1.0], (1.0, 1.0),
                  [1.0, True], [1.0, "1"], [1.0, float("inf")], {"a": 1.0, "b": 1.0}):  # fmt: skip
        with refused("its header has a bad units"):
            checks._check_embedding({**good, "units": units}, 2)
    for drawn_from in ([1], [2**48 - 1]):
        checks._check_embedding({**good, "n_drawn": drawn_from}, 2)
    for bad in ([False], {"a": 1}, [None]):
        with refused("its header has a bad n_drawn"):
            checks._check_embedding({**good, "n_drawn": bad}, 2)
    with refused("its header has a bad embedding"):
        checks._check_embedding([good], 2)


def test_the_threshold_and_the_parameters():
    good = {"params": {}, "threshold": 0.5, "threshold_source": "given"}
    checks.check_threshold(good)
    with refused("its header has a bad params"):
        checks.check_threshold({**good, "params": [["n_jobs", 1]]})
    for name, value in (("threshold", None), ("threshold_source", None), ("threshold", True)):
        with refused(f"its header has a bad {name}"):
            checks.check_threshold({**good, name: value})


def test_numbers_of_headers():
    assert [checks.is_unit(v) for v in (5e-324, 1, 0.5, 0, -1.0, LARGEST, True, None)] == [
        True, True, True, False, False, False, False, False]  # fmt: skip
    assert [checks.is_key(v) for v in (0, 1, 2**64 - 1, -1, 2**64, 1.0, True)] == [
        True, True, True, False, False, False, False]  # fmt: skip
    assert [checks.is_count(v) for v in (1, 2**48 - 1, 0, 2**48, 1.0, True)] == [
        True, True, False, False, False, False]  # fmt: skip
    assert not checks._is_real(np.nextafter(LARGEST, np.inf))
    assert not checks._is_real("1")


def test_the_limit_of_three_branches_is_none_for_two():
    header = {
        "class": "VoronoiForest", "params": {}, "threshold": 0.5, "threshold_source": "given",
        "n_training": 9, "key": 0, "max_samples": 2**14, "branching": 3, "soft": False,
        "has_structures": False, "n_features": 2, "feature_names": [], "pool": {"layout": "dense"},
    }  # fmt: skip
    checks.check_header(header)
    checks.check_header({**header, "max_samples": 2**14 + 1, "branching": 2})
    with refused("bad max_samples"):
        checks.check_header({**header, "max_samples": 2**14 + 1})
    with refused("bad embedding"):
        checks.check_header({**header, "class": "PreferenceIsolationForest"})
    with refused("bad embedding"):
        checks.check_header({**header, "embedding": {}})
    with refused("bad pool"):
        checks.check_header({**header, "pool": [["layout", "dense"]]})


class TestPools:
    def checked(self, pool, metric="euclidean", models=None, d=2):
        checks.check_pool(pool, get_metric(metric), models, d)

    def test_dense_pools(self):
        self.checked(np.zeros((3, 2)))
        self.checked(np.zeros((3, 4)), models=4)
        self.checked(np.full((1, 2), LARGEST))
        too_large = np.full((1, 2), np.nextafter(LARGEST, np.inf))
        single = np.zeros((3, 2), np.float32)
        for pool in (np.zeros((3, 1)), np.zeros((2, 3)), single, np.zeros(2), too_large):
            with refused("its pool"):
                self.checked(pool)
        with refused("its pool"):
            self.checked(np.zeros((3, 2)), models=4)

    def test_precomputed_pools(self):
        self.checked(np.array([0, 1]), "precomputed")
        for pool in (np.array([0, 2]), np.array([-1, 0]), np.array([[0]]), np.array([0.0]),
                     np.array([0], np.int32)):  # fmt: skip
            with refused("its pool"):
                self.checked(pool, "precomputed")
        with refused("its pool"):
            self.checked(np.array([0]), "precomputed", d=None)

    def test_sparse_pools(self):
        rows = sparse_rows(np.array([[0.5, 0.0], [1.0, 2.0]]))
        self.checked(rows, "tanimoto")
        self.checked(sparse_rows(np.zeros((2, 2))), "tanimoto")
        with refused("its pool"):
            self.checked(rows, "tanimoto", models=3)
        for values in ([1.0, np.nan, 1.0], [1.0, 1.0, -5e-324]):
            with refused("its pool"):
                self.checked(replace(rows, data=np.array(values)), "tanimoto")
        with refused("its pool"):
            self.checked(replace(rows, indices=np.array([2, 0, 1], rows.indices.dtype)), "tanimoto")


def test_soft_paths_need_distances_of_at_most_one_in_every_block(monkeypatch):
    trees = FlatForest(2, 2, soft=True)
    monkeypatch.setattr(PooledForest, "block_rows", 4)
    pool = np.linspace(0, 1, 9)[:, None]
    checks.check_soft(PooledForest(get_metric("euclidean"), pool, trees))
    for far in (0, 4, 8):
        other = pool.copy()
        other[far] += 2.0
        with refused("at most 1|larger than 1|path='soft'"):
            checks.check_soft(PooledForest(get_metric("euclidean"), other, trees))


class TestModels:
    def test_good_ones(self):
        checks.check_models(drawn(), 2, None)
        checks.check_models(drawn(1), 2, None)
        checks.check_models(replace(drawn(), weight=np.array([0.0, 0, 0, 0, 0, 5e-324])), 2, None)
        checks.check_models(replace(drawn(), scale=np.full(6, 5e-324)), 2, None)

    def test_exclusions(self):
        models = drawn()
        for excludes in (None, np.ones(6, bool), np.zeros(6, bool)):
            checks.check_models(replace(models, excludes_sample=excludes), 2, None)
        for excludes in (np.ones(5, bool), np.ones(7, bool), np.ones(6), np.ones((6, 1), bool),
                         np.ones(6, np.int8)):  # fmt: skip
            with refused("its models do not fit together"):
                checks.check_models(replace(models, excludes_sample=excludes), 2, None)

    @pytest.mark.parametrize(
        ("name", "change"),
        [
            ("params", lambda a: a[:, 0]), ("params", lambda a: a[:0]),
            ("samples", lambda a: a[:, 0]), ("samples", lambda a: a[:, :0]),
            ("samples", lambda a: a[:-1]), ("samples", lambda a: a - a.min() - 1),
            ("samples", lambda a: a.astype(np.int32)), ("samples", lambda a: a * 0),
            ("points", lambda a: a[:-1]), ("points", lambda a: a[:, :1]),
            ("scale", lambda a: a[:-1]), ("weight", lambda a: a[:-1]),
            ("scale", lambda a: a[:, None]), ("points", lambda a: a.astype(np.float32)),
            ("weight", lambda a: a.astype(np.float32)), ("params", lambda a: a.astype(np.float32)),
        ],
    )  # fmt: skip
    def test_shapes_that_do_not_fit(self, name, change):
        models = drawn()
        with refused("its models do not fit together"):
            checks.check_models(replace(models, **{name: change(getattr(models, name))}), 2, None)

    def test_scales_and_weights_of_the_same_wrong_length(self):
        with refused("its models do not fit together"):
            checks.check_models(replace(drawn(), scale=np.ones(5), weight=np.ones(5)), 2, None)

    def test_samples_of_the_smallest_row_numbers_fit(self):
        models = drawn()
        ranks = np.searchsorted(np.unique(models.samples), models.samples)
        assert ranks.min() == 0
        checks.check_models(replace(models, samples=ranks), 2, None)

    @pytest.mark.parametrize(
        ("name", "value"),
        [("scale", 0.0), ("scale", np.nan), ("weight", -5e-324), ("weight", np.inf),
         ("points", np.inf), ("params", np.nan)],
    )  # fmt: skip
    def test_values_out_of_range(self, name, value):
        array = getattr(drawn(), name).copy()
        array[0] = value
        with refused("its models have bad values"):
            checks.check_models(replace(drawn(), **{name: array}), 2, None)
        if name == "weight":
            with refused("its models have bad values"):
                checks.check_models(replace(drawn(), weight=np.zeros(6)), 2, None)

    def test_models_of_another_family(self):
        with refused("its models do not fit the family"):
            checks.check_models(replace(drawn(), family=get_family("circle")), 2, None)
        wider = replace(drawn(), params=np.ones((6, 5)))
        with refused("its models do not fit the family"):
            checks.check_models(wider, 2, None)
        checks.check_models(replace(wider, family=LINE), 2, LINE)  # a custom one is checked later

    def test_bounds(self):
        low, size = np.zeros((6, 2)), np.tile([1.0, np.inf], (6, 1))
        good = Bounds(low, size, np.ones((6, CELLS), bool))
        checks.check_bounds(drawn(), 2)
        checks.check_bounds(replace(drawn(), bounds=good), 2)
        checks.check_bounds(replace(drawn(), bounds=replace(good, size=size * 5e-324)), 2)
        for name, value in [
            ("low", low[:5]), ("low", np.zeros((6, 3))), ("size", size[:, :1]),
            ("low", low.astype(np.float32)), ("size", size.astype(np.float32)),
            ("cells", good.cells[:5]), ("cells", good.cells[:, 1:]),
            ("cells", good.cells.astype(np.int8)),
        ]:  # fmt: skip
            with refused("its bounds do not fit the models"):
                checks.check_bounds(replace(drawn(), bounds=replace(good, **{name: value})), 2)
        single = low.astype(np.float32), size.astype(np.float32)
        for corner in ((low[:, :1], size[:, :1]), single):
            each = Bounds(*corner, good.cells)
            with refused("its bounds do not fit the models"):
                checks.check_bounds(replace(drawn(), bounds=each), 2)
        for name, value in (("low", np.full((6, 2), np.nan)), ("size", np.zeros((6, 2))),
                            ("size", -size), ("low", np.full((6, 2), np.inf))):  # fmt: skip
            with refused("its bounds have bad values"):
                checks.check_bounds(replace(drawn(), bounds=replace(good, **{name: value})), 2)


class TestScores:
    def arrays(self, **changes):
        good = {
            "pool.scores": np.ones(3), "subset.scores": np.ones(5), "scores": np.ones(5),
            "pool.rows": np.array([0, 2, 4]),
        }  # fmt: skip
        return {**good, **{name.replace("__", "."): value for name, value in changes.items()}}

    def test_good_ones(self):
        checks.check_scores(self.arrays(), 3, 5)
        without = self.arrays()
        del without["scores"]
        checks.check_scores(without, 3, 5)

    @pytest.mark.parametrize(
        "changes",
        [
            {"pool__rows": np.array([1, 2, 5])}, {"pool__rows": np.array([-1, 2, 4])},
            {"pool__rows": np.array([0, 0, 4])}, {"pool__rows": np.array([0, 4, 4])},
            {"pool__rows": np.array([2, 0, 4])}, {"pool__rows": np.array([0, 2])},
            {"pool__rows": np.array([0.0, 2.0, 4.0])}, {"scores": np.ones(4)},
            {"scores": np.ones((5, 1))}, {"scores": np.ones(5, np.float32)},
            {"scores": np.full(5, np.nan)}, {"pool__scores": np.ones(5)},
        ],
        ids=str,
    )  # fmt: skip
    def test_bad_ones(self, changes):
        with refused("its scores do not fit the rest"):
            checks.check_scores(self.arrays(**changes), 3, 5)

    @pytest.mark.parametrize("name", ["pool.scores", "subset.scores"])
    def test_missing_ones(self, name):
        arrays = self.arrays()
        del arrays[name]
        with refused("its scores do not fit the rest"):
            checks.check_scores(arrays, 3, 5)

    def test_points(self):
        good = {"pool.points": np.zeros((3, 2)), "subset.points": np.zeros((5, 2))}
        checks.check_points(good, 3, 5, 2)
        for name in ("pool", "subset"):
            points = good[f"{name}.points"]
            for bad in (points[1:], points[:, :1], points.astype(np.float32), points + np.inf):
                with refused(f"its {name} has no points"):
                    checks.check_points({**good, f"{name}.points": bad}, 3, 5, 2)


class TestVersions:
    first: ClassVar[dict] = {
        "version": 1, "class": "PIF", "offset": 0.25, "n_features_in": 2, "feature_names_in": ["a"],
        "params": {"n_models": "auto", "contamination": "auto"},
        "embedding": {"params": {"own_votes": False}, "families": [{}, {}]},
    }  # fmt: skip

    def current(self, **changes):
        return to_current_version("m.pif", copy.deepcopy({**self.first, **changes}))

    def test_the_first_version(self):
        new = self.current()
        assert (new["version"], new["class"]) == (VERSION, "PreferenceIsolationForest")
        assert (new["threshold"], new["threshold_source"]) == (-0.25, "automatic")
        assert (new["n_features"], new["feature_names"]) == (2, ["a"])
        assert new["has_structures"] is False
        params = new["params"]
        assert params["n_models"] == "paper"
        assert params["in_sample_preferences"] is True
        assert "own_votes" not in params
        assert (params["branching"], params["path"], params["metric"]) == (2, "depth", "tanimoto")
        assert (params["scale"], params["weighting"]) == ("fixed", "none")
        for step in ("concentrate", "refit", "select", "bound"):
            assert params[step] is False
        assert new["embedding"]["in_sample_preferences"] is False
        assert new["embedding"]["n_drawn"] == [0, 0]

    def test_parameters_of_the_first_version(self):
        given = {"n_models": 50, "contamination": 0.1}
        new = self.current(params=given)
        assert new["params"]["n_models"] == 50
        assert new["threshold_source"] == "contamination"
        other = {"scale": "own", "own_votes": False, "contamination": "auto"}
        forest = self.current(**{"class": "VoronoiForest", "params": other, "by_hand": True})
        assert forest["class"] == "VoronoiForest"
        assert forest["threshold_source"] == "given"
        assert forest["params"]["scale"] == "per_model"
        assert forest["params"]["in_sample_preferences"] is False
        assert "n_models" not in forest["params"]
        kept = self.current(**{"class": "VoronoiForest", "params": {"scale": "fixed"}})
        assert kept["params"]["scale"] == "fixed"
        header = {name: value for name, value in self.first.items() if name != "embedding"}
        alone = to_current_version("m.pif", {**header, "class": "VoronoiForest"})
        assert "embedding" not in alone
        assert "refit" not in alone["params"]

    def test_later_versions(self):
        embedding = {"families": [{}], "in_sample_preferences": True}
        header = {"params": {"refit": True}, "embedding": embedding, "class": "x"}
        two = to_current_version("m", {**header, "version": 2})
        assert two["params"] == dict.fromkeys(("concentrate", "refit", "select", "bound"), False)
        assert two["embedding"] == {**embedding, "n_drawn": [0]}
        assert (two["version"], two["has_structures"]) == (VERSION, False)
        three = to_current_version("m", {**header, "version": 3, "has_structures": True})
        assert (three["params"], three["embedding"]) == (header["params"], embedding)
        assert (three["version"], three["has_structures"]) == (VERSION, False)
        four = {**header, "version": 4, "has_structures": True}
        assert to_current_version("m", four) == four

    @pytest.mark.parametrize("version", [0, VERSION + 1, -1, True, 2.0, "2", None])
    def test_unknown_versions(self, version):
        with pytest.raises(ArchiveError, match="has version"):
            to_current_version("m.pif", {**self.first, "version": version})

    def test_the_version_that_is_written(self):
        assert VERSION == 4


class TestParameters:
    def test_values_are_kept_and_the_device_is_not(self):
        params = {"a": 1, "b": None, "c": "x", "d": True, "e": 0.5, "device": "cuda",
                  "n_models": np.int64(3), "sigma": np.float64(0.25),
                  "random_state": object()}  # fmt: skip
        stored = encode_params(params, [])
        assert stored == {"a": 1, "b": None, "c": "x", "d": True, "e": 0.5, "n_models": 3,
                          "sigma": 0.25, "random_state": None}  # fmt: skip
        assert type(stored["n_models"]) is int
        assert decode_params({**stored, "device": "cuda"}, None) == stored

    def test_built_in_objects_have_names(self):
        stored = encode("kernel", Gaussian())
        assert stored == {"name": "gaussian", "options": {}}
        assert decode("kernel", stored) == Gaussian()
        both = encode("family", ["line", get_family("circle")])
        assert both == ["line", {"name": "circle", "options": {}}]
        assert decode("family", both)[0] == "line"
        assert type(decode("family", both)[1]) is type(get_family("circle"))

    def test_custom_objects(self):
        class Own(type(LINE)):
            name = "own"

        own, other = Own(), Own()
        assert encode("family", own, [LINE, own]) == {"own": "own"}
        assert decode("family", {"own": "own"}, own) is own
        assert decode("family", [{"own": "own"}, "line"], own) == [own, "line"]
        with refused("it was set after fitting"):
            encode("family", own, [])
        with refused("it was set after fitting"):
            encode("family", own, [other])
        with refused("can only name what is built in"):
            encode("kernel", lambda r, s: r)
        with refused("can only name what is built in"):
            encode("n_models", [1, 2])
        with refused("can only name what is built in"):
            encode("metric", own, [own])


class TestFamilies:
    """What `load(path, family=...)` takes."""

    class Own(type(LINE)):
        name = "own"

    named: ClassVar[dict] = {
        "class": "P",
        "embedding": {"families": [{"name": "line"}, {"own": "own"}]},
    }
    plain: ClassVar[dict] = {"class": "P", "embedding": {"families": [{"name": "line"}]}}

    def test_the_family_that_has_to_be_passed(self):
        own = self.Own()
        assert files._custom_family("m", self.named, own) is own
        assert files._custom_family("m", self.named, ["line", own]) is own
        assert files._custom_family("m", self.named, (own,)) is own
        assert files._custom_family("m", self.plain, None) is None
        assert files._custom_family("m", {"class": "V"}, None) is None

    def test_others(self):
        own = self.Own()
        with pytest.raises(ArchiveError, match="holds a detector with a custom family, 'own'"):
            files._custom_family("m", self.named, None)
        for header in (self.plain, {"class": "V"}):
            with pytest.raises(ArchiveError, match="needs no custom family"):
                files._custom_family("m", header, own)
        for family in (["line"], [own, self.Own()]):
            with pytest.raises(ArchiveError, match="must hold the one custom family"):
                files._custom_family("m", self.named, family)


def test_fingerprints_have_sixteen_models_and_64_points():
    models = draw_models(np.random.default_rng(0).normal(size=(200, 2)), LINE,
                         get_sampler("uniform"), 60, Stream(0))[0]  # fmt: skip
    stored, solved = fingerprint(models)
    n = min(64, len(np.unique(models.samples[:16])))
    assert stored.shape == (n, 16)
    assert solved.shape == (n, 16)
    np.testing.assert_allclose(np.sort(stored), np.sort(solved), atol=1e-9)
    many = get_family("hyperplane")
    points = np.random.default_rng(0).normal(size=(300, 8))
    models = draw_models(points, many, get_sampler("uniform"), 60, Stream(0))[0]
    assert fingerprint(models)[0].shape == (64, 16)


def test_distances_agree_to_a_millionth():
    ones = np.ones(5)
    assert _close(ones * (1 + 1.9e-6), ones)
    assert not _close(ones * (1 + 2.1e-6), ones)
    assert not _close(np.ones(4), ones)
    assert not _close(np.full(5, 1e-9), np.full(5, np.inf))
    assert _close(np.zeros(2), np.array([0.0, 0.0]))
    assert not _close(np.full(2, 1e-9), np.zeros(2))


class TestArchives:
    def test_a_header_alone_and_all_arrays(self, tmp_path):
        path = tmp_path / "m.pif"
        write_archive(path, {"a": 1}, {"x": np.arange(3)}, 2)
        header, arrays = read_archive(path)
        assert header == {"format": "piforest-model", "version": 2, "a": 1}
        assert arrays["x"].tolist() == [0, 1, 2]
        assert read_archive(path, only_header=True) == (header, {})

    def test_other_headers(self, tmp_path):
        path = tmp_path / "m.npz"
        for text in ('{"format": "other"}', "[1]", '"piforest-model"', "{}"):
            np.savez(path, header=np.array(text))
            with pytest.raises(ArchiveError, match="names no such format"):
                read_archive(path)

    def test_the_memory_of_a_file(self, monkeypatch, tmp_path):
        assert archives._limit(0) == 64 * 2**20
        assert archives._limit(10) - archives._limit(0) == 640
        monkeypatch.setattr(archives, "_FREE_BYTES", 0)
        path = tmp_path / "m.npz"
        write_archive(path, {}, {"x": np.zeros(10_000)}, 2)
        assert path.stat().st_size > 80_000  # stored, since it would shrink more than 64 times
        assert read_archive(path)[1]["x"].shape == (10_000,)
        np.savez_compressed(
            path, header=np.array('{"format": "piforest-model"}'), x=np.zeros(10**5)
        )
        with pytest.raises(ArchiveError, match="bytes that unpack to"):
            read_archive(path)

    @pytest.mark.parametrize(
        "dtype", [object, [("a", float)], np.complex128, "S3", "datetime64[s]", ("f8", (2,))]
    )
    def test_types_of_arrays_that_are_refused(self, dtype):
        with refused("it holds"):
            archives._check_type(np.dtype(dtype))

    @pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, float, "U5"])
    def test_types_of_arrays_that_are_read(self, dtype):
        archives._check_type(np.dtype(dtype))
