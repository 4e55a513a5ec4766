"""Each stage alone, at circle3's size: 1,000 points, 10,000 models, 100 trees."""

from __future__ import annotations

import numpy as np
from data import circles, detector
from measure import Result, case, measured

_DEFAULT = "PreferenceIsolationForest"


def _sample(name: str) -> Result:
    from piforest._random import Stream
    from piforest.sampling import get_sampler

    X = circles(1_000)
    return measured(lambda: get_sampler(name).draw(X, 3, 10_000, Stream(0)))


for _name in ("uniform", "mixed"):
    case(f"stage: sampling, {_name}")(lambda name=_name: _sample(name))


# What each family is asked for, in models a second and core.
_SOLVERS = (
    "line", "circle", "ellipse", "parabola", "polynomial", "plane", "hyperplane", "sphere",
    "cylinder", "cone", "subspace", "homography", "affinity", "similarity", "translation",
    "rotation", "fundamental", "affine_fundamental", "essential", "rigid", "similarity3d",
    "translation3d", "vanishing_point", "linear_regression", "polynomial_regression",
)  # fmt: skip
_VARIANTS = {
    "fundamental 7-point": ("fundamental", {"solver": "7-point"}),
    "parabola rotated": ("parabola", {"rotated": True}),
    "cylinder with normals": ("cylinder", {"normals": True}),
}


def _solve(name: str, **options: object) -> Result:
    """Samples of anything, 50,000 of them; valid models are counted, calibrated rows are small."""
    from piforest.families import get_family

    family = get_family(name, **options)
    d = family.n_features or 4
    shape = (50_000, family.sample_size(d), d)
    samples = np.random.default_rng(0).uniform(-0.5, 0.5, shape)
    result = measured(lambda: family.solve(samples), 3)
    valid = int(family.solve(samples)[1].sum())
    return {**result, "samples_per_cpu_s": 50_000 / result["cpu_s"], "valid": valid / 50_000}


for _name in _SOLVERS:
    case(f"stage: solving 50,000, {_name}")(lambda name=_name: _solve(name))
for _label, (_name, _options) in _VARIANTS.items():
    case(f"stage: solving 50,000, {_label}")(
        lambda name=_name, options=_options: _solve(name, **options)
    )


@case("stage: widths and weights")
def _bands() -> Result:
    from piforest.bands.evidence import measure_bands
    from piforest.bands.ladder import Ladder, narrow_grid
    from piforest.models.membership import sample_membership

    X = circles(1_000)
    models = detector(_DEFAULT).fit(X).models_[0]
    own, ladder = sample_membership([models]), Ladder(narrow_grid(models.family, X))
    return measured(lambda: measure_bands(X, models, own, ladder, keep=True))


for _which in ("PIF", _DEFAULT):

    @case(f"stage: embedding, {_which}")
    def _embed(which: str = _which) -> Result:
        from piforest._rows import stack
        from piforest.engines import CpuEngine

        X = circles(1_000)
        embedding = detector(which).fit(X).fitted_.embedding
        return measured(lambda: stack(CpuEngine(1).embed(embedding, X), len(X)))

    @case(f"stage: distances within the pool, {_which}")
    def _table(which: str = _which) -> Result:
        from piforest.engines import CpuEngine

        pooled = detector(which).fit(circles(1_000)).forest_
        return measured(lambda: CpuEngine(1)._pool_distances(pooled, pooled.pool))

    @case(f"stage: growing, {_which}")
    def _grow(which: str = _which) -> Result:
        from piforest._random import Stream

        pooled = detector(which).fit(circles(1_000)).forest_
        D = pooled.table(pooled.pool)
        return measured(lambda: pooled.grow(D, 100, Stream(0), 1))

    @case(f"stage: descending, {_which}")
    def _descend(which: str = _which) -> Result:
        pooled = detector(which).fit(circles(1_000)).forest_
        D = pooled.table(pooled.pool)
        return measured(lambda: pooled.trees.path_lengths(D))


@case("stage: labels from a null")
def _labels() -> Result:
    from piforest.findings import Findings

    fitted = detector(_DEFAULT).fit(circles(1_000))

    def again() -> None:
        fitted.findings_ = Findings(fitted.fitted_)
        fitted.set_contamination("auto")

    return measured(again)
