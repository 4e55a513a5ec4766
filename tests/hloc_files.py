"""Files of matches in the layouts of hloc and of learned matchers, as tests need them."""

from __future__ import annotations

import numpy as np


def put_hloc(folder, images, pairs, *, old=False, lightglue=False):
    """features.h5 and matches.h5 with the calls that hloc makes. images: name to (n, 2) points;
    pairs: (name, name) to (matches (m, 2), scores (m,))."""
    import h5py

    with h5py.File(folder / "features.h5", "a", libver="latest") as file:
        for name, points in images.items():
            group = file.create_group(name)
            group.create_dataset("keypoints", data=points.astype(np.float32))
            group.create_dataset("image_size", data=np.array([640, 480]))
            group["keypoints"].attrs["uncertainty"] = 1.0
    with h5py.File(folder / "matches.h5", "a", libver="latest") as file:
        for (first, second), (matches, scores) in pairs.items():
            names = [name.replace("/", "-") for name in (first, second)]
            group = file.create_group(("_" if old else "/").join(names))
            to = np.full(len(images[first]), -1, np.int16)
            to[matches[:, 0]] = matches[:, 1]
            quality = np.zeros(len(to), np.float16)
            quality[matches[:, 0]] = scores
            group.create_dataset("matches0", data=to)
            group.create_dataset("matching_scores0", data=quality)
            if lightglue:
                group.create_dataset("matches", data=matches.astype(np.int16))
                group.create_dataset("scores", data=scores.astype(np.float16))
    return folder / "matches.h5", folder / "features.h5"


def split(X, seed=0):
    """Matches (n, 4) as keypoints of both images, in another order, with some that match nothing;
    and the pairs (n, 2) of their numbers."""
    rng = np.random.default_rng(seed)
    n, points, index = len(X), [], []
    for k in range(2):
        order = rng.permutation(n + 7)
        whole = np.concatenate([X[:, 2 * k : 2 * k + 2], rng.uniform(0, 400, (7, 2))])
        points.append(whole[order])
        index.append(np.argsort(order)[:n])
    return points[0], points[1], np.column_stack(index)
