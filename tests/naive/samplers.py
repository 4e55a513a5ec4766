"""Minimal samples: which points make a model."""

from __future__ import annotations

import numpy as np

from piforest._random import below, mix


def draw_samples(key, n, size, n_samples):
    """Distinct numbers: the j-th draw picks among those that are left, in ascending order."""
    samples = []
    for i in range(n_samples):
        left = list(range(n))
        row_key = mix(key, i)
        samples.append([left.pop(int(below(mix(row_key, j), len(left)))) for j in range(size)])
    return np.array(samples)


def mixed_samples(stream, X, size, n_samples):
    """Every other sample local: a seed and size - 1 of its K nearest, K log-uniform."""
    samples = draw_samples(stream.key, len(X), size, n_samples)
    local = stream.child("local")
    for i in range(1, n_samples, 2):
        seed = int(below(mix(local.child("seed").key, i), len(X)))
        share = int(mix(local.child("scale").key, i)) // 2**11 * 2.0**-53
        K = int(np.floor(np.exp(np.log(size) + share * np.log(len(X) / size))))
        K = min(max(K, size - 1), len(X) - 1)
        others = [row for row in range(len(X)) if row != seed]
        nearest = sorted(sorted(others, key=lambda row: np.sum((X[row] - X[seed]) ** 2))[:K])
        key = mix(local.child("ranks").key, i)
        picked = [nearest.pop(int(below(mix(key, j), K - j))) for j in range(size - 1)]
        samples[i] = [seed, *picked]
    return samples


def unit(word):
    return int(word) // 2**11 * 2.0**-53


def local_samples(stream, X, size, n_samples, scale, share=1.0, trials=4096, listed=256):
    """A seed and others by weight: trials among all points, then a list of the nearest."""
    samples = draw_samples(stream.key, len(X), size, n_samples)
    local = stream.child("local")
    for i in range(n_samples):
        if np.ceil((i + 1) * share) == np.ceil(i * share):
            continue
        seed = int(below(mix(local.child("seed").key, i), len(X)))
        distance = [np.linalg.norm(x - X[seed]) for x in X]
        weight = [np.exp(-(d**2) / (2 * scale**2)) if d <= 3 * scale else 0 for d in distance]
        sample, key = [seed], mix(local.child("trials").key, i)
        for t in range(min(len(X), trials)):
            row = int(below(mix(key, 2 * t), len(X)))
            kept = unit(mix(key, 2 * t + 1)) < weight[row] and row not in sample
            if kept and len(sample) < size:
                sample.append(row)
        order = sorted(range(len(X)), key=lambda row: (distance[row], row))
        near = [row for row in order[: listed + 1] if row not in sample]
        key = mix(local.child("list").key, i)
        for j in range(len(sample), size):
            left = [row for row in near if row not in sample]
            sums = np.cumsum([weight[row] for row in left])
            above = np.flatnonzero(sums > unit(mix(key, j)) * sums[-1])
            sample.append(left[above[0]] if len(above) else left[0])
        samples[i] = sample
    return samples


def weighted_samples(stream, weights, size, n_samples):
    """A lot for each unit of weight, whole numbers; those of a point go when it is drawn."""
    samples = []
    for i in range(n_samples):
        lots = [row for row, weight in enumerate(weights) for _ in range(weight)]
        sample, key = [], mix(stream.key, i)
        for j in range(size):
            sample.append(lots[int(below(mix(key, j), len(lots)))])
            lots = [row for row in lots if row != sample[-1]]
        samples.append(sample)
    return np.array(samples)


def stratified_samples(stream, n, size, n_samples):
    """The first in the line that the sample has not; a new line where the last one ends."""
    samples, line, lines = [], [], 0
    for _ in range(n_samples):
        sample = []
        while len(sample) < size:
            if not line:
                key, line, lines = mix(stream.key, lines), list(range(n)), lines + 1
                for at in range(n):
                    other = at + int(below(mix(key, at), n - at))
                    line[at], line[other] = line[other], line[at]
            sample.append(next(row for row in line if row not in sample))
            line.remove(sample[-1])
        samples.append(sample)
    return np.array(samples)


def grouped_samples(stream, groups, size, n_samples, share=1.0):
    """A point of a large enough group, and any points of its group."""
    samples = draw_samples(stream.key, len(groups), size, n_samples)
    rows = {g: [i for i, own in enumerate(groups) if own == g] for g in sorted(set(groups))}
    points = [g for g in rows if len(rows[g]) >= size for _ in rows[g]]
    for i in range(n_samples):
        if np.ceil((i + 1) * share) > np.ceil(i * share):
            left = list(rows[points[int(below(mix(stream.child("group").key, i), len(points)))]])
            key = mix(stream.child("ranks").key, i)
            samples[i] = [left.pop(int(below(mix(key, j), len(left)))) for j in range(size)]
    return samples
