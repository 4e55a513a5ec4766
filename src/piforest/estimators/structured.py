"""The base of detectors with models of structures: p-values, structures, explanations."""

from __future__ import annotations

import html
from functools import partial
from typing import Literal, overload

from sklearn.utils.validation import check_is_fitted

from .._random import Stream
from .._validation import warn_user
from ..diagnosis import Finding
from ..explain import Explanation
from ..families.scaled import unscaled
from ..fitted import FittedEmbedding
from ..labels.calibration import Calibration
from ..protocols import Floats, Ints, ModelFamily
from ..structures.greedy import Structure, weighted_sigma
from ..typing import RowsLike
from . import row_values
from .detector import Detector
from .explaining import explain_rows
from .preference_embedding import EmbeddingAttributes

# The results of `assign`, in the order of `Assignment`.
_ASSIGNED = ("structure", "distance")
# Thresholds other than the automatic one, by which structures choose their members.
_CHOSEN = ("given", "contamination", "false alarm rate")


class StructuredDetector(EmbeddingAttributes, Detector):
    """Base of the detectors with a forest of preferences for models."""

    @property
    def sigma_(self) -> float:
        """The noise of the structures: the median of their sigmas, each weighted by its number of
        points. A given sigma is returned as it is. The first use computes `structures_`."""
        embedding = self._embedding()
        if embedding.sigma_source != "estimated":
            return embedding.sigma
        return weighted_sigma(self._findings().structures(self.backend_), embedding.sigma)

    @property
    def null_scores_(self) -> Floats:
        """Scores of 250 points drawn uniformly from the box of the data, ascending."""
        return self._findings().null_scores(self.backend_)

    @property
    def found_structure_(self) -> bool:
        """Whether any structure of the family is significant in the training points.

        Equal points count once, and so do matches that share a point of an image.
        """
        return self._findings().found_structure(self.backend_)

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
        steps = getattr(self, "resolution_", None)
        found = self._findings().diagnosis(self.backend_, steps)
        return [*self._about_comparison(), *self._better_family(), *found]

    def _about_comparison(self) -> list[Finding]:
        """Findings if the comparison that chose the family explained far more, or left out a
        target."""
        proposals = getattr(self, "proposals_", None)
        if proposals is None:
            return []
        from ..proposals.better import about_class_target, less_than_proposed

        structures = self._findings().structures(self.backend_)
        share = sum(each.support for each in structures) / len(self.fitted_.subset)
        used = [unscaled(models.family) for models in self._embedding().models]
        less = less_than_proposed(proposals, used, share, len(structures))
        return [*about_class_target(proposals), *less]

    def _better_family(self) -> list[Finding]:
        """A finding if the family that was named is clearly beaten by another.

        Families are compared only if the named one explains less than half of the points.
        """
        findings = self._findings()
        if findings.better_family is None:
            findings.better_family = []
            explained = sum(each.support for each in findings.structures(self.backend_))
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
        from all points, or from a random 50,000 of them if there are more. Anomalies are members
        of none: another threshold leaves other members.
        """
        findings = self._findings()
        if self.threshold_source_ in _CHOSEN:
            return findings.structures_at(self.backend_, self.threshold_)
        return findings.structures(self.backend_)

    @property
    def structure_labels_(self) -> Ints:
        """(n,) the number of the structure of each training row, -1 for anomalies and for rows
        near none; not available for more than 50,000 rows, see `assign`."""
        return self._findings().assignment(self.backend_, self.threshold_).labels

    def connected_structures(self) -> list[Structure]:
        """The connected pieces of the structures: two coplanar tables are one plane, two patches.

        The members of a structure are split where there is a gap that their own density does not
        explain: where no row is among the nearest neighbours of one on the other side, for so many
        neighbours that random rows of the same density fall apart in about one of a hundred cases.
        Pieces of fewer than about 10 to 20 rows are not told apart.

        Returns
        -------
        list of Structure
            In the order of `structures_`, the largest piece of each first. Each has the model of
            its structure, and `members` and `extent` of its own. `assign(X, connected=True)` gives
            indices of this list.

        Examples
        --------
        >>> import numpy as np
        >>> from piforest import PreferenceIsolationForest
        >>> rng = np.random.default_rng(0)
        >>> xy = rng.uniform(size=(600, 2)) + rng.integers(0, 2, (600, 1)) * [2, 0]
        >>> X = np.column_stack([xy, rng.normal(1, 0.01, 600)])
        >>> X = np.concatenate([X, rng.uniform([0, 0, 0], [3, 1, 2], (60, 3))])
        >>> detector = PreferenceIsolationForest("plane", random_state=0).fit(X)
        >>> len(detector.structures_), len(detector.connected_structures())
        (1, 2)
        """
        findings = self._findings()
        if self.threshold_source_ in _CHOSEN:
            return findings.pieces_at(self.backend_, self.threshold_)
        return list(findings.pieces(self.backend_).structures)

    @overload
    def assign(
        self, X: RowsLike, *, return_distance: Literal[False] = False, connected: bool = False
    ) -> Ints: ...
    @overload
    def assign(
        self, X: RowsLike, *, return_distance: Literal[True], connected: bool = False
    ) -> tuple[Ints, Floats]: ...
    def assign(
        self, X: RowsLike, *, return_distance: bool = False, connected: bool = False
    ) -> Ints | tuple[Ints, Floats]:
        """The structure of each row.

        A row that `predict` keeps belongs to the structure that is nearest in half-widths, if it is
        within three half-widths, about six sigmas. The structures are those of the training rows
        (of at most `pool_size` of them), whatever X is.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows like those of `fit`. Tensors give tensors, Dask collections lazy results.
        return_distance : bool, default=False
            Whether to return the distances, too.
        connected : bool, default=False
            Whether to number the connected pieces, those of `connected_structures`, in place of the
            structures: a row belongs to the piece of the nearest training row of its structure.

        Returns
        -------
        labels : ndarray of int of shape (n,)
            The index in `structures_`; -1 for anomalies and for rows near no structure.
        distances : ndarray of shape (n,)
            The distance to the nearest structure in units of its sigma, also of rows without one;
            infinite if there is no structure. Only if `return_distance`.

        Examples
        --------
        >>> from piforest import PreferenceIsolationForest
        >>> from piforest.datasets import make_lines
        >>> X = make_lines(3, noise=0.01, anomaly_share=0.3, random_state=0).data
        >>> detector = PreferenceIsolationForest("line", random_state=0).fit(X)
        >>> labels, sigmas = detector.assign(X, return_distance=True)
        >>> sorted(set(labels.tolist()))
        [-1, 0, 1, 2]
        >>> bool((labels == detector.structure_labels_).all() and sigmas[labels >= 0].max() < 12)
        True
        """
        check_is_fitted(self, "fitted_")
        findings, backend = self._findings(), self.backend_
        structures = findings.structures(backend)
        pieces = findings.pieces(backend) if connected else None
        parts = {
            name: partial(row_values.assigned, structures, pieces, k)
            for k, name in enumerate(_ASSIGNED)
        }
        if not return_distance:
            del parts["distance"]
        found = self._map_rows(X, parts)
        return tuple(found) if return_distance else found[0]  # type: ignore[return-value]

    def p_values(self, X: RowsLike) -> Floats:
        """The probability that a normal row scores as high as each row: small for anomalies.

        The null hypothesis is that the row is as normal as the rows of the structures. Their scores
        are those of the training rows (of a random 50,000, if there are more), which have no
        preferences for the models that were computed from them. Each counts with the probability
        that it belongs to its structure, given the distance to it alone, so that anomalies among
        the training rows do not matter: p = (1 + the weight of the rows that score at least as
        high) / (1 + the weight of all). Without any structure, all rows count, and a warning says
        so.

        The Benjamini-Hochberg procedure at level q bounds the expected share of normal rows among
        those that it flags by q; `false_alarm_rate` does this.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)

        See Also
        --------
        chance_p_values : Would a point of no structure score as low?

        Examples
        --------
        >>> from piforest import PreferenceIsolationForest
        >>> from piforest.datasets import make_lines
        >>> X, y = make_lines(4, anomaly_share=0.3, random_state=0, return_X_y=True)
        >>> p = PreferenceIsolationForest("line", random_state=0).fit(X).p_values(X)
        >>> bool((p[y > 0] <= 0.05).mean() <= 0.06 and (p[y == 0] <= 0.05).mean() > 0.6)
        True
        """
        return self._map_scores(
            X, "p_values", partial(row_values.p_values, self._calibration("p_values"))
        )  # type: ignore[no-any-return]

    def anomaly_probability(self, X: RowsLike) -> Floats:
        """The probability that each row is an anomaly, which does not decrease with the score.

        It is estimated from the training rows, without labels: beside the structures, rows are
        anomalous, and close to them the share of anomalies follows from the density beside them.
        An isotonic regression on the score gives the probability. It is calibrated if the noise is
        alike along a structure and anomalies are spread evenly about it: of the rows with a
        probability of 0.7, about 70 % are anomalies.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
            nan if no structure was found, since nothing is then known about the rows.

        Examples
        --------
        >>> from piforest import PreferenceIsolationForest
        >>> from piforest.datasets import make_lines
        >>> X, y = make_lines(4, anomaly_share=0.3, random_state=0, return_X_y=True)
        >>> p = PreferenceIsolationForest("line", random_state=0).fit(X).anomaly_probability(X)
        >>> bool(abs(p.mean() - (y == 0).mean()) < 0.1)
        True
        """
        calibration = self._calibration("anomaly_probability")
        known = bool(self._findings().structures(self.backend_))
        function = partial(row_values.probability, calibration, known)
        return self._map_scores(X, "anomaly_probability", function)

    def _calibration(self, method: str) -> Calibration:
        """The scores of normal rows, or an error; a warning without any structure."""
        check_is_fitted(self, "fitted_")
        if not self.has_null_:
            raise ValueError(
                f"{method} needs a detector with in_sample_preferences=False and one of the "
                "metrics tanimoto, jaccard, ruzicka and cosine: the training rows of others vote "
                "for themselves, and their scores cannot be compared with those of other rows."
            )
        if not self._findings().structures(self.backend_):
            warn_user(
                f"no structure was found, so that {method} cannot tell normal rows from others; "
                "see diagnosis_."
            )
        return self._findings().calibration(self.backend_)

    def chance_p_values(self, X: RowsLike) -> Floats:
        """The probability that a point of no structure has a score as low as each row: large for
        anomalies.

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
        >>> p = PreferenceIsolationForest("line", random_state=0).fit(X).chance_p_values(X)
        >>> bool(p[y == 0].mean() > 0.4 and p[y > 0].mean() < 0.1)
        True
        """
        check_is_fitted(self, "fitted_")
        if not self.has_null_:
            raise ValueError(
                "chance_p_values needs a detector with in_sample_preferences=False and one of the "
                "metrics tanimoto, jaccard, ruzicka and cosine: others cannot be compared with "
                "random points."
            )
        return self._map_scores(X, "chance_p_values", partial(row_values.chance, self.null_scores_))

    @property
    def has_null_(self) -> bool:
        """Whether scores can be compared with those of random points, which p-values need."""
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
            their points, how sure the label is, which column would have to change for the row to
            lie on the nearest structure, whether it lies on a structure where no other row is
            (`extrapolated`), and a sentence. Empty for no rows.

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
        held = engine.in_memory(X)
        if getattr(held, "shape", (1,))[0] == 0:
            # As in explain(X[labels == -1]) where nothing is flagged.
            return []
        rows = self._validated(held)
        chosen = self._chosen_threshold()
        return explain_rows(
            self.fitted_, findings, engine.backend, rows, self.threshold_, chosen, self.structures_
        )

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
