"""Shared by all tests: Hypothesis without chance, and the report in a browser."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("fixed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow are the examples in documents and docstrings, and what needs a browser or a cluster."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        is_example = isinstance(item, pytest.DoctestItem)
        if is_example or {"browser", "cluster", "client"}.intersection(fixtures):
            item.add_marker("slow")


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Reports by name: (path, X, scores, threshold)."""
    from report_pages import playwright_and_chromium, write_pages

    playwright_and_chromium()
    return write_pages(tmp_path_factory.mktemp("report"))


_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip


@pytest.fixture(scope="module")  # Playwright's event loop must not outlive the tests that need it
def browser():
    from report_pages import playwright_and_chromium

    sync_playwright, chromium = playwright_and_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, pages):
    """Opens a page; at the end nothing may have gone wrong in it, or have left the machine."""
    from report_pages import drawn

    contexts, complaints = [], []

    def opened(name, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: _local(request.url, complaints))
        page.goto(pages[name][0].as_uri())
        drawn(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def _local(address, complaints):
    if not address.startswith(("file:", "data:", "blob:")):
        complaints.append(f"request to {address}")
