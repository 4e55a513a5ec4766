"""Evidence of structures by plain array arithmetic."""

from __future__ import annotations

import numpy as np


def evidence_of_one(ratios, share, rounds):
    """(w,) the log-likelihood ratio of the null model and each column of ratios (n, w) alone."""
    shares = np.full(ratios.shape[1], share)
    for _ in range(rounds):
        weighted = shares * ratios
        shares = np.mean(weighted / (1 - shares + weighted), axis=0)
    return np.sum(np.log(1 - shares + shares * ratios), axis=0)


def mixture(ratios, rounds):
    """The log-likelihood ratio of all columns of ratios (n, s), and the shares (s + 1,)."""
    n, s = ratios.shape
    densities = np.column_stack([np.ones(n), ratios])
    shares = np.full(s + 1, 1 / (s + 1))
    for _ in range(rounds):
        weighted = densities * shares
        shares = np.mean(weighted / np.sum(weighted, axis=1, keepdims=True), axis=0)
    return np.sum(np.log(densities @ shares)), shares


def kernel_means(r, sigmas):
    """(w,) the means of exp(-r^2 / 2 sigma^2) over the distances r (n,)."""
    return np.mean(np.exp(-0.5 * (r[:, None] / sigmas) ** 2), axis=0)
