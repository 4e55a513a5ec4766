"""Compressed text: what other programs wrote is read, what is written other programs read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from piforest.io.tables import Table, read_blocks, read_table, write_table

FILES = Path(__file__).parent / "files"
TEXT = b'id,x,y\na,1.50,2\nb,-3,"4"\nc,0.1,1e-3\n'
SUFFIXES = [".bz2", ".gz", ".xz", ".zip", ".zst"]


def packed(suffix, content=TEXT):
    if suffix == ".zip":
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("table.csv", content)
        return out.getvalue()
    if suffix == ".zst":
        return pa.compress(content, "zstd", asbytes=True)
    return {".bz2": bz2, ".gz": gzip, ".xz": lzma}[suffix].compress(content)


def unpacked(path):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            assert archive.namelist() == [path.stem]
            return archive.read(path.stem)
    if path.suffix == ".zst":
        return pa.input_stream(str(path), compression="zstd").read()
    module = {".bz2": bz2, ".gz": gzip, ".xz": lzma}[path.suffix]
    return module.decompress(path.read_bytes())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_of_the_real_programs_are_read(suffix):
    table = read_table(FILES / f"table.csv{suffix}")
    assert table.names == ["id", "x", "y"]
    assert table.numbers(["x", "y"]).tolist() == [[1.5, 2], [-3, 4], [0.1, 0.001]]
    assert [len(block) for block in read_blocks(FILES / f"table.csv{suffix}", 2)] == [2, 1]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_compressed_table_is_written_as_it_was_read_and_twice_the_same(suffix, tmp_path):
    path = tmp_path / f"out.csv{suffix}"
    write_table(path, read_table(FILES / f"table.csv{suffix}"))
    assert unpacked(path) == TEXT.replace(b'"', b"")
    first = path.read_bytes()
    write_table(path, read_table(FILES / f"table.csv{suffix}"))
    assert path.read_bytes() == first


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("damage", ["cut", "another", "empty", "changed"])
def test_damaged_compressed_files_are_named(suffix, damage, tmp_path):
    content = packed(suffix, TEXT + b"d,1,2\n" * 20_000)
    content = {
        "cut": content[: len(content) // 2],
        "another": b"x,y\n1,2\n",
        "empty": b"",
        "changed": content[: len(content) // 2] + b"\xff" * 9 + content[len(content) // 2 + 9 :],
    }[damage]
    path = tmp_path / f"a.csv{suffix}"
    path.write_bytes(content)
    # Changed content may be read before its checksum is.
    said = "" if damage == "changed" else "(cannot be read: it is damaged|is empty)"
    with pytest.raises(ValueError, match=said) as raised:
        list(read_blocks(path, 100))
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


def test_an_archive_must_hold_one_table(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("folder/one.csv", TEXT)
        archive.writestr("__MACOSX/folder/._one.csv", b"\0")
    assert len(read_table(path)) == 3  # the name inside tells the format
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("two.csv", TEXT)
    with pytest.raises(ValueError, match=r"a\.zip holds 2 files and must hold one table: folder/o"):
        read_table(path)
    with zipfile.ZipFile(path, "w"):
        pass
    with pytest.raises(ValueError, match=r"a\.zip holds 0 files"):
        read_table(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("one.parquet", TEXT)
    with pytest.raises(ValueError, match=r"only text can be compressed, and \.parquet files are"):
        read_table(path)


def test_an_encrypted_archive_is_named(tmp_path):
    content = bytearray(packed(".zip"))
    for mark in (b"PK\3\4", b"PK\1\2"):
        at = content.index(mark) + (6 if mark == b"PK\3\4" else 8)
        content[at] |= 1
    path = tmp_path / "a.csv.zip"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.csv\.zip cannot be read: .*encrypted"):
        read_table(path)


def test_only_text_is_compressed(tmp_path):
    table = Table({"x": np.arange(3.0)}, "here")
    for name in ("a.npy.gz", "a.parquet.xz"):
        with pytest.raises(ValueError, match=r"only text can be compressed"):
            write_table(tmp_path / name, table)
    with pytest.raises(ValueError, match=r"must end in one of .*; got '\.zip'"):
        write_table(tmp_path / "a.zip", table)
    assert list(tmp_path.iterdir()) == []


def test_a_compressed_file_under_a_plain_name_is_told(tmp_path):
    (tmp_path / "a.csv").write_bytes(packed(".gz"))
    with pytest.raises(ValueError, match=r"a\.csv is compressed by gzip; decompress it first, or"):
        read_table(tmp_path / "a.csv")
