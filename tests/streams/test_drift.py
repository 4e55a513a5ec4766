from __future__ import annotations

import numpy as np

from piforest.families import resolve_family
from piforest.streams.drift import Tracker
from piforest.structures.greedy import Structure

LINE = resolve_family("line")


def horizontal(y, ratio=50.0):
    """The line at this height."""
    params = LINE.solve(np.array([[[0.0, y], [1.0, y]]]))[0][0, 0]
    return Structure(LINE, params, 0.02, ratio, np.empty(0, int), 0.01)


def rows(*heights, n=100):
    x = np.linspace(0, 1, n)
    return np.concatenate([np.column_stack([x, np.full(n, y)]) for y in heights])


def follow(*renewals, quiet=1):
    """A tracker after these renewals: the heights found, and the rows."""
    tracker = Tracker()
    for k, (found, X) in enumerate(renewals):
        tracker.update([horizontal(y) for y in found], X, k, quiet=k < quiet)
    return tracker


def test_a_structure_that_comes_is_told_at_the_second_renewal():
    one, two = ([0.1], rows(0.1)), ([0.1, 0.9], rows(0.1, 0.9))
    assert follow(one, two).events == []
    (event,) = follow(one, two, two).events
    assert (event.row, event.kind) == (2, "came")
    assert len(follow(one, two, two).structures) == 2


def test_a_structure_that_leaves_is_told_when_its_rows_are_gone_twice():
    both, one = ([0.1, 0.9], rows(0.1, 0.9)), ([0.1], rows(0.1))
    assert follow(both, one).events == []
    (event,) = follow(both, one, one).events
    assert (event.row, event.kind) == (2, "left")
    assert LINE.residuals(np.array([[0.5, 0.9]]), event.structure.params[None])[0, 0] < 1e-9


def test_a_structure_that_is_not_found_but_whose_rows_come_has_not_left():
    both = ([0.1, 0.9], rows(0.1, 0.9))
    missed = ([0.1], rows(0.1, 0.9))
    tracker = follow(both, missed, missed, missed)
    assert tracker.events == []
    assert len(tracker.structures) == 2


def test_a_structure_of_known_rows_is_not_new():
    one = ([0.1], rows(0.1))
    again = ([0.1, 0.11], rows(0.1))
    assert follow(one, again, again, again).events == []


def test_what_comes_while_the_window_fills_is_no_drift():
    one, two = ([0.1], rows(0.1)), ([0.1, 0.9], rows(0.1, 0.9))
    tracker = follow(one, two, two, quiet=3)
    assert tracker.events == []
    assert len(tracker.structures) == 2


def test_a_structure_that_is_seen_once_is_forgotten():
    one, two = ([0.1], rows(0.1)), ([0.1, 0.9], rows(0.1, 0.9))
    assert follow(one, two, one, two, one).events == []


def test_rows_where_two_structures_cross_do_not_make_them_one():
    """All rows that are left near the old structure are on the new one."""
    tracker, x = Tracker(), np.linspace(0, 1, 100)
    params = LINE.solve(np.array([[[0.0, 0.0], [1.0, 1.0]]]))[0][0, 0]
    slope = Structure(LINE, params, 0.02, 50.0, np.empty(0, int), 0.01)
    tracker.update([horizontal(0.5)], rows(0.5), 0, quiet=True)
    for row in range(1, 4):
        tracker.update([slope], np.column_stack([x, x]), row, quiet=False)
    assert [(event.row, event.kind) for event in tracker.events] == [(2, "left"), (2, "came")]
