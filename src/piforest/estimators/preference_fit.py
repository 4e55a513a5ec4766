"""The steps of the fit of `PreferenceIsolationForest` that follow the checks of its input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._progress import Progress
from .._random import Stream
from .._validation import check_contamination, check_false_alarm_rate, check_flag
from ..engines import Engine
from ..findings import Findings
from ..fitted import TrainingRows
from ..fitting import EmbeddingParameters, ForestParameters, fit_embedding, fit_forest
from ..typing import FamilyLike, ScaleColumns
from ..units import warn_of_scaling
from .fit_inputs import preference_forest
from .structured import StructuredDetector

if TYPE_CHECKING:
    from ..proposals import Proposals

# What a fit sets.
_FITTED = ("fitted_", "findings_", "threshold_", "threshold_source_")


class PreferenceFit(StructuredDetector):
    """Parameters, models, forest and threshold of a detector with preferences."""

    family: FamilyLike
    in_sample_preferences: bool
    scale_columns: ScaleColumns
    proposals_: Proposals | None = None

    _names: Sequence[str] | None = None
    _proposals: Proposals | None = None

    def describe_input(
        self, names: Sequence[str] | None = None, proposals: Proposals | None = None
    ) -> None:
        """Say before a fit what its array does not tell.

        Parameters
        ----------
        names : sequence of str, default=None
            The names of the columns, for equations and messages.
        proposals : Proposals, default=None
            The comparison that chose the family, for `proposals_`.

        Examples
        --------
        >>> from piforest import PreferenceIsolationForest
        >>> from piforest.datasets import make_lines
        >>> detector = PreferenceIsolationForest("line", random_state=0)
        >>> detector.describe_input(names=["east", "north"])
        >>> detector = detector.fit(make_lines(1, random_state=0).data)
        >>> "east" in detector.structures_[0].equation
        True
        """
        self._names, self._proposals = names, proposals

    def _embedding_parameters(self) -> EmbeddingParameters:
        if not (isinstance(self.scale_columns, str) and self.scale_columns == "auto"):
            check_flag("scale_columns", self.scale_columns, "'auto'")
        if self.family is None:
            raise ValueError(
                "family must be 'auto', the name of a family (piforest.families.list_families) or "
                "a family, got None."
            )
        return EmbeddingParameters.from_estimator(self)

    def _forest_parameters(self) -> ForestParameters:
        check_contamination(self.contamination)
        check_false_alarm_rate(self.false_alarm_rate, self.contamination)
        return preference_forest(self)

    def _fit_rows(
        self,
        rows: TrainingRows,
        embedding: EmbeddingParameters,
        forest: ForestParameters,
        engine: Engine,
        stream: Stream,
    ) -> None:
        # 3. Models of minimal samples, with a scale and a weight.
        keep = isinstance(self.contamination, str) and not self.in_sample_preferences
        models, tables = fit_embedding(
            rows,
            embedding,
            engine.backend,
            Stream.from_random_state(stream.child("embedding").key),
            rows.subset(stream),
            keep=keep,
        )
        # 4. A forest of the preferences of the pool.
        self.fitted_ = fit_forest(rows, forest, engine.backend, stream, models)
        self.findings_ = Findings(self.fitted_, names=self._column_names())
        if self.proposals_ is not None and not self.proposals_.found:
            self.findings_.expect_no_structure()
        # 5. The threshold.
        with Progress(self.verbose).stage("threshold"):
            self._set_threshold(engine, tables=tables if self.fitted_.holds_all else None)

    def _column_names(self) -> Sequence[str] | None:
        names: Sequence[str] | None = getattr(self, "feature_names_in_", self._names)
        return names

    def _units_hide_structures(self, engine: Engine) -> bool:
        return self.fitted_.has_null and self.findings_.units_hide_structures(engine.backend)

    def _fit_scaled_rows(
        self,
        rows: TrainingRows,
        embedding: EmbeddingParameters,
        scaled: EmbeddingParameters,
        forest: ForestParameters,
        engine: Engine,
        stream: Stream,
    ) -> EmbeddingParameters:
        """Fit again with scaled columns, if these show narrow structures; returns the parameters of
        the fit that stands. A flat cloud in one unit is no structure after scaling, but may look
        like a wide one."""
        first = {name: getattr(self, name) for name in _FITTED}
        self._fit_rows(rows, scaled, forest, engine, stream)
        measuring = self._embedding().measuring or ()
        narrow = all(each.grid.n_wide == 0 for each in measuring)
        if narrow and self.findings_.found_structure(engine.backend):
            warn_of_scaling(scaled.only[0], self._column_names())
            return scaled
        for name, value in first.items():
            setattr(self, name, value)
        return embedding
