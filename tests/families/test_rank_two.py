from __future__ import annotations

import numpy as np

from piforest.families._refits import of_rank_two


def test_matrices_of_rank_two_are_those_of_the_singular_value_decomposition():
    rng = np.random.default_rng(0)
    F = rng.normal(size=(500, 3, 3))
    F[:20, 2], F[20:40], F[40:60, :, 1:], F[60] = F[:20, 1], 1e-9 * F[20:40], 0.0, 0.0
    found = F.copy()
    values = of_rank_two(found)
    U, S, V = np.linalg.svd(F)
    np.testing.assert_allclose(values, S, atol=1e-13)
    assert (np.linalg.svd(found)[1][:, 2] <= 1e-14 * (1e-9 + S[:, 0])).all()
    # Where the two smallest values are equal, the part to remove is not unique.
    unique = S[:, 1] - S[:, 2] > 1e-3 * S[:, 0]
    S[:, 2] = 0.0
    expected = (U * S[:, None, :]) @ V
    assert unique.sum() > 400
    np.testing.assert_allclose(found[unique], expected[unique], atol=1e-12)
