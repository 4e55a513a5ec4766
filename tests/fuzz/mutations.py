"""Changes to the bytes of a file; see `structures` for those that know a format."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import zipfile

import pyarrow as pa

INTEGERS = (
    0, 1, 2, 3, 7, 8, 127, 128, 255, 256, 257, 1000, 32767, 32768, 65535, 65536, 10**6, 2**24,
    2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1,
    -1, -2, -128, -(2**31), -(2**63),
)  # fmt: skip
SIZES = {1: "B", 2: "H", 4: "I", 8: "Q"}


def pick(rng, options):
    return options[int(rng.integers(len(options)))]


def put_integer(rng, content, at, size):
    """An integer of `size` bytes that programs stumble over, in either byte order."""
    value = pick(rng, INTEGERS) % 256**size
    struct.pack_into(pick(rng, "<<<>") + SIZES[size], content, at, value)


def _flip(rng, content):
    for _ in range(int(rng.integers(1, 9))):
        content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))


def _byte(rng, content):
    content[int(rng.integers(len(content)))] = pick(rng, (0, 1, 0x7F, 0x80, 0xFF, 0x0A, 0x22, 0x2C))


def _integer(rng, content):
    size = pick(rng, (2, 4, 4, 8))
    if len(content) >= size:
        put_integer(rng, content, int(rng.integers(len(content) - size + 1)), size)


def _cut(rng, content):
    del content[int(rng.integers(len(content))) :]


def _remove(rng, content):
    at = int(rng.integers(len(content)))
    del content[at : at + int(rng.integers(1, 40))]


def _repeat(rng, content):
    at = int(rng.integers(len(content)))
    content[at:at] = content[at : at + int(rng.integers(1, 200))] * int(rng.integers(1, 6))


def _insert(rng, content):
    content[(at := int(rng.integers(len(content)))) : at] = rng.bytes(int(rng.integers(1, 50)))


def _move(rng, content):
    start, at = sorted(int(rng.integers(len(content))) for _ in range(2))
    part = content[start:at]
    del content[start:at]
    content[(to := int(rng.integers(len(content) + 1))) : to] = part


_CHANGES = (_flip, _flip, _byte, _byte, _integer, _integer, _cut, _remove, _repeat, _insert, _move)


def mutate_bytes(rng, content):
    """One to three changes anywhere, sooner at the start and the end, where headers are."""
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        if not changed:
            break
        if rng.random() < 0.4 and len(changed) > 600:
            start = 0 if rng.random() < 0.6 else len(changed) - 300
            part = changed[start : start + 300]
            pick(rng, _CHANGES)(rng, part)
            changed[start : start + 300] = part
        else:
            pick(rng, _CHANGES)(rng, changed)
    return bytes(changed)


CELLS = (
    "", " ", "nan", "NaN", "inf", "-inf", "1e400", "1e-400", "-0", "0x10", "1_000", "1,5", "1.5.2",
    "=1+1", "+1", "-", "@", "'", '"', '""', '"a', "a\nb", "ü", "\u202e", "\x00", "\ufeff", "#",
    "NA", "9" * 400, "a" * 200_000, "1;2", "1\t2", "٣", "True", "1e5", " 7 ",
    "-9223372036854775809",
)  # fmt: skip


_LINES = ("", "#", "sep=;", "# x,y", "x,y", "x,x", ",,,", '"')


def mutate_text(rng, content):
    """Cells, lines and delimiters of a table."""
    lines = content.decode("utf-8", "replace").split("\n")
    for _ in range(int(rng.integers(1, 4))):
        at = (
            int(rng.integers(len(lines)))
            if rng.random() < 0.7
            else int(rng.integers(min(3, len(lines))))
        )
        kind = int(rng.integers(8))
        if kind <= 2:
            delimiter = pick(rng, ",;\t |")
            cells = lines[at].split(delimiter)
            cells[int(rng.integers(len(cells)))] = pick(rng, CELLS)
            lines[at] = delimiter.join(cells)
        elif kind == 3:
            lines[at] = pick(
                rng, ("", "#", "sep=;", "# x,y", "x,y", "x,x", ",,,", '"', lines[at] * 3)
            )
        elif kind == 4:
            del lines[at]
        elif kind == 5:
            lines = [line.replace(pick(rng, ",;\t "), pick(rng, ",;\t |:\x00")) for line in lines]
        elif kind == 6:
            lines = lines[: int(rng.integers(1, len(lines) + 1))]
        else:
            lines.insert(
                at, ",".join(pick(rng, CELLS)[:50] for _ in range(int(rng.integers(1, 9))))
            )
        lines = lines or [""]
    end = pick(rng, ("\n", "\n", "\n", "\r\n", "\r"))
    encoding = pick(rng, ("utf-8", "utf-8", "utf-8", "latin-1", "utf-16", "utf-8-sig"))
    return end.join(lines).encode(encoding, "replace")


def _pack_zip(content):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", content)
    return out.getvalue()


# Text to compressed files, by how their names end.
PACKERS = {
    ".bz2": lambda text: bz2.compress(text, 1),
    ".gz": lambda text: gzip.compress(text, 1, mtime=0),
    ".xz": lambda text: lzma.compress(text, preset=0),
    ".zip": _pack_zip,
    ".zst": lambda text: pa.compress(text, "zstd", asbytes=True),
}


def mutate_packed(rng, content, suffix):
    """content: text, that is then compressed."""
    changed = mutate_text(rng, content)
    if rng.random() < 0.1:
        changed += pick(rng, (b"1", b"1,", b"\n", b'"')) * 8_000_000
    packed = PACKERS[suffix](changed)
    return mutate_bytes(rng, packed) if rng.random() < 0.3 else packed


_JSON_VALUES = (
    "null", "true", "NaN", "Infinity", "1e999", "-0", "1e-400", '"1.5"', '""', '"\\ud800"', "[]",
    '{"a": {}}', "[" * 5000, "1" * 5000, '"' + "a" * 200_000 + '"', "01", "1_000", "'x'", "2.5.1",
    '"\\u0000"', "-9223372036854775809", "9" * 400,
)  # fmt: skip


def mutate_json_lines(rng, content):
    """Values, names and lines."""
    if rng.random() < 0.2:
        return mutate_bytes(rng, content)
    lines = content.decode().split("\n")
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(lines)))
        kind = int(rng.integers(5))
        if kind <= 1:
            parts = lines[at].split(", ")
            k = int(rng.integers(len(parts)))
            parts[k] = parts[k].partition(": ")[0] + ": " + pick(rng, _JSON_VALUES)
            lines[at] = ", ".join(parts)
        elif kind == 2:
            lines[at] = pick(rng, ("", "{}", "[]", "null", "{", '{"new": 1}', '{"x": 1, "x": 2}'))
        elif kind == 3:
            lines[at] = lines[at].replace(pick(rng, '{}":,'), pick(rng, '{}":, \x00'), 1)
        else:
            lines = lines[: at + 1]
    return "\n".join(lines).encode()
