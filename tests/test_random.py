from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from piforest import _random
from piforest._kernels import random as compiled
from piforest._kernels.select import selection_bound
from piforest._random import Stream

bits = st.integers(0, 2**64 - 1)


@given(bits, bits)
def test_compiled_and_numpy_mix_agree(key, value):
    assert compiled.mix(np.uint64(key), np.uint64(value)) == _random.mix(key, value)


@given(bits, bits)
def test_streams_of_numbers_are_those_of_mix(key, value):
    assert Stream(key).child(value).key == int(_random.mix(key, value))


@pytest.mark.parametrize(("n", "size"), [(40, 13), (50_000, 4096), (60_000, 50_000)])
def test_chosen_rows_have_the_smallest_hashes(n, size):
    hashes = _random.mix(11, np.arange(n))
    expected = np.sort(np.argsort(hashes)[:size])
    assert np.array_equal(_random.choose(Stream(11), n, size), expected)


@given(bits, st.integers(1, 2**40))
def test_compiled_and_numpy_below_agree_and_stay_below_n(bits, n):
    value = int(_random.below(bits, n))
    assert compiled.below(np.uint64(bits), n) == value
    assert 0 <= value < n


@given(st.integers(1, 2**40))
def test_the_largest_bits_stay_below_n(n):
    assert int(_random.below(2**64 - 1, n)) == n - 1


def without_replacement(key, n, size, n_samples):
    out, taken = np.empty((n_samples, size), np.int64), np.empty(size, int)
    numbers, limits = np.arange(n_samples), np.full(n_samples, n)
    compiled.sample_without_replacement(np.uint64(key), numbers, limits, taken, out)
    return out


@given(bits, st.integers(1, 30), st.data())
def test_samples_without_replacement_equal_the_naive_ones(key, n, data):
    size = data.draw(st.integers(1, n))
    samples = without_replacement(key, n, size, 4)
    assert np.array_equal(samples, naive.draw_samples(key, n, size, 4))


@pytest.mark.parametrize(("n", "size"), [(1, 1), (4, 4), (50, 3), (300, 8)])
def test_samples_of_the_smallest_hashes_equal_sorted_ones(n, size):
    samples = np.empty((20, size), np.int64)
    compiled.sample_smallest(np.uint64(7), n, np.empty(size, np.uint64), samples)
    hashes = _random.mix(7, np.arange(20 * n)).reshape(20, n)
    assert samples.tolist() == np.argsort(hashes, axis=1)[:, :size].tolist()


def test_hashes_are_uniform():
    unit = _random.mix(3, np.arange(100_000)) / 2.0**64
    counts = np.histogram(unit, 50, (0, 1))[0]
    assert abs(counts - 2000).max() < 5 * np.sqrt(2000)


def test_samples_without_replacement_are_uniform_in_every_position():
    for column in without_replacement(5, 6, 3, 60_000).T:
        assert abs(np.bincount(column, minlength=6) - 10_000).max() < 500


def test_choose_takes_all_or_a_sorted_subset():
    assert np.array_equal(_random.choose(Stream(0), 5, 9), np.arange(5))
    chosen = _random.choose(Stream(0), 1000, 100)
    assert len(set(chosen.tolist())) == 100
    assert np.array_equal(chosen, np.sort(chosen))
    assert chosen.max() < 1000


@pytest.mark.parametrize(("n", "size"), [(1000, 1), (1000, 999), (5000, 40), (70_000, 50_000)])
def test_choose_takes_the_rows_with_the_smallest_hashes(n, size):
    hashes = _random.mix(Stream(7).key, np.arange(n))
    smallest = np.sort(np.argsort(hashes, kind="stable")[:size])
    assert np.array_equal(_random.choose(Stream(7), n, size), smallest)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 500, 6000])
def test_choose_takes_the_rows_that_are_drawn_first_if_few_of_many_are_wanted(size):
    drawn = []
    for number in range(2 * size + 8):
        row = int(_random.below(_random.mix(Stream(7).key, number), 60_000))
        if row not in drawn and len(drawn) < size:
            drawn.append(row)
    assert np.array_equal(_random.choose(Stream(7), 60_000, size), np.sort(drawn))


def test_choose_is_correct_if_hashes_are_not_uniform(monkeypatch):
    """If too few hashes are below the bound, all rows are considered."""
    mix = _random.mix
    monkeypatch.setattr(_random, "mix", lambda key, value: mix(key, value) | np.uint64(2**63))
    hashes = _random.mix(Stream(7).key, np.arange(1000))
    smallest = np.sort(np.argsort(hashes, kind="stable")[:100])
    assert np.array_equal(_random.choose(Stream(7), 1000, 100), smallest)


def test_children_depend_on_every_step_of_their_path():
    root = Stream(0)
    keys = {root.key, root.child(0).key, root.child(1).key, root.child("a").key}
    keys |= {root.child("a", 0).key, root.child(0, "a").key}
    assert len(keys) == 6
    assert root.child("a", 0) == root.child("a").child(0)


def test_random_state_accepts_the_types_of_scikit_learn():
    assert Stream.from_random_state(3) == Stream.from_random_state(np.int64(3))
    assert Stream.from_random_state(3) != Stream.from_random_state(4)
    assert Stream.from_random_state(None) != Stream.from_random_state(None)
    generator = np.random.RandomState(0)
    assert Stream.from_random_state(generator) != Stream.from_random_state(generator)
    assert Stream.from_random_state(np.random.default_rng(0)) == Stream.from_random_state(
        np.random.default_rng(0)
    )
    with pytest.raises(ValueError, match="random_state must be None, an integer"):
        Stream.from_random_state("zero")


magnitudes = st.sampled_from([0.0, 1.0, 1.5, 2.0, 1e-300, 1e300, np.inf]) | st.floats(0, 5)


@given(st.lists(magnitudes, min_size=1), st.booleans())
def test_a_selection_bound_is_met_by_k_values(values, as_integers):
    values = np.abs(np.array(values))  # no -0.0
    bits = values.view(np.uint64)
    values = bits if as_integers else values
    high = ~np.uint64(0) if as_integers else values.max()
    for k in range(1, len(values) + 1):
        bound = selection_bound(values, bits, k, high, len(values))
        kth = np.sort(values)[k - 1]
        above = values[values > kth]
        # Values tied with the k-th are selected together.
        assert bound >= kth
        assert not len(above) or bound < above.min()
        assert bound == kth or np.sum(values <= bound) == k


def test_a_selection_bound_is_found_among_values_of_all_magnitudes_and_ties():
    values = np.concatenate([np.geomspace(1e-300, 1e300, 700), np.full(300, 1e-9)])
    for k in (1, 200, 345, 400, 600, 999, 1000):
        bound = selection_bound(values, values.view(np.uint64), k, values.max(), len(values))
        assert np.sum(values < bound) <= k <= np.sum(values <= bound)
