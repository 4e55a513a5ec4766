"""The child of `helper`: answers requests, one JSON object per line.

`python -m piforest.apps.studio.helper_process MEMORY_MB`
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from .wording import plain
from .worker import limit_memory

# The calls and their functions.
_CALLS = {
    "columns": "columns:describe",
    "images": "pictures:describe",
    "image": "pictures:encode",
    "is_map": "pictures:is_map",
    "explain": "explaining:explain",
    "file": "files:make",
    "found": "files:found_at",
    "families": "describing:families",
    "prepare": "describing:prepare",
}


def _function(call: str) -> Callable[..., Any]:
    module, _, name = _CALLS[call].partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(f".{module}", __package__), name)
    return found


def answer(line: bytes) -> dict[str, Any]:
    """The answer to a request, or an error message."""
    from ..server.guard import Refused
    from .results import finite

    question = json.loads(line)
    try:
        return {"result": finite(_function(question["call"])(**question["given"]))}
    except Refused as refused:
        return {"error": refused.text, "status": refused.status}
    except MemoryError:
        return {"error": "the file needs more memory than a job may take.", "status": 422}
    except (ValueError, OSError, ImportError, AttributeError, TypeError, KeyError,
            IndexError, OverflowError, ArithmeticError, RuntimeError) as problem:  # fmt: skip
        known = isinstance(problem, (ValueError, OSError, ImportError))
        text = plain(_named(" ".join(str(problem).split()), question["given"]))
        return {"error": text if known else f"{type(problem).__name__}: {text}", "status": 422}


def _named(text: str, given: dict[str, Any]) -> str:
    """A message with the names of files in place of the paths of uploads."""
    for path in (given.get("path"), *given.get("paths", ())):
        text = text.replace(str(path), os.path.basename(path)) if path else text
    return text


def main() -> None:
    limit_memory(float(sys.argv[1]))
    # Output of libraries must not mix with the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        answers.write(json.dumps(answer(line), allow_nan=False).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
