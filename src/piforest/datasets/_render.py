"""Render synthetic scenes: rows of structures first, anomalies last, with ground truth."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import Signature, cleandoc, signature
from typing import Any, ParamSpec, TypedDict

import numpy as np
from sklearn.utils import Bunch

from .._random import Stream
from .._validation import check_box, check_integer, check_not_below_zero, check_share, check_sizes
from ..protocols import Floats, Ints
from ..typing import RandomStateLike

Rng = np.random.Generator
Sizes = int | Sequence[int]
Box = tuple[Sequence[float], Sequence[float]]
Structure = Callable[[int, Rng], Floats]
Anomalies = Callable[[int, Rng, Floats, Floats], Floats]
P = ParamSpec("P")


class Options(TypedDict, total=False):
    """The options that all scenes share."""

    random_state: RandomStateLike
    return_X_y: bool
    as_frame: bool


def uniform(size: int, rng: Rng, low: Floats, high: Floats) -> Floats:
    """Uniform rows (size, d) between low and high (d,)."""
    return np.asarray(rng.uniform(low, high, (size, len(low))))


@dataclass(frozen=True)
class Drawing:
    """The parts of a synthetic scene that differ between scenes.

    Parameters
    ----------
    structures : function or sequence of functions
        Functions (size, generator) that return rows (size, d): one for all structures, or one for
        each.
    columns : sequence of str
        The names of the columns.
    anomalies : function
        A function (size, generator, low, high) that returns rows (size, d), where low and high
        (d,) bound the columns. The default is a uniform distribution.
    sizes : int or sequence of int, optional
        The number of rows of each structure if the option `sizes` is None.
    """

    structures: Structure | Sequence[Structure]
    columns: Sequence[str] = ("x", "y")
    anomalies: Anomalies = uniform
    sizes: Sizes | None = None


def synthetic_scene(
    stream: str = "scene", *, family: str | None = None
) -> Callable[[Callable[P, Drawing]], Callable[P, Any]]:
    """Turn a function that returns a `Drawing` into one that returns a data set.

    The function takes the options of `make_lines`, except possibly `box`, and further ones. Its
    docstring describes the further ones; the decorator adds the shared ones.

    Parameters
    ----------
    stream : str
        The name of the random stream of the scene.
    family : str, optional
        The family of a scene of matches or segments. Noise is then added to every column, and the
        stream has the name of the family.

    Returns
    -------
    function
        A decorator.

    Examples
    --------
    >>> @synthetic_scene("crosses")
    ... def make_crosses(n_structures=2, *, sizes=50, noise=0.01, anomaly_share=0.3,
    ...                  random_state=None, return_X_y=False, as_frame=False):
    ...     def arm(size, rng):
    ...         return np.column_stack([rng.uniform(-1, 1, size), rng.normal(0, noise, size)])
    ...     return Drawing([arm, lambda size, rng: arm(size, rng)[:, ::-1]])
    >>> make_crosses(random_state=0).data.shape
    (143, 2)
    """

    # Any: a Bunch, or a tuple with `return_X_y`, which a ParamSpec cannot express.
    def decorate(draw: Callable[P, Drawing]) -> Callable[P, Any]:
        @documents(in_columns=family is not None)
        @wraps(draw)
        def make(*args: P.args, **kwargs: P.kwargs) -> Any:
            given = _expanded(draw).bind(*args, **kwargs)
            given.apply_defaults()
            return _render(draw(*args, **kwargs), stream, family, **given.arguments)

        return make

    return decorate


def _expanded(function: Callable[..., Any]) -> Signature:
    """The signature of a function, with `**options` replaced by the names in `Options`."""
    found, known = signature(function), signature(_render).parameters
    shown = [each for each in found.parameters.values() if each.kind is not each.VAR_KEYWORD]
    if len(shown) < len(found.parameters):
        shown += [known[name] for name in Options.__annotations__]
    return found.replace(parameters=shown, return_annotation=Any)


def _render(
    drawing: Drawing,
    stream: str,
    family: str | None,
    n_structures: int,
    *,
    sizes: Any,
    noise: float,
    anomaly_share: float,
    random_state: RandomStateLike = None,
    return_X_y: bool = False,
    as_frame: bool = False,
    box: Box | None = None,
    **_: Any,
) -> Any:
    """Structure i depends on (stream, i) only, the anomalies on (stream, "anomalies")."""
    sizes = drawing.sizes if sizes is None else sizes
    counts, n_anomalies, labels = checked(n_structures, sizes, noise, anomaly_share)
    root = Stream.from_random_state(random_state).child(family or stream)
    each = drawing.structures
    each = [each] * len(counts) if callable(each) else each
    parts = []
    for i, (draw, size) in enumerate(zip(each, counts)):
        rng = root.child(i).generator()
        rows = draw(size, rng)
        parts.append(rows if family is None else rows + rng.normal(0, noise, rows.shape))
    normal = np.concatenate(parts)
    low, high = normal.min(axis=0), normal.max(axis=0)
    if box is not None:
        low, high = check_box(box, drawing.columns)
    anomalies = drawing.anomalies(n_anomalies, root.child("anomalies").generator(), low, high)
    rows, columns = np.concatenate([normal, anomalies]), list(drawing.columns)
    facts = {} if family is None else {"family": family, "sigma": noise}
    return as_bunch(rows, labels, columns, return_X_y, as_frame, **facts)


def as_bunch(
    data: Floats,
    target: Ints,
    feature_names: list[str],
    return_X_y: bool,
    as_frame: bool,
    **more: Any,
) -> Any:
    """Return a Bunch, or (data, target); with pandas objects instead of arrays if as_frame."""
    X: Any = data
    y: Any = target
    frame = None
    if as_frame:
        import pandas as pd

        X = pd.DataFrame(data, columns=feature_names)
        y = pd.Series(target, name="target")
        frame = X.assign(target=y)
    if return_X_y:
        return X, y
    return Bunch(data=X, target=y, frame=frame, feature_names=feature_names, **more)


def checked(
    n_structures: int, sizes: Any, noise: float, anomaly_share: float
) -> tuple[list[int], int, Ints]:
    """Return the sizes of the structures, the number of anomalies and the labels of all rows."""
    k = check_integer("n_structures", n_structures, 1)
    counts = check_sizes("sizes", sizes, k)
    check_not_below_zero("noise", noise)
    share = check_share("anomaly_share", anomaly_share)
    n_anomalies = round(sum(counts) * share / (1 - share))
    return counts, n_anomalies, np.repeat([*range(1, k + 1), 0], [*counts, n_anomalies])


_SHARED = {
    "n_structures": "int\n    The number of structures.",
    "sizes": "int or sequence of int\n    The number of rows of all structures, or of each.",
    "noise": "float\n    The standard deviation of the distance from the structure.",
    "anomaly_share": "float\n    The share of anomalies, uniform in the box of the others.",
    "box": "pair, optional\n    (lowest x, y, ...), (highest x, y, ...): the box of the anomalies.",
    "random_state": "int, RandomState, Generator or None\n    The seed.",
    "return_X_y": "bool\n    If True, return (data, target) instead of a Bunch.",
    "as_frame": "bool\n    If True, return pandas objects instead of arrays.",
}
_IN_COLUMNS = {"noise": "float\n    The standard deviation of the noise of every column."}
_RETURNS = """scene : Bunch
    data (n, d); target (n,), 0 for anomalies, else the number of the structure;
    feature_names; for matches and segments also family and sigma. Structures come first,
    anomalies last."""


def documents(*, in_columns: bool) -> Callable[[Callable[P, Any]], Callable[P, Any]]:
    """Add the shared parameters and the return value of scenes to a docstring."""

    def decorate(make: Callable[P, Any]) -> Callable[P, Any]:
        shown = _expanded(make)
        doc = cleandoc(make.__doc__ or "")
        head, *examples = re.split(r"(?:Examples\n-+\n)?(?=>>>)", doc, maxsplit=1)
        text, _, own = head.partition("Parameters\n----------\n")
        known = {**_SHARED, **(_IN_COLUMNS if in_columns else {})}
        known |= dict(re.findall(r"^(\w+) : (.*(?:\n    .*)*)", own, re.M))
        entries = [f"{name} : {known.get(name, 'see the signature')}" for name in shown.parameters]
        sections = zip(
            ["Parameters", "Returns", "Examples"], ["\n".join(entries), _RETURNS, *examples]
        )
        parts = [f"{title}\n{'-' * len(title)}\n{body.strip()}" for title, body in sections]
        make.__doc__ = "\n\n".join([text.strip(), *parts]) + "\n"
        make.__signature__ = shown  # type: ignore[attr-defined]
        return make

    return decorate
