"""Interpreter of formulas: one vectorised operation on many models at a time."""

from __future__ import annotations

import numpy as np

from .jit import inlined, jit

(FILL, TAKE, ADD, SUBTRACT, MULTIPLY, DIVIDE, MULTIPLY_ADD, SQUARE_ADD, ABS, SQRT, WHERE, ABOVE,
 AT_LEAST, EQUAL) = range(14)  # fmt: skip


@jit
def interpret(X, theta, scalars, code, memory, width, result, out):
    """Fill out (n, m) for rows X (n, d) and columns theta (p, m) by the instructions code (k, 5).

    An instruction is an operation, the register of its result and those of up to three operands. A
    register is `width` elements of memory, one for each model of a block; the first p registers
    contain theta. FILL and TAKE read scalars, the first d of which are the row of X. O(n m k).
    """
    p, m = theta.shape
    for start in range(0, m, width):
        end = np.uint64(min(width, m - start))
        for k in range(p):
            at = np.uint64(k * width)
            for j in range(end):
                memory[at + j] = theta[k, np.uint64(start) + j]
        for i in range(X.shape[0]):
            for k in range(X.shape[1]):
                scalars[k] = X[i, k]
            for k in range(code.shape[0]):
                scalar = scalars[code[k, 2]] if code[k, 0] <= TAKE else 0.0
                _operate(
                    memory, code[k, 0], np.uint64(code[k, 1] * width), scalar,
                    np.uint64(code[k, 2] * width), np.uint64(code[k, 3] * width),
                    np.uint64(code[k, 4] * width), end,
                )  # fmt: skip
            at = np.uint64(result * width)
            for j in range(end):
                out[i, np.uint64(start) + j] = memory[at + j]


@inlined
def _operate(V, what, to, scalar, a, b, c, end):
    """Fill V[to : to + end]. `to` must not be an operand, because loops in place are not
    vectorised. Comparisons return 1 or 0."""
    if what == MULTIPLY_ADD:
        for j in range(end):
            V[to + j] = V[a + j] + V[b + j] * V[c + j]
    elif what == SQUARE_ADD:
        for j in range(end):
            V[to + j] = V[a + j] + V[b + j] * V[b + j]
    elif what == TAKE:
        for j in range(end):
            V[to + j] = scalar - V[b + j]
    elif what == FILL:
        for j in range(end):
            V[to + j] = scalar
    elif what == ADD:
        for j in range(end):
            V[to + j] = V[a + j] + V[b + j]
    elif what == SUBTRACT:
        for j in range(end):
            V[to + j] = V[a + j] - V[b + j]
    elif what == MULTIPLY:
        for j in range(end):
            V[to + j] = V[a + j] * V[b + j]
    elif what == DIVIDE:
        for j in range(end):
            V[to + j] = V[a + j] / V[b + j]
    elif what == ABS:
        for j in range(end):
            V[to + j] = abs(V[a + j])
    elif what == SQRT:
        for j in range(end):
            V[to + j] = np.sqrt(V[a + j])
    elif what == WHERE:
        for j in range(end):
            V[to + j] = V[b + j] if V[a + j] != 0.0 else V[c + j]
    elif what == ABOVE:
        for j in range(end):
            V[to + j] = 1.0 if V[a + j] > V[b + j] else 0.0
    elif what == AT_LEAST:
        for j in range(end):
            V[to + j] = 1.0 if V[a + j] >= V[b + j] else 0.0
    else:
        for j in range(end):
            V[to + j] = 1.0 if V[a + j] == V[b + j] else 0.0
