"""Files are written atomically, whatever happens on the way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from piforest.io import atomic
from piforest.io.atomic import atomic_write, check_writable, is_device, remove_leftovers


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_block_that_raises_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "result"
    path.write_text("before")

    def interrupted():
        with atomic_write(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "before"
    assert names(tmp_path) == ["result"]
    with atomic_write(path) as file:
        file.write(b"after")
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert names(tmp_path) == ["result"]


def test_a_temporary_file_that_vanished_does_not_hide_the_error(tmp_path):
    def swept():
        with atomic_write(tmp_path / "result"):
            for name in os.listdir(tmp_path):
                (tmp_path / name).unlink()
            raise ValueError("the reason")

    with pytest.raises(ValueError, match="the reason"):
        swept()


def test_what_cannot_be_written_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cannot write .*a/b: there is no folder .*a\."):
        check_writable(tmp_path / "a" / "b")
    with pytest.raises(IsADirectoryError, match=r"cannot write .*: it is a folder"):
        check_writable(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "a" / "b")
    with pytest.raises(FileNotFoundError, match=r"cannot write .*link: there is no folder .*a\."):
        check_writable(tmp_path / "link")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    check_writable(tmp_path / "loop")


def test_a_new_file_has_the_rights_of_any_other(tmp_path):
    umask = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "result"):
            pass
    finally:
        os.umask(umask)
    assert (tmp_path / "result").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_is_followed_and_stays(there, tmp_path):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "target", tmp_path / "link"
    if there:
        target.write_text("before")
    link.symlink_to(target)
    with atomic_write(link) as file:
        file.write(b"after")
        assert names(tmp_path) == ["far", "link"], "the temporary file is beside the target"
        assert len(names(tmp_path / "far")) == 1 + there
    assert link.is_symlink()
    assert target.read_text() == "after"
    assert not target.is_symlink()
    assert names(tmp_path / "far") == ["target"]


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    assert is_device("/dev/null")
    assert not is_device(tmp_path)
    assert not is_device(tmp_path / "absent")
    with atomic_write("/dev/null") as file:
        file.write(b"content")
        file.seek(0)
    assert is_device("/dev/null")


@pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes")
def test_a_pipe_gets_the_content_at_the_end(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    with atomic_write(tmp_path / "pipe") as file:
        file.write(b"xx")
        file.seek(0)
        file.write(b"ab")
    reader.join(10)
    assert got == [b"ab"]


def test_only_leftovers_of_the_same_file_are_removed(tmp_path):
    target = tmp_path / "a[b]*.parquet"
    with atomic_write(target):
        [left] = tmp_path.iterdir()
    left.touch()
    kept = [
        ".a[b]*.parquet.mine", ".a[b]*.parquet.12345678.parquet", ".a[b]*c.parquet.12345678",
        ".ab.parquet.12345678", target.name,
    ]  # fmt: skip
    for name in kept:
        (tmp_path / name).touch()
    remove_leftovers(target)
    assert names(tmp_path) == sorted(kept)


def test_the_file_of_a_writer_that_lives_is_no_leftover(tmp_path):
    """Of this process, and of another one that is killed then."""
    path = tmp_path / "result"
    with atomic_write(path) as file:
        remove_leftovers(path)
        assert len(names(tmp_path)) == 1
        file.write(b"mine")
    assert path.read_bytes() == b"mine"
    code = (
        "import sys, time\nfrom piforest.io.atomic import atomic_write\n"
        "with atomic_write(sys.argv[1]) as file:\n print('there', flush=True)\n time.sleep(60)"
    )
    other = subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "there\n"
    with atomic_write(path) as file:
        file.write(b"ours")
    assert len(names(tmp_path)) == 2
    other.kill()
    other.communicate()
    assert len(names(tmp_path)) == 2
    with atomic_write(path) as file:
        file.write(b"last")
    assert names(tmp_path) == ["result"]
    assert path.read_bytes() == b"last"


def test_a_file_that_is_taken_for_a_leftover_before_it_is_locked_is_made_again(
    tmp_path, monkeypatch
):
    made, lock = [], atomic._lock

    def late(handle):
        made.append(handle)
        if len(made) == 1:
            [left] = tmp_path.iterdir()
            left.unlink()
        lock(handle)

    monkeypatch.setattr(atomic, "remove_leftovers", lambda path: None)
    monkeypatch.setattr(atomic, "check_writable", lambda path: None)
    monkeypatch.setattr(atomic, "_lock", late)
    with atomic_write(tmp_path / "result") as file:
        file.write(b"content")
    assert len(made) == 2
    assert names(tmp_path) == ["result"]


@pytest.mark.slow
def test_two_writers_of_one_file_at_once_leave_one_whole_file(tmp_path):
    path, start = tmp_path / "result", threading.Barrier(8)

    def write(k):
        start.wait()
        for _ in range(40):
            with atomic_write(path) as file:
                file.write(bytes([k]) * 5000)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(8)))  # raises what a writer raises
    assert names(tmp_path) == ["result"]
    assert path.read_bytes() in [bytes([k]) * 5000 for k in range(8)]


def test_a_name_as_long_as_the_system_allows_can_be_written(tmp_path):
    path = tmp_path / ("ü" * 120 + ".csv")
    with atomic_write(path) as file:
        file.write(b"content")
    assert names(tmp_path) == [path.name]


@contextmanager
def small_disk(folder):
    """A folder for 64 kB: a file system of its own where one can be mounted, else a limit of this
    process; and what writing more there says."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]
    if shutil.which("mount") and not subprocess.run(mount, capture_output=True).returncode:
        try:
            yield "No space left on device"
        finally:
            subprocess.run(["umount", folder], check=True)
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, before[1]))
    try:
        yield "File too large"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits")
def test_a_disk_that_is_full_names_the_file_and_keeps_the_old_one(tmp_path):
    with small_disk(tmp_path) as told:
        (tmp_path / "result").write_text("before")
        with (
            pytest.raises(OSError, match=rf"cannot write .*result: {told}\."),
            atomic_write(tmp_path / "result") as file,
        ):
            file.write(bytes(100_000))
        assert (tmp_path / "result").read_text() == "before"
        assert names(tmp_path) == ["result"]
