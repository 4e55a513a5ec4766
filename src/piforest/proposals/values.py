"""The result of a comparison of families: a ranked table."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, overload

from ..families.scaled import unscaled
from ..protocols import ModelFamily
from ..structures.greedy import Structure

__all__ = ["Proposal", "Proposals"]

_HEAD = ("family", "structures", "explained", "evidence", "")


def family_text(family: ModelFamily) -> str:
    """The name of a family, with the options that are not the default ones."""
    family = unscaled(family)
    options = ", ".join(f"{name}={value}" for name, value in _changed(family).items())
    return f"{family.name} ({options})" if options else str(family.name)


def _changed(family: ModelFamily) -> dict[str, Any]:
    """The options of a family that are not the default ones."""
    if not is_dataclass(family):
        return {}
    return {
        each.name: getattr(family, each.name)
        for each in fields(family)
        if each.repr and getattr(family, each.name) != each.default
    }


@dataclass(frozen=True, repr=False)
class Proposal:
    """One row of the table: a family, or several together, and what it explains.

    Attributes
    ----------
    families : tuple of ModelFamily
        The family; two or three of them where structures are of several kinds.
    structures : tuple of Structure
        The structures that were found, with the rows of the comparison as members.
    n_structures : int
        Their number.
    share_explained : float
        The share of the rows that they explain.
    evidence : float
        How much shorter they make the description of the rows, in nats: the log-likelihood ratio
        against rows without structure, less a price for each parameter.
    sentence : str
        The same in words.
    scale_columns : bool
        Whether the columns were compared in units of their own, as with scale_columns=True, which
        a detector should get beside `family`.

    Examples
    --------
    >>> from piforest import propose_families
    >>> from piforest.datasets import make_circles
    >>> best = propose_families(make_circles(2, random_state=0).data, random_state=0)[0]
    >>> best.name, best.n_structures
    ('circle', 2)
    """

    families: tuple[ModelFamily, ...]
    structures: tuple[Structure, ...]
    share_explained: float
    evidence: float
    sentence: str
    scale_columns: bool = False

    @property
    def name(self) -> str:
        """The names of the families, joined by a plus sign."""
        return " + ".join(family_text(each) for each in self.families)

    @property
    def family(self) -> ModelFamily | list[ModelFamily]:
        """What to pass as `family` to a detector."""
        return self.families[0] if len(self.families) == 1 else list(self.families)

    @property
    def n_structures(self) -> int:
        """The number of structures."""
        return len(self.structures)

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON can hold it."""
        return {
            "family": self.name,
            "structures": self.n_structures,
            "share_explained": self.share_explained,
            "evidence": self.evidence,
            "sentence": self.sentence,
            "scale_columns": self.scale_columns,
        }

    def __repr__(self) -> str:
        return (
            f"Proposal({self.name}, {self.n_structures} structures, "
            f"{100 * self.share_explained:.0f} % explained, evidence {self.evidence:.0f})"
        )


@dataclass(frozen=True, repr=False)
class Proposals(Sequence[Proposal]):
    """The families that were compared, the best first.

    Attributes
    ----------
    ranked : tuple of Proposal
        The rows of the table.
    found : bool
        Whether any family explains anything. If not, the first row is the simplest family.
    kind : str
        What the rows of the data were taken for: points, matches, segments, a table.
    reason : str
        Why, in one sentence.
    n_rows : int
        The number of rows that were looked at.
    class_target : str or None
        The last column, if it looks like a class, and was not regressed for that reason.

    Examples
    --------
    >>> from piforest import propose_families
    >>> from piforest.datasets import make_lines
    >>> proposals = propose_families(make_lines(3, random_state=0).data, random_state=0)
    >>> proposals.found, proposals[0].name, proposals.kind
    (True, 'line', 'points')
    """

    ranked: tuple[Proposal, ...]
    found: bool
    kind: str
    reason: str
    n_rows: int
    class_target: str | None = None

    @property
    def best(self) -> Proposal | None:
        """The best row, None if no family explains anything."""
        return self.ranked[0] if self.found else None

    @property
    def family(self) -> ModelFamily | list[ModelFamily]:
        """What to pass as `family`: the best family, or the simplest if none explains anything."""
        return self.ranked[0].family

    def to_dict(self) -> dict[str, Any]:
        """The table as JSON can hold it."""
        return {
            "kind": self.kind,
            "reason": self.reason,
            "rows": self.n_rows,
            "found": self.found,
            "proposals": [each.to_dict() for each in self.ranked],
        }

    @overload
    def __getitem__(self, index: int) -> Proposal: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Proposal]: ...
    def __getitem__(self, index: int | slice) -> Proposal | Sequence[Proposal]:
        return self.ranked[index]

    def __len__(self) -> int:
        return len(self.ranked)

    def __iter__(self) -> Iterator[Proposal]:
        return iter(self.ranked)

    def __str__(self) -> str:
        rows = [_HEAD, *map(_cells, self.ranked)]
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(row[k].rjust(widths[k]) for k in (1, 2, 3))])
            for row in rows
        ]
        verdict = self.ranked[0].sentence if self.found else _none_of(self)
        return "\n".join([self.reason, *lines, verdict])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{each}</th>" for each in (*_HEAD[:4], "in words"))
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in _cells(each)) + "</tr>"
            for each in self.ranked
        )
        verdict = self.ranked[0].sentence if self.found else _none_of(self)
        return (
            f"<p>{html.escape(self.reason)}</p><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table><p>{html.escape(verdict)}</p>"
        )


def _cells(row: Proposal) -> tuple[str, str, str, str, str]:
    share = f"{100 * row.share_explained:.0f} %"
    return row.name, str(row.n_structures), share, f"{row.evidence:.0f}", row.sentence


def advice_of(proposal: Proposal) -> str:
    """How to ask for the families of a row, in Python and on the command line."""
    families = [unscaled(each) for each in proposal.families]
    code = [_code(each) for each in families]
    python = f"family={code[0] if len(code) == 1 else '[' + ', '.join(code) + ']'}"
    options = {name: value for each in families for name, value in _changed(each).items()}
    command = [f"--family {','.join(each.name for each in families)}"]
    command += [f"--option {name}={value}" for name, value in options.items()]
    if proposal.scale_columns:
        python, command = f"{python}, scale_columns=True", [*command, "--scale-columns"]
    return f"{python} ({' '.join(command)})"


def _code(family: ModelFamily) -> str:
    """The family as an argument."""
    options = "".join(f", {name}={value!r}" for name, value in _changed(family).items())
    return (
        f"piforest.families.get_family({family.name!r}{options})" if options else repr(family.name)
    )


def _none_of(proposals: Proposals) -> str:
    if proposals.class_target is not None:
        return f"Nothing is claimed of rows with classes ({proposals.class_target})."
    names = ", ".join(each.name for each in proposals)
    return f"None of these explains the rows better than chance: {names}."
