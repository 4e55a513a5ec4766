"""scikit-learn's way to hand out a set."""

from __future__ import annotations

from typing import Any

from sklearn.utils import Bunch

from ..protocols import Floats, Ints


def as_bunch(
    data: Floats,
    target: Ints,
    feature_names: list[str],
    return_X_y: bool,
    as_frame: bool,
    **more: Any,
) -> Any:
    """A Bunch, or (data, target); with pandas objects in place of arrays if as_frame."""
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
