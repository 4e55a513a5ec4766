from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from piforest._kernels.preferences import find_contents
from piforest._random import Stream
from piforest.families import get_family
from piforest.models import membership
from piforest.models.drawing import ModelSet, draw_models
from piforest.models.membership import (
    _bits,
    _row_hashes,
    first_occurrences,
    joined_memberships,
    sample_membership,
)
from piforest.sampling import get_sampler


def drawn(family, X, n_models=60):
    return draw_models(X, get_family(family), get_sampler("uniform"), n_models, Stream(3))[0]


@pytest.mark.parametrize("d", [2, 5])
def test_the_models_of_a_row_are_those_whose_samples_contain_an_equal_row(d):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (50, d)).astype(float)  # many equal rows, and zeros
    models = [drawn("line", X), drawn("hyperplane", X, 30)]
    membership = sample_membership(models)
    rows = np.concatenate([X, -X, X + 0.5])
    rows[0] = -0.0
    starts, ends = membership.of(rows)
    for row, start, end in zip(rows, starts, ends):
        expected, offset = [], 0
        for part in models:
            contains = [(X[sample] == row).all(axis=1).any() for sample in part.samples]
            expected += [offset + j for j in np.flatnonzero(contains)]
            offset += len(part)
        assert sorted(set(membership.columns[start:end].tolist())) == expected


def test_an_index_is_kept_as_long_as_its_samples():
    X = np.random.default_rng(0).normal(size=(30, 2))
    models, _ = draw_models(X, get_family("line"), get_sampler("mixed"), 40, Stream(0))
    index = sample_membership([models])
    assert sample_membership([models.with_weights(2 * models.weight)]) is index
    some = replace(models, excludes_sample=np.arange(40) < 10)
    assert len(sample_membership([some]).columns) == 20
    del some
    assert len(sample_membership([models]).columns) == 80
    moved = replace(models, points=models.points + 1)
    assert np.array_equal(
        np.sort(sample_membership([moved]).points, axis=0), np.sort(index.points + 1, axis=0)
    )
    del index
    key = id(models.samples)
    assert key in membership._kept
    del models, moved
    gc.collect()
    assert key not in membership._kept


def test_rows_with_equal_hashes_but_other_contents_are_not_equal():
    X = np.random.default_rng(0).normal(size=(20, 2))
    membership = sample_membership([drawn("line", X)])
    row = membership.points[:1].copy()
    assert membership.of(row)[1] > 0
    # Now it has the hash of the first content, but other coordinates.
    membership.points[0, 1] += 1.0
    vars(membership).pop("_contents", None)
    starts, ends = membership.of(row)
    assert starts[0] == ends[0] == 0


def test_first_occurrences_marks_the_first_of_equal_rows():
    X = np.array([[1.0, 2], [0.0, 1], [1.0, 2], [-0.0, 1], [3.0, 3]])
    everything = np.ones(len(X), bool)
    assert first_occurrences(X, (), everything).tolist() == [True, True, False, False, True]
    assert first_occurrences(X, (), ~everything).sum() == 0


def test_matches_that_share_a_point_count_once_in_each_view():
    X = np.array([[0, 0, 1, 1], [0, 0, 2, 2], [3, 3, 2, 2], [4, 4, 2, 2], [5, 5, 1, 1]], float)
    views, everything = ((0, 1), (2, 3)), np.ones(5, bool)
    assert first_occurrences(X, views, everything).tolist() == [True, False, True, False, False]
    # A row that does not take part does not hide others.
    among = np.array([False, True, True, True, True])
    assert first_occurrences(X, views, among).tolist() == [False, True, False, False, True]
    rng = np.random.default_rng(0)
    X, everything = rng.integers(0, 6, (300, 4)).astype(float), np.ones(300, bool)
    counted = X[first_occurrences(X, views, everything)]
    for view in views:
        assert len(np.unique(counted[:, view], axis=0)) == len(counted)


def test_an_index_of_samples_is_far_smaller_than_the_samples():
    rng, m, k = np.random.default_rng(0), 400, 200
    points = rng.normal(size=(k + 50, k))
    samples = np.array([rng.permutation(len(points))[:k] for _ in range(m)])
    ones = np.ones(m)
    models = ModelSet(get_family("hyperplane"), np.zeros((m, 2 * k)), samples, points, ones, ones)
    tracemalloc.start()
    membership = sample_membership([models])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(membership.columns) == m * k
    assert peak < 10e6 < samples.size * k * 8 / 10


def test_the_smallest_difference_makes_rows_different():
    X = np.array([[0.0], [5e-324], [-5e-324], [1.0], [1.0 + 2.0**-52]])
    assert first_occurrences(X, (), np.ones(len(X), bool)).all()


def test_a_row_whose_hash_is_above_all_others_is_not_looked_up_beyond_the_end():
    """The memory after the arrays holds what would be found there."""
    rows = np.random.default_rng(0).normal(size=(8, 2))
    hashes = _row_hashes(rows)
    order = np.argsort(hashes)
    hashes, bits = hashes[order], _bits(rows[order])
    first, last = np.full((2, 1), -1)
    find_contents(bits[7:], hashes[:7], bits[:7], np.arange(9), first, last)
    assert (first[0], last[0]) == (0, 0)
    find_contents(bits[7:], hashes, bits, np.arange(9), first, last)
    assert (first[0], last[0]) == (7, 8)


def test_matches_that_share_an_end_with_one_that_counts_do_not_count():
    rng = np.random.default_rng(0)
    X, among = rng.integers(0, 8, (60, 4)).astype(float), rng.random(60) < 0.8
    views, expected, taken = ((0, 1), (2, 3)), np.zeros(60, bool), [set(), set()]
    for row in np.flatnonzero(among):
        ends = [tuple(X[row, list(view)]) for view in views]
        if not any(end in used for end, used in zip(ends, taken)):
            expected[row] = True
            for end, used in zip(ends, taken):
                used.add(end)
    assert 5 < expected.sum() < among.sum()
    assert np.array_equal(first_occurrences(X, views, among), expected)


def test_the_models_of_more_rows_than_16_bits_number_are_sorted_by_row():
    n = 2**16 + 4
    points = np.random.default_rng(0).permutation(n)[:, None] * [1.0, 0.5]
    samples, ones = np.arange(n).reshape(-1, 2), np.ones(n // 2)
    models = ModelSet(get_family("line"), np.zeros((n // 2, 3)), samples, points, ones, ones)
    membership = sample_membership([models])
    starts, ends = membership.of(points)
    assert (ends - starts == 1).all()
    assert np.array_equal(membership.columns[starts], np.arange(n) // 2)


def test_a_joined_index_finds_in_each_part_what_the_part_finds():
    """With columns of other numbers, and rows that several parts share."""
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (40, 2)).astype(float)
    parts = [sample_membership([drawn("line", X, n)]) for n in (60, 1, 25)]
    columns = [np.arange(7, 67), np.array([5]), rng.permutation(100)[:25]]
    joined = joined_memberships(parts, columns)
    assert (np.diff(joined.hashes.astype(object)) > 0).all()
    assert joined.starts[0] == 0
    assert joined.starts[-1] == len(joined.columns) == sum(len(each.columns) for each in parts)
    for number, (part, renamed) in enumerate(zip(parts, columns)):
        starts, ends = joined.of(np.column_stack([X, np.full(len(X), number)]))
        expected = [renamed[part.columns[low:high]].tolist() for low, high in zip(*part.of(X))]
        assert [joined.columns[low:high].tolist() for low, high in zip(starts, ends)] == expected
    assert (np.array(joined.of(np.column_stack([X, np.full(len(X), 3)]))) == 0).all()
