"""Changes that know the structure of a format: the file stays well-formed around them."""

from __future__ import annotations

import io
import json
import re
import sqlite3
import struct
import zipfile
import zlib
from contextlib import closing

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .mutations import INTEGERS, mutate_bytes, pick, put_integer

DTYPES = (
    "<f8", ">f8", "<f4", "<f2", "<i8", "|u1", "|b1", "<U5", "|S3", "<M8[ns]", "|V8", "<c16", "O",
    "<U1000000", "|V0", "f8, f8", "<m8[D]", "<f16",
)  # fmt: skip


def _hostile_shape(rng, shape):
    sizes = list(shape) or [1]
    sizes[int(rng.integers(len(sizes)))] = pick(rng, INTEGERS)
    return pick(rng, (tuple(sizes), tuple(sizes), (), (0, 3), (1,) * 40, (len(sizes),), (3, 0)))


def mutate_npy(rng, content):
    """Another header before the same numbers."""
    if rng.random() < 0.4:
        return mutate_bytes(rng, content)
    length = int.from_bytes(content[8:10], "little")
    fields = eval(content[10 : 10 + length].decode(), {"__builtins__": {}})
    kind = int(rng.integers(4))
    if kind == 0:
        fields["shape"] = _hostile_shape(rng, fields["shape"])
    elif kind == 1:
        fields["descr"] = pick(rng, DTYPES)
    elif kind == 2:
        fields["fortran_order"] = pick(rng, (True, False, 1, None, "x"))
    else:
        fields[pick(rng, ("more", "shape", "descr"))] = pick(rng, (None, [], "x", 7, (1.5, 2)))
    text = repr(fields).encode().ljust(length - 1) + b"\n"
    return content[:8] + len(text).to_bytes(2, "little") + text + content[10 + length :]


def mutate_npz(rng, content):
    if rng.random() < 0.4:
        return mutate_bytes(rng, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = pick(rng, list(members))
    if rng.random() < 0.8:
        members[name] = mutate_npy(rng, members[name])
    else:
        members[pick(rng, ("a.npy", "../a.npy", ".npy", "header.npy"))] = rng.bytes(50)
    out = io.BytesIO()
    packing = pick(rng, (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    with zipfile.ZipFile(out, "w", packing) as archive:
        for each, member in members.items():
            archive.writestr(each, member)
    return out.getvalue()


def mutate_mat(rng, content):
    """Tags and sizes; compressed elements are packed again."""
    changed = bytearray(content)
    if content[:6] != b"MATLAB":
        put_integer(rng, changed, 4 * int(rng.integers(5)), 4)
        return bytes(changed)
    at = 128
    parts = []
    while at + 8 <= len(content):
        kind, length = struct.unpack_from("<II", content, at)
        parts.append((kind, at, length))
        at += 8 + length
    kind, at, length = pick(rng, parts)
    element = bytearray(content[at + 8 : at + 8 + length])
    if kind == 15:
        element = bytearray(zlib.decompress(element))
    for _ in range(int(rng.integers(1, 3))):
        put_integer(rng, element, 4 * int(rng.integers(min(16, len(element) // 4))), 4)
    if kind == 15:
        element = bytearray(zlib.compress(bytes(element)))
    said = pick(rng, INTEGERS) % 2**32 if rng.random() < 0.2 else len(element)
    return content[:at] + struct.pack("<II", kind, said) + element + content[at + 8 + length :]


_XML_CHANGES = (
    (rb'r="[A-Z]*\d+"', (b'r="A1"', b'r="XFD1048576"', b'r="99999999999"', b'r="0"', b'r="ZZZZ9"')),
    (
        rb"<v>[^<]*</v>",
        (b"<v/>", b"<v>x</v>", b"<v>1e400</v>", b"<v>9999999999</v>", b"<v>-1</v>"),
    ),
    (rb't="[a-zA-Z]*"', (b't="s"', b't="d"', b't="b"', b't="e"', b't="inlineStr"', b't="?"', b"")),
    (rb's="\d+"', (b's="99999"', b's="-1"', b's="x"')),
    (rb"</?\w+[ />]", (b"<a>", b"</row>", b"<c ", b"&lol;", b"\xff")),
    (rb'ref="[^"]*"', (b'ref="A1:XFD1048576"', b'ref="A0"', b'ref=""')),
)


def mutate_excel(rng, content):
    """The XML of a member, in an archive that is sound."""
    if rng.random() < 0.2:
        return mutate_bytes(rng, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheets = [name for name in members if "sheet" in name and name.endswith(".xml")]
    name = pick(rng, sheets if rng.random() < 0.6 else list(members))
    for _ in range(int(rng.integers(1, 4))):
        pattern, values = pick(rng, _XML_CHANGES)
        found = list(re.finditer(pattern, members[name]))
        if not found:
            members[name] = mutate_bytes(rng, members[name])
            continue
        at = pick(rng, found)
        text = members[name]
        members[name] = text[: at.start()] + pick(rng, values) + text[at.end() :]
    if rng.random() < 0.1:
        members.pop(pick(rng, list(members)))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, member in members.items():
            archive.writestr(each, member)
    return out.getvalue()


_PLY_WORDS = (
    "0", "-1", "1", "3", "1000000000000", "list", "float", "double", "uchar", "int64", "vertex",
    "face", "x", "comment", "property", "element", "ascii", "binary_big_endian", "", "2.0", "ü",
)  # fmt: skip


_PCD_WORDS = (
    "0", "-1", "1", "3", "8", "1000000000000", "9" * 30, "F", "I", "U", "x", "rgb", "rgba", "_",
    "red", "ascii", "binary", "binary_compressed", "", "WIDTH", "#", "nan", "ü",
)  # fmt: skip


def mutate_ply(rng, content):
    return _mutate_header_of_scan(rng, content, b"end_header\n", _PLY_WORDS)


def mutate_pcd(rng, content):
    """The header; or the sizes and the first bytes of compressed points."""
    if rng.random() < 0.3:
        start = content.index(b"\n", content.index(b"\nDATA")) + 1
        return content[:start] + mutate_bytes(rng, content[start:])
    return _mutate_header_of_scan(rng, content, b"\nDATA", _PCD_WORDS)


def _mutate_header_of_scan(rng, content, end, values):
    if rng.random() < 0.4:
        return mutate_bytes(rng, content)
    head, end, body = content.partition(end)
    lines = head.decode("latin-1").split("\n")
    at = int(rng.integers(len(lines)))
    words = lines[at].split(" ")
    kind = int(rng.integers(4))
    if kind <= 1:
        words[int(rng.integers(len(words)))] = pick(rng, values)
        lines[at] = " ".join(words)
    elif kind == 2:
        lines.insert(at, lines[int(rng.integers(len(lines)))])
    else:
        del lines[at]
    body = mutate_bytes(rng, body) if rng.random() < 0.2 and body else body
    return "\n".join(lines).encode() + end + body


# Offset and size of the fields of a LAS header: versions, sizes, counts, scales.
_LAS_FIELDS = (
    (24, 1), (25, 1), (94, 2), (96, 4), (100, 4), (104, 1), (105, 2), (107, 4), (131, 8), (155, 8),
    (227, 8), (235, 8), (243, 4), (247, 8),
)  # fmt: skip


def mutate_las(rng, content):
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 3))):
        kind = rng.random()
        (start,) = struct.unpack_from("<I", content, 96)
        if kind < 0.5:
            at, size = pick(rng, _LAS_FIELDS)
            if at + size <= len(changed):
                put_integer(rng, changed, at, size)
        elif kind < 0.7:  # records before the points
            at = int(rng.integers(227, max(228, min(start, len(changed) - 8))))
            put_integer(rng, changed, at, pick(rng, (1, 2, 4)))
        elif kind < 0.9 and start + 8 < len(changed):  # points and table of chunks
            part = bytearray(mutate_bytes(rng, bytes(changed[start:])))
            changed[start:] = part
        else:
            return mutate_bytes(rng, bytes(changed))
    return bytes(changed)


_ARROW = (
    lambda n: pa.array([[1.0]] * n), lambda n: pa.array([{"a": 1}] * n), lambda n: pa.nulls(n),
    lambda n: pa.array([b"\xff"] * n), lambda n: pa.array([True, None] * n)[:n],
    lambda n: pa.array([1.5] * n).cast(pa.decimal128(20, 3)), lambda n: pa.array(["ü"] * n),
    lambda n: pa.array([1] * n, pa.time64("us")), lambda n: pa.array([1] * n, pa.date32()),
    lambda n: pa.array([1] * n, pa.duration("s")), lambda n: pa.array([2**64 - 1] * n, pa.uint64()),
    lambda n: pa.array([1.5] * n).cast(pa.float16()), lambda n: pa.array(["1.5"] * n),
    lambda n: pa.array([float("inf")] * n), lambda n: pa.array([2**62] * n, pa.timestamp("ns")),
    lambda n: pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int8())),
    lambda n: pa.array([1, None] * n, pa.int64())[:n],
)  # fmt: skip


def mutate_parquet(rng, content):
    if rng.random() < 0.6:
        if rng.random() < 0.5:  # the metadata at the end
            size = int.from_bytes(content[-8:-4], "little")
            start = max(4, len(content) - 8 - size)
            return content[:start] + mutate_bytes(rng, content[start:])
        return mutate_bytes(rng, content)
    table = pq.read_table(io.BytesIO(content))
    for _ in range(int(rng.integers(1, 4))):
        name = pick(rng, ("x", "y", "more", "", "score", "a b", "x"))
        column = pick(rng, _ARROW)(len(table))
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, column)
        else:
            table = table.append_column(name, column)
    if rng.random() < 0.1:
        table = table.append_column("x", table.column(0))
    out = io.BytesIO()
    codec = pick(rng, ("snappy", "gzip", "zstd", "none"))
    pq.write_table(
        table.slice(0, pick(rng, (0, 1, 5, len(table)))), out,
        row_group_size=pick(rng, (1, 7, 1000)), compression=codec,
    )  # fmt: skip
    return out.getvalue()


_SQL = ("NULL", "-1", "0", "1", "2147483648", "9223372036854775807", "1.5", "'text'", "x'00ff'",
        "''", "zeroblob(100000)", "rows * 2", "'2'")  # fmt: skip
_SQL_COLUMNS = {
    "images": ("image_id", "name"),
    "keypoints": ("image_id", "rows", "cols", "data"),
    "matches": ("pair_id", "rows", "cols", "data"),
    "two_view_geometries": ("pair_id", "rows", "cols", "data"),
}
_SQL_CAMERAS = ("model", "width", "params", "prior_focal_length")  # fmt: skip


def mutate_database(rng, content, folder):
    if rng.random() < 0.4:
        return mutate_bytes(rng, content)
    path = folder / "scratch.db"
    path.write_bytes(content)
    with closing(sqlite3.connect(path)) as database:
        table = pick(rng, list(_SQL_COLUMNS))
        column, value = pick(rng, _SQL_COLUMNS[table]), pick(rng, _SQL)
        has_cameras = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'cameras'")
        if rng.random() < 0.2 and has_cameras.fetchone():
            table, column = "cameras", pick(rng, _SQL_CAMERAS)
            value = value.replace("rows", "width")
        if table == "images":
            value = value.replace("rows", "image_id")
        database.execute("PRAGMA ignore_check_constraints = ON")
        try:
            database.execute(f"UPDATE {table} SET {column} = {value} WHERE random() % 2")
            if rng.random() < 0.2:
                database.execute(f"DELETE FROM {pick(rng, list(_SQL_COLUMNS))} WHERE rowid = 1")
            database.commit()
        except sqlite3.IntegrityError:  # what COLMAP's own tables do not take
            database.rollback()
    return path.read_bytes()


_HDF5 = (
    lambda n: np.arange(n), lambda n: np.full(n, 2**40), lambda n: np.full(n, np.nan),
    lambda n: np.zeros((n, 3)), lambda n: np.zeros((n, 2), ">f4"),
    lambda n: np.full((n, 2), np.inf),
    lambda n: np.array([b"text"] * n), lambda n: np.zeros(0), lambda n: np.float64(3),
    lambda n: np.zeros((n, 1)), lambda n: np.full(n, -7), lambda n: np.zeros(n, "c16"),
    lambda n: np.zeros(n, bool), lambda n: np.zeros(n + 1), lambda n: h5py.SoftLink("/nowhere"),
    lambda n: h5py.ExternalLink("other.h5", "/x"), lambda n: h5py.Empty("f8"),
)  # fmt: skip


def mutate_hdf5(rng, content, folder):
    if rng.random() < 0.4:
        return mutate_bytes(rng, content)
    path = folder / "scratch.h5"
    path.write_bytes(content)
    with h5py.File(path, "r+") as file:
        names = []
        file.visititems(lambda name, each: names.append(name))
        name = pick(rng, names)
        kind = rng.random()
        if kind < 0.6:
            del file[name]
            file[name] = pick(rng, _HDF5)(int(rng.integers(60)))
        elif kind < 0.75:
            del file[name]
        elif kind < 0.9:
            file.create_dataset(f"{name}_x/matches0", (2**33,), "i4", chunks=(1000,))
        else:
            file[f"{name}_loop"] = file["/"]
    return path.read_bytes()


_VALUES = (
    None, True, False, "", "x", "line", -1, 0, 1, 2, 3, 10**6, 400_000, 2**31, 2**53, 2**63 - 1,
    2**63, 2**64, -(2**63), 0.5, -0.5, 1e308, 1e-308, float("nan"), float("inf"), [], [1], {},
    {"name": "line"}, {"own": "x"}, [[[[[]]]]], "cuda", "9" * 400, 1.0, 128.0,
)  # fmt: skip


def _paths(value, path=()):
    yield path
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _paths(each, (*path, key))
    elif isinstance(value, list):
        for k, each in enumerate(value):
            yield from _paths(each, (*path, k))


def _mutate_header(rng, header):
    path = pick(rng, [each for each in _paths(header) if each])
    part = header
    for key in path[:-1]:
        part = part[key]
    kind = rng.random()
    if kind < 0.75:
        part[path[-1]] = pick(rng, _VALUES)
    elif kind < 0.85:
        del part[path[-1]]
    elif isinstance(part, dict):
        part[pick(rng, ("more", "own", "device", "n_jobs", "soft"))] = pick(rng, _VALUES)


def _mutate_array(rng, array):
    kind = int(rng.integers(8))
    flat = array.reshape(-1)
    if kind <= 2 and flat.size and array.dtype.kind == "b":
        at = int(rng.integers(flat.size))
        flat[at] = not flat[at]
        return flat.reshape(array.shape)
    if (
        kind <= 2 and flat.size and array.dtype.kind in "iuf"
    ):  # the first value that is wrong, not a far one
        at = int(rng.integers(flat.size)) if rng.random() < 0.5 else pick(rng, (0, flat.size - 1))
        near = [flat[at] + 1, flat[at] - 1, -flat[at] - 1, 0, flat.max() + 1, flat.min() - 1]
        far = [np.nan, np.inf, -np.inf, 1e308] if array.dtype.kind == "f" else list(INTEGERS)
        value = pick(rng, near if rng.random() < 0.6 else far)
        with np.errstate(all="ignore"):
            flat[at] = np.array(value % 2**63 if isinstance(value, int) else value).astype(
                array.dtype
            )
        return flat.reshape(array.shape)
    if kind == 3:
        return array.astype(
            pick(rng, ("f8", "f4", "i8", "i4", "i2", "u8", "u1", "b1", "U4", "c16"))
        )
    if kind == 4:
        return array[: int(rng.integers(len(array) + 1))] if array.ndim else array
    if kind == 5:
        return np.concatenate([array, array[-1:]]) if array.ndim else array
    if kind == 6:
        return pick(
            rng, (array.T, array[::-1], array.reshape(-1), array[None], array.reshape(-1)[:0])
        )
    return rng.permutation(array) if array.ndim else array


def mutate_model(rng, content):
    """The header and the arrays, in a valid archive."""
    with np.load(io.BytesIO(content)) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(str(arrays.pop("header")))
    for _ in range(int(rng.integers(1, 3))):
        if rng.random() < 0.5:
            _mutate_header(rng, header)
        else:
            name = pick(rng, list(arrays))
            with np.errstate(all="ignore"):
                arrays[name] = _mutate_array(rng, arrays[name].copy())
    if rng.random() < 0.05:
        arrays.pop(pick(rng, list(arrays)))
    text = json.dumps(header)
    if rng.random() < 0.03:
        text = pick(rng, ("[" * 100_000, "{}", text[:-1], "1" * 5000, "[" + "[]," * 10**5 + "[]]"))
    out = io.BytesIO()
    np.savez(out, header=np.array(text), **arrays)
    return out.getvalue()
