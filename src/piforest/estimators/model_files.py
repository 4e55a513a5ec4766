"""Model files of a detector: `save` and `load`."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..findings import Findings
from ..fitted.file import StoredModel, save_model
from ..typing import FamilyLike
from .base import DetectorBase


class ModelFileMethods(DetectorBase):
    """Write a fitted detector to a file, and read it."""

    def save(
        self, path: str | PathLike[str], *, feature_names: Sequence[str] | None = None
    ) -> None:
        """Write the fitted model to one file, without pickle, atomically.

        The structures are in the file: they are found before it is written, if they are not known.

        Parameters
        ----------
        path : str or path
            The file; `load` reads it.
        feature_names : sequence of str or None, default=None
            Column names to store, if X had none.
        """
        check_is_fitted(self, "fitted_")
        names = getattr(self, "feature_names_in_", []) if feature_names is None else feature_names
        self._write_file(path, [str(name) for name in names])

    @classmethod
    def load(cls, path: str | PathLike[str], *, family: FamilyLike | None = None) -> Self:
        """Read a model that `save` wrote. Scores are the same, bit for bit.

        Parameters
        ----------
        path : str or path
            The file.
        family : ModelFamily or list or None, default=None
            The custom family that the model was fitted with, which a file cannot contain. A family
            that gives other distances is rejected.

        Returns
        -------
        Detector
        """
        from .loading import load_as

        detector: Self = load_as(cls, path, family)
        return detector

    def _write_file(self, path: str | PathLike[str], names: list[str]) -> None:
        findings, backend = self._findings(), self.backend_
        stored = StoredModel(
            kind=type(self).__name__,
            params=self.get_params(),
            fitted=self.fitted_,
            threshold=self.threshold_,
            threshold_source=self.threshold_source_,
            n_features=getattr(self, "n_features_in_", None),
            feature_names=names,
            scores=findings.known_scores,
            subset_scores=findings.subset_scores(backend),
            structures=findings.to_store(backend),
        )
        save_model(path, stored)

    def _restore(self, stored: StoredModel) -> Self:
        """Restore the content of a model file."""
        self.fitted_ = stored.fitted
        names = stored.feature_names or None
        self.findings_ = Findings(
            stored.fitted, stored.scores, stored.subset_scores, names, stored.structures
        )
        self.threshold_, self.threshold_source_ = stored.threshold, stored.threshold_source
        if stored.n_features is not None:
            self.n_features_in_ = stored.n_features
        if stored.feature_names:
            self.feature_names_in_ = np.array(stored.feature_names, dtype=object)
        return self
