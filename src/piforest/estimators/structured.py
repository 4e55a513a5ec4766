"""The base of detectors with models of structures: p-values, structures, explanations."""

from __future__ import annotations

import html
from functools import partial
from typing import Any

from sklearn.utils.validation import check_is_fitted

from .. import labels
from .._random import Stream
from .._tensors import match_input_type, to_numpy
from ..diagnosis import Finding
from ..explain import Explanation, explanations
from ..fitted import FittedEmbedding
from ..protocols import Floats, ModelFamily
from ..structures import Structure, weighted_sigma
from ..typing import RowsLike
from .detector import Detector
from .preference_embedding import EmbeddingAttributes


class StructuredDetector(EmbeddingAttributes, Detector):
    """Base of the detectors with a forest of preferences for models."""

    @property
    def sigma_(self) -> float:
        """The noise of the structures: the median of their sigmas, each weighted by its number of
        points. A given sigma is returned as it is. The first use computes `structures_`."""
        embedding = self._embedding()
        if embedding.sigma_source != "estimated":
            return embedding.sigma
        return weighted_sigma(self.structures_, embedding.sigma)

    @property
    def null_scores_(self) -> Floats:
        """Scores of 250 points drawn uniformly from the box of the data, ascending."""
        return self._findings().null_scores(self._engine().backend)

    @property
    def found_structure_(self) -> bool:
        """Whether any structure of the family is significant in the training points.

        Equal points count once, and so do matches that share a point of an image.
        """
        return self._findings().found_structure(self._engine().backend)

    @property
    def family_(self) -> ModelFamily | list[ModelFamily]:
        """The family of the models, or several: as given, or as chosen by family="auto"."""
        families = [models.family for models in self._embedding().models]
        return families[0] if len(families) == 1 else families

    @property
    def diagnosis_(self) -> list[Finding]:
        """What to know about the data and the result, the most important first.

        Each finding has a code, a sentence and a way out; see `piforest.diagnosis.Finding`. It is
        computed on first use.
        """
        found = self._findings().diagnosis(
            self._engine().backend,
            names=getattr(self, "feature_names_in_", None),
            steps=getattr(self, "resolution_", None),
        )
        return [*self._better_family(), *found]

    def _better_family(self) -> list[Finding]:
        """A finding if the family that was named is clearly beaten by another.

        Families are compared only if the named one explains less than half of the points.
        """
        findings = self._findings()
        if findings.better_family is None:
            findings.better_family = []
            explained = sum(each.support for each in self.structures_)
            family, named = self.family_, getattr(self, "proposals_", None) is None
            if named and not isinstance(family, list) and 2 * explained < len(self.fitted_.subset):
                from ..proposals.better import better_family

                names = getattr(self, "feature_names_in_", None)
                stream = Stream(self.fitted_.key).child("better family")
                findings.better_family = better_family(self.fitted_.points, names, family, stream)
        return findings.better_family

    @property
    def structures_(self) -> list[Structure]:
        """The structures of the data, in descending order of evidence.

        They are computed on first use, from at most `pool_size` points; the members are selected
        from all points, or from a random 50,000 of them if there are more.
        """
        return self._findings().structures(self._engine().backend)

    def p_values(self, X: RowsLike) -> Floats:
        """The probability that a point of no structure has a score as low as each row.

        The null hypothesis is that the point belongs to no structure: it is drawn uniformly from
        the box that contains 98 % of each column of the training data (of the pool, if there are
        more). p = (1 + the number of N such points with at most this score) / (1 + N). This is
        exact for new points; p-values of few training points are somewhat too small (of 150 random
        points 11 % are below 0.05, of 1,200 5 %).

        A small p is evidence that a point is normal. So the Benjamini-Hochberg procedure at level
        q bounds the share of random points among those *kept* as normal by q; it does not bound
        the number of normal points that are rejected. p is at least the share of the box that the
        structures cover: a few per cent in the plane, where q has to be larger than that, and
        almost 0 for matches. If the structures fill the box, p is not informative.

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
        return self._map_scores(X, "p_values", partial(_p_values, self.null_scores_))  # type: ignore[no-any-return]

    @property
    def has_null_(self) -> bool:
        """Whether scores can be compared with those of random points, which `p_values` needs."""
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
            For each row, the nearest structures, its distances in their sigmas, the numbers of
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
        backend, rows = engine.backend, self._validated(engine.in_memory(X))
        scores = backend.scores(self.fitted_, rows)
        p = labels.p_values(scores, findings.null_scores(backend)) if self.has_null_ else None
        return explanations(rows, scores, p, self.threshold_, findings.structures(backend))

    def _html_repr(self) -> str:
        """The diagram of scikit-learn, and the diagnosis of a fitted detector below it."""
        diagram: str = super()._html_repr()
        found = self.diagnosis_ if hasattr(self, "fitted_") else []
        items = "".join(f"<li>{html.escape(str(each))}</li>" for each in found)
        return f"{diagram}<p>Diagnosis:</p><ul>{items}</ul>" if items else diagram

    def _embedding(self) -> FittedEmbedding:
        check_is_fitted(self, "fitted_")
        embedding = self.fitted_.embedding
        assert embedding is not None  # always set by these detectors
        return embedding


def _p_values(null: Floats, scores: Any, threshold: float) -> Any:
    return match_input_type(labels.p_values(to_numpy(scores), null), scores)
