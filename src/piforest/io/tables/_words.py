"""Names of columns for formats that allow fewer letters."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def words(
    names: Iterable[str],
    encoding: str,
    longest: int | None = None,
    taken: Collection[str] = (),
) -> dict[str, str]:
    """Name to a word without spaces, in this encoding, of at most so many bytes, no two the same.

    Names that are such words stay; of others that come out alike, the second is a_2.
    taken: words that are in the file already.
    """
    plain = {name: _cut("_".join(name.split()) or "column", encoding, longest) for name in names}
    found = {name: word for name, word in plain.items() if name == word and word not in taken}
    used = {*taken, *found}
    for name, word in plain.items():
        if name not in found:
            found[name] = _free(word, used, encoding, longest)
            used.add(found[name])
    return found


def _free(word: str, used: set[str], encoding: str, longest: int | None) -> str:
    free, count = word, 1
    while free in used:
        count += 1
        end = f"_{count}"
        free = _cut(word, encoding, None if longest is None else longest - len(end)) + end
    return free


def _cut(word: str, encoding: str, longest: int | None) -> str:
    """Letters that the encoding lacks become "?"; one that is cut through is left out."""
    return word.encode(encoding, "replace")[:longest].decode(encoding, "ignore")
