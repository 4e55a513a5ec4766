"""The parent: hands out the numbers of inputs, watches the child, and keeps what it finds.

python -m fuzz --inputs 2000 --seed 0 --seconds 600 --keep FOLDER
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from .child import Child


def main():
    asked = parsed()
    work = Path(tempfile.mkdtemp(prefix="fuzz-"))
    outcomes, finds = Counter(), {}
    start, child = time.monotonic(), Child(work, asked.seed)
    try:
        for number in range(asked.first, asked.first + asked.inputs):
            if time.monotonic() - start > asked.seconds:
                print(f"{asked.seconds} seconds are over")
                break
            outcome, reason, place = child.run(number)
            outcomes[outcome] += 1
            if outcome == "find":
                report(asked, work, number, reason, place, finds)
                if child.ended():
                    child.end()
                    child = Child(work, asked.seed)
    finally:
        child.end()
        shutil.rmtree(work, ignore_errors=True)
    tell(asked, outcomes, finds, time.monotonic() - start)
    return 1 if finds else 0


def parsed():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--keep", type=Path, default=Path("fuzz-finds"))
    return parser.parse_args()


def report(asked, work, number, reason, place, finds):
    """Keep the first input of each place."""
    sign = (place, reason.split(":")[0]) if place else (reason, "")
    finds.setdefault(sign, []).append(number)
    if len(finds[sign]) > 1:
        return
    print(f"find: input {number} of seed {asked.seed}: {reason} ({place})", flush=True)
    asked.keep.mkdir(parents=True, exist_ok=True)
    for path in (work / "input").glob("input*"):
        shutil.copy(path, asked.keep / f"{asked.seed}_{number}{''.join(path.suffixes)}")


def tell(asked, outcomes, finds, seconds):
    total = sum(outcomes.values())
    counted = ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()))
    print(f"{total} inputs of seed {asked.seed} in {seconds:.0f} s: {counted}")
    for (place, what), numbers in finds.items():
        print(f"  {len(numbers)} x {what or place} at {place or '?'}: inputs {numbers[:5]}")
    if finds:
        print(f"the files are in {asked.keep}; put the cause right and the file into tests/hostile")


if __name__ == "__main__":
    sys.exit(main())
