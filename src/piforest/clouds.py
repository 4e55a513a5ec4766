"""Point clouds: normals, thinning, and surfaces as plain numbers.

>>> import numpy as np
>>> from piforest.clouds import estimate_normals
>>> flat = np.column_stack([*np.random.default_rng(0).uniform(size=(2, 100)), np.zeros(100)])
>>> bool(np.allclose(np.abs(estimate_normals(flat)), [0, 0, 1]))
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
import scipy.spatial
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

from ._validation import check_integer
from .protocols import Floats, Ints
from .structures.assignment import assign_rows
from .structures.greedy import Structure

__all__ = ["describe_surfaces", "estimate_normals", "structure_labels", "voxel_sample"]

# Points whose neighbours are in memory at once.
_BLOCK = 65_536
# Neighbours along which the sign of a normal is carried on, and points up to which it is.
_EDGES, _MOST_SIGNED = 6, 200_000
# Cells along an axis, so that three of them fit into one integer.
_MOST_CELLS = 2**21


def estimate_normals(
    points: ArrayLike, n_neighbors: int = 16, *, viewpoint: ArrayLike | None = None
) -> Floats:
    """Unit normals of the surface that a point cloud was sampled from.

    The normal of a point is the direction in which it and its nearest neighbours vary least. Its
    sign is chosen towards the viewpoint, if there is one. Otherwise neighbours get similar signs,
    along a minimum spanning tree, and the normals of each connected part point away from its
    middle on average; beyond 200,000 points, the largest coordinate of each normal is positive.
    All families accept normals of either sign.

    Parameters
    ----------
    points : array-like of shape (n, 3)
        The coordinates.
    n_neighbors : int, default=16
        The number of neighbours, the point itself among them; at least 3.
    viewpoint : array-like of shape (3,) or None, default=None
        Where the sensor stood.

    Returns
    -------
    ndarray of shape (n, 3)

    Examples
    --------
    >>> import numpy as np
    >>> from piforest.clouds import estimate_normals
    >>> ball = np.random.default_rng(0).normal(size=(1000, 3))
    >>> ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    >>> bool(np.mean(np.sum(estimate_normals(ball) * ball, axis=1) > 0.95) > 0.95)
    True
    """
    X = _checked(points)
    check_integer("n_neighbors", n_neighbors, 3, "16 is the default.")
    if len(X) < 3:
        raise ValueError(f"normals need at least 3 points, got {len(X)}.")
    k = min(n_neighbors, len(X))
    # Coordinates far from the origin, as those of maps, lose digits in products.
    X = X - X.mean(axis=0)
    tree = scipy.spatial.cKDTree(X)
    normals = np.empty_like(X)
    for start in range(0, len(X), _BLOCK):
        part = slice(start, start + _BLOCK)
        near = X[tree.query(X[part], k)[1]]
        off = near - near.mean(axis=1, keepdims=True)
        normals[part] = np.linalg.eigh(np.einsum("nki,nkj->nij", off, off))[1][:, :, 0]
    return _with_signs(X, normals, tree, None if viewpoint is None else _view(points, viewpoint))


def _view(points: ArrayLike, viewpoint: ArrayLike) -> Floats:
    """The viewpoint relative to the mean of the points."""
    place = np.asarray(viewpoint, float)
    if place.shape != (3,) or not np.isfinite(place).all():
        raise ValueError(f"viewpoint must be three finite numbers, got {viewpoint!r}.")
    return np.asarray(place - _checked(points).mean(axis=0))


def _with_signs(X: Floats, normals: Floats, tree: Any, viewpoint: Floats | None) -> Floats:
    if viewpoint is not None:
        towards = np.sum(normals * (viewpoint - X), axis=1)
    elif len(X) > _MOST_SIGNED:
        largest = np.argmax(np.abs(normals), axis=1)
        towards = normals[np.arange(len(X)), largest]
    else:
        towards = _carried_signs(X, normals, tree)
    return np.where(towards[:, None] < 0, -normals, normals)


def _carried_signs(X: Floats, normals: Floats, tree: Any) -> Floats:
    """(n,) +1 or -1: from neighbour to neighbour, first where normals are most alike."""
    n, k = len(X), min(_EDGES + 1, len(X))
    near = tree.query(X, k)[1][:, 1:]
    start, end = np.repeat(np.arange(n), k - 1), near.ravel()
    # Zero would be no edge.
    cost = 1 + 1e-9 - np.abs(np.sum(normals[start] * normals[end], axis=1))
    # Indices of 32 bits: SciPy 1.14 takes no others here.
    edges = (start.astype(np.int32), end.astype(np.int32))
    graph = minimum_spanning_tree(scipy.sparse.csr_array((cost, edges), shape=(n, n)))
    parts, part = connected_components(graph, directed=False)
    order, before = _from_one_root(graph, np.unique(part, return_index=True)[1])
    opposite = np.sum(normals[order] * normals[before], axis=1) < 0
    signs = np.ones(n)
    for child, parent, turned in zip(order.tolist(), before.tolist(), opposite.tolist()):
        signs[child] = -signs[parent] if turned else signs[parent]
    sizes = np.bincount(part, minlength=parts)
    means = [np.bincount(part, column) / sizes for column in X.T]
    outwards = np.sum(normals * (X - np.column_stack(means)[part]), axis=1)
    inside_out = np.bincount(part, signs * outwards) < 0
    return np.where(inside_out[part], -signs, signs)


def _from_one_root(graph: Any, roots: Ints) -> tuple[Ints, Ints]:
    """The nodes of a forest, parents first, and the parent of each; roots are their own parents.
    One more node joins the trees, so that one search visits all."""
    n = graph.shape[0]
    edges = graph.tocoo()
    start = np.concatenate([edges.coords[0], np.full(len(roots), n)])
    end = np.concatenate([edges.coords[1], roots])
    joined = scipy.sparse.csr_array((np.ones(len(start)), (start, end)), shape=(n + 1, n + 1))
    order, before = breadth_first_order(joined, n, directed=False)
    order = order[1:]
    parents = before[order]
    return order, np.where(parents == n, order, parents)


def voxel_sample(points: ArrayLike, size: float) -> Ints:
    """The first point in each occupied cell of a grid.

    Parameters
    ----------
    points : array-like of shape (n, 3)
        The coordinates.
    size : float
        The edge of a cell, in the units of the points.

    Returns
    -------
    ndarray of int
        Ascending rows of `points`.

    Examples
    --------
    >>> from piforest.clouds import voxel_sample
    >>> voxel_sample([[0.1, 0, 0], [0.2, 0, 0], [1.3, 0, 0]], size=1.0).tolist()
    [0, 2]
    """
    X = _checked(points)
    if not (np.isfinite(size) and size > 0):
        raise ValueError(f"size must be a number above 0, got {size!r}.")
    low, high = X.min(axis=0), X.max(axis=0)
    least = float((high - low).max() / (_MOST_CELLS - 1))
    if size < least:
        raise ValueError(
            f"size must be at least {least:.3g} for points that extend over "
            f"{(high - low).max():.3g}, got {size:g}."
        )
    cells = np.floor((X - low) / size).astype(np.int64)
    keys = (cells[:, 0] * _MOST_CELLS + cells[:, 1]) * _MOST_CELLS + cells[:, 2]
    return np.sort(np.unique(keys, return_index=True)[1])


def structure_labels(X: Floats, normal: ArrayLike, structures: Sequence[Structure]) -> Ints:
    """The structure of each row, in blocks.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    normal : array-like of bool of shape (n,)
        Whether each row is normal: anomalies belong to no structure.
    structures : sequence of Structure
        The structures, such as `structures_` of a detector.

    Returns
    -------
    ndarray of int of shape (n,)
        The index of the nearest structure in units of its half-width; -1 for none.

    Examples
    --------
    >>> import numpy as np
    >>> from piforest import PreferenceIsolationForest
    >>> from piforest.clouds import structure_labels
    >>> from piforest.datasets import make_planes
    >>> X = make_planes(2, sizes=200, anomaly_share=0.1, random_state=0).data
    >>> detector = PreferenceIsolationForest("plane", random_state=0).fit(X)
    >>> labels = structure_labels(X, detector.predict(X) == 1, detector.structures_)
    >>> np.unique(labels).tolist()
    [-1, 0, 1]
    """
    return assign_rows(X, np.asarray(normal, bool), structures).labels


def describe_surfaces(
    structures: Sequence[Structure], points: ArrayLike, labels: ArrayLike
) -> list[dict[str, Any]]:
    """Planes, spheres, cylinders and cones as plain numbers, with the bounds of their points.

    Parameters
    ----------
    structures : sequence of Structure
        The structures.
    points : array-like of shape (n, 3)
        The coordinates.
    labels : array-like of int of shape (n,)
        The structure of each point, -1 for none; see `structure_labels`.

    Returns
    -------
    list of dict
        One for each structure: its "type", "points" (their number), "half_width", "equation" (a
        line of text), its parameters by name, "bounds" (the smallest and largest coordinates of
        its points) and the part that they cover, as in `Structure.extent`. By type: a plane's unit
        "normal" and "offset", with normal . x = offset, "centre", four "corners" and "hull"; a
        sphere's "centre" and "radius"; a cylinder's "point" and "direction" of the axis, "radius",
        "ends" of the axis and "length"; a cone's "apex", "direction", "angle" in degrees between
        axis and surface, and "from" and "to" along the axis. Other families have "params".

    Examples
    --------
    >>> from piforest import PreferenceIsolationForest
    >>> from piforest.clouds import describe_surfaces, structure_labels
    >>> from piforest.datasets import make_planes
    >>> X = make_planes(1, sizes=200, anomaly_share=0.1, random_state=0).data
    >>> detector = PreferenceIsolationForest("plane", random_state=0).fit(X)
    >>> labels = structure_labels(X, detector.predict(X) == 1, detector.structures_)
    >>> [plane] = describe_surfaces(detector.structures_, X, labels)
    >>> plane["type"], len(plane["normal"]), len(plane["corners"])
    ('plane', 3, 4)
    """
    X, of = _checked(points), np.asarray(labels)
    return [_surface(k, each, X[of == k]) for k, each in enumerate(structures)]


def _surface(k: int, each: Structure, members: Floats) -> dict[str, Any]:
    """A structure as plain values, with the extent of these points."""
    placed = each.with_description(members, ("x", "y", "z"))
    part = {name: value for name, value in placed.extent.items() if name != "bounds"}
    bounds = None
    if len(members):
        bounds = {"min": members.min(axis=0).tolist(), "max": members.max(axis=0).tolist()}
    return {
        "structure": k,
        "type": each.family.name,
        "points": len(members),
        "half_width": float(each.half_width),
        "equation": placed.equation,
        **placed.parameters,
        **part,
        "bounds": bounds,
    }


def _checked(points: ArrayLike) -> Floats:
    X = np.asarray(points, float)
    if X.ndim != 2 or X.shape[1] != 3 or not len(X):
        raise ValueError(f"points must have the shape (n, 3) with n > 0, got {X.shape}.")
    if not np.isfinite(X).all():
        raise ValueError("points must be finite numbers.")
    return X
