"""Work in threads: results in order, and values that are computed one ahead."""

from __future__ import annotations

import os
import threading
import time

import pytest
from threadpoolctl import threadpool_info

from piforest._threads import (
    at_once,
    beside,
    in_parts,
    in_threads,
    n_threads,
    one_ahead,
    one_blas_thread,
    thread_limit,
)


def test_values_come_in_order_and_are_computed_in_another_thread():
    def numbers():
        for number in range(5):
            threads.add(threading.get_ident())
            yield number

    threads = set()
    assert list(one_ahead(numbers())) == [0, 1, 2, 3, 4]
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_no_value_is_computed_before_the_one_that_precedes_the_last_is_used():
    def numbers():
        for number in range(6):
            computed.append(number)
            yield number

    computed = []
    for number in one_ahead(numbers()):
        assert number in computed
        assert max(computed) <= number + 1


def test_an_error_is_raised_where_it_would_be_without_a_thread():
    def numbers():
        yield 0
        raise ValueError("the second value")

    values = one_ahead(numbers())
    assert next(values) == 0
    with pytest.raises(ValueError, match="the second value"):
        next(values)


def test_a_generator_that_is_not_used_up_is_closed():
    def numbers():
        try:
            yield from range(10)
        finally:
            closed.append(True)

    closed = []
    values = one_ahead(numbers())
    next(values)
    values.close()
    assert closed == [True]


def test_results_come_in_order_also_from_threads_within_threads():
    def square(number):
        return sum(in_threads(lambda k: k * number, [(k,) for k in range(number)], 3, number))

    expected = [number * number * (number - 1) // 2 for number in range(40)]
    for n_jobs in (1, 2, 3):
        assert list(in_threads(square, [(k,) for k in range(40)], n_jobs, 40)) == expected


def test_no_call_runs_after_an_error():
    def work(number):
        running.add(number)
        time.sleep(0.01)
        running.discard(number)
        if number == 3:
            raise ValueError("the third")

    running = set()
    with pytest.raises(ValueError, match="the third"):
        list(in_threads(work, [(k,) for k in range(50)], 2, 50))
    assert not running


def test_threads_are_kept_and_end_with_the_thread_that_called():
    def work():
        found.append(set(in_threads(_ident, [()] * 50, 2, 50)))
        found.append(set(in_threads(_ident, [()] * 50, 2, 50)))

    found = []
    caller = threading.Thread(target=work)
    caller.start()
    caller.join()
    assert len(found[0] | found[1]) <= 2
    deadline = time.monotonic() + 30
    while {each.ident for each in threading.enumerate()} & found[0]:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    numbers = [(k,) for k in range(8)]
    assert list(in_threads(abs, numbers, 2, 8)) == list(range(8))
    child = os.fork()
    if child == 0:
        os._exit(0 if list(in_threads(abs, numbers, 2, 8)) == list(range(8)) else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize(("n", "most", "fewest"), [(0, 8, 2), (1, 8, 2), (40, 8, 2), (40, 64, 3)])
def test_parts_are_every_item_once_and_not_too_large(n_jobs, n, most, fewest):
    parts = []
    with thread_limit(n_jobs):
        in_parts(parts.append, n, most, fewest)
    assert sorted(k for part in parts for k in range(n)[part]) == list(range(n))
    assert all(part.stop - part.start <= most for part in parts)
    if n_jobs > 1 and fewest * 2 * n_jobs <= n:
        assert len(parts) >= 2 * n_jobs


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_functions_at_once_and_beside_return_what_they_would_alone(n_jobs):
    with thread_limit(n_jobs):
        assert at_once(lambda: 1, lambda: 2, lambda: 3) == [1, 2, 3]
        with beside(n_threads) as result:
            pass
        assert result() == n_threads()


def test_an_error_beside_is_raised_with_the_result():
    def fails():
        raise ValueError("beside")

    for n_jobs in (1, 2):
        with thread_limit(n_jobs), beside(fails) as result, pytest.raises(ValueError, match="bes"):
            result()


def _ident():
    time.sleep(0.001)
    return threading.get_ident()


def _numbers_of_blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_blas_uses_one_thread_in_a_fit_and_its_own_number_afterwards():
    before = _numbers_of_blas_threads()
    with one_blas_thread():
        with one_blas_thread():
            assert _numbers_of_blas_threads() == {1}
        assert _numbers_of_blas_threads() == {1}
    assert _numbers_of_blas_threads() == before


def test_blas_gets_its_threads_back_after_several_fits_at_once():
    def fit(number):
        with one_blas_thread():
            started.wait()
            if number:
                first_has_ended.wait()

    before = _numbers_of_blas_threads()
    started, first_has_ended = threading.Barrier(2), threading.Event()
    threads = [threading.Thread(target=fit, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    threads[0].join()
    first_has_ended.set()
    threads[1].join()
    assert _numbers_of_blas_threads() == before
