"""A Studio, as `piforest studio` starts it, and tabs of a browser on it."""

from __future__ import annotations

import re

import pytest

from report_pages import playwright_and_chromium
from studio_pages import WAIT, go, running_studio


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """The address of a Studio, and the folder that it may read."""
    playwright_and_chromium()
    folder = tmp_path_factory.mktemp("files")
    with running_studio(tmp_path_factory.mktemp("home"), folder) as address:
        yield address, folder


@pytest.fixture
def tab(browser, studio):
    """Opens tabs; at the end nothing may have gone wrong in them, or have left the machine."""
    contexts, complaints = [], []
    host = re.match(r"http://[^/]+", studio[0])[0]

    def opened(context=None, route="", **options):
        if context is None:
            context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT)
        page.on("console", lambda each: _complain(each, complaints))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda each: _leaves(each.url, host, complaints))
        go(page, studio[0], route)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def _complain(message, complaints):
    # A refused request is an answer in words on the page; the browser notes it too.
    if message.type == "error" and "Failed to load resource" not in message.text:
        complaints.append(message.text)


def _leaves(url, host, complaints):
    if not url.startswith((host, "data:", "blob:")):
        complaints.append(url)
