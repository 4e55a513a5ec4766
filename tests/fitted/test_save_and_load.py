from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from piforest import PreferenceIsolationForest, RuzHashForest, VoronoiForest, load
from piforest.datasets import make_circles
from piforest.families import LearnedFamily, from_functions, get_family
from piforest.fitted.file_versions import VERSION
from piforest.io import archive as io
from piforest.metrics import get_metric
from piforest.preferences import resolve_kernel
from piforest.sampling import get_sampler

X, _ = make_circles(2, sizes=40, anomaly_share=0.3, random_state=0, return_X_y=True)
MATCHES = np.random.default_rng(0).uniform(0, 500, (40, 4))
SMALL = {"n_estimators": 8, "random_state": 0}


class CustomLine(type(get_family("line"))):
    """A family that is not in the registry."""


class Sampler(type(get_sampler("uniform"))):
    """A sampler that is not in the registry."""


def fit_line(points):
    return np.polyfit(points[:, 0], points[:, 1], 1)


def along_y(X, params):
    return np.abs(X[:, 1] - np.polyval(params, X[:, 0]))


def along_x(X, params):
    return np.abs(X[:, 0] - np.polyval(params, X[:, 1]))


CUSTOM = [
    CustomLine(),
    LearnedFamily(DecisionTreeRegressor(max_depth=2), 4),
    from_functions(fit_line, along_y, sample_size=2, n_features=2, name="slope"),
]

DETECTORS = [
    (PreferenceIsolationForest.paper("circle", sigma=0.02, n_models=90, **SMALL), X),
    (
        PreferenceIsolationForest.paper(
            get_family("fundamental", solver="7-point"), sigma=3, n_models=90, **SMALL
        ),
        MATCHES,
    ),
    (PreferenceIsolationForest("line", n_models=90, pool_size=30, **SMALL), X),
    (
        PreferenceIsolationForest(
            "line", n_models=90, metric=get_metric("minkowski", p=1.5), path="depth", **SMALL
        ),
        X,
    ),
    (PreferenceIsolationForest("line", forest="ruzhash", n_models=90, pool_size=30, **SMALL), X),
    (RuzHashForest(pool_size=40, **SMALL), np.abs(X)),
    (VoronoiForest("euclidean", **SMALL), X),
    (VoronoiForest("tanimoto", pool_size=40, **SMALL), np.abs(X)),
    (VoronoiForest("precomputed", **SMALL), np.abs(X[:, :1] - X[:, 0])),
]


@pytest.mark.parametrize(("detector", "data"), DETECTORS, ids=range(len(DETECTORS)))
def test_a_saved_model_gives_the_same_results(detector, data, tmp_path):
    path = tmp_path / "model.pif"
    detector.fit(data).save(path)
    loaded = type(detector).load(path)
    assert type(loaded) is type(detector)
    assert np.array_equal(loaded.anomaly_score(data), detector.scores_)
    assert np.array_equal(loaded.scores_, detector.scores_)
    assert np.array_equal(loaded.predict(data), detector.labels_)
    assert loaded.offset_ == detector.offset_
    assert loaded.n_features_in_ == detector.n_features_in_
    assert str(loaded.get_params()) == str(detector.get_params())
    assert loaded.set_contamination(0.2).offset_ == detector.set_contamination(0.2).offset_
    if hasattr(detector, "structures_"):
        assert np.array_equal(loaded.null_scores_, detector.null_scores_)
        assert loaded.sigma_source_ == detector.sigma_source_
        assert str(loaded.structures_) == str(detector.structures_)
        assert str(loaded.explain(data[:3])) == str(detector.explain(data[:3]))
    if hasattr(detector, "sigma_"):
        assert loaded.sigma_ == detector.sigma_
        assert loaded.n_models_ == detector.n_models_
        assert loaded.n_degenerate_ == detector.n_degenerate_
        before, after = (d.embedding_.transform(data) for d in (detector, loaded))
        assert (before != after).nnz == 0


def test_column_names_are_kept(tmp_path):
    frame = pd.DataFrame(X, columns=["east", "north"])
    PreferenceIsolationForest.paper("circle", sigma=0.02, n_models=50, **SMALL).fit(frame).save(
        tmp_path / "m"
    )
    loaded = PreferenceIsolationForest.load(tmp_path / "m")
    assert loaded.feature_names_in_.tolist() == ["east", "north"]
    with pytest.warns(UserWarning, match="feature names"):
        loaded.predict(X)


def test_a_loaded_model_can_be_fitted_again(tmp_path):
    detector = PreferenceIsolationForest.paper("circle", sigma=0.02, n_models=50, **SMALL).fit(X)
    detector.save(tmp_path / "m")
    assert np.array_equal(
        PreferenceIsolationForest.load(tmp_path / "m").fit(X).scores_, detector.scores_
    )


def test_a_model_loads_as_the_class_that_was_saved(tmp_path):
    PreferenceIsolationForest.paper("circle", sigma=0.02, n_models=50, **SMALL).fit(X).save(
        tmp_path / "m"
    )
    assert type(load(tmp_path / "m")) is PreferenceIsolationForest
    with pytest.raises(ValueError, match="holds a PreferenceIsolationForest, not a VoronoiForest"):
        VoronoiForest.load(tmp_path / "m")


def test_a_model_that_cannot_be_saved_raises_an_error_and_leaves_no_file(tmp_path):
    forest = VoronoiForest(lambda a, b: abs(len(a) - len(b)), **SMALL).fit(["a", "bb", "ccc"])
    with pytest.raises(ValueError, match=r"metric=.* cannot be saved.*pickle"):
        forest.save(tmp_path / "m")

    detector = PreferenceIsolationForest.paper("line", sigma=0.02, n_models=50, **SMALL).fit(X)
    detector.set_params(family=CustomLine())
    with pytest.raises(ValueError, match=r"family=.* cannot be saved: it was set after fitting"):
        detector.save(tmp_path / "m")
    for part in ({"kernel": lambda r, sigma: 1 - r / (3 * sigma)}, {"sampler": Sampler()}):
        detector = PreferenceIsolationForest("line", n_models=50, **part, **SMALL).fit(X)
        with pytest.raises(ValueError, match=rf"{next(iter(part))}=.* cannot be saved.*pickle"):
            detector.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("family", CUSTOM, ids=["subclass", "learned", "functions"])
@pytest.mark.parametrize("cls", [PreferenceIsolationForest.paper, PreferenceIsolationForest])
def test_a_custom_family_has_to_be_passed_again(cls, family, tmp_path):
    detector = cls(family, sigma=0.02, n_models=50, **SMALL).fit(X)
    detector.save(tmp_path / "m")
    loaded = PreferenceIsolationForest.load(tmp_path / "m", family=family)
    assert np.array_equal(loaded.anomaly_score(X), detector.scores_)
    assert loaded.family is family
    assert str(loaded.structures_) == str(detector.structures_)
    assert np.array_equal(loaded.fit(X).scores_, detector.scores_)
    with pytest.raises(ValueError, match=rf"custom family, '{family.name}'.*family=\.\.\."):
        PreferenceIsolationForest.load(tmp_path / "m")


@pytest.fixture(scope="module", params=CUSTOM, ids=["subclass", "learned", "functions"])
def saved_custom(request, tmp_path_factory):
    """A custom family, and the file of a detector of it."""
    path = tmp_path_factory.mktemp("custom") / "m"
    detector = PreferenceIsolationForest.paper(request.param, sigma=0.02, n_models=50, **SMALL)
    detector.fit(X).save(path)
    return request.param, path


@pytest.mark.slow
@pytest.mark.parametrize(
    "other",
    [
        "circle",
        LearnedFamily(DecisionTreeRegressor(max_depth=1), 4),
        LearnedFamily(DecisionTreeRegressor(max_depth=2), 4, target=0),
        LearnedFamily(DecisionTreeRegressor(max_depth=2), 5),
        LearnedFamily(LinearRegression(), 4),
        from_functions(fit_line, along_x, sample_size=2, n_features=2, name="slope"),
        from_functions(lambda p: 0.9 * fit_line(p), along_y, sample_size=2, name="slope"),
        from_functions(lambda p: 1 / 0, along_y, sample_size=2, name="slope"),
    ],
    ids=["circle", "depth", "target", "size", "estimator", "residuals", "fit", "degenerate"],
)
def test_another_family_is_rejected(saved_custom, other):
    family, path = saved_custom
    with pytest.raises(ValueError, match=rf"is not the one that .* saved with, '{family.name}'"):
        PreferenceIsolationForest.load(path, family=other)


def test_parameters_of_a_custom_family_may_have_any_size(tmp_path):
    family = from_functions(
        lambda points: 1e150 * fit_line(points),
        lambda X, params: along_y(X, params / 1e150),
        sample_size=2,
        n_features=2,
    )
    detector = PreferenceIsolationForest(family, n_models=50, **SMALL).fit(X)
    detector.save(tmp_path / "m")
    loaded = PreferenceIsolationForest.load(tmp_path / "m", family=family)
    assert np.array_equal(loaded.anomaly_score(X), detector.scores_)


def test_a_family_is_rejected_if_the_model_needs_none(tmp_path):
    PreferenceIsolationForest.paper("circle", sigma=0.02, n_models=50, **SMALL).fit(X).save(
        tmp_path / "m"
    )
    with pytest.raises(ValueError, match=r"needs no custom family; leave family out"):
        PreferenceIsolationForest.load(tmp_path / "m", family="circle")
    VoronoiForest(**SMALL).fit(np.abs(X)).save(tmp_path / "m")
    with pytest.raises(ValueError, match=r"needs no custom family; leave family out"):
        VoronoiForest.load(tmp_path / "m", family="circle")


def test_the_family_to_pass_is_the_fitted_one_not_one_that_was_set_later(tmp_path):
    detector = PreferenceIsolationForest.paper(CUSTOM[2], sigma=0.02, n_models=50, **SMALL).fit(X)
    detector.set_params(family="line").save(tmp_path / "m")
    loaded = PreferenceIsolationForest.load(tmp_path / "m", family=CUSTOM[2])
    assert loaded.family == "line"
    assert np.array_equal(loaded.anomaly_score(X), detector.scores_)


def test_missing_parts_of_a_custom_family_raise_a_clear_error(tmp_path):
    for missing in ("models.0.known.0", "models.0.params"):
        PreferenceIsolationForest.paper(CUSTOM[2], sigma=0.02, n_models=50, **SMALL).fit(X).save(
            tmp_path / "m"
        )
        header, arrays = io.read_archive(tmp_path / "m")
        arrays.pop(missing)
        io.write_archive(tmp_path / "m", header, arrays, VERSION)
        with pytest.raises(ValueError, match=rf"damaged: .*{missing}"):
            PreferenceIsolationForest.load(tmp_path / "m", family=CUSTOM[2])


@pytest.mark.parametrize(
    "content", [b"", b"not a zip", b"PK\x03\x04 truncated"], ids=["empty", "text", "truncated"]
)
def test_a_damaged_file_raises_a_clear_error(content, tmp_path):
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ValueError, match="is not a piforest model, or it is damaged"):
        PreferenceIsolationForest.load(tmp_path / "m")


def test_a_truncated_model_raises_a_clear_error(tmp_path):
    PreferenceIsolationForest.paper("circle", sigma=0.02, n_models=50, **SMALL).fit(X).save(
        tmp_path / "m"
    )
    whole = (tmp_path / "m").read_bytes()
    for keep in (100, len(whole) // 2, len(whole) - 10):
        (tmp_path / "m").write_bytes(whole[:keep])
        with pytest.raises(ValueError, match="is not a piforest model, or it is damaged"):
            PreferenceIsolationForest.load(tmp_path / "m")


def test_fitted_values_are_saved_not_parameters_that_were_set_later(tmp_path):
    changes = [
        (
            PreferenceIsolationForest.paper("circle", sigma=0.02, n_models=60, **SMALL),
            {"kernel": "binary", "family": "line"},
        ),
        (VoronoiForest("euclidean", **SMALL), {"metric": "chebyshev"}),
    ]
    for detector, change in changes:
        detector.fit(X).set_params(**change).save(tmp_path / "m")
        loaded = type(detector).load(tmp_path / "m")
        assert np.array_equal(loaded.anomaly_score(X), detector.scores_)
        assert change.items() <= loaded.get_params().items()


def test_built_in_objects_are_saved_by_name(tmp_path):
    detector = PreferenceIsolationForest(
        "circle",
        sampler=get_sampler("uniform"),
        kernel=resolve_kernel("binary"),
        n_models=60,
        **SMALL,
    ).fit(X)
    detector.save(tmp_path / "m")
    loaded = PreferenceIsolationForest.load(tmp_path / "m")
    assert np.array_equal(loaded.anomaly_score(X), detector.scores_)


def tampered(path, **changes):
    header, arrays = io.read_archive(path)
    for name, change in changes.items():
        name = name.replace("__", ".")
        arrays[name] = change(arrays[name].copy())
    io.write_archive(path, header, arrays, VERSION)


def put(index, value):
    def change(array):
        array[index] = value
        return array

    return change


@pytest.mark.parametrize(
    "changes",
    [
        {"forest__seed": put(5, 10**6)},
        {"forest__seed": lambda array: array[:-3]},
        {"forest__seed": put(1, -1)},
        {"forest__first_child": put(0, 0)},
        {"forest__first_child": put(0, 10**6)},
        {"forest__roots": put(1, 10**6)},
        {"forest__size": put(3, -5)},
        {"pool__indices": put(0, 60_000)},
        {"pool__indptr": put(1, 10**9)},
        {"pool__data": lambda array: array[:-1]},
        {"pool__data": lambda array: array.astype(np.int32)},
        {"pool__indices": lambda array: array[::-1]},
        {"models__0__scale": lambda array: array[:5]},
        {"models__0__params": lambda array: array[:, :1]},
        {"models__0__weight": lambda array: array.astype(int)},
        {"forest__first_child": lambda array: array.astype(float)},
        {"subset.scores": lambda array: array[:-1]},
    ],
    ids=range(17),
)
def test_invalid_trees_and_pools_are_rejected(changes, tmp_path):
    PreferenceIsolationForest.paper("circle", sigma=0.02, n_models=60, **SMALL).fit(X).save(
        tmp_path / "m"
    )
    tampered(tmp_path / "m", **changes)
    with pytest.raises(ValueError, match=r"damaged: its (trees|pool|models|param|scores|header)"):
        PreferenceIsolationForest.load(tmp_path / "m")


@pytest.mark.parametrize(
    "change", [{"n_features": 200_000}, {"n_features": 3}, {"branching": 0}], ids=str
)
@pytest.mark.parametrize("detector", [DETECTORS[2][0], DETECTORS[4][0]], ids=["line", "voronoi"])
def test_headers_that_do_not_match_the_arrays_are_rejected(detector, change, tmp_path):
    detector.fit(X).save(tmp_path / "m")
    header, arrays = io.read_archive(tmp_path / "m")
    io.write_archive(tmp_path / "m", {**header, **change}, arrays, VERSION)
    with pytest.raises(ValueError, match=r"damaged: its (trees|pool|models|scores|header)"):
        type(detector).load(tmp_path / "m")


@pytest.mark.parametrize("missing", ["params", "metric", "forest.size", "models.0.params"])
def test_missing_parts_raise_a_clear_error(missing, tmp_path):
    PreferenceIsolationForest.paper("circle", sigma=0.02, n_models=60, **SMALL).fit(X).save(
        tmp_path / "m"
    )
    header, arrays = io.read_archive(tmp_path / "m")
    header.pop(missing, None)
    arrays.pop(missing, None)
    io.write_archive(tmp_path / "m", header, arrays, VERSION)
    with pytest.raises(ValueError, match=rf"damaged: .*{missing}"):
        PreferenceIsolationForest.load(tmp_path / "m")


def test_an_unknown_parameter_raises_a_clear_error(tmp_path):
    PreferenceIsolationForest.paper("circle", sigma=0.02, n_models=60, **SMALL).fit(X).save(
        tmp_path / "m"
    )
    header, arrays = io.read_archive(tmp_path / "m")
    header["params"]["colour"] = "red"
    io.write_archive(tmp_path / "m", header, arrays, VERSION)
    with pytest.raises(ValueError, match=r"damaged: .*colour"):
        PreferenceIsolationForest.load(tmp_path / "m")


def test_a_folder_raises_a_specific_error(tmp_path):
    with pytest.raises(IsADirectoryError):
        PreferenceIsolationForest.load(tmp_path)
    detector = PreferenceIsolationForest.paper("circle", sigma=0.02, n_models=60, **SMALL).fit(X)
    with pytest.raises(IsADirectoryError, match=r"cannot write .*: it is a folder"):
        detector.save(tmp_path)


def test_a_pickle_in_a_file_is_never_loaded(tmp_path):
    np.savez(tmp_path / "m.npz", header=np.array(object(), dtype=object))
    with pytest.raises(ValueError, match="not a piforest model"):
        PreferenceIsolationForest.load(tmp_path / "m.npz")


def test_other_archives_and_other_versions_are_rejected(tmp_path):
    np.savez(tmp_path / "other.npz", header=np.array(json.dumps({"format": "else"})))
    with pytest.raises(ValueError, match="names no such format"):
        PreferenceIsolationForest.load(tmp_path / "other.npz")
    header = {"format": io.FORMAT, "version": 99}
    np.savez(tmp_path / "new.npz", header=np.array(json.dumps(header)))
    with pytest.raises(ValueError, match=r"has version 99 .* reads versions 1 to 4"):
        PreferenceIsolationForest.load(tmp_path / "new.npz")
    with pytest.raises(FileNotFoundError):
        PreferenceIsolationForest.load(tmp_path / "absent")


def test_a_custom_family_can_be_passed_in_the_list_of_the_detector(tmp_path):
    custom = CustomLine()
    detector = PreferenceIsolationForest(["circle", custom], n_models=60, **SMALL).fit(X)
    detector.save(tmp_path / "m")
    loaded = load(tmp_path / "m", family=["circle", custom])
    assert np.array_equal(loaded.anomaly_score(X), detector.scores_)
    with pytest.raises(ValueError, match="family must hold the one custom family of"):
        load(tmp_path / "m", family=["circle", custom, CustomLine()])
    other = from_functions(fit_line, along_x, sample_size=2, n_features=2, name="slope")
    with pytest.raises(ValueError, match="is not the one that"):
        load(tmp_path / "m", family=["circle", other])


def test_a_family_of_one_point_per_sample_is_saved(tmp_path):
    detector = PreferenceIsolationForest("translation", n_models=30, **SMALL).fit(MATCHES)
    detector.save(tmp_path / "m")
    assert np.array_equal(load(tmp_path / "m").anomaly_score(MATCHES), detector.scores_)


def test_a_custom_family_is_known_by_its_first_16_models(tmp_path):
    custom = CustomLine()
    PreferenceIsolationForest(custom, n_models=60, **SMALL).fit(X).save(tmp_path / "m")
    arrays = io.read_archive(tmp_path / "m")[1]
    assert arrays["models.0.known.0"].shape[1] == 16
