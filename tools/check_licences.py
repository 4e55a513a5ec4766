"""Check the licences of everything that piforest installs against docs/licences.md.

The packages are found through the requirements in pyproject.toml and those of each installed
package. A licence must be permissive; each exception is listed with the extras that may need it
and the reason. Run by `make lint`; prints one line for each problem. `--write` rewrites the table.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"
_START, _END = "<!-- table: python tools/check_licences.py --write -->\n", "<!-- end -->\n"

PERMISSIVE = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD", "BSL-1.0", "CC0-1.0", "ISC",
    "MIT", "MIT-CMU", "PSF-2.0", "Public Domain", "Unlicense", "Zlib",
}  # fmt: skip
# Package: its licence, the extras that may need it, and the reason.
_SHIPPED = {"data"}
_WORK = {"test", "docs", "dev"}
EXCEPTIONS = {
    "certifi": ("MPL-2.0", _SHIPPED | _WORK, "a list of certificates, used unchanged"),
    "docutils": ("Public Domain, BSD, GPL", {"dev", "docs"}, "GPL only for an Emacs mode"),
    "hypothesis": ("MPL-2.0", {"test"}, "runs tests"),
    "pathspec": ("MPL-2.0", {"dev"}, "part of mypy"),
    "poselib": ("unknown", {"peers"}, "BSD by its repository, not in its metadata"),
    "plyfile": ("GPL", {"test"}, "writes the files that the PLY reader is compared with"),
}
# Proprietary libraries, which only the CUDA build of PyTorch installs: listed on the page in words.
_CUDA = ("cuda-", "nvidia-")
# Other spellings of a licence.
_SPELLINGS = [
    (r"(3-clause )?BSD([ -]\d-Clause)?( License)?", "BSD"),
    (r"MIT License", "MIT"),
    (r"ISC license|ISC License \(ISCL\)", "ISC"),
    (r"Apache([ -]2\.0)?( Software License| License)?", "Apache-2.0"),
    (r"Python Software Foundation License", "PSF-2.0"),
    (r"Mozilla Public License 2\.0 \(MPL 2\.0\)", "MPL-2.0"),
    (r"GNU General Public License.*", "GPL"),
]


def licence_of(package: Distribution) -> str:
    """The licence from the metadata of a package, in short: `BSD, MIT`."""
    metadata = package.metadata
    text = metadata.get("License-Expression") or metadata.get("License") or ""
    classifiers = [
        line.split(" :: ")[-1]
        for line in metadata.get_all("Classifier") or []
        if line.startswith("License ::")
    ]
    # A licence may be given as its full text, or as none; a classifier names it then.
    full_text = "\n" in text or len(text) > 120 or text == "UNKNOWN"
    if metadata.get("License-Expression") or (text and not full_text):
        parts = text.split(" AND ")
    else:
        parts = classifiers
    return ", ".join(dict.fromkeys(_short(part) for part in parts)) or "unknown"


def _short(part: str) -> str:
    if " OR " in part:
        return " or ".join(_short(each) for each in part.strip("()").split(" OR "))
    for pattern, name in _SPELLINGS:
        if re.fullmatch(pattern, part.strip()):
            return name
    return part.strip()


def is_permissive(licence: str) -> bool:
    """Whether all parts are, where one of several alternatives is enough."""
    return all(set(part.split(" or ")) & PERMISSIVE for part in licence.split(", "))


def needed() -> dict[str, set[str]]:
    """Installed packages, and the extras that need each; `core` is piforest without extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found: dict[str, set[str]] = {}
    for extra, lines in {"core": project["dependencies"], **_extras(project)}.items():
        for name in _closure(Requirement(line) for line in lines):
            found.setdefault(name, set()).add(extra)
    # What every installation has is not needed by an extra as well.
    return {
        name: {"core"} if "core" in extras else extras
        for name, extras in found.items()
        if not name.startswith(_CUDA)
    }


def _extras(project: dict) -> dict[str, list[str]]:
    """Without those that only combine others."""
    own = {}
    for extra, lines in project["optional-dependencies"].items():
        own[extra] = [line for line in lines if not line.startswith("piforest[")]
    return {extra: lines for extra, lines in own.items() if lines}


def _absent_extras() -> set[str]:
    """Such as `gpu`, which `make setup` does not install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {
        extra
        for extra, lines in _extras(project).items()
        if not all(_installed(Requirement(line).name) for line in lines)
    }


def _closure(requirements: Iterable[Requirement]) -> set[str]:
    """Names of the packages that these need, themselves included."""
    seen: set[tuple[str, str]] = set()
    pending = [(each, "") for each in requirements]
    while pending:
        requirement, extra = pending.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for asked in ("", *requirement.extras):
            if (name, asked) in seen or not (package := _installed(name)):
                continue
            seen.add((name, asked))
            pending += [(Requirement(line), asked) for line in package.requires or []]
    return {name for name, _ in seen}


def _installed(name: str) -> Distribution | None:
    """None for a package of another platform, or of an extra that is not installed."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def rows() -> dict[str, tuple[str, str]]:
    """Licence and extras of each installed package."""
    return {
        name: (licence_of(distribution(name)), ", ".join(sorted(extras)))
        for name, extras in sorted(needed().items())
    }


def table(text: str) -> dict[str, tuple[str, str]]:
    """The rows of the page."""
    _, _, body = text.partition(_START)
    lines = body.partition(_END)[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name: (licence, extras) for name, licence, extras, _ in cells}


def problems(installed: dict[str, tuple[str, str]], page: str) -> list[str]:
    """Lines to print."""
    lines, written = [], table(page)
    for name, (licence, extras) in installed.items():
        allowed, where, _ = EXCEPTIONS.get(name, (None, set(), ""))
        if not is_permissive(licence) and not (
            licence == allowed and set(extras.split(", ")) <= where
        ):
            lines.append(f"{name}: {licence} is not permissive, and {extras} needs it")
        if name not in written:
            lines.append(f"{name}: not in {PAGE.name}; --write adds it")
        elif written[name][0] != licence:
            lines.append(f"{name}: {licence}, but {PAGE.name} has {written[name][0]}")
    return lines


def rewritten(installed: dict[str, tuple[str, str]], page: str) -> str:
    """The page with the installed packages, and those of extras that are not installed."""
    kept = {name: row for name, row in table(page).items() if row[1] in _absent_extras()}
    lines = ["| package | licence | needed by | note |", "|---|---|---|---|"]
    for name, (licence, extras) in sorted({**kept, **installed}.items()):
        note = EXCEPTIONS[name][2] if name in EXCEPTIONS else ""
        lines.append(f"| {name} | {licence} | {extras} | {note} |")
    before, _, rest = page.partition(_START)
    return before + _START + "\n".join(lines) + "\n" + _END + rest.partition(_END)[2]


def main() -> int:
    """Check the page, or rewrite it."""
    installed, page = rows(), PAGE.read_text()
    if sys.argv[1:] == ["--write"]:
        page = rewritten(installed, page)
        PAGE.write_text(page)
    lines = problems(installed, page)
    print("\n".join(lines) or f"licences: {len(installed)} packages are as {PAGE.name} says")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
