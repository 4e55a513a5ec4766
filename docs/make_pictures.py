"""Draw the pictures of pictures.md anew, each by the lines that stand above it there, and the steps
of the refinement of accuracy.md.

python docs/make_pictures.py
"""

from __future__ import annotations

import doctest
import io
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "pictures.md"
REFINEMENT = PAGE.parent / "images" / "refinement.png"
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

    made = {code: path for path, code in pictures()}
    known: dict[str, Any] = {}
    for block in _BLOCK.findall(PAGE.read_text()):
        for example in doctest.DocTestParser().get_examples(block):
            exec(compile(example.source, str(PAGE), "single"), known)
        if block in made:
            _save(known["ax"].figure, made[block])
            plt.close("all")
    _save(refinement(seed=0), REFINEMENT)


def _save(figure: Any, path: Path) -> None:
    """As a small file: with 256 colours, where all of them would take too much."""
    from PIL import Image

    from piforest.io.atomic import whole_file

    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=90)
    path.parent.mkdir(exist_ok=True)
    with whole_file(path) as file:
        image = Image.open(drawn).convert("RGB")
        image = image if len(drawn.getvalue()) < _MOST else image.quantize(256)
        image.save(file, format="png", optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
