"""Is a family that was named clearly beaten by another one?"""

from __future__ import annotations

from collections.abc import Sequence

from .._random import Stream
from ..diagnosis import Finding
from ..protocols import Floats, ModelFamily
from .candidates import candidates_for
from .propose import propose
from .values import Proposal

# The other family has at least this many times the evidence, and this much for each row.
_FACTOR, _PER_ROW = 2.0, 0.3


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
    if not proposals.found or any(each is family for each in best.families) or not strong:
        return []
    return [
        Finding(
            "better_family",
            f"Family {best.name} explains {100 * best.share_explained:.0f} % of the rows with "
            f"{best.n_structures} structures and {best.evidence:.0f} nats of evidence; "
            f"{family.name}, which was given, has {own.evidence:.0f} nats.",
            f"Try family={best.name!r}, or see piforest.propose_families.",
        )
    ]


def _fits(family: ModelFamily, X: Floats) -> bool:
    from .._validation import check_family_fits

    try:
        check_family_fits(family, X)
    except ValueError:
        return False
    return True


def _own(proposals: Sequence[Proposal], family: ModelFamily) -> Proposal:
    return next(each for each in proposals if each.families == (family,))
