"""The stages of long work, for those who listen."""

from __future__ import annotations

import subprocess
import sys

from piforest._progress import Progress, progress_listener, report_progress


def test_listeners_hear_stages_and_shares_while_they_listen(capsys):
    heard = []
    with progress_listener(lambda stage, done: heard.append((stage, done))):
        with Progress(0).stage("first"):
            report_progress("second", 0.5)
        assert list(Progress(0).track("ab", 2, "third")) == ["a", "b"]
    report_progress("late")
    assert heard == [("first", None), ("second", 0.5), ("third", 0.5), ("third", 1.0)]
    assert capsys.readouterr().err == ""


def test_the_help_of_the_command_line_waits_for_no_large_package():
    large = "{'numpy', 'numba', 'scipy', 'sklearn', 'fastapi', 'pydantic', 'uvicorn'}"
    code = (
        "import sys, piforest.apps.cli as cli; cli.make_parser(); "
        f"print(sorted({large} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
