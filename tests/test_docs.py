"""Numbers that the documents state, and that doctest does not see."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines

ROOT = Path(__file__).parent.parent


def test_the_readmes_example_is_as_good_as_it_says():
    X, y = make_lines(4, noise=0.01, anomaly_share=0.3, random_state=0, return_X_y=True)
    flagged = PreferenceIsolationForest("line", random_state=0).fit(X).predict(X) == -1
    stated = re.search(
        r"here, (\d+) % follow no line, and it finds (\d+) %", (ROOT / "README.md").read_text()
    )
    measured = [np.mean(y[flagged] == 0), np.mean(flagged[y == 0])]
    assert [float(share) / 100 for share in stated.groups()] == pytest.approx(measured, abs=0.01)


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "docs/conventions.md", "docs/extending.md"]
)
def test_links_lead_somewhere(page):
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        assert (path.parent / target).exists(), target


def test_the_version_is_the_same_everywhere():
    import piforest

    for page in ("CHANGELOG.md", "CITATION.cff"):
        assert piforest.__version__ in (ROOT / page).read_text()
