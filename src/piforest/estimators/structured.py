"""What a detector with models of structures knows beyond scores: p-values, structures, reasons."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.utils.validation import check_is_fitted

from .. import labels
from .._tensors import match_input_type, to_numpy
from ..explain import Explanation, explanations
from ..fitted import FittedEmbedding
from ..models import ModelSet
from ..protocols import Floats
from ..structures import Structure
from ..typing import RowsLike
from .detector import Detector


class StructuredDetector(Detector):
    """Base of the detectors whose forest stands on preferences for models."""

    @property
    def null_scores_(self) -> Floats:
        """Scores of 250 points drawn uniformly from the box of the data, ascending."""
        return self._findings().null_scores(self._engine().computing)

    @property
    def structures_(self) -> list[Structure]:
        """The structures of the data, those with most evidence first.

        They are found when first asked for, among at most `pool_size` points; the members are
        those of all points, or of a random 50,000 of them if there are more.
        """
        return self._findings().structures(self._engine().computing)

    @property
    def sigma_(self) -> float:
        """The noise of the structures."""
        return self._embedding().sigma

    @property
    def sigma_source_(self) -> str:
        """Where sigma_ comes from: "given", "estimated" or "guessed"."""
        return self._embedding().sigma_source

    @property
    def models_(self) -> tuple[ModelSet, ...]:
        """The models, one set for each family."""
        return self._embedding().models

    @property
    def n_models_(self) -> int:
        """The number of models."""
        return self._embedding().n_models

    @property
    def n_degenerate_(self) -> int:
        """The number of minimal samples that determined no model."""
        return self._embedding().n_degenerate

    def p_values(self, X: RowsLike) -> Floats:
        """How likely a point of no structure is to score as low as each row.

        The null hypothesis is that the point belongs to no structure: it was drawn
        uniformly from the box that holds 98 % of each column of the training data (of
        the pool, if there are more). p = (1 + how many of N such points score at most
        that) / (1 + N), exact for new points; training points have somewhat smaller
        ones where they are few (of 150 random points 11 % are below 0.05, of 1,200 5 %).
        A small p says "rarely by chance so normal", so rejecting by Benjamini and
        Hochberg at q bounds the share of random points among those *kept* as normal by
        q; it says nothing about how many normal points are thrown away. p cannot be
        smaller than the share of the box that the structures cover: a few per cent in
        the plane, where q has to be larger than that, next to nothing for matches.
        Where the structures fill the box, p tells nothing.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)

        Examples
        --------
        >>> from piforest import PreferenceIsolationForest
        >>> from piforest.datasets import make_lines
        >>> X, y = make_lines(4, anomaly_share=0.3, random_state=0, return_X_y=True)
        >>> p = PreferenceIsolationForest("line", random_state=0).fit(X).p_values(X)
        >>> bool(p[y == 0].mean() > 0.4 and p[y > 0].mean() < 0.1)
        True
        """
        check_is_fitted(self, "fitted_")
        if not self.has_null_:
            raise ValueError(
                "p_values needs a detector with in_sample_preferences=False and one of the metrics "
                "tanimoto, jaccard, ruzicka and cosine: others cannot be compared with random "
                "points."
            )
        return self._answer(X, "p_values", partial(_p_values, self.null_scores_))  # type: ignore[no-any-return]

    @property
    def has_null_(self) -> bool:
        """Whether scores can be compared with those of random points: `p_values` can be asked."""
        check_is_fitted(self, "fitted_")
        return self.fitted_.has_null

    def explain(self, X: RowsLike) -> list[Explanation]:
        """Explain why each row is anomalous or not.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        list of Explanation
            For each row the nearest structures, its distance in their sigmas, the number of
            their points, and a sentence.

        Examples
        --------
        >>> from piforest import PreferenceIsolationForest
        >>> from piforest.datasets import make_lines
        >>> X = make_lines(3, noise=0.01, anomaly_share=0.3, random_state=0).data
        >>> detector = PreferenceIsolationForest("line", random_state=0).fit(X)
        >>> print(detector.explain(X[:1])[0])  # doctest: +ELLIPSIS
        normal (score ...): on structure ... (line, ... points), ... sigmas (...) away.
        """
        engine, findings = self._engine(X), self._findings()
        compute, rows = engine.computing, self._validated(engine.in_memory(X))
        scores = compute.scores(self.fitted_, rows)
        p = labels.p_values(scores, findings.null_scores(compute)) if self.has_null_ else None
        return explanations(rows, scores, p, self.threshold_, findings.structures(compute))

    def _embedding(self) -> FittedEmbedding:
        check_is_fitted(self, "fitted_")
        embedding = self.fitted_.embedding
        assert embedding is not None  # of this detector
        return embedding


def _p_values(null: Floats, scores: Any, threshold: float) -> Any:
    return match_input_type(labels.p_values(to_numpy(scores), null), scores)
