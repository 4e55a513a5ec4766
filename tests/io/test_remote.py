"""URLs: of a server, and of a store in memory."""

from __future__ import annotations

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from cli_runs import line_scene, put_lines, rows_of, run
from piforest.io.remote import shown, url_of
from piforest.io.tables import Table, read_blocks, read_table, write_table

fsspec = pytest.importorskip("fsspec")
QUICK = ["--family", "line", "--models", "300", "--trees", "10"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path):
    pytest.importorskip("aiohttp")
    (tmp_path / "www").mkdir()
    put_lines(tmp_path / "www" / "lines.csv", *line_scene())
    handler = partial(Quiet, directory=tmp_path / "www")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as here:
        thread = threading.Thread(target=here.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{here.server_address[1]}"
        here.shutdown()
        thread.join()


@pytest.fixture
def store():
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()


def test_what_is_a_url(tmp_path, monkeypatch):
    for text, url in (
        ("s3://bucket/a.csv", "s3://bucket/a.csv"),
        (Path("s3://bucket/a.csv"), "s3://bucket/a.csv"),  # a path keeps one slash
        ("memory://a.csv", "memory://a.csv"),
        ("a.csv", None),
        ("/tmp/a.csv", None),
        ("C:/a.csv", None),
        ("a:b.csv", None),
        ("-", None),
        ("sqlite:///a.db", None),
    ):
        assert url_of(text) == url
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ab:").mkdir()
    (tmp_path / "ab:" / "c.csv").touch()
    assert url_of("ab:/c.csv") is None
    assert shown("https://me:secret@host/a.csv") == "https://me:***@host/a.csv"


@pytest.mark.slow
def test_a_file_of_a_server_is_read(server, tmp_path, capsys):
    out = tmp_path / "o.csv"
    code, printed, err = run(capsys, "detect", f"{server}/lines.csv", *QUICK, "--out", out)
    assert (code, err) == (0, "")
    assert f"257 in columns x, y of {server}/lines.csv" in printed
    assert len(rows_of(out)) == 257
    assert len(read_table(f"{server}/lines.csv?version=2")) == 257
    code, _, err = run(capsys, "detect", f"{server}/absent.csv", *QUICK)
    assert (code, err) == (1, f"piforest: {server}/absent.csv: there is no such file.\n")
    code, _, err = run(capsys, "detect", "http://127.0.0.1:9/a.csv", *QUICK)
    assert code == 1
    assert "http://127.0.0.1:9/a.csv cannot be read (" in err
    assert len(err.splitlines()) == 1


@pytest.mark.slow
def test_a_store_is_read_and_written(store, tmp_path, capsys):
    table = Table({"x": np.arange(5.0), "y": np.arange(5) ** 2}, "here")
    for suffix in (".csv", ".parquet", ".ply", ".npy", ".jsonl.gz"):
        write_table(f"memory://a{suffix}", table)
        found = read_table(f"memory://a{suffix}")
        assert np.array_equal(found.numbers(), table.numbers())
        assert found.source == f"memory://a{suffix}"
        assert [len(block) for block in read_blocks(f"memory://a{suffix}", 2)] == [2, 2, 1]
    lines = put_lines(tmp_path / "lines.csv", *line_scene())
    command = ["detect", lines, *QUICK, "--out", "memory://out.parquet"]
    code, printed, err = run(capsys, *command)
    assert (code, err) == (0, "")
    assert "\nwrote memory://out.parquet\n" in printed
    assert len(read_table("memory://out.parquet")) == 257
    code, _, err = run(capsys, *command)
    assert code == 1
    assert err == "piforest: memory://out.parquet already exists; --force overwrites it.\n"
    assert run(capsys, *command, "--force")[0] == 0


def test_damaged_content_is_named_by_its_url_and_nothing_is_half_written(store):
    store.pipe("/bad.parquet", b"PAR1 no more")
    with pytest.raises(ValueError, match=r"^memory://bad\.parquet cannot be read: it is damaged"):
        read_table("memory://bad.parquet")
    store.pipe("/empty.csv", b"")
    with pytest.raises(ValueError, match=r"^memory://empty\.csv is empty"):
        read_table("memory://empty.csv")
    store.pipe("/a.doc", b"x")
    with pytest.raises(ValueError, match=r"^memory://a\.doc: a name must end in one of"):
        read_table("memory://a.doc")
    text = Table({"t": np.array(["a"], object)}, "here")
    with pytest.raises(ValueError, match="numbers"):
        write_table("memory://out.ply", text)
    assert not store.exists("/out.ply")


def test_a_store_without_its_package_says_what_is_missing():
    with pytest.raises((ImportError, OSError), match=r"nosuch://a\.csv.*(nosuch|Protocol)"):
        read_table("nosuch://a.csv")
