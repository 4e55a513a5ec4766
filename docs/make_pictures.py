"""Draw the pictures of pictures.md anew, each by the lines that stand above it there, the steps of
the refinement of accuracy.md, and the three steps of start/index.md.

python docs/make_pictures.py [--steps]
"""

from __future__ import annotations

import doctest
import io
import re
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "pictures.md"
REFINEMENT = PAGE.parent / "images" / "refinement.png"
STEPS = PAGE.parent / "images" / "how_it_works.png"
_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
# Bytes of a picture.
_MOST = 150_000
_IMAGE = re.compile(r"!\[[^\]]*\]\(([^)]+\.png)\)")


def pictures() -> list[tuple[Path, str]]:
    """Where each picture of the page goes, and the lines that make it."""
    page, found = PAGE.read_text(), []
    for image in _IMAGE.finditer(page):
        blocks = list(_BLOCK.finditer(page, 0, image.start()))
        found.append((PAGE.parent / image[1], blocks[-1][1]))
    return found


def main() -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    from piforest.reproduction.steps import refinement

    _save(three_steps(), STEPS)
    if "--steps" in sys.argv[1:]:
        return
    made = {code: path for path, code in pictures()}
    known: dict[str, Any] = {}
    for block in _BLOCK.findall(PAGE.read_text()):
        for example in doctest.DocTestParser().get_examples(block):
            exec(compile(example.source, str(PAGE), "single"), known)
        if block in made:
            _save(known["ax"].figure, made[block])
            plt.close("all")
    _save(refinement(seed=0), REFINEMENT)


def three_steps() -> Any:
    """Three panels: random models, preferences for them, scores."""
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.collections import LineCollection

    from piforest import PreferenceIsolationForest
    from piforest.datasets import make_lines
    from piforest.families import get_family
    from piforest.plots import plot_preferences, plot_scores

    X, y = make_lines(3, sizes=60, anomaly_share=0.3, random_state=0, return_X_y=True)
    drawn = PreferenceIsolationForest("line", refit=False, select=False, bound=False)
    drawn = drawn.set_params(random_state=0).fit(X)
    detector = PreferenceIsolationForest("line", random_state=0).fit(X)
    figure, axes = plt.subplots(1, 3, figsize=(12.5, 4.2), layout="constrained")
    low, high = X.min(axis=0), X.max(axis=0)
    shown = np.random.default_rng(0).choice(len(drawn.models_[0].params), 150, replace=False)
    outline = get_family("line").outline  # type: ignore[attr-defined]
    lines = [each for k in shown for each in outline(drawn.models_[0].params[k], low, high)]
    axes[0].add_collection(LineCollection(lines, colors="0.6", linewidths=0.5, alpha=0.6))
    axes[0].scatter(*X.T, s=7, color="k", zorder=2)
    axes[0].set(title="1. Draw models through random points", aspect="equal")
    plot_preferences(detector, X, axes[1], y=y)
    axes[1].set_title("2. Find the models that each point prefers")
    plot_scores(X, detector.scores_, axes[2], threshold=detector.threshold_, colorbar=False)
    axes[2].set_title("3. Isolate points by their preferences")
    for ax in (axes[0], axes[2]):
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
    return figure


def _save(figure: Any, path: Path) -> None:
    """As a small file: with 256 colours, where all of them would take too much."""
    from PIL import Image

    from piforest.io.atomic import atomic_write

    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=90)
    path.parent.mkdir(exist_ok=True)
    with atomic_write(path) as file:
        image = Image.open(drawn).convert("RGB")
        image = image if len(drawn.getvalue()) < _MOST else image.quantize(256)
        image.save(file, format="png", optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
