"""Names of columns for formats that allow fewer characters."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def safe_names(
    names: Iterable[str],
    encoding: str,
    longest: int | None = None,
    taken: Collection[str] = (),
) -> dict[str, str]:
    """Name to a unique name without spaces, in the encoding, of at most `longest` bytes.

    Names that are valid do not change; of equal results, the second is a_2. taken: names that are
    in the file already.
    """
    plain = {
        name: _truncate("_".join(name.split()) or "column", encoding, longest) for name in names
    }
    found = {name: word for name, word in plain.items() if name == word and word not in taken}
    used = {*taken, *found}
    for name, word in plain.items():
        if name not in found:
            found[name] = _unused(word, used, encoding, longest)
            used.add(found[name])
    return found


def _unused(word: str, used: set[str], encoding: str, longest: int | None) -> str:
    name, count = word, 1
    while name in used:
        count += 1
        end = f"_{count}"
        name = _truncate(word, encoding, None if longest is None else longest - len(end)) + end
    return name


def _truncate(word: str, encoding: str, longest: int | None) -> str:
    """The first `longest` bytes; characters that the encoding lacks become "?"."""
    return word.encode(encoding, "replace")[:longest].decode(encoding, "ignore")
