"""piforest beside other packages, on the same data in one run, as a page.

    make bench-peers                            writes docs/peers.md; needs PIFOREST_DATA
    python benchmarks/peers --only room         parts whose name contains a word, printed only
    python benchmarks/peers --threshold 6       another threshold in pixels for matches, printed

The packages are in the extra `peers` and have an environment of their own.
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import detectors
import matches
import planes

PAGE = Path(__file__).parents[2] / "docs" / "peers.md"
PACKAGES = (
    "numpy", "scikit-learn", "pyod", "isotree", "opencv-python-headless", "poselib", "pydegensac",
    "pymagsac", "open3d", "pyransac3d",
)  # fmt: skip
HEAD = """\
# Peers

Other packages on the same data, in one run of `make bench-peers`, which writes this page. piforest {own} beside {packages}; Python {python}, one thread each where that can be set, {minutes:.0f} CPU minutes in all.

Read the tables with these caveats:

- **Who was told what** stands in the second column. Detectors of scikit-learn, PyOD and isotree are told the true share of anomalies for their labels (their AUC does not depend on it); RANSAC is told a distance. piforest is told the family, which the others cannot use: that is knowledge, too, and the reason for most of its lead.
- **Defaults, not the best settings.** Each package runs with its defaults, but for what is named. Somebody who knows it gets more out of it.
- **Nobody is held out.** Constants of piforest were chosen by people who knew AdelaideRMF and the paper's sets; the scenes have other seeds, but are scenes of this package.
- The authors' own code of the method is not among them: it is not on a package index.
- Time is CPU time of the fit and the scores, without imports and compiling; memory is the peak above what the process held before.

## Where others are better

In time, nearly all of them: isolation forests, neighbours and histograms on points, robust estimators on matches. Heaps are no structure: there piforest finds none, says so and flags nothing, and names a detector of density instead. All that have a higher AUC or F1 (precision and recall alone are in the tables):

{lost}
"""  # noqa: E501


def lost(lines: list[str]) -> str:
    """All packages with a higher AUC or F1 than piforest in a table, as a list."""
    found, title, head = [], "", []
    rows: dict[str, list[list[str]]] = {}
    for line in "\n".join(lines).splitlines():
        if line.startswith("### "):
            title, head = line[4:], []
        elif line.startswith("| ") and not head:
            head = [cell.strip() for cell in line.strip("|").split("|")]
        elif line.startswith("| "):
            cells = [cell.strip(" *") for cell in line.strip("|").split("|")]
            rows.setdefault(title, []).append([*cells, *head])
    for title, table in rows.items():
        head = table[0][len(table[0]) // 2 :]
        for at, name in enumerate(head):
            if not name.startswith(("AUC", "F1")):
                continue
            ours = next(float(row[at]) for row in table if row[0] == "piforest")
            better = [row for row in table if float(row[at]) > ours]
            better.sort(key=lambda row, at=at: -float(row[at]))
            if better:
                theirs = ", ".join(f"{row[at]} ({row[0]})" for row in better)
                found.append(f"- {title}; {name} {ours:.3f} of piforest: {theirs}")
    return "\n".join(found) or "- nowhere in these tables."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--threshold", type=float, default=3.0, metavar="PIXELS")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # piforest warns where no motion stands out
    start, lines = time.process_time(), []
    parts = {
        "## Points and tables\n": detectors.tables(asked.only),
        "## Planes of a scan\n": planes.tables(asked.only),
        "## Matches between images: AdelaideRMF\n": matches.tables(asked.only, asked.threshold),
    }
    for title, tables in parts.items():
        lines.append(title)
        for line in tables:
            lines.append(line)
            print(line, flush=True)
    if asked.only or asked.threshold != 3.0:
        return
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    head = HEAD.format(
        own=version("piforest"), packages=packages, python=platform.python_version(),
        lost=lost(lines), minutes=(time.process_time() - start) / 60,
    )  # fmt: skip
    PAGE.write_text(f"{head}\n" + "\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
