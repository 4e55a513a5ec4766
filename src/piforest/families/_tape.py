"""Translate a traced formula to a tape: instructions that `piforest._kernels.tape` interprets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from .._kernels import tape as kernels
from ..protocols import Floats, Ints

# The number of models that an instruction processes: its operands fit into the L1 cache.
_WIDTH = 256
_NUMBERS = {
    "+": kernels.ADD, "-": kernels.SUBTRACT, "*": kernels.MULTIPLY, "/": kernels.DIVIDE,
    "abs": kernels.ABS, "sqrt": kernels.SQRT, "where": kernels.WHERE, ">": kernels.ABOVE,
    ">=": kernels.AT_LEAST, "==": kernels.EQUAL,
}  # fmt: skip


class Tape(NamedTuple):
    code: Ints
    scalars: Floats
    """space for the columns of a row, then the constants"""
    n_places: int
    result: int


def run(tape: Tape, X: Floats, theta: Floats, out: Floats) -> None:
    """Fill out (n, m) for rows X (n, d) and columns theta (p, m)."""
    size = tape.n_places * _WIDTH
    memory = np.empty(size + 8)
    # Aligned to cache lines: vectors that cross them are slower.
    memory = memory[-memory.ctypes.data // 8 % 8 :][:size]
    kernels.interpret(X, theta, tape.scalars.copy(), tape.code, memory, _WIDTH, tape.result, out)


def tape_of(operations: Sequence[Any], d: int, p: int) -> Tape:
    """Allocate a register for each value; it is free again after the last read."""
    operands = _operands(operations)
    last = {value: number for number, read in operands.items() for value in read}
    code: list[tuple[int, ...]] = []
    constants: list[float] = []
    scalar: dict[int, int] = {}
    place: dict[int, int] = {}
    free: list[int] = []
    unused = count(p)
    for number, (name, _, given) in enumerate(operations):
        if name == "theta":
            place[number] = int(given)
        elif name == "x":
            scalar[number] = int(given)
        elif name == "number":
            scalar[number] = d + len(constants)
            constants.append(given)
        elif number in operands:
            what, read = _instruction(name, operands[number])
            if what == kernels.SUBTRACT and read[0] in scalar and read[1] in place:
                what, at = kernels.TAKE, [scalar[read[0]], place[read[1]]]
            else:
                for value in sorted({*read} & {*scalar}):
                    place[value] = free.pop() if free else next(unused)
                    code.append((kernels.FILL, place[value], scalar[value], 0, 0))
                at = [place[value] for value in read]
            to = free.pop() if free else next(unused)
            code.append((what, to, *at, *[0] * (3 - len(at))))
            done = {value for value in read if value in scalar or last[value] == number}
            free += [place.pop(value) for value in sorted(done) if place.get(value, -1) >= p]
            place[number] = to
    scalars = np.array([0.0] * d + constants)
    return Tape(np.array(code, np.int64), scalars, next(unused), place[len(operations) - 1])


def _operands(operations: Sequence[Any]) -> dict[int, tuple[int, ...]]:
    """The operands of each operation. A product whose only use is as the second operand of a sum is
    merged into that sum, which then has three operands."""
    reads = Counter(value for each in operations for value in each.places)
    found: dict[int, tuple[int, ...]] = {}
    for number, (name, places, _) in enumerate(operations):
        if name == "+" and operations[places[1]].name == "*" and reads[places[1]] == 1:
            places = (places[0], *found.pop(places[1]))
        if places:
            found[number] = places
    return found


def _instruction(name: str, read: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    if name != "+" or len(read) == 2:
        return _NUMBERS[name], read
    return (kernels.SQUARE_ADD, read[:2]) if read[1] == read[2] else (kernels.MULTIPLY_ADD, read)
