from __future__ import annotations

import numpy as np
import pytest

from piforest.datasets import make_circles, make_lines
from piforest.families import get_family


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
