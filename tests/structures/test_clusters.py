"""Models through round clusters of points are no structures; noisy structures are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from piforest import PreferenceIsolationForest, load, propose_families
from piforest._random import Stream
from piforest.datasets import make_circles, make_lines
from piforest.families import get_family
from piforest.structures import clusters
from piforest.structures.clusters import without_clusters
from piforest.structures.greedy import Structure

QUIET = pytest.mark.filterwarnings("ignore:no structure")


def blobs(k, d=2, seed=0, width=0.5, n=120):
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-6, 6, (k, d))
    return np.concatenate([c + width * rng.normal(size=(n, d)) for c in centres])


def structure(family, points, half_width):
    """The model of a minimal sample."""
    family = get_family(family)
    params, valid = family.solve(np.array([points], float))
    assert valid.all()
    return Structure(family, params[0, 0], half_width, 100.0, np.empty(0, np.int64), half_width / 2)


AXIS = structure("line", [[-1, 0], [1, 0]], 0.2)


@QUIET
@pytest.mark.slow
@pytest.mark.parametrize(("d", "family"), [(2, "line"), (2, "circle"), (3, "plane"), (3, "line")])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_clusters_have_no_structure(d, family, k):
    detector = PreferenceIsolationForest(family, n_models=2000, random_state=0)
    detector.fit(blobs(k, d, seed=k))
    assert not detector.found_structure_
    assert detector.structures_ == []
    assert detector.threshold_source_ == "no structure"


@QUIET
@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3, 4])
def test_no_family_is_proposed_for_clusters(k):
    assert not propose_families(blobs(k, seed=k), random_state=0).found


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.2])
def test_a_line_with_much_noise_is_a_structure(noise):
    X = make_lines(1, sizes=300, noise=noise, anomaly_share=0.1, random_state=2).data
    detector = PreferenceIsolationForest("line", n_models=2000, random_state=0).fit(X)
    assert len(detector.structures_) == 1


@pytest.mark.parametrize("seed", range(3))
def test_structures_beside_a_cluster_stay(seed):
    circles = make_circles(2, noise=0.02, anomaly_share=0.1, random_state=seed).data
    X = np.concatenate([circles, [1.5, 0] + 0.1 * np.random.default_rng(seed).normal(size=(80, 2))])
    detector = PreferenceIsolationForest("circle", n_models=3000, random_state=0).fit(X)
    assert len(detector.structures_) >= 2


def test_a_line_through_two_clusters_is_left_out_and_a_line_of_points_is_not():
    rng = np.random.default_rng(0)
    ends = np.repeat([[-1.0, 0], [1, 0]], 150, axis=0) + 0.1 * rng.normal(size=(300, 2))
    along = np.column_stack([rng.uniform(-1, 1, 300), 0.1 * rng.normal(size=300)])
    assert without_clusters(ends, [AXIS], Stream(0)) == []
    assert without_clusters(along, [AXIS], Stream(0)) == [AXIS]


def test_of_two_models_one_stays_if_the_other_goes_through_clusters():
    rng = np.random.default_rng(1)
    along = np.column_stack([rng.uniform(-1, 1, 300), 0.1 * rng.normal(size=300)])
    ends = np.repeat([[-1.0, 3], [1, 4]], 150, axis=0) + 0.1 * rng.normal(size=(300, 2))
    across = structure("line", [[-1, 3], [1, 4]], 0.2)
    kept = without_clusters(np.concatenate([along, ends]), [across, AXIS], Stream(0))
    assert kept == [AXIS]


def test_long_structures_and_other_rows_than_points_are_not_compared(monkeypatch):
    def never(*args):
        raise AssertionError("clusters are compared")

    monkeypatch.setattr(clusters, "_Comparison", never)
    rng = np.random.default_rng(0)
    along = np.column_stack([rng.uniform(-1, 1, 300), 0.01 * rng.normal(size=300)])
    narrow = structure("line", [[-1, 0], [1, 0]], 0.02)
    assert without_clusters(along, [narrow], Stream(0)) == [narrow]
    law = structure("linear_regression", [[-1, 0], [1, 0]], 0.2)
    assert without_clusters(along, [law], Stream(0)) == [law]
    assert without_clusters(along, [], Stream(0)) == []


def test_the_unit_of_length_does_not_matter():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.uniform(-1, 1, 300), 0.1 * rng.normal(size=300)])
    X = np.concatenate([X, rng.uniform(-1, 1, (50, 2))])
    large = structure("line", [[-1024, 0], [1024, 0]], 0.2 * 1024)
    one, other = (
        clusters._Comparison(points, [each], Stream(0))
        for points, each in ((X, AXIS), (1024 * X, large))
    )
    # Densities are of an area: that of the larger unit is smaller for all points.
    unit = 2 * np.log(1024) * len(X)
    for of in ([AXIS], []):
        a, b = one._best(of), other._best([large] if of else [])
        assert a.centres.shape == b.centres.shape
        assert a.evidence == pytest.approx(b.evidence + unit, rel=1e-6)


def test_the_density_of_a_structure_is_one_in_total_and_normal_across():
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.uniform(-1, 1, 2000), 0.1 * rng.normal(size=2000)])
    corners = [[-1.0, -1], [1, 1]]
    at = np.array([[0, 0], [0.5, 0.1], [-0.2, -0.2], [0, 0.7]])
    rows = np.concatenate([at, X, corners])
    density = clusters._density_with(AXIS, 0.1, rows, Stream(0))[:4]
    expected = norm.pdf(at[:, 1], scale=0.1) / 2
    expected[3] = 0  # too far away to look at
    assert density == pytest.approx(expected, rel=0.05)


def test_a_mixture_is_that_of_slow_sums():
    """One round of expectation and maximisation by loops over rows and components."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2))
    fixed = rng.uniform(0.1, 1.0, (40, 2))
    mixture = clusters._Mixture(X, fixed, 0.01)
    for centre, width in (([0.0, 0.0], 0.5), ([1.0, 0.0], 1.0)):
        mixture = mixture.with_cluster(np.array(centre), width)
    mixture.run(2)
    centres, widths = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([0.5, 1.0])
    weights = np.array([1, 1, 1, 0.0]) / 3
    weights = np.append(weights[:3] * 3 / 4, 1 / 4)

    def densities(i):
        normal = [
            np.exp(-((X[i] - c) @ (X[i] - c)) / (2 * w * w)) / (2 * np.pi * w * w)
            for c, w in zip(centres, widths)
        ]
        return weights * np.array([*fixed[i], *normal])

    P = np.array([densities(i) / densities(i).sum() for i in range(40)])
    weights = P.mean(axis=0)
    centres = np.array([(P[:, 2 + k, None] * X).sum(axis=0) / P[:, 2 + k].sum() for k in range(2)])
    widths = np.array(
        [
            np.sqrt(
                np.sum(P[:, 2 + k] * ((X - centres[k]) ** 2).sum(axis=1)) / P[:, 2 + k].sum() / 2
            )
            for k in range(2)
        ]
    )
    assert mixture.centres == pytest.approx(centres)
    assert mixture.widths == pytest.approx(widths)
    assert mixture.log_density == pytest.approx(sum(np.log(densities(i).sum()) for i in range(40)))


@QUIET
@pytest.mark.parametrize("family", ["line", "auto"])
def test_the_diagnosis_says_that_the_points_form_clusters(tmp_path, family):
    detector = PreferenceIsolationForest(family, n_models=2000, random_state=0).fit(blobs(3))
    detector.save(tmp_path / "model.pif")
    for each in (detector, load(tmp_path / "model.pif")):
        (finding,) = (found for found in each.diagnosis_ if found.code == "no_structure")
        assert "round clusters" in finding.text
        assert "LocalOutlierFactor" in finding.advice


def test_short_segments_among_long_ones_stay():
    """Of a thousand rows, few are on a short segment, and a cluster would be as short."""
    rng = np.random.default_rng(0)
    parts, structures = [], []
    for n, length, angle in ((500, 0.33, 0.3), (200, 0.09, 1.5), (340, 0.8, 2.2), (300, 0.6, 0.9)):
        middle, along = rng.uniform(0.2, 0.8, 2), np.array([np.cos(angle), np.sin(angle)])
        t = rng.uniform(-length / 2, length / 2, (n, 1))
        parts.append(middle + t * along + 0.006 * rng.normal(size=(n, 2)))
        structures.append(structure("line", [middle, middle + length * along], 0.012))
    X = np.concatenate([*parts, rng.uniform(0, 1, (600, 2))])
    assert without_clusters(X, structures, Stream(0)) == structures
