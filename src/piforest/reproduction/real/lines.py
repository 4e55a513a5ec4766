"""One line with noise of any size, rounded and not, with and without anomalies."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np

from ...datasets import make_lines
from ...protocols import Floats
from .cases import Case, Values
from .measures import fit, measure

NOISES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
STEPS = (0.0, 0.01, 0.1)
SIZES = (100, 300, 1000, 5000)
SHARES = (0.0, 0.1)
RUNS = 2


def cases() -> list[Case]:
    return [
        Case(
            "lines",
            f"noise {noise:g}, {_rounded(step)}",
            cell_name(noise, step, n, share),
            run,
            partial(_measure, noise, step, n, share),
            slow=n == SIZES[-1],
        )
        for noise, step, n, share, run in product(NOISES, STEPS, SIZES, SHARES, range(RUNS))
        if run == 0 or n < SIZES[-1]  # where a fit takes seconds
    ]


def cell_name(noise: float, step: float, n: int, share: float) -> str:
    return f"noise {noise:g}, {_rounded(step)}, n = {n}, {100 * share:g} % anomalies"


def _rounded(step: float) -> str:
    return f"step {step:g}" if step else "not rounded"


def noisy_line(
    noise: float, step: float, n: int, share: float, seed: int
) -> tuple[Floats, Floats, float]:
    """Points, their truth and the standard deviation about the line, rounding included."""
    X, y = make_lines(
        1, sizes=round(n * (1 - share)), noise=noise, anomaly_share=share,
        box=([-1, -1], [1, 1]), random_state=seed, return_X_y=True,
    )  # fmt: skip
    if step:
        X = step * np.round(X / step)
    return X, y, float(np.hypot(noise, step / np.sqrt(12))) if step > noise else noise


def _measure(noise: float, step: float, n: int, share: float, seed: int) -> Values:
    X, y, sigma = noisy_line(noise, step, n, share, seed)
    return measure(fit("line", X, seed), y, sigma)
