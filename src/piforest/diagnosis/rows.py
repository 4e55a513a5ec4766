"""Findings about the rows: values, units and repetitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .._numbers import readable
from ..bands.noise import robust_sigma
from ..bands.resolution import is_categorical
from ..families import layout_of
from ..families.scaled import column_units
from ..models.membership import first_occurrences
from ..protocols import Floats, ModelFamily
from ..structures.greedy import REACH, Structure
from ..structures.laws import target_of
from ..units import scaled_text, unequal_ranges
from .finding import Finding

# The share of repeated rows, or of matches that share a point, that is worth a word.
_REPEATED = 0.05
# A step of a column is worth a word if it is larger than this share of sigma.
_COARSE = 0.5
# A column has a long tail if more than this share of its values is farther than this many robust
# sigmas from the median on one side; 0.003 % of a Gaussian, 1.3 % of an exponential distribution.
_TAIL, _LONG_TAIL = 4.0, 0.05
# A value of the target that so many rows have is worth a word.
_COMMON = 0.25
# Columns that a sentence names.
_LISTED = 4


def about_levels(family: ModelFamily, X: Floats, names: list[str]) -> Iterator[Finding]:
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
            "Leave such columns out, or pass one of them as groups, so that models are drawn from "
            "rows of one category.",
        )


def about_a_common_value(
    family: ModelFamily, X: Floats, structures: Sequence[Structure], names: list[str]
) -> Iterator[Finding]:
    """A target of which many values are equal, such as a rainfall of 0."""
    target = target_of(family)
    if target is None or is_categorical(X[:, target]):
        return
    values, counts = np.unique(X[:, target], return_counts=True)
    value, share = float(values[np.argmax(counts)]), counts.max() / len(X)
    if share < _COMMON:
        return
    common, on = X[:, target] == value, np.zeros(len(X), np.bool_)
    for each in structures:
        on |= each.residuals(X) <= REACH * each.half_width
    name, value_text = names[target], readable(value)
    held = "they hide what the others may follow"
    if structures:
        held = (
            f"the structures hold {100 * np.mean(on[common]):.0f} % of these rows and "
            f"{100 * np.mean(on[~common]):.0f} % of the others"
        )
    yield Finding(
        "common_value",
        f"{100 * share:.0f} % of the values of {name} are {value_text}: {held}.",
        f"Fit the rows with other values by themselves: whether {name} is {value_text} is one "
        "question, how large it is otherwise another.",
    )


def about_tails(family: ModelFamily, X: Floats, names: list[str]) -> Iterator[Finding]:
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


def about_units(
    families: list[ModelFamily], X: Floats, names: Sequence[str] | None
) -> Iterator[Finding]:
    found = unequal_ranges(families, X, names)
    if found is not None:
        yield Finding("units_differ", found.text(names), found.advice)


def about_scaling(family: ModelFamily, names: list[str]) -> Iterator[Finding]:
    text = scaled_text(column_units(family, len(names)), names)
    if text:
        yield Finding(
            "columns_scaled",
            text,
            "Nothing to do if the columns differ in unit: sigma, half-widths and distances are in "
            "these. If they share one, scale_columns=False measures in it.",
        )


def about_steps(steps: Floats | None, sigma: Floats, names: list[str]) -> Iterator[Finding]:
    """Columns that are rounded to steps that are not small against sigma; (d,) in their units."""
    coarse = [] if steps is None else np.flatnonzero(steps > _COARSE * sigma).tolist()
    if steps is not None and coarse:
        listed = ", ".join(f"{names[k]} to {readable(steps[k])}" for k in coarse[:_LISTED])
        more = f" and {len(coarse) - _LISTED} more" if len(coarse) > _LISTED else ""
        yield Finding(
            "rounded_columns",
            f"Values are rounded, {listed}{more}: noise below a step cannot be seen.",
            "Use values with more digits if there are any; else nothing is to be done, since no "
            "structure is taken to be narrower than a step.",
        )


def about_repetitions(families: list[ModelFamily], X: Floats) -> Iterator[Finding]:
    everything = np.ones(len(X), np.bool_)
    repeated = 1 - float(np.mean(first_occurrences(X, (), everything)))
    if repeated > _REPEATED:
        yield Finding(
            "repeated_rows",
            f"{100 * repeated:.3g} % of the rows repeat others exactly; equal rows count once as "
            "evidence.",
            "Remove repeated rows if they are copies; keep them if each was measured.",
        )
    views = next((layout_of(family).views for family in families if layout_of(family).views), ())
    if views:
        shared = 1 - float(np.mean(first_occurrences(X, views, everything))) - repeated
        if shared > _REPEATED:
            yield Finding(
                "many_to_one",
                f"{100 * shared:.3g} % of the matches share a point of a view with others; such "
                "matches count once as evidence.",
                "Keep only the best match of each point: match mutually (mutual=True in "
                "piforest.vision.match_images), if they are not. Mutual ones still share points "
                "where two features lie at one place; nothing is to be done about these.",
            )
