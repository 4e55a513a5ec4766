"""`check_family` tests descriptions."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from piforest.checks import CheckError, check_family
from piforest.families.circle import Circle


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (({}, "x"), "describe must give a dict of named parameters"),
        (({"radius": float("nan")}, "x"), "describe must give numbers, text"),
        (({"radius": 1.0}, "two\nlines"), "an equation of one line of text"),
        (({"radius": 1.0}, "the same"), "it gives one equation for different models"),
        (None, "describe must not raise an error"),
    ],
)
def test_a_poor_description_fails(answer, message):
    @dataclass(frozen=True)
    class Poor(Circle):
        def describe(self, params, names, digits=4):
            return answer

    with pytest.raises(CheckError, match=message):
        check_family(Poor())


def test_a_covered_part_that_is_not_plain_fails():
    @dataclass(frozen=True)
    class Poor(Circle):
        def covered_part(self, params, X, names):
            return {"rows": X}

    with pytest.raises(CheckError, match="covered_part must give numbers, text, and lists"):
        check_family(Poor())
