"""Which windows hold which rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive.windows
from piforest._random import Stream
from piforest.engines.local import ArrayRows
from piforest.windows.tiling import Tiling, occupied


def positions(seed, n, k):
    rng = np.random.default_rng(seed)
    return rng.uniform(0, 1, (n, k)) * rng.uniform(0.1, 3, k)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 3),
    st.floats(0.2, 4.0),
    st.sampled_from([0.0, 0.25, 0.5, 0.7]),
)
def test_the_windows_of_a_row_are_those_whose_boxes_hold_it(seed, k, side, overlap):
    P = positions(seed, 30, k)
    tiling = Tiling.over(P.min(axis=0), P.max(axis=0), side, overlap)
    found = [set() for _ in P]
    for rows, windows in tiling.covering(P):
        for row, window in zip(rows, windows):
            assert window not in found[row]
            found[row].add(int(window))
    # Ends of windows at which rounding decides are left out.
    offset = (P - tiling.low) / tiling.step
    ends = np.stack([offset, offset - tiling.side / tiling.step])
    clear = (np.abs(ends - ends.round()) > 1e-6).all(axis=(0, 2))
    for row in np.flatnonzero(clear):
        assert found[row] == set(naive.windows.windows_of(tiling, P[row]))
    assert all(found)


def test_positions_beyond_the_grid_are_in_the_windows_of_its_border():
    tiling = Tiling.over(np.zeros(2), np.ones(2), 0.5, 0.5)
    ((_, inside),) = tiling.covering(np.array([[0.0, 0.0]]))
    ((_, outside),) = tiling.covering(np.array([[-7.0, -1e300]]))
    assert inside.tolist() == outside.tolist() == [0]
    ((_, last),) = tiling.covering(np.array([[9.0, 9.0]]))
    assert last.tolist() == [np.prod(tiling.counts) - 1]


def test_the_box_of_a_window_contains_its_rows():
    P = positions(0, 200, 2)
    tiling = Tiling.over(P.min(axis=0), P.max(axis=0), 0.3, 0.5)
    found = occupied(tiling, ArrayRows(P), np.arange(2), 1000, Stream(0))
    for window, rows in zip(found.windows, found.rows):
        low, high = tiling.box(window)
        assert (P[rows] >= low - 1e-12).all()
        assert (P[rows] <= high + 1e-12).all()


@pytest.mark.parametrize("limit", [3, 1000])
def test_the_rows_of_windows_do_not_depend_on_the_block(limit):
    P = positions(1, 300, 2)
    tiling = Tiling.over(P.min(axis=0), P.max(axis=0), 0.4, 0.5)
    whole = occupied(tiling, ArrayRows(P), np.arange(2), limit, Stream(5))
    parts = occupied(tiling, ArrayRows(P, block=17), np.arange(2), limit, Stream(5))
    assert whole.windows.tolist() == parts.windows.tolist()
    assert whole.n_rows.tolist() == parts.n_rows.tolist()
    assert [each.tolist() for each in whole.rows] == [each.tolist() for each in parts.rows]
    assert [len(each) for each in whole.rows] == np.minimum(whole.n_rows, limit).tolist()
