"""Studio for tests in a browser: a server as a person starts it, and small files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np

from piforest.datasets import make_circles, make_lines

WAIT = 120_000  # ms; a loaded machine is slow, and a test that passes never waits so long


def start_studio(home, folder, *options, port=0):
    """The process of a Studio and its address, with its token."""
    command = [sys.executable, "-m", "piforest", "studio", "--no-browser", f"--port={port}",
               f"--home={home}", f"--folder={folder}", *options]  # fmt: skip
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    return child, _address(child)


@contextmanager
def running_studio(home, folder, *options):
    """The address of a Studio, with its token."""
    child, address = start_studio(home, folder, *options)
    try:
        yield address
    finally:
        child.terminate()
        child.communicate(timeout=60)


def _address(child):
    lines, end = [], time.monotonic() + 120
    while time.monotonic() < end:
        line = child.stdout.readline()
        lines.append(line)
        if found := re.search(r"http://\S+token=\S+", line):
            return found[0]
        if not line and child.poll() is not None:
            break
    raise AssertionError("Studio did not start: " + "".join(lines))


def write_circle(path, seed, anomalies=30):
    """A circle and points beside it, with a column of text."""
    X = make_circles(1, sizes=120, anomaly_share=anomalies / (120 + anomalies), random_state=seed)
    lines = [f"p{k},{x:.5f},{y:.5f}" for k, (x, y) in enumerate(X.data)]
    path.write_text("name,x,y\n" + "\n".join(lines) + "\n")
    return X.data


def write_lines(path, rows):
    """Rows around three lines, as many as a long run needs."""
    X = make_lines(3, random_state=0).data
    rng = np.random.default_rng(0)
    many = X[rng.integers(len(X), size=rows)] + rng.normal(0, 0.01, (rows, 2))
    np.savetxt(path, many, delimiter=",", header="x,y", comments="", fmt="%.6f")


def go(page, address, route):
    page.goto(f"{address}#/{route}")


def project_of(page):
    """The key of the project that a page shows."""
    return re.search(r"#/p/([0-9a-f]+)/", page.url)[1]


def open_example(page, address, name):
    go(page, address, "")
    page.click(f"[data-example={name}]", timeout=WAIT)
    page.wait_for_selector("text=Next: family", timeout=WAIT)
    return project_of(page)


def choose_by_hand(page, family):
    """Choose a family without waiting for the comparison."""
    page.click("text=Next: family")
    page.wait_for_selector("#run", timeout=WAIT)
    if not page.is_visible(f"[data-family={family}]"):
        page.click("text=Choose or combine families by hand")
    page.check(f"[data-family={family}]")
    page.wait_for_selector(f"text=Chosen: {family}")


def run_to_result(page):
    page.click("#run")
    page.wait_for_selector("#view", timeout=WAIT)
    page.wait_for_selector("#headline")


def flagged(page):
    return int(page.inner_text("#count-flagged").replace(",", ""))


def set_threshold(page, value):
    page.fill("#box", str(value))
    page.press("#box", "Enter")
