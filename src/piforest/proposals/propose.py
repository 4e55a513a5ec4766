"""Compare families on the same rows and rank them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_array

from .._columns import dependent_columns, explaining_frames, naming_columns, with_column_names
from .._numbers import readable
from .._random import Stream, choose
from .._tensors import to_numpy
from .._threads import one_blas_thread
from .._validation import (
    check_family_fits,
    check_integer,
    check_magnitude,
    no_valid_models,
    warn_user,
)
from ..families import get_family, layout_of, resolve_family
from ..families.scaled import ScaledFamily, unscaled, without_constants
from ..protocols import Floats, ModelFamily
from ..structures.greedy import Structure
from ..structures.roundness import is_shape_of_cloud
from ..typing import RandomStateLike, RowsLike
from .candidates import Candidates, candidates_for, given_candidates
from .description import Described, Description, best_description, price
from .kinds import by_kind
from .matches import preferred_match_family
from .search import Found, find_described, fitted_better
from .values import Proposal, Proposals, family_text

_ROWS = 1000
_NULL, _NULL_OF_CLOUDS = 8000, 30_000
# The relative error of the evidence of maps of clouds, few null rows being near them.
_ERROR = 0.1
# The share of the best evidence that suffices for a family with fewer parameters.
_NEARLY = 0.8
# The least evidence in nats, and for each row: below it, chance or the shape of a cloud explains
# as much.
_LEAST, _LEAST_PER_ROW = 10.0, 0.05
# A family with less than this share of the best evidence is not fitted further.
_CONTENDS = 0.6
# Half-widths within which points belong to a structure, as for `found_structure_`.
_REACH = 2.0


def propose_families(
    X: RowsLike,
    candidates: Sequence[str | ModelFamily] | None = None,
    *,
    max_rows: int = _ROWS,
    random_state: RandomStateLike = None,
) -> Proposals:
    """Say which family the structures of the data belong to.

    Each candidate looks for its structures in the same rows. What it finds is judged by how much
    shorter it makes the description of these rows than without structures, with a price for each
    parameter, so that a family does not win by its freedom alone: a circle is also an ellipse. Two
    families together win where structures are of two kinds.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows. The names of the columns of a data frame help: x1, y1, x2, y2 are matches or
        segments, and columns with other names than coordinates are a table.
    candidates : sequence of str or ModelFamily or None, default=None
        The families to compare; None chooses them by the number and the names of the columns.
    max_rows : int, default=1000
        The comparison uses at most this many rows, chosen at random.
    random_state : int, RandomState, Generator or None, default=None
        The same seed gives the same result.

    Returns
    -------
    Proposals
        The table, the best family first. `found` is False if none explains anything.

    Examples
    --------
    >>> from piforest import propose_families
    >>> from piforest.datasets import make_lines
    >>> proposals = propose_families(make_lines(3, random_state=0).data, random_state=0)
    >>> proposals[0].name, proposals[0].n_structures
    ('line', 3)
    """
    check_integer("max_rows", max_rows, 10)
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    with explaining_frames(X):
        rows = check_array(
            to_numpy(X), dtype=np.float64, order="C", ensure_min_samples=2, input_name="X"
        )
    check_magnitude(rows)
    families = None if candidates is None else [resolve_family(each) for each in candidates]
    if families is not None and not families:
        raise ValueError("candidates must name at least one family, got none.")
    stream = Stream.from_random_state(random_state)
    return propose(rows, names, stream, families=families, max_rows=max_rows)


@one_blas_thread()
def propose(
    X: Floats,
    names: Sequence[str] | None,
    stream: Stream,
    *,
    families: Sequence[ModelFamily] | None = None,
    max_rows: int = _ROWS,
) -> Proposals:
    """`propose_families` for validated rows with the names of their columns."""
    given = None if families is None else given_candidates(families, X)
    rows = compared_rows(X, stream, max_rows)
    tried = candidates_for(rows, names) if given is None else given
    tried = replace(tried, families=tuple(without_constants(each, X) for each in tried.families))
    with naming_columns(names):
        fitting = _fitting(tried.families, rows, strict=given is not None)
    # In six dimensions, few null rows are near a map.
    n_null = _NULL_OF_CLOUDS if tried.kind == "matches of clouds" else _NULL
    null = tried.null(rows, n_null, stream.child("null"))
    # Models that overflow far from their sample explain nothing there.
    with np.errstate(all="ignore"):
        tries = {
            number: find_described(family, rows, null, stream.child("family", number))
            for number, family in fitting.items()
        }
        rough = {number: each for number, each in tries.items() if each is not None}
        _warn_of_degenerate([each for k, each in fitting.items() if k not in rough], rows, names)
        if not rough:
            with naming_columns(names):
                raise no_valid_models(fitting[min(fitting)], rows, 0)
        fitting = {number: fitting[number] for number in rough}
        found = _fitted_where_it_matters(fitting, rough, null, stream.child("fits"))
        return _ranked(tried, rows, null, fitting, found, stream.child("maps"))


def compared_rows(X: Floats, stream: Stream, max_rows: int = _ROWS) -> Floats:
    """The rows of X that `propose` looks at; the members of its structures number these."""
    return X[choose(stream.child("rows"), len(X), max_rows)]


def _fitted_where_it_matters(
    families: dict[int, ModelFamily], rough: dict[int, Found], null: Floats, stream: Stream
) -> dict[int, list[Described]]:
    """The structures of all families, fitted further where these may be the best ones.

    Further steps gain a few per cent. Epipolar geometries are compared with maps otherwise than by
    evidence alone, so that the best of them count.
    """
    d = null.shape[1]
    evidence = {k: best_description(each.structures).evidence for k, each in rough.items()}
    most = max(evidence.values())
    lines = [
        k
        for k in rough
        if layout_of(families[k]).kind == "matches" and families[k].codimension(d) == 1
    ]
    most_of_lines = max((evidence[k] for k in lines), default=0.0)
    return {
        k: fitted_better(each, null, stream.child(k))
        if evidence[k] > _CONTENDS * (most_of_lines if k in lines else most)
        else each.structures
        for k, each in rough.items()
    }


def _warn_of_degenerate(
    families: Sequence[ModelFamily], X: Floats, names: Sequence[str] | None
) -> None:
    """Warn that families are not compared, since columns depend on each other."""
    why = dependent_columns(X)
    if families and why:
        listed = " and ".join(repr(each.name) for each in families)
        warn_user(with_column_names(f"family {listed} could not be compared. {why}", names))


def _fitting(families: Sequence[ModelFamily], X: Floats, *, strict: bool) -> dict[int, ModelFamily]:
    """The families that can be fitted to X, by their number among the candidates."""
    fitting, reasons = {}, []
    for number, family in enumerate(families):
        try:
            check_family_fits(family, X)
        except ValueError as error:
            if strict:
                raise
            reasons.append(str(error))
            continue
        fitting[number] = family
    plain = get_family("hyperplane")
    if not fitting and len(X) >= plain.sample_size(X.shape[1]):
        return {0: plain}
    if not fitting:
        raise ValueError(f"no family fits the rows: {' '.join(reasons)}")
    return fitting


def _ranked(
    tried: Candidates,
    X: Floats,
    null: Floats,
    families: dict[int, ModelFamily],
    found: dict[int, list[Described]],
    stream: Stream,
) -> Proposals:
    n, d = X.shape
    single = {k: best_description(each) for k, each in found.items()}
    order = sorted(families, key=lambda k: -single[k].evidence)
    notes: dict[int, str] = {}
    if d == 4 and tried.kind != "table":
        order, notes = preferred_match_family(order, families, single, found, X, null, stream)
    if tried.kind == "matches of clouds":
        order = _simpler_first(order, families, single, n, d)
    rows = [_proposal((families[k],), single[k], X, notes.get(k, "")) for k in order]
    # Neither laws of classes nor distances between them mean anything.
    claims = tried.class_target is None and _claims(single[order[0]], n)
    if claims and tried.kind in ("points", "oriented points"):
        kinds, both = by_kind(order[0], families, single, found, X, null, stream.child("kinds"))
        if kinds != (order[0],):
            kept = [
                each
                for each in rows
                if len(kinds) > 1 or each.families[0] is not families[kinds[0]]
            ]
            rows = [_proposal(tuple(families[k] for k in kinds), both, X, ""), *kept]
    if claims and tried.kind in ("points", "oriented points", "table"):
        rows = _simple_enough(rows, n, d)
        claims = not is_shape_of_cloud(X, rows[0].structures, _REACH, stream.child("round"))
    if not claims:
        rows.sort(key=lambda each: price(each.families[0], n, d))
    return Proposals(tuple(rows), claims, tried.kind, tried.reason, n, tried.class_target)


def _simpler_first(
    order: list[int],
    families: dict[int, ModelFamily],
    single: dict[int, Description],
    n: int,
    d: int,
) -> list[int]:
    """The order with the cheapest of the families first that are as good as the first one, up to
    the error of the evidence."""
    best = single[order[0]].evidence
    close = [k for k in order if single[k].evidence >= (1 - _ERROR) * best]
    first = min(close, key=lambda k: price(families[k], n, d))
    return [first, *(k for k in order if k != first)]


def _simple_enough(rows: list[Proposal], n: int, d: int) -> list[Proposal]:
    """The rows of the table with the cheapest family first that explains nearly as much as the
    best: no real structure has its shape exactly, and more parameters follow any deviation."""
    best = rows[0]
    least = min(price(each, n, d) for each in best.families)
    cheap = [
        each
        for each in rows
        if each.families != best.families
        and max(price(family, n, d) for family in each.families) < least + len(best.families) - 1
        and each.evidence >= _NEARLY * best.evidence
    ]
    first = min(cheap, key=lambda each: price(each.families[0], n, d), default=best)
    return [first, *(each for each in rows if each is not first)]


def _claims(description: Description, n: int) -> bool:
    """Whether the evidence is worth a claim."""
    return description.evidence > max(_LEAST, _LEAST_PER_ROW * n)


def _proposal(
    families: tuple[ModelFamily, ...], described: Description, X: Floats, note: str
) -> Proposal:
    structures = _structures(described)
    return Proposal(
        tuple(map(unscaled, families)),
        structures,
        described.explained,
        described.evidence,
        _sentence(families, structures, described, note),
        any(isinstance(each, ScaledFamily) for each in families),
    )


def _structures(described: Description) -> tuple[Structure, ...]:
    if not described.structures:
        return ()
    cells = described.rows()
    made = [
        Structure(
            each.family, each.params, 2 * each.sigma, each.evidence,
            np.flatnonzero(cells == k), each.sigma,
        )
        for k, each in enumerate(described.structures)
    ]  # fmt: skip
    return tuple(sorted(made, key=lambda each: -each.log_ratio))


def _sentence(
    families: tuple[ModelFamily, ...],
    structures: tuple[Structure, ...],
    described: Description,
    note: str,
) -> str:
    names = " and ".join(family_text(each).replace("_", " ") for each in families)
    if not structures:
        return f"No {names} stands out from chance."
    counts = " and ".join(_counted(family, structures) for family in families)
    explain = "explains" if len(structures) == 1 else "explain"
    sigma = float(np.median([each.sigma for each in structures]))
    return (
        f"{counts} {explain} {100 * described.explained:.0f} % of the rows, with a noise of "
        f"{readable(sigma, 2)}.{' ' if note else ''}{note}"
    )


def _counted(family: ModelFamily, structures: tuple[Structure, ...]) -> str:
    n = sum(each.family is family for each in structures)
    return f"{n} structure{'' if n == 1 else 's'} of family {family_text(family)}"
