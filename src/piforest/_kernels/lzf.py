"""LZF, the compression of PCD files: runs of bytes, and copies of up to 264 bytes that stood at
most 8,192 bytes before."""

from __future__ import annotations

import numpy as np

from .jit import jit

# Of a run of bytes, of a copy, and how far back a copy may begin.
_RUN, _COPY, _BACK = 32, 264, 8192
HASHES = 2**14


@jit
def decompress(packed, out):
    """Fill out (n,) from packed (m,), both bytes; the number of bytes written, -1 if packed is
    damaged or longer."""
    at, done, m, n = 0, 0, packed.shape[0], out.shape[0]
    while at < m:
        mark = np.int64(packed[at])
        at += 1
        if mark < _RUN:
            length = mark + 1
            if at + length > m or done + length > n:
                return -1
            for k in range(length):
                out[done + k] = packed[at + k]
            at += length
        else:
            length = mark >> 5
            if length == 7:
                if at >= m:
                    return -1
                length += np.int64(packed[at])
                at += 1
            if at >= m:
                return -1
            start = done - ((mark & 31) << 8) - np.int64(packed[at]) - 1
            at += 1
            length += 2
            if start < 0 or done + length > n:
                return -1
            for k in range(length):  # byte by byte: a copy may overlap itself
                out[done + k] = out[start + k]
        done += length
    return done


@jit
def compress(plain, last, out):
    """Compress plain (n,) into out, of n + n // 32 + 1 bytes at least; the number of bytes written.

    last (HASHES,): workspace, -1 everywhere: where three bytes of each hash stood last.
    """
    n, done, at, run = plain.shape[0], 0, 0, 0
    while at < n:
        start = -1
        if at + 2 < n:
            word = (
                (np.int64(plain[at]) << 16) | (np.int64(plain[at + 1]) << 8)
                | np.int64(plain[at + 2])
            )  # fmt: skip
            slot = ((word * 2654435761) >> 8) & (HASHES - 1)
            start = last[slot]
            last[slot] = at
        length = 0
        if start >= 0 and at - start <= _BACK:
            while (
                length < _COPY and at + length < n and plain[start + length] == plain[at + length]
            ):
                length += 1
        if length < 3:
            at += 1
            if at - run == _RUN or at == n:
                done = _put_run(plain, run, at, out, done)
                run = at
            continue
        done = _put_run(plain, run, at, out, done)
        done = _put_copy(at - start - 1, length - 2, out, done)
        at += length
        run = at
    return done


@jit
def _put_run(plain, start, end, out, done):
    if end > start:
        out[done] = end - start - 1
        done += 1
        for k in range(start, end):
            out[done] = plain[k]
            done += 1
    return done


@jit
def _put_copy(back, length, out, done):
    if length < 7:
        out[done] = (length << 5) | (back >> 8)
    else:
        out[done] = (7 << 5) | (back >> 8)
        done += 1
        out[done] = length - 7
    out[done + 1] = back & 255
    return done + 2
