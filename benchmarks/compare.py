"""Did a change make it faster? Every case with both versions, in turn, on the same machine.

    python benchmarks/compare.py main            this tree beside a commit, a branch or a tag
    python benchmarks/compare.py base.json       bench.json beside the results of another run
    python benchmarks/compare.py main --only circle3

The cases are those of this tree; one that the other version cannot run has no ratio.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import Result
from run import WIDE, names, run_case

ROOT = Path(__file__).parents[1]


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """The source folder of a revision, gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        done = subprocess.run(
            [*git, "add", "--detach", str(tree), revision],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"BASE must be a commit or a JSON file: {done.stderr.strip()}")
        try:
            yield tree / "src"
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=False)


def show(name: str, base: Result | None, here: Result) -> None:
    if base is None:
        print(f"{name:<{WIDE}}{'-':>9}{here['cpu_s']:>9.3f}{'-':>9}{'-':>9}{here['peak_mb']:>9.0f}")
        return
    ratio = here["cpu_s"] / base["cpu_s"]
    print(
        f"{name:<{WIDE}}{base['cpu_s']:>9.3f}{here['cpu_s']:>9.3f}{ratio:>9.2f}"
        f"{base['peak_mb']:>9.0f}{here['peak_mb']:>9.0f}",
        flush=True,
    )


def _known(cases: list[str], only: str) -> list[str]:
    if not cases:
        sys.exit(f"no case contains {only!r}; run.py --list names them.")
    return cases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("base", help="a commit, or a JSON file that run.py wrote")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--here", default="bench.json", type=Path, help="the JSON file to compare")
    args = parser.parse_args()
    heads = ("base", "here", "ratio", "base MB", "here MB")
    print(f"{'CPU seconds':<{WIDE}}" + "".join(f"{head:>9}" for head in heads))
    if Path(args.base).is_file():
        if not args.here.is_file():
            sys.exit(f"{args.here} is not there: `make bench` writes it.")
        base, here = (json.loads(Path(p).read_text())["results"] for p in (args.base, args.here))
        for name in _known([name for name in here if args.only in name], args.only):
            show(name, base.get(name), here[name])
        return
    # A process that is told to end ends properly, and removes its worktree.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with checked_out(args.base) as source, tempfile.TemporaryDirectory() as caches:
        # Both compile anew, so that both have the compiler in their memory.
        old, new = Path(caches) / "old", Path(caches) / "new"
        for name in _known(names(args.only), args.only):
            before, after = run_case(name, source, old), run_case(name, ROOT / "src", new)
            if after is None:
                sys.exit(f"the case {name!r} failed")
            show(name, before, after)


if __name__ == "__main__":
    main()
