"""The base of the forests of rows, which have no models."""

from __future__ import annotations

from typing import Any, Self

from .._random import Stream
from .._validation import check_contamination
from ..findings import Findings
from ..fitting import fit_forest
from ..protocols import Metric
from ..typing import RandomStateLike, RowsLike
from .detector import Detector
from .fit_inputs import forest_parameters


class RowForest(Detector):
    """Base of `VoronoiForest` and `RuzHashForest`."""

    pool_size: int
    random_state: RandomStateLike

    def _grow(self, X: RowsLike, metric: Metric, hashed: bool = False) -> Self:
        """Grow the forest of the rows of X, and choose the threshold."""
        check_contamination(self.contamination)
        parameters = forest_parameters(self, metric, hashed=hashed)
        engine, stream = self._engine(X), Stream.from_random_state(self.random_state)
        rows = engine.training_rows(X, stream, self.pool_size)
        rows = rows.with_rows(self._rows(rows.X, metric, reset=True))
        self.fitted_ = fit_forest(rows, parameters, engine.backend, stream)
        self.findings_ = Findings(self.fitted_)
        self._set_threshold(engine)
        return self

    def _validated(self, X: Any, reset: bool = False) -> Any:
        return self._rows(X, self.fitted_.forest.metric, reset=False)

    def _rows(self, X: Any, metric: Metric, reset: bool) -> Any:
        """Validated X in the layout of the metric. reset: whether X are the training rows."""
        raise NotImplementedError
