"""How many files a call passes: a reader has to open each of them."""

from __future__ import annotations

import sys
from pathlib import Path

import piforest
from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines

PACKAGE = str(Path(piforest.__file__).parent)


def files_of(call):
    """The files of the package whose functions run."""
    seen = set()

    def note(frame, event, argument):
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(PACKAGE):
            seen.add(Path(file).relative_to(PACKAGE).as_posix())

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return sorted(seen)


def test_a_predict_of_an_array_passes_at_most_fifteen_files():
    X = make_lines(3, sizes=40, anomaly_share=0.2, random_state=0).data
    detector = PreferenceIsolationForest("line", n_models=300, random_state=0).fit(X)
    detector.predict(X)  # compiled, and what is computed once is there
    files = files_of(lambda: detector.predict(X))
    assert "estimators/detector.py" in files
    assert len(files) <= 15, files
