"""Sparse preferences as data frames."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import scipy.sparse
import sklearn

from .._validation import check_choice

OUTPUTS = ["default", "pandas", "polars"]


class SparseSetOutput:
    """`set_output` of a transformer whose result is sparse, which scikit-learn's does not allow."""

    def set_output(
        self, *, transform: Literal["default", "pandas", "polars"] | None = None
    ) -> Self:
        """Choose what `transform` and `fit_transform` return.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None
            "default": a sparse array; "pandas": a data frame with a sparse column for each model;
            "polars", which has no sparse columns: a data frame with two lists for each row,
            `models` and their `preferences`, without zeros. None changes nothing.

        Returns
        -------
        self
        """
        if transform is not None:
            check_choice("transform", transform, OUTPUTS)
            self._sklearn_output_config = {"transform": transform}
        return self

    def _wrapped(self, P: scipy.sparse.csr_array, X: Any, names: Any) -> Any:
        """The preferences in the container that was chosen here, or for all of scikit-learn."""
        config = getattr(self, "_sklearn_output_config", {})
        chosen = config.get("transform", sklearn.get_config()["transform_output"])
        if chosen == "pandas":
            return _to_pandas(P, X, names)
        return _to_polars(P) if chosen == "polars" else P


def _to_pandas(P: scipy.sparse.csr_array, X: Any, names: Any) -> Any:
    import pandas as pd

    index = X.index if isinstance(X, (pd.DataFrame, pd.Series)) else None
    return pd.DataFrame.sparse.from_spmatrix(scipy.sparse.csc_matrix(P), index, names)


def _to_polars(P: scipy.sparse.csr_array) -> Any:
    import polars as pl

    def lists(values: Any, kind: Any) -> Any:
        parts = np.split(values, P.indptr[1:-1])
        return pl.Series(parts, dtype=pl.List(kind))

    models, preferences = lists(P.indices.astype(np.uint32), pl.UInt32), lists(P.data, pl.Float32)
    return pl.DataFrame({"models": models, "preferences": preferences})
