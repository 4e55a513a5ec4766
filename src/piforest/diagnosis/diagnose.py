"""List what is known about the data and the result of a fit."""

from __future__ import annotations

from collections.abc import Sequence

from ..families.scaled import column_units
from ..fitted import FittedForest
from ..protocols import Floats
from ..structures.greedy import Structure
from ..structures.parallax import Parallax
from ..structures.unevenness import UnevenNoise
from . import rows
from . import structures as structural
from .finding import Finding
from .narrow import about_narrow_bands


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
    off: float = 0.0,
    kept: int = 0,
    uneven: Sequence[UnevenNoise] = (),
    parallax: Parallax | None = None,
    clustered: bool = False,
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
        The share of rows that score like those off the structures, if it is so large that none of
        them is flagged.
    off : float, default=0.0
        The share of rows that are off the structures.
    kept : int, default=0
        The number of rows that are far beyond every structure, and not flagged.
    uneven : sequence of UnevenNoise, default=()
        The noise of the structures whose noise is not even.
    parallax : Parallax or None, default=None
        The matches on no plane that agree with one epipolar geometry, if there are many.
    clustered : bool, default=False
        Whether no structure was found because clusters describe the points as well.

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
        *structural.about_structures(fitted, families, found, structures, clustered),
        *structural.about_strength(fitted, structures),
        *structural.about_uneven_noise(uneven, X, columns),
        *structural.about_parallax(parallax),
        *structural.about_labels(agreement, beyond, off, kept),
        *rows.about_levels(families[0], X, columns),
        *rows.about_a_common_value(families[0], X, structures, columns),
        *rows.about_tails(families[0], X, columns),
        *rows.about_units(families, X, names),
        *rows.about_scaling(families[0], columns),
        *rows.about_steps(steps, sigma * column_units(families[0], X.shape[1]), columns),
        *structural.about_widths(X, structures),
        *about_narrow_bands(X, structures),
        *structural.about_a_given_sigma(sigma, disagreement),
        *rows.about_repetitions(families, X),
    ]
