"""What a detector with models knows beyond scores: p-values, labels from a null, structures."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import labels, thresholds
from .._device import PREFERENCE_METRICS, like, on_host, resolve_device
from .._kernels import trees
from .._random import Stream, subset
from .._validation import check_enough_rows, on_cpu_only, warn_user
from ..explain import Explanation, explanations
from ..metrics import METRICS
from ..models import own_models
from ..preferences import knows_kernel
from ..protocols import Bools, Floats, Metric
from ..structures import (
    REACH,
    Bank,
    Structure,
    find_structures,
    greedy_structures,
    members_of,
    relative_distances,
)
from ._detector import Detector
from ._partitioned import by_partition, in_memory
from .embedding import PreferenceEmbedding


class StructuredDetector(Detector):
    """Base of the detectors that have models of structures, and the pool's points to ask."""

    embedding_: PreferenceEmbedding
    own_votes: bool
    kernel: Any

    # Set by fit: the points of the pool, and those that stand for all training points.
    _points: Floats
    _subset_points: Floats

    @property
    def null_scores_(self) -> Floats:
        """Scores of 250 points drawn uniformly from the box of the data, ascending."""
        check_is_fitted(self, "forest_")
        null: Floats = self._once("null", self._score_null)
        return null

    @property
    def structures_(self) -> list[Structure]:
        """The structures of the data, most striking first, each with parameters, width,
        support and members. Found when first asked for, among at most `pool_size` points; the
        members are those of all points, or of a random 50,000 of them if there are more."""
        check_is_fitted(self, "forest_")
        found: list[Structure] = self._once("structures", self._find_structures)
        return found

    def p_values(self, X: Any) -> Floats:
        """How likely a point of no structure is to score as low as each row of X, (n,).

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

        >>> from piforest import PreferenceIsolationForest
        >>> from piforest.datasets import make_lines
        >>> X, y = make_lines(4, anomaly_share=0.3, random_state=0, return_X_y=True)
        >>> p = PreferenceIsolationForest("line", random_state=0).fit(X).p_values(X)
        >>> bool(p[y == 0].mean() > 0.4 and p[y > 0].mean() < 0.1)
        True
        """
        check_is_fitted(self, "forest_")
        if not self._has_null:
            raise ValueError(
                "p_values needs a detector with own_votes=False and one of the metrics tanimoto, "
                "jaccard, ruzicka and cosine: others cannot be compared with random points."
            )
        self.null_scores_  # noqa: B018  before the detector travels, so that no worker has to
        return self._p_values(X)

    @by_partition
    def _p_values(self, X: Any) -> Floats:
        p = labels.p_values(on_host(self.anomaly_score(X)), self.null_scores_)
        return like(p, X)  # type: ignore[no-any-return]

    def explain(self, X: Any) -> list[Explanation]:
        """Why each row of X is anomalous or not: the nearest structures, how many of their
        sigmas away it lies, how many points they have, and a sentence.

        >>> from piforest import PreferenceIsolationForest
        >>> from piforest.datasets import make_lines
        >>> X = make_lines(3, noise=0.01, anomaly_share=0.3, random_state=0).data
        >>> detector = PreferenceIsolationForest("line", random_state=0).fit(X)
        >>> print(detector.explain(X[:1])[0])  # doctest: +ELLIPSIS
        normal (score ...): on structure ... (line, ... points), ... sigmas (...) away.
        """
        X = on_host(in_memory(X))
        points, scores = self._rows_to_score(X), self.anomaly_score(X)
        p = labels.p_values(scores, self.null_scores_) if self._has_null else None
        return explanations(points, scores, p, -self.offset_, self.structures_)

    def _auto_threshold(self, X: Any) -> float:
        """The cut of the label recipe; Otsu's where the null says nothing."""
        if not self._has_null:
            return super()._auto_threshold(X)
        if X is None:
            points, scores = self._points, self._known["pool scores"]
        else:
            X = on_host(X)
            points, scores = self._rows_to_score(X), self.anomaly_score(X)
            check_enough_rows(len(points))
        return thresholds.agreeing(scores, self._votes(points, scores))

    @property
    def _has_null(self) -> bool:
        """Are random points comparable, and is a distance of 1 the farthest?"""
        return self.embedding_._own is not None and self.forest_.metric.empty_rows

    def _votes(self, points: Floats, scores: Floats) -> Bools:
        """Which points are anomalous by the majority of three votes."""
        ceiling = self._ceiling()
        banks = self._banks()
        found = greedy_structures(banks, labels.NEAR)
        if not found:
            names = " or ".join(repr(bank.family.name) for bank in banks)
            warn_user(
                f"no structure of family {names} stands out from chance in "
                f"{len(self._points)} points; contamination='auto' has next to nothing to go by."
            )
        far, null_far = (
            np.all(relative_distances(rows, found) > labels.NEAR, axis=1)
            for rows in (points, self._null_points())
        )
        low, high = labels.box(self._points)
        widest = max((each.width for each in found), default=0.0)
        if np.mean(null_far) < 0.5 and 2 * REACH * widest >= np.min(high - low):
            # One structure fills the box of the data, as a line along an axis does: random
            # points are like normal ones there, and tell nothing.
            return np.asarray(far)
        null = np.minimum(self.null_scores_, ceiling)
        return labels.votes(np.minimum(scores, ceiling), null, far, null_far)

    def _banks(self) -> list[Bank]:
        """One for each family; what fit measured on the same points is not measured again."""
        models = self.embedding_.models_
        tables = self._known.get("tables", [None] * len(models))
        device = self._resolve_device(self.forest_.metric, self.forest_.pool)
        if device is not None:
            from ..engines.torch.bands import band_table

            known = self.embedding_._own if len(models) == 1 else None
            tables = [
                band_table(self._points, part, known or own_models([part]), device)
                if table is None
                else table
                for part, table in zip(models, tables)
            ]
        return [Bank(self._points, part, table) for part, table in zip(models, tables)]

    def _ceiling(self) -> float:
        """The score of a row that descends but is far from every seed. Rows that prefer
        nothing score more by convention, which would tear the scores of anomalies apart."""
        forest = self.forest_.forest
        score = np.empty(1)
        lengths = forest.path_lengths(np.ones((1, len(self.forest_.pool))))
        trees.scores(lengths, forest.normaliser, score)
        return float(score[0])

    def _score_null(self) -> Floats:
        return np.sort(self._run(self._null_points(), "scores"))

    def _resolve_device(self, metric: Metric, rows: Any) -> Any:
        known = METRICS.name_of(metric) in PREFERENCE_METRICS
        device = resolve_device(self.device, able=known and knows_kernel(self.kernel))
        if device is not None and not known:
            raise on_cpu_only("metric", metric, PREFERENCE_METRICS)
        return device

    def _fitted_scorer(self, device: Any) -> Any:
        new = self._new_scorer(device, self.forest_.metric)
        return new.take_fitted(self.forest_.pool, self.forest_.forest)

    def _new_scorer(self, device: Any, metric: Metric) -> Any:
        from ..engines.torch.scorer import PreferenceScorer

        fitted = self.embedding_
        return PreferenceScorer(fitted.models_, fitted.kernel_, fitted._own, metric.name, device)

    def _null_points(self) -> Floats:
        return labels.null_points(self._points, Stream(self._key).child("null"))

    def _subset(self) -> Floats:
        return self._subset_points

    def _find_structures(self) -> list[Structure]:
        """Found in the pool; their members are looked for in all points, or in the 50,000 that
        stand for them."""
        most = self._auto_threshold(None) if self._has_null else np.inf
        normal = self._known["pool scores"] <= most
        stream = Stream(self._key).child("structures")
        found = find_structures(self._banks(), normal, stream)
        if len(self._points) == self._n_training:
            return found
        rows = subset(Stream(self._key), self._n_training)
        normal = self._subset_scores() <= most
        cells = members_of(self._subset_points, normal, found)
        return [each.with_members(rows[cells == k]) for k, each in enumerate(found)]
