"""Findings about the structures, their noise, and the labels that follow from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .._numbers import readable
from .._random import Stream
from ..bands.ladder import WIDE_WIDTHS
from ..families import extent, layout_of, marginal_rows
from ..fitted import FittedForest
from ..protocols import Floats, ModelFamily
from ..structures.greedy import REACH, Structure
from ..structures.laws import FEW_ROWS, related_columns, target_of
from ..structures.parallax import Parallax
from ..structures.unevenness import UnevenNoise
from .finding import Finding

# Fewer points than this many for each point of a minimal sample are too few.
_POINTS_PER_SAMPLE_POINT = 10
_HOLDS_ALL = 0.98
# Structures that hold less than this share of the points explain little.
_LITTLE = 0.6
# A structure is weak if its points are nearly as far from it as null rows are, in the median. A law
# that explains the share q of the variance of a Gaussian target has sqrt((1 - q) / (1 + q)) times
# their distance: 0.5 for 60 %.
_WEAK = 0.5
# Labels that agree less than this, as F1, with the points beyond all structures are doubtful.
_GOOD_AGREEMENT = 0.7
_NULL_ROWS = 2000
_END = 1.001  # a factor for comparing widths
# Structures that have a sentence of their own.
_LISTED = 4


def about_structures(
    fitted: FittedForest,
    families: list[ModelFamily],
    found: bool,
    structures: Sequence[Structure],
    clustered: bool,
) -> Iterator[Finding]:
    X, names = fitted.points, _names(families)
    size = min(family.sample_size(X.shape[1]) for family in families)
    few = fitted.n_training < _POINTS_PER_SAMPLE_POINT * size
    if not found and clustered:
        yield Finding(
            "no_structure",
            f"The points form round clusters, which describe them as well as any {names} does: "
            "the scores say which points are isolated, not which are anomalous.",
            "For points that are far from every cluster, use a detector of density, such as "
            "scikit-learn's LocalOutlierFactor; contamination flags a share of the points "
            "nevertheless.",
        )
    elif not found:
        reason = f"No {names} stands out from chance in {len(X):,} points"
        if len(families) == 1 and related_columns(families[0], X):
            reason = (
                f"The columns are related, but {len(X)} rows are too few to tell how much they "
                f"scatter about a {names}, which {size} of them determine"
                if len(X) < FEW_ROWS * size
                else f"The columns are related, but rows scatter about any {names} nearly as much "
                "as the target does by itself"
            )
        yield Finding(
            "no_structure",
            f"{reason}: the scores say which points are isolated, not which are anomalous.",
            f"{_other_ways(families)}; contamination flags a share of the points nevertheless.",
        )
    if few:
        yield Finding(
            "too_few_points",
            f"There are {fitted.n_training} points, and {size} of them determine {_a(names)}: "
            "chance and structure are hard to tell apart.",
            f"Use at least {_POINTS_PER_SAMPLE_POINT * size} points, or a family with fewer "
            "parameters.",
        )
    if len(structures) == 1 and structures[0].support >= _HOLDS_ALL * len(fitted.subset):
        share = 100 * structures[0].support / len(fitted.subset)
        yield Finding(
            "one_structure",
            f"One {structures[0].family.name.replace('_', ' ')} holds {share:.3g} % of the points, "
            f"with a noise of {readable(structures[0].sigma)} (sigma): there are hardly any "
            "exceptions, or the noise is so large that exceptions are within it.",
            "Nothing to do if the noise is that large. If it should be smaller, pass it as sigma, "
            "check the units of the columns, or add columns that explain more.",
        )


def _other_ways(families: list[ModelFamily]) -> str:
    """What to do if there is no structure."""
    if all(layout_of(family).kind == "matches" for family in families):
        return (
            "The two images may show nothing in common: look at them. If they do, try another "
            "family, or matches of other features"
        )
    return "Try another family, check that the columns are the right ones, or add points"


def about_strength(fitted: FittedForest, structures: Sequence[Structure]) -> Iterator[Finding]:
    if not structures:
        return
    n, family = len(fitted.subset), structures[0].family.name
    explained = sum(each.support for each in structures) / n
    if explained < _LITTLE:
        yield Finding(
            "little_explained",
            f"The structures hold only {100 * explained:.3g} % of the points: the others may be "
            f"anomalies, or follow something that is no {family.replace('_', ' ')}.",
            "If you expect fewer anomalies, compare families (propose_families, `piforest "
            "suggest`), try other columns, or a transformation such as a logarithm.",
        )
    for number, each in enumerate(structures[:_LISTED]):
        nearness = _relative_distance(each, fitted)
        if nearness > _WEAK:
            yield Finding(
                "weak_structure",
                f"Structure {number} is a vague trend: its points are {nearness:.2g} times as far "
                "from it as they would be if the columns had nothing to do with each other.",
                "Believe the farthest rows only, or add columns that explain more of the noise.",
            )


def about_uneven_noise(
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
            f"Which rows are flagged allows for it, the order of the scores does not: {advice}",
        )


def about_parallax(found: Parallax | None) -> Iterator[Finding]:
    if found is not None:
        yield Finding(
            "parallax",
            f"{found.agree:,} of the {found.total:,} matches on none of the structures agree with "
            "one fundamental matrix: they may be points off the planes, not false matches.",
            "Try family='fundamental', which keeps the matches of a rigid scene at any depth.",
        )


def _relative_distance(structure: Structure, fitted: FittedForest) -> float:
    """The median distance of the points of a structure, in units of that of null rows like all."""
    stream = Stream(fitted.key).child("strength")
    null = marginal_rows(structure.family, fitted.points, _NULL_ROWS, stream)
    far = float(np.median(structure.residuals(null)))
    own = structure.residuals(fitted.points)
    own = own[own <= REACH * structure.half_width]
    return float(np.median(own)) / far if far > 0 and len(own) else 0.0


def about_labels(agreement: float, beyond: float, off: float, kept: int) -> Iterator[Finding]:
    if 0 < off < beyond / 2:
        yield Finding(
            "too_many_beyond",
            f"{100 * off:.3g} % of the points are off the structures, but {100 * beyond:.3g} % "
            "score as high: most of those are ordinary, so that no point is flagged.",
            "Judge by the distance: assign(X, return_distance=True), or the column distance of "
            "--out, has it in sigmas; or pass contamination to flag a share.",
        )
    elif beyond > 0:
        yield Finding(
            "too_many_beyond",
            f"{100 * beyond:.3g} % of the points score like points off the structures, which have "
            "much noise or hold few of the points: so many are no exceptions to a rule, so that no "
            "point is flagged.",
            "Transform a skewed column, add the columns that it depends on, or pass contamination "
            "to flag a share.",
        )
    text = ""
    if kept:
        text = (
            f"{kept:,} point{' is' if kept == 1 else 's are'} kept, but more than five half-widths "
            "(about ten sigmas) from every structure: points on the structures have such scores."
        )
    elif agreement == 0:
        text = (
            "No point is flagged, although some are far from all structures: points on the "
            "structures have the same scores."
        )
    elif agreement < _GOOD_AGREEMENT:
        text = (
            "The labels miss points that are far from all structures, or flag points that are not: "
            f"they agree with the distances to {100 * agreement:.0f} % (F1), since both kinds of "
            "points have the same scores, as where anomalies are close together."
        )
    if text:
        yield Finding(
            "scores_overlap",
            text,
            "Judge by the distance too: assign(X, return_distance=True), or the column distance of "
            "--out, has it in sigmas, and beyond about 4 a row is unusual.",
        )


def about_widths(X: Floats, structures: Sequence[Structure]) -> Iterator[Finding]:
    """Structures with the narrowest or the widest half-width that is tried."""
    grids = [extent(each.family, X) * WIDE_WIDTHS for each in structures]
    narrow = sum(s.half_width <= grid.min() * _END for s, grid in zip(structures, grids))
    # Where sigma is measured without the ladder, half-widths may be larger.
    wide = sum(1 / _END <= s.half_width / grid.max() <= _END for s, grid in zip(structures, grids))
    for count, which, how, advice in (
        (
            narrow,
            "narrowest",
            "smaller",
            "Nothing to do if the values are exact, as computed ones are; else look for rounded or "
            "repeated values.",
        ),
        (
            wide,
            "widest",
            "larger",
            "Pass sigma if you know the noise; if not, the structure may be no more than the "
            "middle of all points: look at a plot.",
        ),
    ):
        if count:
            yield Finding(
                "sigma_at_limit",
                f"{count} of {len(structures)} structures {'has' if count == 1 else 'have'} the "
                f"{which} half-width that is tried: {'its' if count == 1 else 'their'} noise may "
                f"be {how} than reported.",
                advice,
            )


def about_a_given_sigma(sigma: float, disagreement: float | None) -> Iterator[Finding]:
    if disagreement is not None:
        yield Finding(
            "sigma_disagrees",
            f"sigma = {readable(sigma)} was given, but the structures in the data look as if it "
            f"were {readable(disagreement)}.",
            "Check that sigma is in the units of the columns, or leave it out to use the estimate.",
        )


def _names(families: list[ModelFamily]) -> str:
    return " or ".join(family.name.replace("_", " ") for family in families)


def _a(noun: str) -> str:
    """The noun with its article."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
