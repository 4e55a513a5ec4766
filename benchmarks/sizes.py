"""The paper's sizes: PIF, the default, and what one would pick instead, on the same sets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from data import Problem, detector, problem
from measure import Result, case, measured

SETS = ("star5", "stair3", "circle3", "star11", "napierb", "breadcube", "bonhall", "unihouse")


def _fit(which: str, about: Problem, **changes: object) -> object:
    known = {"sigma": about.sigma} if which == "PIF" else {}
    n_models = about.models_per_point * len(about.X)
    return detector(which, about.family, n_models=n_models, **known, **changes).fit(about.X)


def _ours(name: str, which: str) -> Result:
    about = problem(name)
    result = measured(lambda: _fit(which, about).labels_)
    rows = _fit(which, about).forest_.pool
    return {
        **result,
        "nonzeros": len(rows.data),
        "density": len(rows.data) / rows.n_columns / len(rows),
    }


def _preferences(about: Problem) -> Callable[[], object]:
    """Sampling and embedding, which every rival gets done the same way."""
    embedding = _fit("PIF", about).embedding_
    return lambda: embedding.fit(about.X).transform(about.X)


def _lof(name: str) -> Result:
    """Sampling, embedding, a Tanimoto matrix by a dense BLAS product, scikit-learn's LOF."""
    from sklearn.neighbors import LocalOutlierFactor

    about = problem(name)
    embed = _preferences(about)

    def lof() -> object:
        P = embed().toarray()
        dot = P @ P.T
        norms = np.diag(dot)
        with np.errstate(invalid="ignore"):
            D = 1 - dot / (norms[:, None] + norms - dot)
        np.clip(np.nan_to_num(D, copy=False, nan=1.0), 0, None, out=D)
        return LocalOutlierFactor(n_neighbors=25, metric="precomputed").fit_predict(D)

    return measured(lof)


def _isolation_forest(name: str) -> Result:
    """Sampling, embedding, scikit-learn's isolation forest on the sparse preferences."""
    from sklearn.ensemble import IsolationForest

    about = problem(name)
    embed = _preferences(about)

    def forest() -> object:
        P = embed()
        return IsolationForest(random_state=0).fit(P.tocsc()).score_samples(P)

    return measured(forest)


for _name in SETS:
    _rivals = (f"{_name} LOF", f"{_name} IsolationForest")
    case(f"{_name} PIF", beside=_rivals)(lambda name=_name: _ours(name, "PIF"))
    case(f"{_name} default", beside=(f"{_name} PIF", *_rivals))(
        lambda name=_name: _ours(name, "PreferenceIsolationForest")
    )
    case(_rivals[0])(lambda name=_name: _lof(name))
    case(_rivals[1])(lambda name=_name: _isolation_forest(name))


def _all_pairs(which: str) -> Result:
    from piforest.reproduction.settings import ADELAIDERMF

    sets = [problem(name) for name in ADELAIDERMF]

    def run() -> None:
        for about in sets:
            _fit(which, about).labels_  # noqa: B018

    return measured(run, repeats=3)


case("38 image pairs PIF")(lambda: _all_pairs("PIF"))
case("38 image pairs default", beside=("38 image pairs PIF",))(
    lambda: _all_pairs("PreferenceIsolationForest")
)


def _family_of_pairs(family: str) -> Result:
    """Fit, labels and structures of one pair, the mean over the pairs of a family."""
    from piforest.reproduction.settings import ADELAIDERMF, family_of

    sets = [problem(name) for name in ADELAIDERMF if family_of(name) == family]

    def run() -> None:
        for about in sets:
            fitted = _fit("PreferenceIsolationForest", about)
            fitted.labels_, fitted.structures_  # noqa: B018

    result = measured(run, repeats=3)
    return {key: seconds / len(sets) for key, seconds in result.items()}


for _name in ("homography", "fundamental"):
    case(f"one image pair, {_name}, structures")(lambda name=_name: _family_of_pairs(name))


@case("circle3 structures", beside=("circle3 PIF",))
def _structures() -> Result:
    about = problem("circle3")
    return measured(lambda: _fit("PreferenceIsolationForest", about).structures_)


@case("one line, dense preferences")
def _one_line() -> Result:
    """A scene so simple that most points prefer most models."""
    from piforest.datasets import make_lines

    X = make_lines(1, sizes=980, anomaly_share=0.02, random_state=0).data
    about = Problem(X, "line", 0.01, 10)
    return measured(lambda: _fit("PIF", about).scores_)


def _tiny() -> Problem:
    return Problem(problem("stair3").X[::8], "line", 0.005, 10)


@case("100 points PIF", beside=("100 points, the pseudocode",))
def _tiny_ours() -> Result:
    return measured(lambda: _fit("PIF", _tiny(), n_estimators=10, max_samples=64).scores_)


@case("100 points, the pseudocode")
def _tiny_naive() -> Result:
    """tests/naive: the algorithm as the paper writes it down, in plain Python."""
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    import naive
    from piforest._random import Stream

    about = _tiny()
    fitted = _fit("PIF", about, n_estimators=10, max_samples=64)
    params = fitted.models_[0].params
    stream = Stream(fitted.fitted_.key).child("trees")

    def run() -> object:
        R = naive.residuals("line", about.X, params)
        P = naive.preferences(R, about.sigma, "gaussian")
        D = naive.table("tanimoto", P, P)
        forest = naive.pi_forest(D, stream, 10, 64, 2)
        return naive.scores(D, ~P.any(axis=1), forest, 64, 2)[-1]

    assert np.allclose(run(), fitted.scores_)
    return measured(run, repeats=1)
