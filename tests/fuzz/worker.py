"""The child process: runs inputs, one line to its standard output before and after each.

python -m fuzz.worker SEED FOLDER, and numbers of inputs on standard input
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

import piforest

from .corpus import make_corpus
from .inputs import Input, make_input
from .judging import Find, judge, score

# What an input may take beyond what the process has when it begins.
MEMORY = 3 * 2**30


def main():
    work, seed = Path(sys.argv[1]), sys.argv[2:]
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    corpus, scores = prepare(work) if seed else ({}, {})
    limit()
    print("ready", file=answers)
    for line in sys.stdin:
        folder = work / "input"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if seed:
            made = make_input(int(seed[0]), int(line), corpus, folder)
        else:
            made = again(Path(line.strip()), folder)
        print(f"{line.strip()}\tstart", file=answers)
        print(f"{line.strip()}\t{run(made, scores)}", file=answers)


def again(path, folder):
    """An input of a file that was found before."""
    shutil.copy(path, folder / f"input{''.join(path.suffixes)}")
    kind = "model" if path.suffix == ".pif" else "reader"
    return Input(kind, path.name, folder / f"input{''.join(path.suffixes)}")


def prepare(work):
    """The valid files, and the scores of the models among them. All kernels are compiled then."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        corpus = make_corpus(Path(folder))
    scores = {}
    for name in corpus:
        if name.endswith(".pif"):
            path = work / name
            path.write_bytes(corpus[name])
            scores[name] = score(piforest.load(path))
            path.unlink()
    return corpus, scores


def limit():
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))


def run(made, scores):
    """The outcome as one line: its kind, and for a find the reason and the place."""
    try:
        return f"{judge(made, scores)}\t"
    except BaseException as error:
        cause = error.__cause__ if isinstance(error, Find) and error.__cause__ else error
        frames = traceback.extract_tb(cause.__traceback__)
        ours = [each for each in frames if "/piforest/" in each.filename] or frames
        place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
        said = str(error) if isinstance(error, Find) else f"{type(error).__name__}: {error}"
        return f"find\t{' '.join(said.split())[:300]}\t{place}"


if __name__ == "__main__":
    main()
