"""Is a family that was named clearly beaten by another one?"""

from __future__ import annotations

from collections.abc import Sequence

from .._random import Stream
from ..diagnosis import Finding
from ..families.scaled import unscaled, without_constants
from ..protocols import Floats, ModelFamily
from .candidates import candidates_for
from .propose import propose
from .values import Proposal, Proposals, advice_of, family_text

# The other family has at least this many times the evidence, and this much for each row.
_FACTOR, _PER_ROW = 2.0, 0.3
# A fit that explains so much less of the rows than its comparison is worth a word.
_LESS = 0.15


def better_family(
    X: Floats, names: Sequence[str] | None, family: ModelFamily, stream: Stream
) -> list[Finding]:
    """A finding if another family that suits the columns explains the rows far better."""
    tried = list(candidates_for(X, names).families)
    if not any(each.name == family.name for each in tried):
        return []
    # The family as it was given, with its options.
    tried = [family if each.name == family.name else each for each in tried]
    usable = [each for each in tried if _fits(each, X)]
    proposals = propose(X, names, stream, families=usable)
    best, own = proposals[0], _own(proposals, family)
    strong = best.evidence > max(_FACTOR * own.evidence, _PER_ROW * proposals.n_rows)
    if not proposals.found or unscaled(family) in best.families or not strong:
        return []
    return [
        Finding(
            "better_family",
            f"Family {best.name} explains {100 * best.share_explained:.0f} % of the rows with "
            f"{_structures(best.n_structures)}; {family.name}, which was given, explains "
            f"{100 * own.share_explained:.0f} %, with {own.evidence:.0f} nats of evidence against "
            f"{best.evidence:.0f}.",
            f"Try {advice_of(best)}, or see piforest.propose_families.",
        )
    ]


def _fits(family: ModelFamily, X: Floats) -> bool:
    from .._validation import check_family_fits

    try:
        check_family_fits(without_constants(family, X), X)
    except ValueError:
        return False
    return True


def _own(proposals: Sequence[Proposal], family: ModelFamily) -> Proposal:
    return next(each for each in proposals if each.families == (unscaled(family),))


def less_than_proposed(
    proposals: Proposals, used: Sequence[ModelFamily], share: float, n_structures: int
) -> list[Finding]:
    """A finding if the structures of a fit hold a much smaller share of the rows than those of the
    comparison that chose its families, `used`."""
    best = proposals[0]
    if not proposals.found or not share < best.share_explained - _LESS:
        return []
    return [
        Finding(
            "less_than_proposed",
            f"The comparison of families explained {100 * best.share_explained:.0f} % of the rows "
            f"with {_structures(best.n_structures)} of family {best.name}; the fit, which asks for "
            f"more evidence, explains {100 * share:.0f} % with {_structures(n_structures)}.",
            "The other rows have no structure here, although they may follow one: look at them by "
            f"themselves{_next(proposals, used)}.",
        )
    ]


def _structures(n: int) -> str:
    return f"{n} structure{'' if n == 1 else 's'}"


def _next(proposals: Proposals, used: Sequence[ModelFamily]) -> str:
    """The advice to try the next best family, if another one than those of the fit explains
    anything."""
    tried = {family_text(each) for each in used}
    left = [
        each
        for each in proposals
        if each.n_structures and not {family_text(one) for one in each.families} <= tried
    ]
    return f", or compare with {advice_of(left[0])}" if left else ""


def about_class_target(proposals: Proposals) -> list[Finding]:
    """A finding if the comparison did not regress the last column, since it looks like a class."""
    name = proposals.class_target
    if name is None:
        return []
    return [
        Finding(
            "class_target",
            f"{name} has few different values, as a class has: the comparison of families did not "
            "regress it.",
            "Leave it out of the columns; if it is a target nevertheless, pass "
            "family='linear_regression' (--family linear_regression).",
        )
    ]
