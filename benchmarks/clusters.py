"""Are clusters of points taken for lines and circles, and are noisy structures still found?

    python benchmarks/clusters.py       two CPU minutes

Of the clusters, those of "normal" were looked at when the constants of
`piforest.structures.clusters` were chosen; the others were looked at after that, and the rule that
short segments stay was added then.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.datasets import make_blobs

from piforest import PreferenceIsolationForest
from piforest.datasets import make_circles, make_lines

FAMILIES = ("line", "circle")


def normal(seed: int) -> Iterator[np.ndarray]:
    """Normal clusters, alone and among noise, and clouds with one dense corner."""
    rng, box = np.random.default_rng(seed), {"center_box": (-6, 6), "random_state": seed}
    for k in (2, 3, 4, 5, 8):
        yield make_blobs(150 * k, centers=k, cluster_std=0.6, **box)[0]
    yield make_blobs(450, centers=3, cluster_std=0.2, **box)[0]
    corners = np.array([[0, 0], [1, 0], [0.5, 0.9]])
    yield np.concatenate([each + 0.08 * rng.normal(size=(200, 2)) for each in corners])
    some = make_blobs(300, centers=3, cluster_std=0.4, **box)[0]
    yield np.concatenate([some, rng.uniform(-8, 8, (150, 2))])
    yield rng.lognormal(size=(500, 2))
    yield rng.exponential(size=(500, 2))


def _disc(rng: np.random.Generator, n: int) -> np.ndarray:
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.sqrt(rng.random(n))
    return 1.7 * radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


SHAPES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "Student t": lambda rng, n: rng.standard_t(3, (n, 2)),
    "discs": _disc,
    "boxes": lambda rng, n: rng.uniform(-1.7, 1.7, (n, 2)),
    "stretched": lambda rng, n: rng.normal(size=(n, 2)) * [1.4, 1.0],
}


def others(seed: int) -> Iterator[np.ndarray]:
    """Clusters of other shapes, of unequal sizes and widths, and on a grid."""
    rng = np.random.default_rng(1000 + seed)
    for shape in SHAPES.values():
        for k in (2, 3, 4, 6):
            centres = rng.uniform(-5, 5, (k, 2))
            yield np.concatenate([each + 0.5 * shape(rng, 100) for each in centres])
    for k in (2, 3, 4, 6):
        parts = [
            rng.uniform(-5, 5, 2)
            + rng.uniform(0.2, 1.2) * rng.normal(size=(rng.integers(40, 300), 2))
            for _ in range(k)
        ]
        yield np.concatenate(parts)
    grid = [(i, j) for i in range(3) for j in range(3)]
    yield np.concatenate([3 * np.array(at) + 0.3 * rng.normal(size=(40, 2)) for at in grid])


def structures(seed: int) -> Iterator[tuple[str, str, int, np.ndarray]]:
    """A name, the family, how many there are, and the points."""
    rng = np.random.default_rng(2000 + seed)
    for noise in (0.1, 0.2, 0.3):
        X = make_lines(1, sizes=400, noise=noise, anomaly_share=0.1, random_state=seed).data
        yield f"a line, noise {noise} of its half-length", "line", 1, X
    circle = make_circles(1, sizes=300, noise=0.1, anomaly_share=0.2, random_state=seed).data
    yield "a circle, noise 0.1", "circle", 1, circle
    parts = []
    for _ in range(3):
        angle, t = rng.uniform(0, np.pi), rng.uniform(-0.6, 0.6, (80, 1))
        along = t * [np.cos(angle), np.sin(angle)]
        parts.append(rng.uniform(-3, 3, 2) + along + 0.05 * rng.normal(size=(80, 2)))
    yield "three segments, 12 sigmas to each side", "line", 3, np.concatenate(parts)
    line = np.column_stack([rng.uniform(-3, 3, 150), 0.1 * rng.normal(size=150)])
    beside = [c + 0.3 * rng.normal(size=(100, 2)) for c in ([0, 2], [2, -2])]
    yield "a line beside two clusters", "line", 1, np.concatenate([line, *beside])


def found(X: np.ndarray, family: str) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detector = PreferenceIsolationForest(family, n_models=3000, random_state=0).fit(X)
        return len(detector.structures_) if detector.found_structure_ else 0


def main() -> None:
    for name, make, seeds in (("normal clusters", normal, 6), ("other clusters", others, 4)):
        claims = [
            found(X, family) > 0 for s in range(seeds) for X in make(s) for family in FAMILIES
        ]
        print(f"{name}: a structure is claimed in {sum(claims)} of {len(claims)}", flush=True)
    right: dict[str, list[bool]] = {}
    for seed in range(6):
        for name, family, number, X in structures(seed):
            right.setdefault(name, []).append(found(X, family) == number)
    for name, each in right.items():
        print(f"{name}: as many as there are in {sum(each)} of {len(each)}")


if __name__ == "__main__":
    main()
