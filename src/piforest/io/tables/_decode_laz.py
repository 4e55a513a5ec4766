"""A program for `_decoder`: writes the points of a LAZ file, uncompressed, to standard output.

    python _decode_laz.py MEMORY SECONDS PATH START COUNT RECORD ITEMS

START is where the points begin, COUNT and RECORD how many there are and the bytes of one, ITEMS
the file's LASzip record in hexadecimal. Nothing but the decoder is imported, so that it starts
fast.
"""

from __future__ import annotations

import os
import sys
from typing import Any

# Points at once: a block fits into the cache.
BLOCK = 10_000


def limit(memory: int, seconds: int) -> None:
    """Limit the memory and the processor time of this process, where the system can."""
    try:
        import resource
    except ImportError:
        return
    for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds)):
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or most <= hard:
            resource.setrlimit(kind, (most, hard))


def decode(path: str, start: int, count: int, record: int, items: bytes, out: Any) -> None:
    import lazrs

    with open(path, "rb") as file:
        file.seek(start)
        decompressor = lazrs.LasZipDecompressor(file, items)
        for done in range(0, count, BLOCK):
            points = bytearray(min(BLOCK, count - done) * record)
            decompressor.decompress_many(points)
            out.write(points)
    out.flush()


def main() -> int:
    memory, seconds, path, start, count, record, items = sys.argv[1:]
    limit(int(memory), int(seconds))
    out = os.fdopen(1, "wb")
    try:
        decode(path, int(start), int(count), int(record), bytes.fromhex(items), out)
    except BrokenPipeError:
        return 1
    except BaseException as error:  # a panic of the decoder is no Exception
        print(" ".join(str(error).split()) or type(error).__name__, file=sys.stderr)
        sys.stderr.flush()
        os._exit(1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
