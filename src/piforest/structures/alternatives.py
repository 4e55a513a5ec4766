"""Are the matches described better with one structure more, or with one less?

The bands of a search are judged one by one, and a band around several planes has more evidence than
any of them. Here all structures are judged together, as a mixture: structures fitted to neighbours
are added, and others left out, as long as the description of the rows becomes shorter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .._random import Stream, choose
from ..families import layout_of
from ..models.refit import ROWS_EACH, can_refit
from ..protocols import Bools, Floats, ModelFamily
from .greedy import Candidate
from .laws import is_wide
from .local_models import best_candidate
from .mixture import Mixed, Mixture
from .unions import COVERED

# Rounds of a trial, and of the set that is taken.
_TRIAL, _TAKEN = 6, 12
# Trials of structures that are left out and added before one is taken.
_FEWER, _MORE = 3, 6
# Structures that are added are fitted to so many neighbours of a quarter of the rows, within these
# limits.
_NEAREST, _PLACES = (12, 24, 48), (64, 133)
# A trial is worth its time if the gain is this share of the price before other rows move.
_HOPEFUL = 0.5
# Gains of two trials are of the same rows if they have this share in common.
_SAME = 0.5
# Beyond, more structures are not sought: the matches are of no scene of planes, or too many.
_STEPS, _MOST_STRUCTURES, _ROWS = 30, 24, 2048


def better_described(found: Sequence[Candidate], counted: Bools, stream: Stream) -> list[Candidate]:
    """The structures that describe the counted rows best, if they are matches of one family whose
    bands contain rows of several structures; else the candidates as they are."""
    rows = np.flatnonzero(counted)
    if not found or len(found) > _MOST_STRUCTURES or not _applies(found, len(rows)):
        return list(found)
    bands = found[0].bands
    if len(rows) > _ROWS:
        rows = rows[choose(stream.child("rows"), len(rows), _ROWS)]
    if not (np.ptp(bands.X[rows], axis=0) > 0).all():
        return list(found)
    mixture = Mixture(bands.family, bands.X[rows])
    params = np.array([each.params for each in found])
    sigmas = np.array([each.half_width / 2 for each in found])
    best = _Alternatives(mixture, stream).best(mixture.describe(params, sigmas, _TAKEN))
    cells = np.argmax(best.posterior, axis=1)
    return [
        best_candidate(bands, each[None], rows[(cells == 0) | (cells == k + 1)])
        for k, each in enumerate(best.params)
    ]


def _applies(found: Sequence[Candidate], n: int) -> bool:
    bands = found[0].bands
    size = bands.models.samples.shape[1]
    return (
        n >= ROWS_EACH * size
        and all(each.bands is bands for each in found)
        and not is_wide(bands)
        and mixes_structures(bands.family)
    )


def mixes_structures(family: ModelFamily) -> bool:
    """Whether the bands of a family, which could be refitted, contain rows of several structures,
    as those of matches of planes do."""
    return (
        bool(layout_of(family).views)
        and hasattr(family, "lift")
        and hasattr(family, "refit")
        and not can_refit(family)
    )


class _Alternatives:
    """Sets of structures of a mixture, and the models of neighbours that may be added."""

    def __init__(self, mixture: Mixture, stream: Stream) -> None:
        self.mixture = mixture
        n, size = len(mixture.X), mixture.family.sample_size(mixture.X.shape[1])
        fewest, most = _PLACES
        n_places = min(n, max(fewest, min(most, n // 4)))
        models, sigmas = [], []
        for wanted in _NEAREST:
            number = max(wanted, 2 * size)
            if number <= n:
                places = choose(stream.child("places", wanted), n, n_places)
                params, sigma = mixture.local_models(places, number)
                models.append(params)
                sigmas.append(sigma)
        self.params, self.sigmas = np.concatenate(models), np.concatenate(sigmas)
        self.prices = mixture.prices(self.sigmas)
        self.log_ratios = mixture.log_ratios(mixture.residuals(self.params), self.sigmas)

    def best(self, first: Mixed) -> Mixed:
        """The set with the most evidence, from a first one."""
        best, steps = first, 0
        while steps < _STEPS and (better := self._better(best)) is not None:
            best, steps = better, steps + 1
        return best

    def _better(self, best: Mixed) -> Mixed | None:
        """The next set with more evidence; None if there is none."""
        trials = [*self._fewer(best), *self._more(best)]
        tried = [self.mixture.describe(*trial, _TRIAL) for trial in trials]
        for each in sorted(tried, key=lambda each: -each.evidence):
            if each.evidence <= best.evidence:
                break
            taken = self.mixture.describe(each.params, each.sigmas, _TAKEN)
            if taken.evidence > best.evidence and self._told_apart(taken):
                return taken
        return None

    def _told_apart(self, mixed: Mixed) -> bool:
        """Whether most rows of each structure are nearer to it than to others, in sigmas: rows are
        assigned by that alone, wherever they are."""
        likely = np.argmax(mixed.posterior, axis=1) - 1
        nearest = np.argmin(self.mixture.residuals(mixed.params) / mixed.sigmas, axis=1)
        return all(
            np.mean(nearest[likely == k] == k) >= COVERED
            for k in range(len(mixed.sigmas))
            if np.any(likely == k)
        )

    def _fewer(self, best: Mixed) -> Iterator[tuple[Floats, Floats]]:
        """Sets without one of the structures, those whose rows others describe best."""
        if len(best.sigmas) < 2:
            return
        loss = best.losses() - self.mixture.prices(best.sigmas)
        for k in np.argsort(loss, kind="stable")[:_FEWER].tolist():
            yield np.delete(best.params, k, axis=0), np.delete(best.sigmas, k)

    def _more(self, best: Mixed) -> Iterator[tuple[Floats, Floats]]:
        """Sets with one of the models of neighbours, those that others do not describe."""
        if len(best.sigmas) >= _MOST_STRUCTURES or not len(self.params):
            return
        gains = np.maximum(self.log_ratios - best.density[:, None], 0.0)
        total = gains.sum(axis=0)
        tried: list[Floats] = []
        for k in np.argsort(-total, kind="stable").tolist():
            if len(tried) == _MORE or total[k] < _HOPEFUL * self.prices[k]:
                break
            gain = gains[:, k]
            if any(np.minimum(gain, each).sum() > _SAME * total[k] for each in tried):
                continue
            tried.append(gain)
            params = np.concatenate([best.params, self.params[k : k + 1]])
            yield params, np.append(best.sigmas, self.sigmas[k])
