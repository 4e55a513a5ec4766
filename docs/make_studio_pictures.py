"""Draw the pictures of docs/studio.md again: Studio's examples in Chromium.

    python docs/make_studio_pictures.py

It starts a Studio of its own in a temporary folder, and needs Playwright, Chromium and Pillow.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "tests"))

from report_pages import playwright_and_chromium  # noqa: E402
from studio_pages import WAIT, open_example, run_to_result, running_studio  # noqa: E402

# Few colours: a picture of a page needs no more, and the file is a third as large.
COLOURS = 160


def save(page: Any, name: str, height: int) -> None:
    """The upper part of a page, as docs/images/studio_NAME.png."""
    page.mouse.move(2, 2)
    page.wait_for_timeout(1500)
    page.evaluate("document.getElementById('says').textContent = ''; window.scrollTo(0, 0)")
    page.set_viewport_size({"width": 1240, "height": height})
    page.wait_for_timeout(700)
    whole = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    whole.quantize(COLOURS).save(DOCS / "images" / f"studio_{name}.png", optimize=True)


def to_family(page: Any) -> None:
    page.click("text=Next: family")
    page.wait_for_selector("#run", timeout=WAIT)


def pin(page: Any, steps: int) -> None:
    """Pin a row, and wait for its reason."""
    page.focus("#view")
    for _ in range(steps):
        page.keyboard.press("n")
    page.wait_for_selector("#reason:not(:has-text('Looking'))", timeout=WAIT)
    page.evaluate("document.activeElement.blur()")


def draw(browser: Any, address: str) -> None:
    def tab(scheme: str = "light") -> Any:
        viewport = {"width": 1240, "height": 900}
        page = browser.new_page(viewport=viewport, color_scheme=scheme)
        page.set_default_timeout(WAIT)
        page.goto(address)
        page.wait_for_selector(".examples")
        return page

    save(tab(), "start", 800)
    page = tab()
    open_example(page, address, "circles")
    to_family(page)
    page.wait_for_selector(".evidence")
    save(page, "family", 640)
    run_to_result(page)
    pin(page, 12)
    page.select_option("#colour", "structure")
    save(page, "result", 1010)
    page = tab("dark")
    open_example(page, address, "room")
    to_family(page)
    run_to_result(page)
    pin(page, 30)
    save(page, "scan", 960)
    for name, picture, height in (("photographs", "matches", 1010), ("pump", "series", 860)):
        page = tab()
        open_example(page, address, name)
        to_family(page)
        run_to_result(page)
        save(page, picture, height)


def main() -> None:
    sync_playwright, chromium = playwright_and_chromium()
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as tool,
        running_studio(Path(folder) / "home", folder) as address,
    ):
        browser = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        draw(browser, address)
        browser.close()


if __name__ == "__main__":
    main()
