"""Mixtures of the null model and of structures, by expectation and maximisation."""

from __future__ import annotations

import math

from .jit import jit


@jit
def shares_of_one(ratios, shares, sums, rounds):
    """shares (w,): the share of a structure in the mixture of it and the null model, for each
    column of ratios (n, w) alone, improved in so many rounds. sums (w,) is overwritten."""
    n, w = ratios.shape
    for _ in range(rounds):
        for j in range(w):
            sums[j] = 0.0
        for i in range(n):
            for j in range(w):
                weighted = shares[j] * ratios[i, j]
                sums[j] += weighted / (1.0 - shares[j] + weighted)
        for j in range(w):
            shares[j] = sums[j] / n


@jit
def shares_of_all(ratios, shares, sums, rounds):
    """shares (s + 1,): those of the null model and of all columns of ratios (n, s) in their
    mixture, improved in so many rounds. sums (s + 1,) is overwritten."""
    n, s = ratios.shape
    for _ in range(rounds):
        for k in range(s + 1):
            sums[k] = 0.0
        for i in range(n):
            total = shares[0]
            for k in range(s):
                total += shares[k + 1] * ratios[i, k]
            part = 1.0 / total
            sums[0] += shares[0] * part
            for k in range(s):
                sums[k + 1] += shares[k + 1] * ratios[i, k] * part
        for k in range(s + 1):
            shares[k] = sums[k] / n


@jit
def add_kernels(r, sigmas, sums, far):
    """sums[j] += exp(-r^2 / 2 sigma_j^2) over the distances r (n,), for ascending sigmas (w,).

    Terms beyond `far` sigmas are left out, so that narrow kernels cost hardly anything.
    """
    for i in range(r.shape[0]):
        for back in range(sigmas.shape[0]):
            j = sigmas.shape[0] - 1 - back
            t = r[i] / sigmas[j]
            if t > far:
                break
            sums[j] += math.exp(-0.5 * t * t)
