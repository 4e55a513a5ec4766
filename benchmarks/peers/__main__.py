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

**Where others are better:** where there is no structure (heaps), every density-based detector; in time, nearly all of them: isolation forests and histograms on points, MAGSAC and PoseLib on matches; in precision for a single motion, robust estimators that are told the right threshold.
"""  # noqa: E501


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
        minutes=(time.process_time() - start) / 60,
    )  # fmt: skip
    PAGE.write_text(f"{head}\n" + "\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
