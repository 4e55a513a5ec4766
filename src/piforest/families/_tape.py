"""Operations as a tape: instructions that `piforest._kernels.tape` carries out one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._kernels import tape as kernels
from ..protocols import Floats, Ints

# How many models an instruction works on: they fill half of the first cache or less.
_WIDTH = 256
_NUMBERS = {
    "+": kernels.ADD, "-": kernels.SUBTRACT, "*": kernels.MULTIPLY, "/": kernels.DIVIDE,
    "abs": kernels.ABS, "sqrt": kernels.SQRT, "where": kernels.WHERE, ">": kernels.ABOVE,
    ">=": kernels.AT_LEAST, "==": kernels.EQUAL,
}  # fmt: skip


class Tape(NamedTuple):
    code: Ints
    scalars: Floats
    """room for the columns of a row, then constants"""
    n_places: int
    result: int


def run(tape: Tape, X: Floats, theta: Floats, out: Floats) -> None:
    """Fill out (n, m) for rows X (n, d) and columns theta (p, m)."""
    size = tape.n_places * _WIDTH
    memory = np.empty(size + 8)
    # From the start of a line of the cache on: a vector that lies in two of them is slower.
    memory = memory[-memory.ctypes.data // 8 % 8 :][:size]
    kernels.carry_out(X, theta, tape.scalars.copy(), tape.code, memory, _WIDTH, tape.result, out)


def tape_of(operations: Sequence[Any], d: int, p: int) -> Tape:
    """A place in memory holds a value until it was read for the last time."""
    writer = _Writer(operations, d, p)
    for number, (name, places, value) in enumerate(operations):
        if name == "theta":
            writer.place[number] = int(value)
        elif name == "x":
            writer.scalar[number] = int(value)
        elif name == "number":
            writer.scalar[number] = d + len(writer.constants)
            writer.constants.append(value)
        elif number not in writer.merged:
            writer.write(number, name, places)
    code = np.array(writer.code, np.int64)
    scalars = np.array([0.0] * d + writer.constants)
    return Tape(code, scalars, writer.n_places, writer.place[len(operations) - 1])


class _Writer:
    def __init__(self, operations: Sequence[Any], d: int, p: int) -> None:
        self.operations, self.n_theta, self.n_places = operations, p, p
        self.code: list[tuple[int, ...]] = []
        self.constants: list[float] = []
        self.place: dict[int, int] = {}
        self.scalar: dict[int, int] = {}
        self.free: list[int] = []
        reads = Counter(place for each in operations for place in each.places)
        # Products that are read once, by the sum that they are the second part of.
        self.merged = {
            each.places[1]
            for each in operations
            if each.name == "+" and operations[each.places[1]].name == "*"
            and reads[each.places[1]] == 1
        }  # fmt: skip
        self.last: dict[int, int] = {}
        for number, each in enumerate(operations):
            for place in self._operands(each.places):
                self.last[place] = number

    def _operands(self, places: tuple[int, ...]) -> list[int]:
        """Those of a merged product in place of it."""
        return [k for at in places for k in (
            self.operations[at].places if at in self.merged else (at,))]  # fmt: skip

    def write(self, number: int, name: str, places: tuple[int, ...]) -> None:
        operands = self._operands(places)
        what = _NUMBERS[name]
        if len(operands) > len(places):
            square = operands[1] == operands[2]
            what = kernels.SQUARE_ADD if square else kernels.MULTIPLY_ADD
        first = operands[0]
        spare: list[int] = []
        if name == "-" and first in self.scalar and operands[1] not in self.scalar:
            what, at = kernels.TAKE, [self.scalar[first], self.place[operands[1]]]
        else:
            at = [self._vector(each, spare) for each in operands]
        self.place[number] = self._new_place()
        self.code.append((what, self.place[number], *at, *[0] * (3 - len(at))))
        done = {each for each in operands if self.last[each] == number and each in self.place}
        self.free += spare + [self.place[k] for k in done if self.place[k] >= self.n_theta]

    def _vector(self, value: int, spare: list[int]) -> int:
        """Where a value stands; a scalar is written out first, to a place that is then spare."""
        if value in self.place:
            return self.place[value]
        spare.append(self._new_place())
        self.code.append((kernels.FILL, spare[-1], self.scalar[value], 0, 0))
        return spare[-1]

    def _new_place(self) -> int:
        if self.free:
            return self.free.pop()
        self.n_places += 1
        return self.n_places - 1
