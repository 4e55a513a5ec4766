"""Downloads, against a server on this machine that serves files made up for the test."""

from __future__ import annotations

import functools
import hashlib
import http.server
import sys
import threading

import pytest

from piforest.datasets import fetch, fetch_adelaidermf

CONTENT = {"physics.mat": b"matches of physics", "johnsona.csv": b"x1,y1,x2,y2,label\n"}


class Quiet(http.server.SimpleHTTPRequestHandler):
    asked: list[str] = []  # noqa: RUF012  shared by all requests on purpose

    def log_message(self, *_):
        self.asked.append(self.path)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """The address of a folder with two files, whose hashes are what is published."""
    (tmp_path / "served").mkdir()
    for name, content in CONTENT.items():
        (tmp_path / "served" / name).write_bytes(content)
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in CONTENT.items()}
    monkeypatch.setattr(fetch, "file_hashes", lambda: hashes)
    monkeypatch.setenv("PIFOREST_DATA", str(tmp_path / "data"))
    Quiet.asked.clear()
    handler = functools.partial(Quiet, directory=str(tmp_path / "served"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_files_are_fetched_once_and_the_citation_is_shown_once(server, tmp_path, capsys):
    folder = fetch_adelaidermf(server)
    assert folder == tmp_path / "data" / "adelaidermf"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == CONTENT
    assert "ICCV 2011" in capsys.readouterr().err
    asked = len(Quiet.asked)
    assert fetch_adelaidermf(server + "/") == folder
    assert len(Quiet.asked) == asked
    assert capsys.readouterr().err == ""


def test_only_the_named_sets_are_fetched(server, tmp_path):
    folder = fetch_adelaidermf(server, "physics", folder=tmp_path / "elsewhere")
    assert [path.name for path in folder.iterdir()] == ["physics.mat"]
    with pytest.raises(ValueError, match="Did you mean 'physics'"):
        fetch_adelaidermf(server, ["fysics"])


def test_a_damaged_file_is_fetched_again(server):
    folder = fetch_adelaidermf(server, "physics")
    (folder / "physics.mat").write_bytes(b"damaged")
    fetch_adelaidermf(server, "physics")
    assert (folder / "physics.mat").read_bytes() == CONTENT["physics.mat"]


def test_a_wrong_download_leaves_no_file(server, tmp_path):
    (tmp_path / "served" / "physics.mat").write_bytes(b"something else")
    with pytest.raises(ValueError, match="hash"):
        fetch_adelaidermf(server, "physics")
    assert list((tmp_path / "data" / "adelaidermf").iterdir()) == []


def test_a_missing_file_and_a_missing_server_are_named(server, tmp_path):
    (tmp_path / "served" / "physics.mat").unlink()
    with pytest.raises(OSError, match=r"could not fetch physics.mat from .*404.*Check the address"):
        fetch_adelaidermf(server, "physics")
    with pytest.raises(OSError, match=r"could not fetch physics.mat from http://127.0.0.1:1"):
        fetch_adelaidermf("http://127.0.0.1:1", "physics")


def test_without_pooch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"pip install 'piforest\[data\]'"):
        fetch_adelaidermf("http://127.0.0.1:1")


def test_the_published_hashes_are_those_of_38_sets():
    hashes = fetch.file_hashes()
    assert len(hashes) == 38
    assert {name.partition(".")[0] for name in hashes} == set(fetch.ADELAIDERMF)
    assert all(len(digest) == 64 for digest in hashes.values())


@pytest.mark.data
def test_the_files_at_hand_have_the_published_hashes():
    from piforest.datasets import data_folder
    from research_data import adelaidermf

    adelaidermf("physics")
    for name, digest in fetch.file_hashes().items():
        content = (data_folder() / "adelaidermf" / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == digest, name
