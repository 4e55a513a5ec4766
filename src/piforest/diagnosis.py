"""Diagnosis: what to know about the data and a result before trusting it.

>>> from piforest import PreferenceIsolationForest
>>> from piforest.datasets import make_lines
>>> X = make_lines(1, noise=0.01, anomaly_share=0.0, random_state=0).data
>>> detector = PreferenceIsolationForest("line", random_state=0).fit(X)
>>> [finding.code for finding in detector.diagnosis_]
['one_structure']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ._numbers import readable
from ._random import Stream
from .bands.ladder import WIDE_WIDTHS
from .bands.noise import robust_sigma
from .bands.resolution import is_categorical
from .families import extent, layout_of, marginal_rows
from .families.scaled import column_units
from .fitted import FittedForest
from .models.membership import first_occurrences
from .protocols import Floats, ModelFamily
from .structures.greedy import REACH, Structure
from .structures.laws import related_columns, target_of
from .structures.unevenness import UnevenNoise
from .units import scaled_text, unequal_ranges

__all__ = ["Finding", "diagnose"]

# Fewer points than this many for each point of a minimal sample are too few.
_POINTS_PER_SAMPLE_POINT = 10
# The share of repeated rows, or of matches that share a point, that is worth a word.
_REPEATED = 0.05
_HOLDS_ALL = 0.98
# Structures that hold less than this share of the points explain little.
_LITTLE = 0.6
# A structure is weak if its points are nearly as far from it as null rows are, in the median. A law
# that explains the share q of the variance of a Gaussian target has sqrt((1 - q) / (1 + q)) times
# their distance: 0.5 for 60 %.
_WEAK = 0.5
# Labels that agree less than this, as F1, with the points beyond all structures are doubtful.
_GOOD_AGREEMENT = 0.7
# A step of a column is worth a word if it is larger than this share of sigma.
_COARSE = 0.5
# A column has a long tail if more than this share of its values is farther than this many robust
# sigmas from the median on one side; 0.003 % of a Gaussian, 1.3 % of an exponential distribution.
_TAIL, _LONG_TAIL = 4.0, 0.05
_NULL_ROWS = 2000
_END = 1.001  # a factor for comparing widths
_LISTED = 4


@dataclass(frozen=True)
class Finding:
    """One finding about the data or the result.

    Attributes
    ----------
    code : str
        A short name that does not change between versions: "no_structure", "one_structure",
        "too_few_points", "sigma_at_limit", "sigma_disagrees", "rounded_columns", "units_differ",
        "columns_scaled", "many_to_one", "repeated_rows", "scores_overlap", "little_explained",
        "weak_structure", "uneven_noise", "too_many_beyond", "categorical_columns", "long_tail" or
        "better_family".
        Later versions may add others.
    text : str
        What was found, in one sentence.
    advice : str
        What can be done about it, in one sentence.

    Examples
    --------
    >>> from piforest.diagnosis import Finding
    >>> print(Finding("too_few_points", "There are 9 points.", "Collect more."))
    There are 9 points. Collect more.
    """

    code: str
    text: str
    advice: str

    def __str__(self) -> str:
        return f"{self.text} {self.advice}"


def diagnose(
    fitted: FittedForest,
    structures: Sequence[Structure],
    *,
    found: bool,
    names: Sequence[str] | None = None,
    steps: Floats | None = None,
    disagreement: float | None = None,
    agreement: float = 1.0,
    beyond: float = 0.0,
    uneven: Sequence[UnevenNoise] = (),
) -> list[Finding]:
    """List what is known about the data and the result of a fit.

    Detectors call this: see their `diagnosis_`.

    Parameters
    ----------
    fitted : FittedForest
        The fitted value, with models of structures.
    structures : sequence of Structure
        The structures of the data.
    found : bool
        Whether any structure is significant.
    names : sequence of str or None, default=None
        The names of the columns.
    steps : ndarray of shape (d,) or None, default=None
        The step that each column is rounded to, 0 for none.
    disagreement : float or None, default=None
        The sigma that the data suggest, if they contradict the one that was given.
    agreement : float, default=1.0
        The F1 score of the automatic labels, a threshold on the score, against the points that
        distances to the structures and scores together call anomalous.
    beyond : float, default=0.0
        The share of rows beyond the structures, if it is so large that none of them is flagged.
    uneven : sequence of UnevenNoise, default=()
        The noise of the structures whose noise is not even.

    Returns
    -------
    list of Finding
        The most important first; empty if there is nothing to say.

    Examples
    --------
    >>> from piforest import PreferenceIsolationForest
    >>> from piforest.datasets import make_lines
    >>> X = make_lines(4, noise=0.01, anomaly_share=0.3, random_state=0).data
    >>> PreferenceIsolationForest("line", random_state=0).fit(X).diagnosis_
    []
    """
    if fitted.embedding is None:
        raise ValueError("a forest without models of structures has no diagnosis.")
    families = [models.family for models in fitted.embedding.models]
    X, sigma = fitted.points, fitted.embedding.sigma
    columns = [f"column {k}" for k in range(X.shape[1])] if names is None else list(names)
    return [
        *_about_structures(fitted, families, found, structures),
        *_about_strength(fitted, structures),
        *_about_uneven_noise(uneven, X, columns),
        *_about_labels(agreement, beyond),
        *_about_levels(families[0], X, columns),
        *_about_tails(families[0], X, columns),
        *_about_units(families, X, names),
        *_about_scaling(families[0], columns),
        *_about_steps(steps, sigma * column_units(families[0], X.shape[1]), columns),
        *_about_widths(X, structures),
        *_about_a_given_sigma(sigma, disagreement),
        *_about_repetitions(families, X),
    ]


def _about_structures(
    fitted: FittedForest, families: list[ModelFamily], found: bool, structures: Sequence[Structure]
) -> Iterator[Finding]:
    X, names = fitted.points, _names(families)
    size = min(family.sample_size(X.shape[1]) for family in families)
    few = fitted.n_training < _POINTS_PER_SAMPLE_POINT * size
    if not found:
        related = len(families) == 1 and related_columns(families[0], X)
        reason = (
            f"The columns are related, but rows scatter about any {names} nearly as much as the "
            "target does by itself"
            if related
            else f"No {names} stands out from chance in {len(X):,} points"
        )
        yield Finding(
            "no_structure",
            f"{reason}: the scores say which points are isolated, not which are anomalous.",
            "Try another family, check that the columns are the right ones, or add points; "
            "contamination flags a share of the points nevertheless.",
        )
    if few:
        yield Finding(
            "too_few_points",
            f"There are {fitted.n_training} points, and {size} of them determine a {names}: chance "
            "and structure are hard to tell apart.",
            f"Use at least {_POINTS_PER_SAMPLE_POINT * size} points, or a family with fewer "
            "parameters.",
        )
    if len(structures) == 1 and structures[0].support >= _HOLDS_ALL * len(fitted.subset):
        share = 100 * structures[0].support / len(fitted.subset)
        yield Finding(
            "one_structure",
            f"One {structures[0].family.name} holds {share:.3g} % of the points, with a sigma of "
            f"{readable(structures[0].sigma)}.",
            "If you expect several structures or anomalies, check the units of the columns, or "
            "pass sigma.",
        )


def _about_strength(fitted: FittedForest, structures: Sequence[Structure]) -> Iterator[Finding]:
    if not structures:
        return
    n, family = len(fitted.subset), structures[0].family.name
    explained = sum(each.support for each in structures) / n
    if explained < _LITTLE:
        yield Finding(
            "little_explained",
            f"The structures hold only {100 * explained:.3g} % of the points: the others may be "
            f"anomalies, or follow something that is no {family.replace('_', ' ')}.",
            "If you expect fewer anomalies, try another family, other columns, or a transformation "
            "such as a logarithm.",
        )
    for number, each in enumerate(structures[:_LISTED]):
        nearness = _relative_distance(each, fitted)
        if nearness > _WEAK:
            yield Finding(
                "weak_structure",
                f"Structure {number} is weak: its points are {nearness:.2g} times as far from it "
                "as rows whose columns have nothing to do with each other.",
                "Scores tell rows far off a vague trend: only the farthest rows are anomalies.",
            )


def _about_uneven_noise(
    uneven: Sequence[UnevenNoise], X: Floats, names: list[str]
) -> Iterator[Finding]:
    """Laws whose noise grows or shrinks along their prediction."""
    for grows in (True, False):
        laws = [each for each in uneven if (each.growth > 1) == grows]
        if not laws:
            continue
        target = target_of(laws[0].structure.family)
        assert target is not None
        name, larger = names[target], "large" if grows else "small"
        smaller = "small" if grows else "large"
        factors = " and ".join(f"{max(each.growth, 1 / each.growth):.2g}" for each in laws)
        advice = "add the columns that the noise depends on, or look at these rows by themselves."
        if grows and X[:, target].min() > 0:
            advice = f"take the logarithm of {name}, or {advice}"
        yield Finding(
            "uneven_noise",
            f"The noise of {'a law' if len(laws) == 1 else f'{len(laws)} laws'} is {factors} times "
            f"as large where the predicted {name} is {larger} as where it is {smaller}: rows there "
            "have high scores, although they are ordinary.",
            f"Labels allow for it, scores do not: {advice}",
        )


def _relative_distance(structure: Structure, fitted: FittedForest) -> float:
    """The median distance of the points of a structure, in units of that of null rows like all."""
    stream = Stream(fitted.key).child("strength")
    null = marginal_rows(structure.family, fitted.points, _NULL_ROWS, stream)
    far = float(np.median(structure.residuals(null)))
    own = structure.residuals(fitted.points)
    own = own[own <= REACH * structure.half_width]
    return float(np.median(own)) / far if far > 0 and len(own) else 0.0


def _about_levels(family: ModelFamily, X: Floats, names: list[str]) -> Iterator[Finding]:
    """Columns of few levels that distances are measured in."""
    layout, columns = layout_of(family), range(X.shape[1])
    if layout.kind == "table" and layout.target is not None:
        columns = range(layout.target % X.shape[1], layout.target % X.shape[1] + 1)
    elif layout.kind != "points":
        return
    few = [k for k in columns if is_categorical(X[:, k])]
    if few:
        listed = ", ".join(names[k] for k in few[:_LISTED])
        more = f" and {len(few) - _LISTED} more" if len(few) > _LISTED else ""
        yield Finding(
            "categorical_columns",
            f"{listed}{more}: few different values, as categories have, and distances between "
            "categories mean little.",
            "Leave such columns out, or take one of them as groups.",
        )


def _about_tails(family: ModelFamily, X: Floats, names: list[str]) -> Iterator[Finding]:
    """A target with a long tail on one side."""
    target = target_of(family)
    if target is None:
        return
    y = X[:, target]
    middle = float(np.median(y))
    far = _TAIL * robust_sigma(np.abs(y - middle), float(np.ptp(y)), 1)
    above, below = float(np.mean(y > middle + far)), float(np.mean(y < middle - far))
    if far > 0 and max(above, below) > _LONG_TAIL and min(above, below) < max(above, below) / 3:
        side, advice = "below", "Look at these rows first, or transform the column."
        if above > below:
            side = "above"
            advice = "If its ratios mean more than its differences, take its logarithm."
        yield Finding(
            "long_tail",
            f"{100 * max(above, below):.3g} % of the values of {names[target]} are more than "
            f"{_TAIL:g} sigmas {side} its median: far values look like anomalies, although the "
            "column may be like that.",
            advice,
        )


def _about_labels(agreement: float, beyond: float) -> Iterator[Finding]:
    if beyond > 0:
        yield Finding(
            "too_many_beyond",
            f"{100 * beyond:.3g} % of the points are beyond the structures, which have much noise "
            "or hold few of the points: these are no rule that the others break, so that no point "
            "is flagged.",
            "Transform a skewed column, such as by a logarithm, add the columns that it depends "
            "on, or pass contamination to flag a share.",
        )
    if agreement < _GOOD_AGREEMENT:
        yield Finding(
            "scores_overlap",
            "Many points beyond all structures score like points on them, as anomalies do that are "
            f"close together: the automatic labels find them with an F1 of about {agreement:.2f}.",
            "Compare the distances to structures_, which explain gives for each point.",
        )


def _about_units(
    families: list[ModelFamily], X: Floats, names: Sequence[str] | None
) -> Iterator[Finding]:
    found = unequal_ranges(families, X)
    if found is not None:
        yield Finding("units_differ", found.text(names), found.advice)


def _about_scaling(family: ModelFamily, names: list[str]) -> Iterator[Finding]:
    text = scaled_text(column_units(family, len(names)), names)
    if text:
        yield Finding(
            "columns_scaled",
            text,
            "sigma, half-widths, parameters and distances are in these units; scale_columns=False "
            "measures in the units of the data.",
        )


def _about_steps(steps: Floats | None, sigma: Floats, names: list[str]) -> Iterator[Finding]:
    """Columns that are rounded to steps that are not small against sigma; (d,) in their units."""
    coarse = [] if steps is None else np.flatnonzero(steps > _COARSE * sigma).tolist()
    if steps is not None and coarse:
        listed = ", ".join(f"{names[k]} to {readable(steps[k])}" for k in coarse[:_LISTED])
        more = f" and {len(coarse) - _LISTED} more" if len(coarse) > _LISTED else ""
        yield Finding(
            "rounded_columns",
            f"Values are rounded, {listed}{more}: noise below a step cannot be seen.",
            "Use values with more digits if there are any.",
        )


def _about_widths(X: Floats, structures: Sequence[Structure]) -> Iterator[Finding]:
    """Structures with the narrowest or the widest half-width that is tried."""
    grids = [extent(each.family, X) * WIDE_WIDTHS for each in structures]
    narrow = sum(s.half_width <= grid.min() * _END for s, grid in zip(structures, grids))
    # Where sigma is measured without the ladder, half-widths may be larger.
    wide = sum(1 / _END <= s.half_width / grid.max() <= _END for s, grid in zip(structures, grids))
    for count, which, how, advice in (
        (narrow, "narrowest", "smaller", "Look for rounded, repeated or exact values."),
        (wide, "widest", "larger", "Pass sigma if you know the noise."),
    ):
        if count:
            yield Finding(
                "sigma_at_limit",
                f"{count} of {len(structures)} structures {'has' if count == 1 else 'have'} the "
                f"{which} half-width that is tried: {'its' if count == 1 else 'their'} noise may "
                f"be {how} than reported.",
                advice,
            )


def _about_a_given_sigma(sigma: float, disagreement: float | None) -> Iterator[Finding]:
    if disagreement is not None:
        yield Finding(
            "sigma_disagrees",
            f"sigma = {readable(sigma)} was given, but the structures in the data look as if it "
            f"were {readable(disagreement)}.",
            "sigma='auto' uses the estimate.",
        )


def _about_repetitions(families: list[ModelFamily], X: Floats) -> Iterator[Finding]:
    everything = np.ones(len(X), np.bool_)
    repeated = 1 - float(np.mean(first_occurrences(X, (), everything)))
    if repeated > _REPEATED:
        yield Finding(
            "repeated_rows",
            f"{100 * repeated:.3g} % of the rows repeat others exactly; equal rows count once as "
            "evidence.",
            "Remove repeated rows if they are copies.",
        )
    views = next((layout_of(family).views for family in families if layout_of(family).views), ())
    if views:
        shared = 1 - float(np.mean(first_occurrences(X, views, everything))) - repeated
        if shared > _REPEATED:
            yield Finding(
                "many_to_one",
                f"{100 * shared:.3g} % of the matches share a point of a view with others; such "
                "matches count once as evidence.",
                "Keep only the best match of each point, as mutual=True in "
                "piforest.vision.match_images does.",
            )


def _names(families: list[ModelFamily]) -> str:
    return " or ".join(family.name.replace("_", " ") for family in families)
