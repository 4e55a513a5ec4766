"""LZF, byte by byte."""

from __future__ import annotations


def lzf_decompress(packed):
    out, at = bytearray(), 0
    while at < len(packed):
        mark, at = packed[at], at + 1
        if mark < 32:
            out += packed[at : at + mark + 1]
            at += mark + 1
            continue
        length = mark >> 5
        if length == 7:
            length, at = length + packed[at], at + 1
        start, at = len(out) - ((mark & 31) << 8) - packed[at] - 1, at + 1
        for k in range(length + 2):
            out.append(out[start + k])
    return bytes(out)
